/**
 * The service as a table: ten endpoints, and one that only other exchanges have; what they cost, who may call them,
 * what goes in and what comes out.
 *
 * Invariants: the weights of the description's table are numbers here; those it does not show come from the profile.
 * `repeat` is what an unanswered call allows: `safe` may be sent again, `never` must be asked about first.
 */
import type { FromSchema } from "json-schema-to-ts";
import { versionPrefix } from "./limits.ts";
import type { Profile } from "./profile.ts";
import * as schemas from "./schemas.ts";

/** One row of the table of endpoints. */
export interface Endpoint {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly weight: number;
  /**
   * Permission a key needs; `none` means no key is needed. Placing spot orders is checked by instrument kind as well.
   */
  readonly permission: string;
  /** Schema of the query (GET) or the body (POST). */
  readonly input: object;
  readonly record: object;
  readonly repeat: "safe" | "never";
}

/** A call that reads: it may be repeated. */
const read = <P extends string, I extends object, R extends object>(
  path: P,
  weight: number,
  permission: string,
  input: I,
  record: R,
) =>
  ({
    method: "GET",
    path: `${versionPrefix}${path}`,
    weight,
    permission,
    input,
    record,
    repeat: "safe",
  }) as const satisfies Endpoint;

/** A call that changes something. */
const write = <P extends string, I extends object, R extends object, W extends Endpoint["repeat"]>(
  path: P,
  weight: number,
  permission: string,
  input: I,
  record: R,
  repeat: W,
) =>
  ({
    method: "POST",
    path: `${versionPrefix}${path}`,
    weight,
    permission,
    input,
    record,
    repeat,
  }) as const satisfies Endpoint;

export const endpointTable = ({ instruments, permissions, weights }: Profile) =>
  ({
    instruments: read(
      "common/instruments",
      2,
      instruments.needsKey ? "read" : "none",
      schemas.instrumentsQuery,
      schemas.instrumentRecord,
    ),
    spotBalance: read("asset/spot", 5, permissions.account, schemas.balanceQuery, schemas.balanceRecord),
    positions: read("account/positions", 5, permissions.account, schemas.positionsQuery, schemas.positionRecord),
    getOrder: read("trade/order", weights.getOrder, "read", schemas.orderQuery, schemas.orderRecord),
    pendingOrders: read(
      "trade/orders/pending",
      weights.pendingOrders,
      "read",
      schemas.pendingQuery,
      schemas.orderRecord,
    ),
    orderHistory: read("trade/orders/history", weights.orderHistory, "read", schemas.historyQuery, schemas.orderRecord),
    placeOrder: write("trade/order", 10, permissions.placeSwap, schemas.placeBody, schemas.elementResult, "never"),
    // Offered only where `capabilities.amend` is set: the description has no such call.
    amendOrder: write(
      "trade/amend-order",
      weights.amendOrder,
      permissions.placeSwap,
      schemas.amendBody,
      schemas.elementResult,
      "never",
    ),
    cancelBatch: write(
      "trade/cancel-batch-orders",
      15,
      "trade_futures",
      schemas.cancelBody,
      schemas.elementResult,
      "safe",
    ),
    closePosition: write(
      "trade/close-position",
      10,
      permissions.closePosition,
      schemas.closeBody,
      schemas.closeResult,
      "never",
    ),
    setLeverage: write(
      "account/set-leverage",
      5,
      permissions.setLeverage,
      schemas.leverageBody,
      schemas.leverageResult,
      "safe",
    ),
  }) as const satisfies Record<string, Endpoint>;

export type EndpointTable = ReturnType<typeof endpointTable>;
/** Name of an endpoint of the service, such as `placeOrder` or `cancelBatch`. */
export type EndpointName = keyof EndpointTable;
/** Written out, so that generic code over endpoints stays cheap to check; a type test holds them to the table. */
interface Inputs {
  instruments: FromSchema<typeof schemas.instrumentsQuery>;
  spotBalance: FromSchema<typeof schemas.balanceQuery>;
  positions: FromSchema<typeof schemas.positionsQuery>;
  getOrder: FromSchema<typeof schemas.orderQuery>;
  pendingOrders: FromSchema<typeof schemas.pendingQuery>;
  orderHistory: FromSchema<typeof schemas.historyQuery>;
  placeOrder: schemas.PlaceBody;
  amendOrder: schemas.AmendBody;
  cancelBatch: schemas.CancelBody;
  closePosition: FromSchema<typeof schemas.closeBody>;
  setLeverage: FromSchema<typeof schemas.leverageBody>;
}
interface Records {
  instruments: schemas.InstrumentRecord;
  spotBalance: schemas.BalanceRecord;
  positions: schemas.PositionRecord;
  getOrder: schemas.OrderRecord;
  pendingOrders: schemas.OrderRecord;
  orderHistory: schemas.OrderRecord;
  placeOrder: schemas.ElementResult;
  amendOrder: schemas.ElementResult;
  cancelBatch: schemas.ElementResult;
  closePosition: FromSchema<typeof schemas.closeResult>;
  setLeverage: FromSchema<typeof schemas.leverageResult>;
}
/** Input of a call of an endpoint. */
export type InputOf<E extends EndpointName> = Inputs[E];
/** One record of an endpoint's answer. */
export type RecordOf<E extends EndpointName> = Records[E];
