/**
 * Answers that were right until something happened to them, and an opinion of its own on what may be accepted of them.
 *
 * Invariants: the same seed gives the same bytes; the check of accepted records shares no code with the schemas.
 */

import type { Outcome } from "../../../../src/client/outcome.ts";
import { parseResponse } from "../../../../src/client/parse-response.ts";
import { readJson } from "../../../../src/client/transport/answer-body.ts";
import { endpointNames } from "../../../../src/contract/contract.ts";
import type { EndpointName } from "../../../../src/contract/endpoints.ts";
import type { Random } from "../../../../src/random.ts";
import { contract, swap } from "../../../support/harness/transport.ts";
import { orderText } from "./body-faults.ts";

const result = { ordId: "7", clOrdId: "c1", sCode: "0", sMsg: "" };
const order: unknown = JSON.parse(orderText());
const valid: Readonly<Record<EndpointName, readonly unknown[]>> = {
  instruments: [
    {
      instId: swap,
      instType: "SWAP",
      baseCurrency: "BTC",
      quoteCurrency: "USDT",
      settleCurrency: "USDT",
      tickSize: "0.1",
      lotSize: "1",
      minSize: "1",
      contractValue: "1",
      maxLeverage: "50",
      state: "live",
    },
    { instId: "ETH-USDT", tickSz: "0.01", lotSz: "0.1" },
  ],
  spotBalance: [{ currency: "USDT", balance: "3", available: "2", frozen: "1" }],
  positions: [
    {
      instId: swap,
      pos: "-1.5",
      avgPx: "2",
      markPx: "",
      lever: "3",
      margin: "1",
      upl: "-1",
      liqPx: "",
      mgnMode: "cross",
      updatedAt: "1",
    },
  ],
  getOrder: [order],
  pendingOrders: [order, order],
  orderHistory: [
    JSON.parse(orderText({ state: "filled", accFillSz: "2", avgPx: "1.5" })),
    JSON.parse(orderText({ state: "mmp_canceled" })),
  ],
  placeOrder: [result],
  amendOrder: [result],
  cancelBatch: [result, { ...result, sCode: "51400", sMsg: "gone" }],
  closePosition: [{ instId: swap, clOrdId: "c1" }],
  setLeverage: [{ instId: swap, lever: "3", mgnMode: "cross" }],
};

const plain = /^-?(0|[1-9]\d*|0\d+)(\.\d+)?$/;
const is = {
  text: (value: unknown) => typeof value === "string",
  decimal: (value: unknown) => typeof value === "string" && plain.test(value),
  price: (value: unknown) => value === "" || is.decimal(value),
  digits: (value: unknown) => typeof value === "string" && /^[0-9]{1,20}$/.test(value),
  product: (value: unknown) =>
    typeof value === "string" && /^[A-Z0-9]+-[A-Z0-9]+(-SWAP)?$/.test(value) && value.length <= 48,
  state: (value: unknown) => ["live", "partially_filled", "filled", "canceled"].includes(value as string),
  kind: (value: unknown) => value === "SPOT" || value === "SWAP",
};
type Check = (value: unknown) => boolean;
/** Required fields, then optional ones. */
type Shape = readonly [Readonly<Record<string, Check>>, Readonly<Record<string, Check>>];
const ids = { ordId: is.text, clOrdId: is.text };
const orderShape: Shape = [
  {
    instId: is.product,
    ...ids,
    px: is.price,
    sz: is.decimal,
    ordType: is.text,
    side: is.text,
    state: is.state,
    avgPx: is.price,
    accFillSz: is.price,
    fee: is.price,
    createdAt: is.digits,
    updatedAt: is.digits,
  },
  {},
];
const resultShape: Shape = [{ ...ids, sCode: is.text, sMsg: is.text }, {}];
const shapes: Readonly<Record<EndpointName, Shape>> = {
  instruments: [
    { instId: is.product, tickSize: is.decimal, lotSize: is.decimal },
    {
      instType: is.kind,
      baseCurrency: is.text,
      quoteCurrency: is.text,
      settleCurrency: is.text,
      minSize: is.decimal,
      contractValue: is.decimal,
      maxLeverage: is.decimal,
      state: is.text,
    },
  ],
  spotBalance: [{ currency: is.text, balance: is.decimal, available: is.decimal, frozen: is.decimal }, {}],
  positions: [
    { instId: is.product, pos: is.decimal, avgPx: is.price },
    {
      markPx: is.price,
      lever: is.decimal,
      margin: is.decimal,
      upl: is.decimal,
      liqPx: is.price,
      mgnMode: is.text,
      updatedAt: is.digits,
    },
  ],
  getOrder: orderShape,
  pendingOrders: orderShape,
  orderHistory: orderShape,
  placeOrder: resultShape,
  amendOrder: resultShape,
  cancelBatch: resultShape,
  closePosition: [{ instId: is.product }, { clOrdId: is.text }],
  setLeverage: [{ instId: is.product, lever: is.decimal }, { mgnMode: is.text }],
};

/** What is wrong with an accepted record, or undefined. */
export const wrongWith = (endpoint: EndpointName, record: unknown): string | undefined => {
  if (record === null || typeof record !== "object" || Object.getPrototypeOf(record) !== Object.prototype)
    return "not a plain object";
  const [required, optional] = shapes[endpoint];
  const lacking = Object.keys(required).find((name) => !Object.hasOwn(record, name));
  if (lacking !== undefined) return `lacks ${lacking}`;
  const bad = Object.entries(record).find(([name, value]) => {
    const check = Object.hasOwn(required, name)
      ? required[name]
      : Object.hasOwn(optional, name)
        ? optional[name]
        : undefined;
    return check === undefined || !check(value);
  });
  return bad === undefined ? undefined : `has ${bad[0]} of ${JSON.stringify(bad[1])}`;
};

