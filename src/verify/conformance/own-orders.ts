/**
 * Orders the suite places to look at: far from the market, post-only, on a swap, as small as the product allows, and cancelled.
 *
 * Invariants: every order placed is remembered until a cancel of it was answered; `sweep` cancels what is left and says how many
 * could not be. A batch never holds more elements than the profile allows.
 * Not here: whether answers are right; that is judged by rules.
 */
import { paging } from "../../contract/limits.ts";
import type { SzUnit } from "../../contract/profile.ts";
import { compare, div, isDecimal, isPositive, mul, toStep } from "../../decimal.ts";
import { Unable } from "./rule.ts";
import type { How, TestClientCore } from "./test-client.ts";
import { fieldOf, type Raw, type Reply } from "./test-reply.ts";

export interface Own {
  readonly ordId: string;
  readonly clOrdId: string;
  /** What was asked for. */
  readonly body: Raw;
  readonly placed: Reply;
}

type Named = Pick<Own, "ordId">;

export interface OwnOrders {
  readonly instId: () => Promise<string>;
  /** Another listed product, if there is one. */
  readonly otherInstId: () => Promise<string | undefined>;
  /** A body that would be accepted, with a fresh client id. */
  body(): Promise<Raw>;
  open(count: number): Promise<readonly Own[]>;
  cancel(orders: readonly Named[], how?: How): Promise<Reply>;
  /** Any number of orders, in as many batches as it takes. */
  cancelAll(orders: readonly Named[]): Promise<void>;
  /** Takes an order that came to be by other ways than `open` into care. */
  adopt(order: Named): void;
  /** Orders of which no cancel was answered. */
  readonly unsure: () => readonly string[];
  /** Cancels what is left; tells the ids that could not be cancelled. */
  sweep(): Promise<readonly string[]>;
}

interface Ticket {
  readonly px: string;
  readonly sz: string;
}

/** Bounds the tidying up of a service that cancels nothing. */
const pagesMax = 3;

/** Prices in ticks and multiples of the smallest size, tried in this order until one is accepted. */
const tries = [10_000, 1_000, 100].flatMap((ticks) => [1, 10, 1_000].map((times) => ({ ticks, times })));

const decimalOf = (record: Raw, ...names: readonly string[]): string | undefined => {
  const found = names.map((name) => fieldOf(record, name)).find((text) => isDecimal(text) && isPositive(text));
  return found;
};

const sizeIn = (unit: SzUnit, base: string, px: string, contractValue: string): string => {
  if (unit === "quote_notional") return mul(base, px);
  if (unit === "base") return base;
  const contracts = toStep(div(base, contractValue, 12), "1", "up");
  return compare(contracts, "0") > 0 ? contracts : "1";
};

const ticketsFor = (record: Raw, unit: SzUnit, stated: string | undefined): readonly Ticket[] => {
  const tick = decimalOf(record, "tickSize", "tickSz");
  const lot = decimalOf(record, "lotSize", "lotSz");
  if (tick === undefined || lot === undefined) throw new Unable("the product tells no tick and lot size (G2); give --px and --sz");
  const least = decimalOf(record, "minSize", "minSz") ?? lot;
  const smallest = compare(least, lot) < 0 ? lot : least;
  const contractValue = decimalOf(record, "contractValue", "ctVal") ?? "1";
  return tries.map(({ ticks, times }) => {
    const px = stated ?? mul(tick, String(ticks));
    return { px, sz: sizeIn(unit, mul(smallest, String(times)), px, contractValue) };
  });
};

