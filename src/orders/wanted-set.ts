/**
 * Validation of a strategy's emission, or of an order placed by hand: checks that it is a list of wanted orders, or one
 * order, and copies it. Pure.
 *
 * Invariants: a set that passes can be compared and marked without throwing; it is a copy, so later changes of the
 * author's objects and getters do not affect it; an error names the strategy, the order, the field and the value found.
 * Not here: whether an order may be sent (orders/risk/pre-trade-checks.ts). A refused order does not end its strategy;
 * a malformed set does.
 */
import { isDecimal } from "../decimal.ts";
import { didYouMean, SluiceError } from "../errors.ts";
import { malformedProtect, malformedProtection, type Protect, type WantedProtection } from "./protection/protect.ts";
import type { Cross, WantedOrder } from "./wanted-order.ts";

const textFields = ["slot", "instId", "side", "ordType", "px", "qty", "notional", "sz", "keepWithin", "tag"] as const;

const known: ReadonlySet<string> = new Set([...textFields, "reduceOnly", "round", "cross", "protect"]);

const crosses: readonly Cross[] = ["touch", "skip", "reject"];

const ordersMax = 1_000;

/** A strategy's set after validation. */
interface WantedSet {
  readonly orders: readonly WantedOrder[];
  /** Protections of whole positions. */
  readonly protections: readonly WantedProtection[];
}

const noProtections: readonly WantedProtection[] = [];

export const takeWanted = (strategy: string, emitted: unknown): WantedSet => {
  if (!Array.isArray(emitted)) {
    throw malformed(strategy, `emitted ${shown(emitted)}. Emit a list of orders; an empty list wants none`);
  }
  const { length } = emitted;
  if (length > ordersMax) {
    const text = `${strategy}: \`wanted\` emitted ${length} orders. A strategy has ${ordersMax} slots at most; want fewer at a time.`;
    throw new SluiceError("STRATEGY_FAILED", text);
  }
  const orders = new Array<WantedOrder>(length);
  let taken = 0;
  let protections = noProtections;
  for (let index = 0; index < length; index++) {
    const order: unknown = emitted[index];
    if (isProtection(order)) {
      protections = withProtection(strategy, protections, order);
      continue;
    }
    const copy = copyOf(order, `order ${index}`);
    if (typeof copy === "string") throw malformed(strategy, `emitted ${copy}`);
    orders[taken++] = copy;
  }
  if (taken < length) orders.length = taken;
  return { orders, protections };
};

/** Returns true if the item names an instrument and a protection, but no slot. */
const isProtection = (item: unknown): item is Readonly<Record<string, unknown>> =>
  typeof item === "object" && item !== null && "protect" in item && !("slot" in item);

/**
 * Merges several protections of one position into one, so that a stop and a take-profit made by separate constructors
 * belong together.
 */
const withProtection = (
  strategy: string,
  before: readonly WantedProtection[],
  item: Readonly<Record<string, unknown>>,
): readonly WantedProtection[] => {
  const { instId, side, protect } = item;
  if (typeof instId !== "string" || instId === "") {
    throw malformed(
      strategy,
      `emitted a protection with instId ${shown(instId)}. Write text, such as ${examples.instId}`,
    );
  }
  const strange = Object.keys(item).find((field) => field !== "instId" && field !== "side" && field !== "protect");
  const problem =
    strange === undefined
      ? malformedProtection(item)
      : `the unknown field "${strange}".${didYouMean(strange, ["instId", "side", "protect"])} Leave it out`;
  if (problem !== undefined) throw malformed(strategy, `emitted a protection of ${instId} with ${problem}`);
  const copy = copyOfProtect(protect as Protect);
  const own = before.find((one) => one.instId === instId && one.side === side);
  const twice = Object.keys(copy).find(
    (field) =>
      own !== undefined &&
      field in own.protect &&
      shown(own.protect[field as keyof Protect]) !== shown(copy[field as keyof Protect]),
  );
  if (twice !== undefined)
    throw malformed(strategy, `emitted two protections of ${instId} with different ${twice}. Write one`);
  const merged: WantedProtection = {
    instId,
    ...(side !== undefined && { side: side as "long" | "short" }),
    protect: { ...own?.protect, ...copy },
  };
  return [...before.filter((one) => one !== own), merged];
};

/** Copies two levels, without fields that are undefined. */
const copyOfProtect = (protect: Protect): Protect =>
  Object.fromEntries(
    Object.entries(protect)
      .filter(([, value]) => value !== undefined)
      .map(([field, value]: [string, unknown]) => [field, typeof value === "object" ? { ...value } : value]),
  );

