/**
 * Error codes of BloFin v1, by their meaning for a call; all but 429 come with HTTP status 200.
 *
 * Invariants: a code is a rejection only if its documented text states that the order or call was judged and refused;
 * internal errors and ids already in use are not rejections.
 * Source: public documentation of BloFin v1, "Errors".
 */

const statuses: ReadonlyMap<string, number> = new Map([
  ["429", 429],
  // An unknown or expired key, a stale timestamp, a foreign address, a nonce used twice, a wrong passphrase or
  // signature.
  ...["401", "152401", "152402", "152405", "152406", "152407", "152408", "152409", "152410"].map(
    (code) => [code, 401] as const,
  ),
  // "not supported, please check the requestPath or API key permissions".
  ["152404", 403],
  // "Internal error": it is unknown whether the call was executed.
  ["500", 503],
  ["103013", 503],
]);

/**
 * Returns the status with which the described service answers the meaning of the code; other codes with the prefix of
 * key errors are key errors, too. Codes from 152420 to 152429 are about orders.
 */
export const blofinStatusOf = (code: string): number | undefined =>
  statuses.get(code) ?? (/^1524(?!2\d$)/.test(code) ? 401 : undefined);

/** Codes besides those of the profile's own rows that mean: judged and not executed. */
export const blofinRejections: readonly string[] = [
  // Missing, contradicting or malformed parameters; a path or method that does not exist.
  ...[
    "400",
    "404",
    "405",
    "406",
    "80001",
    "152001",
    "152003",
    "152004",
    "152005",
    "152007",
    "152008",
    "152009",
    "152011",
    "152012",
    "152013",
  ],
  ...["152015"],
  // Sizes, prices and funds.
  ...["542", "102014", "102015", "102065", "103003"],
  // A new size below the filled one, and an invalid lifetime; ids already in use (152420, 152421) are looked up
  // instead.
  ...["152422", "152423", "152428", "152429"],
  // Positions: closed already, none to reduce, the mode of two sides.
  ...["102005", "102089"],
  // Cancels of orders that are over.
  "1000",
  // Leverage cannot be changed because of open orders or positions.
  ...["110006"],
];
