/**
 * Orders the suite places to look at: far from the market, post-only, on a swap, as small as the instrument allows, and
 * canceled.
 *
 * Invariants: every order is tracked from before it is sent until a listing shows that it is gone; a batch never holds
 * more elements than the profile allows.
 * Not here: whether answers are right; that is judged by rules. Tracking and clean-up (probe/own-orders.ts).
 */

import { compare, div, isDecimal, isPositive, isSluiceError, mul, toStep } from "sluice";
import type { Contract, EndpointName, wire } from "sluice/dialect";
import type { Clock } from "sluice/extension";
import { chunks, OwnOrders } from "../probe/own-orders.ts";
import { fieldOf, type Raw, type Reply } from "../probe/reply.ts";
import type { How } from "./test-keys.ts";
import { Unable } from "./unable.ts";

export interface OrderHints {
  /** A perpetual swap to trade; the first one listed when left out. */
  readonly instId?: string;
  /** A price far below the market. */
  readonly px?: string;
  readonly sz?: string;
}

export interface Own {
  readonly ordId: string;
  readonly clOrdId: string;
  /** Body of the request that placed the order. */
  readonly body: Raw;
  readonly placed: Reply;
}

interface Ticket {
  readonly px: string;
  readonly sz: string;
}

/** Bounds the clean-up at a service that cancels nothing. */
const listingsMax = 4;

/** Prices in ticks and multiples of the smallest size, tried in this order until one is accepted. */
const tries = [10_000, 1_000, 100].flatMap((ticks) => [1, 10, 1_000].map((times) => ({ ticks, times })));

const decimalOf = (record: Raw, ...names: readonly string[]): string | undefined =>
  names.map((name) => fieldOf(record, name)).find((text) => isDecimal(text) && isPositive(text));

const sizeIn = (unit: wire.SzUnit, base: string, px: string, contractValue: string): string => {
  if (unit === "quote_notional") return mul(base, px);
  if (unit === "base") return base;
  const contracts = toStep(div(base, contractValue, 12), "1", "up");
  return compare(contracts, "0") > 0 ? contracts : "1";
};

const ticketsFor = (record: Raw, unit: wire.SzUnit, stated: string | undefined): readonly Ticket[] => {
  const tick = decimalOf(record, "tickSize", "tickSz");
  const lot = decimalOf(record, "lotSize", "lotSz");
  if (tick === undefined || lot === undefined)
    throw new Unable("the instrument has no tick and lot size (G2); give --px and --sz");
  const least = decimalOf(record, "minSize", "minSz") ?? lot;
  const smallest = compare(least, lot) < 0 ? lot : least;
  const contractValue = decimalOf(record, "contractValue", "ctVal") ?? "1";
  return tries.map(({ ticks, times }) => {
    const px = stated ?? mul(tick, String(ticks));
    return { px, sz: sizeIn(unit, mul(smallest, String(times)), px, contractValue) };
  });
};

/** The part of the suite's client that places and looks. */
interface Client {
  readonly contract: Contract;
  readonly clock: Clock;
  ask(endpoint: EndpointName, input: unknown, how?: How): Promise<Reply>;
  askInstruments(): Promise<Reply>;
  once<T>(name: string, play: () => Promise<T>): Promise<T>;
}

export class TestOrders {
  readonly #client: Client;
  readonly #hints: OrderHints;
  readonly #own: OwnOrders;
  #ticket: Ticket | undefined;

  constructor(client: Client, hints: OrderHints = {}) {
    this.#client = client;
    this.#hints = hints;
    const { clock, contract } = client;
    const ask = (endpoint: EndpointName, input: unknown): Promise<Reply | undefined> =>
      client.ask(endpoint, input).catch((error: unknown) => {
        if (isSluiceError(error) || error instanceof Unable) return undefined;
        throw error;
      });
    this.#own = new OwnOrders({ tag: "c", clock, elementsMax: contract.profile.cancelBatch.elementsMax, ask });
  }