/** Copies an order that is placed by hand, or returns the reason why it is invalid. */
export const takePlaced = (order: unknown): WantedOrder | string => {
  const taken = copyOf(order, "an order");
  return typeof taken === "string" ? `orders.place was given ${ended(taken)}` : taken;
};

/**
 * Copies an order, reading each field once, into an object of one shape. `place` names an order without a slot in
 * messages.
 */
const copyOf = (order: unknown, place: string): WantedOrder | string => {
  if (typeof order !== "object" || order === null)
    return `${shown(order)} as ${place}. An order has slot, instId, side, px and a size`;
  // Inherited fields do not count. Node 20 reads the copy ten times faster than an object that begins with a spread.
  const own: Partial<WantedOrder> = { ...order };
  const { slot, instId, side, ordType, px, qty, notional, sz, reduceOnly, keepWithin, round, tag, cross, protect } =
    own;
  const copy = {
    slot,
    instId,
    side,
    ordType,
    px,
    qty,
    notional,
    sz,
    reduceOnly,
    keepWithin,
    round,
    tag,
    cross,
    protect,
  };
  const problem = fieldProblem(own, copy) ?? valueProblem(copy as Partial<WantedOrder>);
  if (problem !== undefined) return `${typeof slot === "string" ? `order "${slot}"` : place} with ${problem}`;
  if (protect !== undefined) copy.protect = copyOfProtect(protect);
  return copy as WantedOrder;
};

/** Names of these fields at other services, for hints in messages. */
const otherNames: Readonly<Record<string, string>> = {
  type: "ordType",
  price: "px",
  size: "qty",
  quantity: "qty",
  amount: "qty",
  symbol: "instId",
  instrument: "instId",
};

const meant = (field: string): string => {
  const name = otherNames[field.toLowerCase()];
  return name === undefined ? `${didYouMean(field, [...known])} Leave it out` : ` Did you mean "${name}"?`;
};

/** Problem with an unknown field of the order, or with a field of the copy that is not text as required. */
const fieldProblem = (order: object, fields: Readonly<Record<(typeof textFields)[number], unknown>>) => {
  for (const field in order) if (!known.has(field)) return `the unknown field "${field}".${meant(field)}`;
  const { slot, instId, side, ordType, px, qty, notional, sz, keepWithin, tag } = fields;
  return (
    neededProblem("slot", slot) ??
    neededProblem("instId", instId) ??
    neededProblem("side", side) ??
    textProblem("ordType", ordType) ??
    textProblem("px", px) ??
    textProblem("qty", qty) ??
    textProblem("notional", notional) ??
    textProblem("sz", sz) ??
    textProblem("keepWithin", keepWithin) ??
    textProblem("tag", tag)
  );
};

const neededProblem = (field: keyof typeof examples, value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? undefined : notText(field, value);

const textProblem = (field: keyof typeof examples, value: unknown): string | undefined =>
  value === undefined || typeof value === "string" ? undefined : notText(field, value);

const notText = (field: keyof typeof examples, value: unknown): string =>
  `${field} ${shown(value)}. Write text, such as ${examples[field]}`;

const valueProblem = ({ keepWithin, round, cross, protect, reduceOnly }: Partial<WantedOrder>): string | undefined => {
  const wrong = protect === undefined ? undefined : malformedProtect(protect);
  if (wrong !== undefined) return wrong;
  if (protect !== undefined && reduceOnly === true)
    return "reduceOnly and protect. An exit opens nothing that could be protected; leave one of them out";
  if (keepWithin !== undefined && !isDecimal(keepWithin))
    return `keepWithin ${shown(keepWithin)}. Write text, such as ${examples.keepWithin}`;
  if (cross !== undefined && !crosses.includes(cross))
    return `cross ${shown(cross)}. Write one of ${crosses.map((one) => `"${one}"`).join(", ")}`;
  if (round !== undefined && typeof round !== "string" && typeof round !== "number")
    return `round ${shown(round)}. Write a number or text`;
  return undefined;
};

const examples = {
  slot: '"bid"',
  instId: "an instId that the service lists",
  side: '"buy" or "sell"',
  ordType: '"post_only"',
  px: 'px: "42000.5"',
  qty: 'qty: "0.01"',
  notional: 'notional: "100"',
  sz: 'sz: "100"',
  keepWithin: 'keepWithin: "0.5"',
  tag: '"entry"',
} as const;

const malformed = (strategy: string, what: string): SluiceError =>
  new SluiceError("STRATEGY_FAILED", `${strategy}: \`wanted\` ${ended(what)}`);

const ended = (what: string): string => (what.endsWith("?") ? what : `${what}.`);

const shown = (value: unknown): string => {
  const text =
    typeof value === "number" || typeof value === "function" ? String(value) : (JSON.stringify(value) ?? String(value));
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
};