export const createOwnOrders = (testClient: TestClientCore): OwnOrders => {
  const { contract, order: hints = {}, clock } = testClient;
  const { profile } = contract;
  const left = new Set<string>();
  const placed = new Set<string>();
  const stamp = `c${Math.floor(clock.wallNow()).toString(36)}x`;
  let count = 0;
  let ticket: Ticket | undefined;

  const listed = (): Promise<readonly Raw[]> =>
    testClient.story("listed products", async () => {
      const reply = await testClient.ask("instruments", {}, contract.endpoints.instruments.permission === "none" ? { as: "nobody" } : {});
      return reply.records;
    });
  const product = async (): Promise<Raw> => {
    const records = await listed();
    const found = records.find((record) => {
      const id = fieldOf(record, "instId");
      return hints.instId === undefined ? id.endsWith("-SWAP") : id === hints.instId;
    });
    if (found === undefined) throw new Unable(`${hints.instId ?? "a perpetual swap"} is not listed`);
    return found;
  };
  const instId = async (): Promise<string> => fieldOf(await product(), "instId");
  const bodyWith = async ({ px, sz }: Ticket): Promise<Raw> => ({
    instId: await instId(),
    side: "buy",
    ordType: "post_only",
    px,
    sz,
    clOrdId: `${stamp}${count++}`,
  });
  const adopt = (own: Named): void => {
    left.add(own.ordId);
    placed.add(own.ordId);
  };
  /** What the service still lists as open of ours: known by its id, or by the client's where no answer was read. */
  const standing = async (): Promise<readonly Named[]> => {
    const { records } = await testClient.ask("pendingOrders", { instId: await instId(), limit: String(paging.limitMax) });
    const active = records.filter((record) => ["live", "partially_filled"].includes(fieldOf(record, "state")));
    const found = active.map((record) => ({ ordId: fieldOf(record, "ordId"), clOrdId: fieldOf(record, "clOrdId") }));
    return found.filter(({ ordId, clOrdId }) => placed.has(ordId) || clOrdId.startsWith(stamp));
  };
  const accepted = async (candidate: Ticket): Promise<Own | Reply> => {
    const body = await bodyWith(candidate);
    const reply = await testClient.ask("placeOrder", body);
    const ordId = fieldOf(reply.records[0], "ordId");
    if (!reply.ok || ordId === "") return reply;
    const own = { ordId, clOrdId: fieldOf(body, "clOrdId"), body, placed: reply };
    adopt(own);
    return own;
  };
  const place = async (): Promise<Own> => {
    const known = ticket === undefined ? ticketsFor(await product(), profile.order.szUnit.SWAP, hints.px) : [ticket];
    let refusal: Reply | undefined;
    for (const candidate of known) {
      const attempt = { px: candidate.px, sz: hints.sz ?? candidate.sz };
      const outcome = await accepted(attempt);
      if ("clOrdId" in outcome) {
        ticket = attempt;
        return outcome;
      }
      refusal = outcome;
      if (hints.px !== undefined && hints.sz !== undefined) break;
    }
    throw new Unable(`no order was accepted (${refusal?.asked}: ${refusal?.shown}); --instrument, --px and --sz may help`);
  };
  const cancel = async (orders: readonly Named[], how?: How): Promise<Reply> => {
    const id = await instId();
    const elements = orders.map(({ ordId }) => ({ instId: id, ordId }));
    return testClient.ask("cancelBatch", elements, how);
  };
  const cancelAll = async (orders: readonly Named[]): Promise<void> => {
    for (let from = 0; from < orders.length; from += profile.cancelBatch.elementsMax) {
      const part = orders.slice(from, from + profile.cancelBatch.elementsMax);
      await cancel(part);
      for (const { ordId } of part) left.delete(ordId);
    }
  };
  return {
    instId,
    otherInstId: async () => {
      const own = await instId();
      return (await listed()).map((record) => fieldOf(record, "instId")).find((id) => id !== "" && id !== own);
    },
    body: async () => {
      if (ticket === undefined) await cancelAll([await place()]);
      return bodyWith(ticket ?? { px: "1", sz: "1" });
    },
    open: async (wanted) => {
      const orders: Own[] = [];
      for (let index = 0; index < wanted; index++) orders.push(await place());
      return orders;
    },
    cancel,
    cancelAll,
    adopt,
    unsure: () => [...left],
    sweep: async () => {
      await cancelAll([...left].map((ordId) => ({ ordId })));
      if (count === 0) return [];
      // A page may not hold all of them.
      for (let page = 0; page < pagesMax; page++) {
        const still = await standing();
        if (still.length === 0) return [];
        await cancelAll(still);
      }
      return (await standing()).map(({ ordId }) => ordId);
    },
  };
};
