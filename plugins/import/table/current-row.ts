/**
 * Current row of a file of rows, by the meaning of its columns.
 *
 * Invariants: one object serves all rows, because an object for each costs more than reading it; decimals are plain
 * digits.
 */
import type { Parsed } from "../import-decimals.ts";
import { isBlank, plainDigits } from "./cell-kinds.ts";
import type { Plan } from "./detect.ts";
import type { Role } from "./layout.ts";
import { type PriceKind, withoutFloat } from "./printed-floats.ts";
import type { RowValues } from "./row-sink.ts";

/** Roles whose cells are prices. */
export const priceRoles: ReadonlySet<Role> = new Set<Role>(["open", "high", "low", "close", "price", "bid", "ask"]);

/** Roles whose cells are decimals. */
const numbers: ReadonlySet<Role> = new Set<Role>([
  "open",
  "high",
  "low",
  "close",
  "volume",
  "price",
  "qty",
  "bid",
  "bidQty",
  "ask",
  "askQty",
]);

export class CurrentRow implements RowValues {
  at = 0;
  line = 0;
  endAt: number | undefined;
  unit: Parsed | undefined;
  cells: readonly string[] = [];
  columns: Plan["columns"] = {};
  levelsOf: Plan["levels"] = [];
  /** Name of a side in the file, mapped to ours. */
  readonly sides = new Map<string, string>();
  priceKind: PriceKind = "decimal";
  /** Number of decimals that were printed floats. A reader asks for each decimal of a row once. */
  floats = 0;

  readonly cell = (role: Role): string => {
    const text = this.cells[this.columns[role] ?? -1] ?? "";
    if (role === "side") return this.sides.get(text) ?? text;
    if (!numbers.has(role)) return text;
    return this.#decimal(text, priceRoles.has(role));
  };

  #decimal(text: string, isPrice: boolean): string {
    const plain = plainDigits(text);
    const read = withoutFloat(plain, isPrice ? this.priceKind : "decimal");
    if (read !== plain) this.floats++;
    return read;
  }

  /** Levels that are there, without those of quantity zero. */
  readonly levels = (side: 1 | -1): readonly (readonly [string, string])[] =>
    this.levelsOf.flatMap((level) => {
      const [px, qty] = side === 1 ? [level.bid, level.bidQty] : [level.ask, level.askQty];
      const pairs = px === qty ? listIn(this.cells[px]) : [[this.cells[px], this.cells[qty]] as const];
      return pairs.flatMap(([price = "", size = ""]) => {
        if (isBlank(price) || isBlank(size) || Number(size) === 0) return [];
        return [[this.#decimal(price, true), this.#decimal(size, false)] as const];
      });
    });
}

const listIn = (cell = ""): readonly (readonly [string?, string?])[] => (cell.startsWith("[[") ? JSON.parse(cell) : []);
