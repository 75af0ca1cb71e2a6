/**
 * The service as a table: ten endpoints, what they cost, who may call them, what goes in and what comes out.
 *
 * Invariants: the weights of the description's table are numbers here; those it does not show come from the profile.
 * `repeat` says what an unanswered call allows: `safe` may be sent again, `never` must be asked about first.
 */
import type { FromSchema } from "json-schema-to-ts";
import { versionPrefix } from "./limits.ts";
import type { Profile } from "./profile.ts";
import * as schemas from "./schemas.ts";

export interface Endpoint {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly weight: number;
  /** Permission a key needs; `none` means no key is needed. Placing spot orders is checked by instrument kind as well. */
  readonly permission: string;
  /** Schema of the query (GET) or the body (POST). */
  readonly input: object;
  readonly record: object;
  readonly repeat: "safe" | "never";
}

const path = <P extends string>(rest: P): `/api/v1/${P}` => `${versionPrefix}${rest}`;

export const endpointTable = (profile: Profile) =>
  ({
    instruments: {
      method: "GET",
      path: path("common/instruments"),
      weight: 2,
      permission: profile.instruments.needsKey ? "read" : "none",
      input: schemas.instrumentsQuery,
      record: schemas.instrumentRecord,
      repeat: "safe",
    },
    spotBalance: {
      method: "GET",
      path: path("asset/spot"),
      weight: 5,
      permission: profile.permissions.account,
      input: schemas.balanceQuery,
      record: schemas.balanceRecord,
      repeat: "safe",
    },
    positions: {
      method: "GET",
      path: path("account/positions"),
      weight: 5,
      permission: profile.permissions.account,
      input: schemas.positionsQuery,
      record: schemas.positionRecord,
      repeat: "safe",
    },
    getOrder: {
      method: "GET",
      path: path("trade/order"),
      weight: profile.weights.getOrder,
      permission: "read",
      input: schemas.orderQuery,
      record: schemas.orderRecord,
      repeat: "safe",
    },
    pendingOrders: {
      method: "GET",
      path: path("trade/orders/pending"),
      weight: profile.weights.pendingOrders,
      permission: "read",
      input: schemas.pendingQuery,
      record: schemas.orderRecord,
      repeat: "safe",
    },
    orderHistory: {
      method: "GET",
      path: path("trade/orders/history"),
      weight: profile.weights.orderHistory,
      permission: "read",
      input: schemas.historyQuery,
      record: schemas.orderRecord,
      repeat: "safe",
    },
    placeOrder: {
      method: "POST",
      path: path("trade/order"),
      weight: 10,
      permission: profile.permissions.placeSwap,
      input: schemas.placeBody,
      record: schemas.elementResult,
      repeat: "never",
    },
    cancelBatch: {
      method: "POST",
      path: path("trade/cancel-batch-orders"),
      weight: 15,
      permission: "trade_futures",
      input: schemas.cancelBody,
      record: schemas.elementResult,
      repeat: "safe",
    },
    closePosition: {
      method: "POST",
      path: path("trade/close-position"),
      weight: 10,
      permission: profile.permissions.closePosition,
      input: schemas.closeBody,
      record: schemas.closeResult,
      repeat: "never",
    },
    setLeverage: {
      method: "POST",
      path: path("account/set-leverage"),
      weight: 5,
      permission: profile.permissions.setLeverage,
      input: schemas.leverageBody,
      record: schemas.leverageResult,
      repeat: "safe",
    },
  }) as const satisfies Record<string, Endpoint>;

export type EndpointTable = ReturnType<typeof endpointTable>;
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
  cancelBatch: schemas.ElementResult;
  closePosition: FromSchema<typeof schemas.closeResult>;
  setLeverage: FromSchema<typeof schemas.leverageResult>;
}
export type InputOf<E extends EndpointName> = Inputs[E];
export type RecordOf<E extends EndpointName> = Records[E];