const strangers: readonly unknown[] = [
  null,
  true,
  false,
  0,
  1,
  -1,
  1e300,
  2 ** 53,
  "",
  "0",
  "NaN",
  "1e5",
  " 1",
  "1 ",
  "１",
  "\u0000",
  "x".repeat(5_000),
  [],
  {},
  ["0"],
  [[[[]]]],
  { toString: "0" },
  { valueOf: 1, length: 2 },
];
const names = [
  "__proto__",
  "constructor",
  "toString",
  "code",
  "data",
  "sCode",
  "status",
  "state",
  "tickSz",
  "lever",
  "",
];
type Tree = Record<string, unknown> | unknown[];

const isTree = (value: unknown): value is Tree => value !== null && typeof value === "object";
const treesIn = (value: unknown): readonly Tree[] =>
  isTree(value) ? [value, ...Object.values(value).flatMap(treesIn)] : [];

/** Changes one value somewhere: its type, its name, its place. Written as text, since `__proto__` is no ordinary name. */
const swapped = (text: string, random: Random): string => {
  const root = JSON.parse(text) as Tree;
  const trees = treesIn(root);
  const tree = trees[random.whole(0, trees.length - 1)] as Record<string, unknown>;
  const keys = Object.keys(tree);
  const key = keys[random.whole(0, Math.max(0, keys.length - 1))] ?? "0";
  switch (random.whole(0, 4)) {
    case 0:
      delete tree[key];
      break;
    case 1:
      Object.defineProperty(tree, names[random.whole(0, names.length - 1)] as string, {
        value: tree[key],
        enumerable: true,
        configurable: true,
        writable: true,
      });
      break;
    case 2: {
      const other = trees[random.whole(0, trees.length - 1)] as Tree;
      // A tree inside itself could not be written.
      if (!treesIn(other).includes(tree)) tree[key] = other;
      break;
    }
    default:
      tree[key] = strangers[random.whole(0, strangers.length - 1)];
  }
  return JSON.stringify(root);
};

const damaged = (bytes: Buffer, random: Random): Buffer => {
  const at = random.whole(0, bytes.length - 1);
  const to = Math.min(bytes.length, at + random.whole(0, 40));
  switch (random.whole(0, 4)) {
    case 0:
      return bytes.subarray(0, at);
    case 1:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(to)]);
    case 2:
      return Buffer.concat([bytes.subarray(0, to), bytes.subarray(at)]);
    default: {
      const copy = Buffer.from(bytes);
      copy[at] = random.whole(0, 3) === 0 ? random.whole(0, 255) : (copy[at] ?? 0) ^ (1 << random.whole(0, 7));
      return copy;
    }
  }
};

const statuses = [200, 200, 200, 200, 200, 200, 201, 400, 401, 403, 408, 429, 500, 503];

export interface Verdicts {
  readonly kinds: Record<string, number>;
  readonly records: number;
  readonly slowestMs: number;
  readonly wrong: readonly string[];
}

/** A machine that pauses is not an answer that is slow: what took long is read again, and the shortest time counts. */
const againMs = (read: () => unknown, firstMs: number, now: () => number): number => {
  let shortestMs = firstMs;
  for (let i = 0; i < 3 && shortestMs > 1; i++) {
    const before = now();
    read();
    shortestMs = Math.min(shortestMs, now() - before);
  }
  return shortestMs;
};

/** Reads `count` damaged answers; `now` is the watch. */
export const readDamaged = (count: number, random: Random, now: () => number): Verdicts => {
  const endpoints = endpointNames(contract);
  const kinds: Record<string, number> = {};
  const wrong: string[] = [];
  let records = 0;
  let slowestMs = 0;
  for (let index = 0; index < count; index++) {
    const endpoint = endpoints[index % endpoints.length] as EndpointName;
    let text = JSON.stringify({ code: "0", msg: "", data: valid[endpoint] });
    const swaps = random.whole(0, 2);
    for (let i = 0; i < swaps; i++) text = swapped(text, random);
    let bytes = Buffer.from(text);
    const damages = swaps === 0 ? random.whole(1, 2) : random.whole(0, 1);
    for (let i = 0; i < damages && bytes.length > 0; i++) bytes = Buffer.from(damaged(bytes, random));
    const status = statuses[random.whole(0, statuses.length - 1)] as number;
    const read = (): Outcome<unknown> =>
      parseResponse(endpoint, { status, headers: {}, body: readJson(bytes) }, contract, 0);
    const before = now();
    try {
      const outcome = read();
      slowestMs = Math.max(slowestMs, againMs(read, now() - before, now));
      kinds[outcome.kind] = (kinds[outcome.kind] ?? 0) + 1;
      if (outcome.kind !== "done") continue;
      records += outcome.records.length;
      for (const record of outcome.records) {
        const problem = wrongWith(endpoint, record);
        if (problem !== undefined) wrong.push(`${endpoint}: a record ${problem} from ${bytes.toString("utf8")}`);
      }
    } catch (error) {
      wrong.push(`${endpoint}: ${String(error)} from ${bytes.toString("utf8")}`);
    }
  }
  if (Object.keys(Object.prototype).length > 0) wrong.push("the prototype of every object was changed");
  return { kinds, records, slowestMs, wrong };
};
