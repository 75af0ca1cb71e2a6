/**
 * Everything the service description leaves open, one row each: the value assumed, the gap it fills, and why.
 *
 * Invariants: nothing assumed about the service is written anywhere else; a user may override any value, and an
 * override that names no row or has another type is refused. Gap ids: G… where the description has "not shown", H…
 * where it is silent.
 * Not here: what the description states (endpoints.ts, limits.ts, schemas.ts).
 */

import { instTypeOf } from "./inst-id.ts";

export interface Row<T> {
  readonly value: T;
  readonly gap: string;
  readonly why: string;
}

const row = <T>(value: T, gap: string, why: string): Row<T> => ({ value, gap, why });

/** Unit of `sz`. */
export type SzUnit = "quote_notional" | "base" | "contracts";
/** Sign of a fee in a record: whether a cost is negative or positive. */
export type FeeSign = "negative_is_cost" | "positive_is_cost";
/** Currency of an instrument in which a fee is taken. */
export type FeeCurrency = "quote" | "base";
/** Instant at which a rate-limit window begins. */
export type Anchor = "wall_clock" | "first_request" | "sliding";
/** Side of an order. */
export type Side = "buy" | "sell";
export type MarginMode = "cross" | "isolated";
/** A limit besides the three of the description. */
export interface ExtraLayer {
  readonly name: string;
  /** Whom it counts; `instrument` is a product of a user. Calls that are not signed have an address only. */
  readonly scope: "ip" | "uid" | "key" | "instrument";
  /** Unit that a call adds: itself, its weight, or the elements of its batch. */
  readonly unit: "requests" | "weight" | "elements";
  readonly capacity: number;
  readonly windowMs: number;
  readonly anchor: Anchor;
  /** Endpoints it counts; all when left out. */
  readonly endpoints?: readonly string[];
  /** Milliseconds that the service stays shut after an overflow, beyond the window's end; 0 for none. */
  readonly banMs: number;
}
/**
 * Order type. `post_only` is rejected where it would take, `ioc` keeps what it gets at once, `fok` takes all or
 * nothing.
 */
export type OrdType = "limit" | "market" | "post_only" | "ioc" | "fok";

