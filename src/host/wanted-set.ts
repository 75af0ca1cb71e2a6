/**
 * Whether what a strategy emitted is a set of wanted orders. Pure.
 *
 * Invariants: a set that passes can be compared and marked without throwing; a complaint names the strategy, the order, the
 * field and what was found there.
 * Not here: whether an order may be sent (orders/rules.ts); a refused order does not end its strategy, a malformed set does.
 */
import { isDecimal } from "../decimal.ts";
import { didYouMean, SluiceError } from "../errors.ts";
import type { WantedOrder } from "../orders/wanted.ts";

const needed = ["slot", "instId", "side"] as const;
const texts = ["ordType", "px", "qty", "notional", "sz", "keepWithin", "tag"] as const;

const known: ReadonlySet<string> = new Set([...needed, ...texts, "reduceOnly", "round"]);

export const checkWanted = (strategy: string, emitted: unknown): readonly WantedOrder[] => {
  if (!Array.isArray(emitted)) {
    throw malformed(strategy, `emitted ${shown(emitted)}. Emit a list of orders; an empty list wants none`);
  }
  for (let index = 0; index < emitted.length; index++) checkOrder(strategy, emitted[index], index);
  return emitted as readonly WantedOrder[];
};

const checkOrder = (strategy: string, order: unknown, index: number): void => {
  if (typeof order !== "object" || order === null) {
    throw malformed(strategy, `emitted ${shown(order)} as order ${index}. An order has slot, instId, side, px and a size`);
  }
  const fields = order as Readonly<Record<string, unknown>>;
  const name = typeof fields["slot"] === "string" ? `order "${fields["slot"]}"` : `order ${index}`;
  for (const field in fields) {
    if (!known.has(field))
      throw malformed(strategy, `emitted ${name} with the unknown field "${field}".${didYouMean(field, [...known])} Leave it out`);
  }
  for (const field of needed) {
    const value = fields[field];
    if (typeof value !== "string" || value === "") {
      throw malformed(strategy, `emitted ${name} with ${field} ${shown(value)}. Write text, such as ${examples[field]}`);
    }
  }
  for (const field of texts) {
    const value = fields[field];
    if (value !== undefined && typeof value !== "string") {
      throw malformed(strategy, `emitted ${name} with ${field} ${shown(value)}. Write text, such as ${examples[field]}`);
    }
  }
  const { keepWithin, round } = order as Partial<WantedOrder>;
  if (keepWithin !== undefined && !isDecimal(keepWithin)) {
    throw malformed(strategy, `emitted ${name} with keepWithin ${shown(keepWithin)}. Write text, such as ${examples.keepWithin}`);
  }
  if (round !== undefined && typeof round !== "string" && typeof round !== "number") {
    throw malformed(strategy, `emitted ${name} with round ${shown(round)}. Write a number or text`);
  }
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

const malformed = (strategy: string, what: string): SluiceError => new SluiceError("STRATEGY_FAILED", `${strategy}: \`desired\` ${what}.`);

const shown = (value: unknown): string => {
  const text = typeof value === "number" || typeof value === "function" ? String(value) : (JSON.stringify(value) ?? String(value));
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
};
