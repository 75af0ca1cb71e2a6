/**
 * JSON Schemas of everything that crosses the wire. Types derive from them; nothing is written twice.
 *
 * Invariants: records are closed, so that their types have no index signature; readers drop fields they do not know.
 * Fields the description does not show (gaps G2, G8–G11) are the profile's default spelling; readers map aliases first.
 */
import type { FromSchema, JSONSchema } from "json-schema-to-ts";
import type { Profile } from "./profile.ts";

/** Deferred inference: a bare `FromSchema` in generic code makes the compiler expand every possible schema. */
export type Infer<S> = S extends JSONSchema ? FromSchema<S> : never;

/** Parts that all messages are made of, over HTTP and on the socket. */
export const text = { type: "string" } as const;
/**
 * A decimal as text, such as "0.001".
 */
export const decimalText = { type: "string", format: "decimal" } as const;
const decimalOrEmpty = { type: "string", format: "decimal-or-empty" } as const;
/**
 * A whole number as text, up to 20 digits.
 */
export const digits = { type: "string", pattern: "^\\d{1,20}$" } as const;
/**
 * Id of an instrument, such as "BTC-USDT-SWAP".
 */
export const instId = { type: "string", maxLength: 48, format: "inst-id" } as const;
const anyId = { type: "string", minLength: 1, maxLength: 64 } as const;
const limit = { type: "string", pattern: "^[1-9]\\d{0,3}$" } as const;
const instType = { type: "string", enum: ["SPOT", "SWAP"] } as const;

/** States of an order in a record, in the described words. */
export const orderStates = ["live", "partially_filled", "filled", "canceled"] as const;
/** State of an order in the service's own records. `OrderPhase` is the engine's view, which knows more. */
export type OrderState = (typeof orderStates)[number];

/** The order record: thirteen fields, all text. `px`, `avgPx` may be empty where there is no price (gap H9). */
export const orderRecord = {
  type: "object",
  additionalProperties: false,
  required: [
    "instId",
    "ordId",
    "clOrdId",
    "px",
    "sz",
    "ordType",
    "side",
    "state",
    "avgPx",
    "accFillSz",
    "fee",
    "createdAt",
    "updatedAt",
  ],
  properties: {
    /** Instrument id. */
    instId,
    /** The service's id. */
    ordId: text,
    /** Client order id; empty where the order was placed without one. */
    clOrdId: text,
    /** Price in quote currency; empty for a market order. */
    px: decimalOrEmpty,
    /** Size in the unit of the profile's `order.szUnit`. */
    sz: decimalText,
    /** Order type. */
    ordType: text,
    /** `buy` or `sell`. */
    side: text,
    /** State in the service's words. */
    state: { type: "string", enum: orderStates },
    /** Average price of what was executed; empty while nothing was. */
    avgPx: decimalOrEmpty,
    /** Executed so far, in the unit of `sz`. */
    accFillSz: decimalOrEmpty,
    /**
     * Fee in the settle currency, of spot purchases in that of the profile's `order.spotBuyFee`; in the sign of
     * `order.feeSign`.
     */
    fee: decimalOrEmpty,
    /** Instant of the placement, in the profile's `order.timeUnit` on the service's clock. */
    createdAt: digits,
    /** Instant of the last change, in the same unit. */
    updatedAt: digits,
  },
} as const satisfies JSONSchema;
/** The same as it is read: a dialect may add the currency of the fee. */
export const readOrderRecord = {
  ...orderRecord,
  properties: {
    ...orderRecord.properties,
    /**
     * Currency of the fee, where it differs from order to order; left out, the profile's `order.spotBuyFee` applies.
     */
    feeCcy: text,
  },
} as const satisfies JSONSchema;
/**
 * An order as the service lists it, all fields text in the service's spelling. `sz` and `accFillSz` count what the
 * profile's `order.szUnit` states; `fee` has the sign of `order.feeSign`; `createdAt` and `updatedAt` are in
 * `order.timeUnit`. `OrderUpdate` has the same in base currency.
 */
export type OrderRecord = FromSchema<typeof readOrderRecord>;

