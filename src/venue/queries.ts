/**
 * Reads by a user: one order, open orders, completed orders, positions, balances.
 *
 * Invariants: only the user's own orders are seen; ids compare as whole numbers, never as text or floats; a page is the
 * newest orders within its bounds, in the order the profile names.
 * Not here: who may ask (request-handler.ts).
 */
import { instTypeOf } from "../contract/inst-id.ts";
import { pagePatterns, paging } from "../contract/limits.ts";
import type { Profile } from "../contract/profile.ts";
import type * as schemas from "../contract/schemas.ts";
import type { Infer, PositionRecord } from "../contract/schemas.ts";
import { type Account, indexFrom, type Order, type Position } from "./account.ts";
import type { Exchange } from "./exchange.ts";
import { liquidationPx, markOf, modeOf, profitOf } from "./margin.ts";
import { type Amount, cut, magnitude, one, places, spell } from "./money.ts";
import { averagePlaces, isOpen, orderRecordOf, timeText } from "./order.ts";
import { type Answer, badRequest, done, isRefusal, type Refusal, refused } from "./responses.ts";
import { leverageOf } from "./settlement.ts";

/** Completed orders are forgotten after a while, and those that never traded at once where the profile requires it. */
const isForgotten = ({ profile }: Exchange, order: Order, at: number): boolean =>
  !isOpen(order) &&
  (order.updatedAt < at - profile.history.retentionMs ||
    (profile.history.unfilledCanceledVanish && order.state === "canceled" && order.done === 0));

export const getOrder = (
  exchange: Exchange,
  account: Account,
  query: Infer<typeof schemas.orderQuery>,
  at: number,
): Answer => {
  const { profile } = exchange;
  const { ordId, clOrdId } = query;
  if (ordId === undefined && clOrdId === undefined)
    return badRequest(profile, "Either ordId or clOrdId must be provided.");
  const order = ordId === undefined ? account.byClOrdId.get(clOrdId ?? "") : account.byOrdId.get(ordId);
  if (order !== undefined && !isForgotten(exchange, order, at)) return done(profile, [orderRecordOf(order, profile)]);
  if (profile.answers.notFound === "empty") return done(profile, []);
  return refused(profile, { code: profile.answers.notFoundCode, msg: "The order does not exist." });
};

/** Sequence numbers a page lies between, both excluded, how many it holds, and from which end. */
interface Page {
  readonly from: "newest" | "oldest";
  readonly above: number;
  readonly below: number;
  readonly limit: number;
}

interface PageQuery {
  readonly limit?: string;
  readonly after?: string;
  readonly before?: string;
}

const badPage = ({ profile }: Exchange, msg: string): Refusal => ({ code: profile.answers.badRequestCode, msg });

const readLimit = (exchange: Exchange, text: string | undefined): number | Refusal => {
  const limit = text === undefined ? paging.limitDefault : Number(text);
  if (limit <= paging.limitMax) return limit;
  return exchange.profile.paging.limitAboveMax === "clamped"
    ? paging.limitMax
    : badPage(exchange, `limit is at most ${paging.limitMax}.`);
};

const cursorForm = new RegExp(pagePatterns.cursor);

/**
 * Cursors of a page as they count: `before` is undefined where `after` wins, both are moved by `widen` where the order
 * of a cursor belongs to the page, and `isNearest` asks for the page next to `before`.
 */
export const cursorsOf = ({ paging: { cursorIncluded, afterAndBefore, beforePage } }: Profile, query: PageQuery) => {
  const { after, before } = query;
  return {
    after,
    before: after !== undefined && afterAndBefore === "after_wins" ? undefined : before,
    widen: cursorIncluded ? 1 : 0,
    isNearest: before !== undefined && after === undefined && beforePage === "nearest",
  };
};

/** Returns why the cursors cannot be used; undefined where they can. */
const cursorProblem = ({ profile }: Exchange, { after, before }: PageQuery): string | undefined => {
  for (const cursor of [after, before]) {
    if (cursor !== undefined && !cursorForm.test(cursor)) return "after and before are ordIds: digits.";
  }
  const both = after !== undefined && before !== undefined;
  return both && profile.paging.afterAndBefore === "refused" ? "Send after or before, not both." : undefined;
};