/** The service profile as shipped: every assumption about the service with its value, the gap it fills, and why. */
// biome-ignore format: one row a line
export const defaultProfile = {
  order: {
    sides: row<readonly string[]>(["buy", "sell"], "G1", "The two sides every market has; the description states only text."),
    ordTypes: row<readonly string[]>(["limit", "market", "post_only", "ioc", "fok"], "G1", "Time in force is part of the order type, as no such field is listed."),
    timeUnit: row<"ms" | "s" | "us">("ms", "G3", "Thirteen digits is the common unit; checked against Date."),
    feeSign: row<FeeSign>("negative_is_cost", "G3", "The fee may be negative, which reads as money leaving."),
    spotBuyFee: row<FeeCurrency>("quote", "H9", "One currency for all fees of an instrument. Exchanges that take the fee of a spot purchase in the coin bought need base; a record's feeCcy outranks it."),
    szUnit: row<{ readonly SPOT: SzUnit; readonly SWAP: SzUnit }>({ SPOT: "quote_notional", SWAP: "quote_notional" }, "H3", "The most dangerous assumption: confirm it before real orders."),
    emptyDecimal: row<"" | "0">("", "H9", "Text for a price that does not exist, such as a market order's px."),
    clOrdIdPattern: row("^[A-Za-z0-9]{1,32}$", "H10", "The strictest common rule; what passes here passes elsewhere."),
    duplicateClOrdId: row<"refused_while_open" | "refused" | "accepted">("refused_while_open", "H10", "An id names one open order."),
    stateAliases: row<Readonly<Record<string, string>>>({ partially_canceled: "canceled", mmp_canceled: "canceled" }, "G4", "Words neighbours use for the same four states."),
  },
  weights: {
    getOrder: row(5, "G17", "Other reads cost 2 to 5; guessing low risks the blocked minute."),
    pendingOrders: row(5, "G17", "Other reads cost 2 to 5; guessing low risks the blocked minute."),
    orderHistory: row(5, "G17", "Other reads cost 2 to 5; guessing low risks the blocked minute."),
    amendOrder: row(10, "G11", "The description names no such call; where an exchange has one, it is as heavy as a placement."),
    perCancelElement: row(0, "H12", "Rule 2 charges a call, not its elements."),
  },
  answers: {
    badRequestStatus: row(400, "G5", "The usual answer to missing or malformed parameters."),
    badRequestCode: row("50002", "G16", "Parameter errors."),
    permissionStatus: row(403, "G16", "The key is known but may not do this."),
    permissionCode: row("50001", "G16", "Permission denied."),
    unknownParameter: row<"refused" | "ignored">("refused", "H2", "A parameter that the endpoint does not list: a parameter error, or as if it were not there. Our client sends none."),
    authStatus: row(401, "G12", "Unknown key, wrong signature or stale timestamp."),
    authCode: row("50004", "G12", "Any non-zero code; clients decide on the status."),
    unavailableCode: row("50003", "G16", "The service cannot answer now; safe calls may be repeated."),
    unknownPathStatus: row(404, "G16", "No such address."),
    unknownPathCode: row("50005", "G16", "No such address."),
    limitedCode: row("50011", "G15", "The body of a 429 is not shown; clients decide on the status."),
    orderErrorStatus: row(200, "G5", "An order that is refused is an answer, not a transport failure."),
    notFound: row<"empty" | "error" | "untold">("error", "G5", "An empty success or a non-zero code are both read as not found; untold where neither is known, so that lists alone prove absence."),
    notFoundCode: row("51603", "G5", "The order does not exist."),
    instrumentCode: row("51001", "G16", "The instrument does not exist or is not tradable."),
    parameterCode: row("51000", "G16", "A parameter of the order has no valid value."),
    priceCode: row("51006", "G16", "The price is off the tick or outside what is allowed."),
    sizeCode: row("51020", "G16", "The size is below the minimum or rounds to nothing."),
    fundsCode: row("51008", "G16", "The account cannot pay for the order."),
    duplicateCode: row("51016", "H10", "The client order id is taken."),
    postOnlyCode: row("51026", "G16", "A post-only order would have taken. Empty where such an order is accepted and canceled at once."),
    notCancelableCode: row("51400", "G9", "The order is already complete or does not exist."),
    notContractCode: row("51405", "H4", "Batch cancel takes contract orders only."),
    positionCode: row("51023", "G11", "There is no position to close."),
    leverageCode: row("51102", "G11", "The leverage is outside the allowed range."),
    rejectionCodes: row<readonly string[]>([], "G16", "Further codes that mean not executed, or beginnings of some such as 510*. What is on no list is looked for, as if it had not been answered."),
    successMsg: row("", "H2", "By the description it is empty text."),
    dataOnError: row<"array" | "object" | "absent">("array", "H2", "Readers accept all three."),
  },
  paging: {
    newestFirst: row(true, "G6", "Listings start at the newest order."),
    cursorIncluded: row(false, "H6", "Older than and newer than exclude the order named."),
    afterAndBefore: row<"both" | "after_wins" | "refused">("both", "H6", "Both bounds hold when both are sent; our client never sends both."),
    beforePage: row<"newest" | "nearest">("newest", "H6", "Which page of more than limit orders newer than before: the newest, as of every listing, or the one next to the cursor. Our client never sends before."),
    limitAboveMax: row<"refused" | "clamped">("refused", "H6", "A number over the stated maximum is a parameter error."),
  },
  history: {
    retentionMs: row(7 * 86_400_000, "H11", "Recently completed is taken as a week."),
    ordersMax: row(100_000, "H11", "Of one user; a bound of the embedded service's memory that is rarely met within the week."),
    unfilledCanceledVanish: row(false, "H11", "Some services forget orders that never traded."),
  },
  cancelBatch: {
    elementsMax: row(20, "G8", "The usual bound of such calls."),
    oneIdKind: row(true, "G8", "Some services refuse a mix of ordId and clOrdId; never mixing is safe."),
    resultFields: row<"sCode" | "code">("sCode", "G9", "Readers accept both spellings."),
    envelopeCodeWhenMixed: row("0", "G9", "Readers decide element by element for any value."),
    envelopeCodeWhenAllFailed: row("1", "G9", "Readers decide element by element for any value."),
  },
  instruments: {
    needsKey: row(false, "G13", "A public list; IP limits mention unauthenticated requests."),
    chargesUserWithoutKey: row(false, "G13", "Without a key there is no user to charge."),
    refreshMs: row(3_600_000, "H8", "New pairs appear a few times a day at most."),
    fieldNames: row<"long" | "short">("long", "G2", "tickSize, lotSize, minSize … or tickSz, lotSz, minSz; readers accept both."),
    instIdPattern: row("^[A-Z0-9]+-[A-Z0-9]+(-SWAP)?$", "H8", "Upper-case letters and digits between dashes."),
  },
  permissions: {
    placeSpot: row("trade_spot", "H4", "Named like the permission of batch cancel."),
    placeSwap: row("trade_futures", "G11", "The same permission as batch cancel, which also acts on contracts."),
    closePosition: row("trade_futures", "G11", "Closing acts on contracts."),
    setLeverage: row("trade_futures", "G11", "Leverage exists for contracts."),
    account: row("read", "G11", "Balances and positions are reads."),
  },
  capabilities: {
    amend: row(false, "G11", "The description names no call that changes an order; exchanges behind a dialect may have one."),
    cancelSpot: row(false, "H4", "Batch cancel is described for contract orders and nothing else cancels."),
  },
  limits: {
    anchor: row<Anchor>("wall_clock", "H5", "The next minute begins by the service's clock."),
    extraLayers: row<readonly ExtraLayer[]>([], "H12", "Neighbours count the elements of a batch, or an endpoint by itself; the description names three layers."),
    changes: row<readonly { readonly layer: "ip" | "key" | "uid"; readonly at: string; readonly capacity: number }[]>([], "H5", "Capacities of described layers from stated instants on (ISO 8601, UTC). The description announces no changes."),
    refusedCounts: row<"ip" | "all" | "none">("ip", "H5", "A refused request reached the address; it is not charged to key or user."),
    crossingCall: row<"refused" | "served">("refused", "H5", "The call that would bring the user's weight above the limit: refused and not charged, or served. The user is shut until the next minute either way."),
    failedCounts: row(true, "H5", "A request that fails for another reason has passed the layers."),
    headersOnError: row(true, "H5", "Only successes are promised to carry them; readers need none."),
    headersWithoutKey: row<"ip" | "all">("ip", "H5", "A call that is not signed has no key and no user whose use a header could name."),
    dateHeader: row(true, "H5", "HTTP origin servers stamp Date, in whole seconds."),
  },
  auth: {
    headerPrefix: row("X-API-", "G12", "Key, Sign, Timestamp and Passphrase follow this prefix."),
    timestamp: row<"iso" | "ms" | "s">("iso", "G12", "ISO 8601 with milliseconds, UTC."),
    toleranceMs: row(5_000, "G12", "How far a signed timestamp may be off."),
    prehash: row<readonly string[]>(["timestamp", "method", "path", "body"], "G12", "What is signed, in order; `query` may be added after `path`."),
    digest: row<"base64" | "hex" | "hex_base64">("base64", "G12", "HMAC-SHA256 of the prehash, encoded so."),
  },
  margin: {
    modeDefault: row<MarginMode>("cross", "G11", "Where neither an order nor set-leverage named a mode: one balance covers all positions."),
    leverageDefault: row("10", "G11", "Until set-leverage is called; never more than the instrument allows."),
    openLoss: row<"counted" | "ignored">("counted", "G11", "What open cross positions have lost is not available for new orders; what they have gained is not either."),
    liquidation: row<"market" | "never">("market", "G11", "A position short of its maintenance margin is closed at the book, what the book cannot take at the mark."),
    maintenanceRate: row("0.005", "G11", "Half a percent of a position's value, the lowest step of services that publish theirs."),
    liquidationFeeRate: row("0.0025", "G11", "Half of the maintenance margin goes to the liquidation fund, the rest pays for the closing."),
    shortfall: row<"covered" | "owed">("covered", "G11", "The liquidation fund pays what an account cannot, as services in this trade do."),
    lookMs: row(1_000, "G11", "Margins are looked at with every mark price, else about once a second, as such services compute their marks."),
    fundingFrom: row<"margin" | "balance">("margin", "G11", "An isolated position pays and receives funding out of its own margin; a cross one out of the purse."),
  },
  websocket: {
    publicChannels: row<readonly string[]>(["trades", "tickers", "books", "candle1m"], "G14", "Channels for market data."),
    privateChannels: row<readonly string[]>(["orders", "positions", "account"], "G14", "Channels for one's own state; polling serves where they fail."),
    path: row("/ws/v1", "G14", "Where the socket is opened; public and private channels share it."),
    loginPath: row("/users/ws/auth", "G14", "The path that a login signs, with GET and no body."),
    szUnit: row<SzUnit>("base", "G14", "Unit of quantities in market data."),
    pingMs: row(15_000, "G14", "How often the service pings; the client answers with the op pong."),
    silenceMsMax: row(30_000, "G14", "After this long without a message the connection counts as lost."),
    ackMsMax: row(5_000, "G14", "A subscription without acknowledgement or data by then is asked for again; polling serves meanwhile."),
    sequenced: row(true, "G14", "Messages of a channel carry seqId and prevSeqId; a reader without them cannot see a gap."),
  },
  version: {
    breakingChange: row("a new path prefix such as /api/v2/", "G18", "Inference: the version is part of the path."),
  },
} as const;

type ProfileTable = typeof defaultProfile;
type Values<G> = { readonly [K in keyof G]: G[K] extends Row<infer T> ? T : never };

/** The values in force. */
export type Profile = { readonly [G in keyof ProfileTable]: Values<ProfileTable[G]> };
/** Values of `profile` in a config: any part of the rows. */
export type ProfileOverrides = { readonly [G in keyof Profile]?: Partial<Profile[G]> };

/**
 * True if the service can cancel a resting order of an instrument.
 *
 * @param instId - the instrument
 * @param profile - what the service can do
 * @returns true if a resting order can be canceled
 */
export const isCancelable = (instId: string, { capabilities }: Pick<Profile, "capabilities">): boolean =>
  capabilities.cancelSpot || instTypeOf(instId) !== "SPOT";

/** Unit of `sz`, in words. */
export const szUnitWords = ({ SPOT, SWAP }: Profile["order"]["szUnit"]): string =>
  `${SPOT.replace("_", " ")} for spot and ${SWAP.replace("_", " ")} for swaps`;