/** Fields beyond the first two sizes are optional: the description shows none (gap G2). */
export const instrumentRecord = {
  type: "object",
  additionalProperties: false,
  required: ["instId", "tickSize", "lotSize"],
  properties: {
    /** Instrument id. */
    instId,
    /** `SPOT` or `SWAP`. */
    instType,
    /** Currency that quantities count. */
    baseCurrency: text,
    /** Currency that prices count. */
    quoteCurrency: text,
    /** Currency of profit, margin and fees. */
    settleCurrency: text,
    /** Step of prices, in quote currency. */
    tickSize: decimalText,
    /** Step of sizes, in base currency. */
    lotSize: decimalText,
    /** Smallest size, in base currency. */
    minSize: decimalText,
    /** Base currency in one contract. */
    contractValue: decimalText,
    /** Highest leverage. */
    maxLeverage: decimalText,
    /** State of the instrument, in the service's words. */
    state: text,
  },
} as const satisfies JSONSchema;
/**
 * An instrument as the service lists it, decimal text: `tickSize` in quote currency, `lotSize` and `minSize` in base
 * currency, `contractValue` in base currency a contract.
 */
export type InstrumentRecord = FromSchema<typeof instrumentRecord>;

/**
 * The balance of one currency.
 */
export const balanceRecord = {
  type: "object",
  additionalProperties: false,
  required: ["currency", "balance", "available", "frozen"],
  properties: {
    /** Currency of the three amounts. */
    currency: text,
    /** All of it. */
    balance: decimalText,
    /** Amount that orders may use. */
    available: decimalText,
    /** Held for open orders. */
    frozen: decimalText,
  },
} as const satisfies JSONSchema;
/** The balance of one currency, decimal text in that currency: `balance` is `available` plus `frozen`. */
export type BalanceRecord = FromSchema<typeof balanceRecord>;

/** `pos` is signed: positive long, negative short, in base currency (in contracts by the profile's `order.szUnit`). */
export const positionRecord = {
  type: "object",
  additionalProperties: false,
  required: ["instId", "pos", "avgPx"],
  properties: {
    /** Instrument id. */
    instId,
    /** Positive long, negative short, in base currency, or in contracts by the profile's `order.szUnit`. */
    pos: decimalText,
    /** Average entry price. */
    avgPx: decimalOrEmpty,
    /** Mark price. */
    markPx: decimalOrEmpty,
    /** Leverage. */
    lever: decimalText,
    /** Margin held, in the settle currency. */
    margin: decimalText,
    /** Profit at the mark price, in the settle currency. */
    upl: decimalText,
    /** Price at which it is liquidated; empty where there is none. */
    liqPx: decimalOrEmpty,
    /** `cross` or `isolated`. */
    mgnMode: text,
    /** Instant of the last change, in the profile's `order.timeUnit`. */
    updatedAt: digits,
  },
} as const satisfies JSONSchema;
/**
 * A position of the account as the service lists it: `pos` positive long and negative short, in contracts where the
 * profile states so, `avgPx` and `markPx` prices, `margin` and `upl` in the settle currency. `AccountPosition` has
 * `pos` in base currency; a strategy's own position is `Position`.
 */
export type PositionRecord = FromSchema<typeof positionRecord>;

/** Result of placing, and of one element of a batch cancel. `sCode` "0" means accepted. */
export const elementResult = {
  type: "object",
  additionalProperties: false,
  required: ["ordId", "clOrdId", "sCode", "sMsg"],
  properties: { ordId: text, clOrdId: text, sCode: text, sMsg: text },
} as const satisfies JSONSchema;
/**
 * Result of one order of a placement or of a batch cancel: `sCode` "0" means accepted, `sMsg` is the reason otherwise.
 */
export type ElementResult = FromSchema<typeof elementResult>;

/**
 * Result of closing a position.
 */
export const closeResult = {
  type: "object",
  additionalProperties: false,
  required: ["instId"],
  properties: { instId, clOrdId: text },
} as const satisfies JSONSchema;

/**
 * Result of setting the leverage.
 */
export const leverageResult = {
  type: "object",
  additionalProperties: false,
  required: ["instId", "lever"],
  properties: { instId, lever: decimalText, mgnMode: text },
} as const satisfies JSONSchema;