  async instId(): Promise<string> {
    return fieldOf(await this.#instrument(), "instId");
  }

  /** Another listed instrument, if there is one. */
  async otherInstId(): Promise<string | undefined> {
    const own = await this.instId();
    return (await this.#listed()).map((record) => fieldOf(record, "instId")).find((id) => id !== "" && id !== own);
  }

  /** A body that would be accepted, with a fresh client id. */
  async body(): Promise<Raw> {
    if (this.#ticket === undefined) await this.cancelAll([await this.#place()]);
    return this.#bodyWith(this.#ticket ?? { px: "1", sz: "1" });
  }

  async open(count: number): Promise<readonly Own[]> {
    const orders: Own[] = [];
    for (let index = 0; index < count; index++) orders.push(await this.#place());
    return orders;
  }

  async cancel(orders: readonly Pick<Own, "ordId">[], how?: How): Promise<Reply> {
    const instId = await this.instId();
    const elements = orders.map(({ ordId }) => ({ instId, ordId }));
    return this.#client.ask("cancelBatch", elements, how);
  }

  /** Any number of orders, in as many batches as it takes. */
  async cancelAll(orders: readonly Pick<Own, "ordId">[]): Promise<void> {
    for (const batch of chunks(orders, this.#client.contract.profile.cancelBatch.elementsMax)) {
      await this.cancel(batch);
      for (const { ordId } of batch) this.#own.cancelAsked(ordId);
    }
  }

  /** Tracks an order that was placed by other ways than `open`. */
  async adopt(clOrdId: string, ordId: string): Promise<void> {
    this.#own.expect(clOrdId, await this.instId());
    this.#own.placed(clOrdId, ordId);
  }

  /** Cancels the remaining orders. Returns the client ids of orders that are not proved to be gone. */
  async cleanUp(): Promise<readonly string[]> {
    await this.#own.cancelAll(listingsMax);
    return this.#own.left();
  }

  #listed(): Promise<readonly Raw[]> {
    return this.#client.once("listed instruments", async () => (await this.#client.askInstruments()).records);
  }

  async #instrument(): Promise<Raw> {
    const { instId } = this.#hints;
    const found = (await this.#listed()).find((record) => {
      const id = fieldOf(record, "instId");
      return instId === undefined ? id.endsWith("-SWAP") : id === instId;
    });
    if (found === undefined) throw new Unable(`${instId ?? "a perpetual swap"} is not listed`);
    return found;
  }

  async #bodyWith({ px, sz }: Ticket): Promise<Raw> {
    return { instId: await this.instId(), side: "buy", ordType: "post_only", px, sz, clOrdId: this.#own.nextId() };
  }

  async #tryPlace(ticket: Ticket): Promise<Own | Reply> {
    const body = await this.#bodyWith(ticket);
    const clOrdId = fieldOf(body, "clOrdId");
    this.#own.expect(clOrdId, await this.instId());
    const reply = await this.#client.ask("placeOrder", body);
    const ordId = fieldOf(reply.records[0], "ordId");
    if (!reply.ok || ordId === "") {
      this.#own.refused(clOrdId);
      return reply;
    }
    this.#own.placed(clOrdId, ordId);
    return { ordId, clOrdId, body, placed: reply };
  }

  async #place(): Promise<Own> {
    const { px, sz } = this.#hints;
    const tickets =
      this.#ticket === undefined
        ? ticketsFor(await this.#instrument(), this.#client.contract.profile.order.szUnit.SWAP, px)
        : [this.#ticket];
    let refusal: Reply | undefined;
    for (const ticket of tickets) {
      const attempt = { px: ticket.px, sz: sz ?? ticket.sz };
      const outcome = await this.#tryPlace(attempt);
      if ("clOrdId" in outcome) {
        this.#ticket = attempt;
        return outcome;
      }
      refusal = outcome;
      if (px !== undefined && sz !== undefined) break;
    }
    throw new Unable(
      `no order was accepted (${refusal?.asked}: ${refusal?.shown}); --instrument, --px and --sz may help`,
    );
  }
}