const readPage = (exchange: Exchange, query: PageQuery): Page | Refusal => {
  const problem = cursorProblem(exchange, query);
  if (problem !== undefined) return badPage(exchange, problem);
  const limit = readLimit(exchange, query.limit);
  if (typeof limit !== "number") return limit;
  // A cursor is exact as a difference of whole numbers; only the small remainder becomes a float.
  const seqOf = (cursor: string): number => Number(BigInt(cursor) - exchange.firstOrdId);
  const { after, before, widen, isNearest } = cursorsOf(exchange.profile, query);
  const below = after === undefined ? Number.POSITIVE_INFINITY : seqOf(after) + widen;
  const above = before === undefined ? Number.NEGATIVE_INFINITY : seqOf(before) - widen;
  return { from: isNearest ? "oldest" : "newest", above, below, limit };
};

/** The oldest orders of a page, the newest of them first. */
const oldestOf = (orders: readonly Order[], { above, limit }: Page, fits: (order: Order) => boolean): Order[] => {
  const found: Order[] = [];
  for (let index = indexFrom(orders, above + 1); index < orders.length && found.length < limit; index++) {
    const order = orders[index] as Order;
    if (fits(order)) found.push(order);
  }
  return found.reverse();
};

const pageOf = (orders: readonly Order[], page: Page, fits: (order: Order) => boolean): Order[] => {
  const { above, below, limit } = page;
  if (page.from === "oldest") return oldestOf(orders, page, fits);
  const found: Order[] = [];
  for (let index = indexFrom(orders, below) - 1; index >= 0 && found.length < limit; index--) {
    const order = orders[index] as Order;
    if (order.seq <= above) break;
    if (fits(order)) found.push(order);
  }
  return found;
};

const answerPage = (
  exchange: Exchange,
  orders: readonly Order[],
  query: PageQuery,
  fits: (order: Order) => boolean,
): Answer => {
  const { profile } = exchange;
  const page = readPage(exchange, query);
  if (isRefusal(page)) return badRequest(profile, page.msg);
  const records = pageOf(orders, page, fits).map((order) => orderRecordOf(order, profile));
  return done(profile, profile.paging.newestFirst ? records : records.reverse());
};

export const listPending = (exchange: Exchange, account: Account, query: Infer<typeof schemas.pendingQuery>): Answer =>
  answerPage(
    exchange,
    account.open,
    query,
    ({ product }) =>
      (query.instType === undefined || product.instType === query.instType) &&
      (query.instId === undefined || product.instId === query.instId),
  );

/** `filter` contains conditions that the described query does not have. */
export const listHistory = (
  exchange: Exchange,
  account: Account,
  query: Infer<typeof schemas.historyQuery>,
  at: number,
  { filter }: { readonly filter?: { readonly instId: string } } = {},
): Answer =>
  answerPage(
    exchange,
    account.orders,
    query,
    (order) =>
      !isOpen(order) &&
      (query.instType === undefined || order.product.instType === query.instType) &&
      (query.state === undefined || order.state === query.state) &&
      (filter === undefined || order.product.instId === filter.instId) &&
      !isForgotten(exchange, order, at) &&
      account.byOrdId.has(order.ordId),
  );

const shortUnit = 10n ** BigInt(places - averagePlaces);

/** Cut to the digits of an average price. */
const shortened = (px: Amount): string => spell((px / shortUnit) * shortUnit);

const averageOf = (position: Position): string =>
  shortened(cut(magnitude(position.entry), one, magnitude(position.base)));

export const positionRecordsOf = (exchange: Exchange, account: Account, only?: string): PositionRecord[] =>
  account.held
    .filter(({ instId }) => only === undefined || instId === only)
    .map((position) => {
      const { instId } = position;
      const market = exchange.marketOf(instId);
      const { product } = market;
      const { emptyDecimal, szUnit } = exchange.profile.order;
      const contracts = szUnit[instTypeOf(instId)] === "contracts";
      const [mark, liqPx] = [markOf(market), liquidationPx(exchange, account, instId, position)];
      return {
        instId,
        pos: spell(contracts ? cut(position.base, one, product.contractValue) : position.base),
        avgPx: averageOf(position),
        markPx: mark === 0n ? emptyDecimal : spell(mark),
        lever: spell(leverageOf(account, product)),
        margin: spell(position.margin),
        upl: spell(profitOf(market, position)),
        liqPx: liqPx === undefined ? emptyDecimal : shortened(liqPx),
        mgnMode: modeOf(account, instId),
        updatedAt: timeText(position.updatedAt, exchange.profile),
      };
    });