/** Either id is required and `ordId` wins; the rule is code, because it spans fields. */
export const orderQuery = {
  type: "object",
  additionalProperties: false,
  properties: { ordId: anyId, clOrdId: anyId, instId },
} as const satisfies JSONSchema;

/**
 * Query for open orders.
 */
export const pendingQuery = {
  type: "object",
  additionalProperties: false,
  properties: { instType, instId, limit, after: anyId, before: anyId },
} as const satisfies JSONSchema;

/**
 * Query for orders that ended.
 */
export const historyQuery = {
  type: "object",
  additionalProperties: false,
  properties: { instType, state: { type: "string", enum: ["filled", "canceled"] }, limit, after: anyId, before: anyId },
} as const satisfies JSONSchema;

/**
 * Body of a placement.
 */
export const placeBody = {
  type: "object",
  additionalProperties: false,
  required: ["instId", "side", "ordType", "sz"],
  properties: {
    instId,
    side: text,
    ordType: text,
    sz: decimalText,
    px: decimalText,
    clOrdId: anyId,
    reduceOnly: { type: "boolean" },
    mgnMode: { type: "string", enum: ["cross", "isolated"] },
  },
} as const satisfies JSONSchema;
/** Body of a placement. */
export type PlaceBody = FromSchema<typeof placeBody>;

/**
 * Body of a cancel: orders by id, several in one call.
 */
export const cancelBody = {
  type: "array",
  minItems: 1,
  items: {
    type: "object",
    additionalProperties: false,
    required: ["instId"],
    properties: { instId, ordId: anyId, clOrdId: anyId },
  },
} as const satisfies JSONSchema;
/** Body of a cancel: orders by id, several in one call. */
export type CancelBody = FromSchema<typeof cancelBody>;

/** New terms of an order; `sz` includes what was executed already. */
export const amendBody = {
  type: "object",
  additionalProperties: false,
  required: ["instId"],
  properties: { instId, ordId: anyId, clOrdId: anyId, px: decimalText, sz: decimalText },
} as const satisfies JSONSchema;
/** Body of a change of an order that rests. */
export type AmendBody = FromSchema<typeof amendBody>;

/**
 * Body of closing a position.
 */
export const closeBody = {
  type: "object",
  additionalProperties: false,
  required: ["instId"],
  properties: { instId, clOrdId: anyId, mgnMode: { type: "string", enum: ["cross", "isolated"] } },
} as const satisfies JSONSchema;

/**
 * Body of setting the leverage.
 */
export const leverageBody = {
  type: "object",
  additionalProperties: false,
  required: ["instId", "lever"],
  properties: { instId, lever: decimalText, mgnMode: { type: "string", enum: ["cross", "isolated"] } },
} as const satisfies JSONSchema;

/**
 * Query for instruments.
 */
export const instrumentsQuery = {
  type: "object",
  additionalProperties: false,
  properties: { instType, instId },
} as const satisfies JSONSchema;

/**
 * Query for balances.
 */
export const balanceQuery = {
  type: "object",
  additionalProperties: false,
  properties: { currency: text },
} as const satisfies JSONSchema;

/**
 * Query for positions.
 */
export const positionsQuery = {
  type: "object",
  additionalProperties: false,
  properties: { instId },
} as const satisfies JSONSchema;

/**
 * True if an order in this state rests; the other two states are final. A table, as orders are asked several times with
 * each change.
 */
export const activeIn: Readonly<Record<OrderState, boolean>> = {
  live: true,
  partially_filled: true,
  filled: false,
  canceled: false,
};

/**
 * True if an order in this state can still be executed.
 *
 * @param state - of an order record
 * @returns true if the order can still be executed
 */
export const isActive = (state: OrderState): boolean => activeIn[state];

/** Later states win over earlier ones when two records of one order disagree. */
export const rank: Readonly<Record<OrderState, number>> = { live: 0, partially_filled: 1, filled: 2, canceled: 2 };

/**
 * One of the four states, an alias's state, or undefined for an unknown word, which is never read as one of the four.
 */
export const readState = (word: string, profile: Profile): OrderState | undefined => {
  const state = profile.order.stateAliases[word] ?? word;
  return (orderStates as readonly string[]).includes(state) ? (state as OrderState) : undefined;
};
