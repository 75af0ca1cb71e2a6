/**
 * Fields of calls that the venue acts on, or that change nothing: all others are refused by name.
 *
 * An exchange has parameters that decide what is held and when, such as a stop attached to an order or an instant after
 * which it is not placed. A venue that accepted and dropped them would confirm a stop that does not exist.
 *
 * Invariants: a field without a value counts as absent; the error names the first field that is not in the table.
 * Not here: the meaning of fields (the calls of each dialect).
 */
import type { EndpointName } from "sluice/dialect";

/** By field `"any"` where every value is taken, else the values that are modelled or change nothing. */
type FieldTable = Readonly<Record<string, "any" | readonly string[]>>;
export type FieldsByEndpoint = Readonly<Partial<Record<EndpointName, FieldTable>>>;

export const any = (...names: readonly string[]): FieldTable => Object.fromEntries(names.map((name) => [name, "any"]));

/** Accepted values of a flag. Any other value is rejected instead of being read as `false`. */
export const flag: readonly string[] = ["true", "false"];

/** The first field of a body's element that the venue does not model; undefined where there is none. */
export const unmodelled = (table: FieldTable | undefined, given: unknown): string | undefined => {
  if (table === undefined || given === null || typeof given !== "object" || Array.isArray(given)) return undefined;
  for (const [name, value] of Object.entries(given)) {
    if (isUntold(value)) continue;
    const allowed = Object.hasOwn(table, name) ? table[name] : [];
    if (allowed !== "any" && allowed?.includes(String(value)) !== true) return name;
  }
  return undefined;
};

const isUntold = (value: unknown): boolean =>
  value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);

/** Message of the rejection, in the form that the exchange uses for a wrong parameter. */
export const unmodelledText = (name: string): string =>
  `Parameter ${name} error: this simulated exchange does not model it`;
