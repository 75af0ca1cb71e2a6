/**
 * The conformance check of a service by its address, used by programs and by `sluice check`.
 *
 * Invariants: nothing is sent to an address that is not this machine's unless `placesOrders` permits orders there; test
 * orders are small, post-only and far from the market, and are canceled also when the signal ends the check early.
 * Not here: the rules (suite.ts), keys (check-keys.ts), assumptions of the profile beyond them (../doctor/).
 */

import { SluiceError } from "sluice";
import { type Dialect, exchangeContract, openTransport, type ProfileOverrides } from "sluice/dialect";
import { type Clock, checkOptions, createSystemClock, decimal, type OptionRules } from "sluice/extension";
import { isLoopback, keysFrom } from "./check-keys.ts";
import { type CheckReport, reportOf } from "./findings.ts";
import type { OrderHints } from "./test-orders.ts";

/** Options of `check`: those of the command. */
export interface CheckOptions {
  /**
   * File of keys: the line of `sluice venue --json`, or its `--keys` file. Left out, the environment's SLUICE_API_KEY,
   * SLUICE_SECRET_KEY and SLUICE_PASSPHRASE; without those, what needs a key is skipped.
   */
  readonly keys?: string;
  /** Address of the WebSocket, to check its limits too; the file of keys may contain it instead. */
  readonly ws?: string;
  /**
   * The exchange's dialect, if it is not the described service: rules that do not apply to it are skipped, rules of
   * dialects are added.
   */
  readonly dialect?: Dialect;
  /** Rows of the service profile to override. */
  readonly profile?: ProfileOverrides;
  /** Leave out what uses up or waits for a minute. */
  readonly quick?: boolean;
  /** Only rules whose id begins with one of these, such as `4.4` or `8.1-key`. */
  readonly only?: readonly string[];
  /** Swap to place orders on; the first listed when left out. */
  readonly instrument?: string;
  /** Price of those orders, far below the market, as decimal text. */
  readonly px?: string;
  /** Size of those orders, as decimal text. */
  readonly sz?: string;
  /** Needed where the service is not on this machine: orders are placed and canceled there. */
  readonly placesOrders?: boolean;
  /** Called before each rule is asked. */
  readonly onProgress?: (rule: { readonly id: string; readonly title: string }) => void;
  /** Ends the check early: orders are canceled first, and the report holds the rules that were asked. */
  readonly signal?: AbortSignal;
}

/** Dependencies of a check; a command line passes its own. */
interface Surroundings {
  readonly clock?: Clock;
  readonly env?: (name: string) => string | undefined;
}

const text = { type: "string" };
const options: OptionRules = {
  others: {
    keys: text,
    ws: text,
    dialect: { type: "object" },
    profile: { type: "object" },
    quick: { type: "boolean" },
    only: { type: "array", items: text },
    instrument: text,
    px: text,
    sz: text,
    placesOrders: { type: "boolean" },
    onProgress: {},
    signal: {},
  },
};

/**
 * Checks the service at this address, rule by rule of its description. Places and cancels small orders: for test
 * accounts. The report is what `sluice check --json` prints; a broken rule is its `passed: false`, and no error. Throws
 * `USAGE`, `PROFILE_INVALID` or `DECIMAL_INVALID` before anything is sent, `USAGE` where the service refuses the key,
 * and `OUTCOME_UNKNOWN` where nothing answers.
 */
export const check = async (
  url: string,
  given: CheckOptions = {},
  surroundings: Surroundings = {},
): Promise<CheckReport> => {
  checkOptions("check", options, given);
  askFirst(url, given);
  const { clock = createSystemClock(), env = (name) => process.env[name] } = surroundings;
  const contract = exchangeContract(given.dialect ?? {}, given.profile);
  const { keys, credentials, wsUrl } = keysFrom(url, given.keys, contract.profile, env);
  const socketUrl = given.ws ?? wsUrl;
  if (socketUrl !== undefined) askFirst(socketUrl, given);
  const order = orderHints(given);
  // Loaded when it is needed: mistakes should not wait for the rules.
  const { checkService, rulesFor } = await import("./suite.ts");
  const way = await openTransport({ url, contract, dialect: given.dialect, credentials, clock });
  try {
    checkRules(given.only, rulesFor(given.dialect));
    const result = await checkService({
      contract,
      clock,
      transport: way.transport,
      serviceNow: () => way.serviceNow(),
      keys,
      quick: given.quick === true,
      order,
      stop: given.signal ?? new AbortController().signal,
      ...(given.dialect !== undefined && { dialect: given.dialect }),
      ...(socketUrl !== undefined && { socket: { url: socketUrl, open: way.openSocket } }),
      ...(given.only !== undefined && { only: given.only }),
      ...(given.onProgress !== undefined && { onRule: given.onProgress }),
    });
    return reportOf(url, result);
  } finally {
    await way.close();
  }
};

const orderHints = ({ instrument, px, sz }: CheckOptions): OrderHints => ({
  ...(instrument !== undefined && { instId: instrument }),
  ...(px !== undefined && { px: decimal(px, "--px") }),
  ...(sz !== undefined && { sz: decimal(sz, "--sz") }),
});

const checkRules = (only: readonly string[] | undefined, rules: readonly { readonly id: string }[]): void => {
  const unknown = only?.find((start) => !rules.some(({ id }) => id.startsWith(start)));
  if (unknown === undefined) return;
  throw new SluiceError(
    "USAGE",
    `--only: no rule begins with "${unknown}". Rules are called ${rules[0]?.id}, 4.4-elements, 8.1-key …`,
  );
};

/** Refuses another machine's service, keys unread, without leave to place orders. */
const askFirst = (url: string, { placesOrders }: CheckOptions): void => {
  if (placesOrders === true || isLoopback(url)) return;
  const host = URL.canParse(url) ? new URL(url).host : "";
  // A text that is no address is refused where it is used.
  if (host === "") return;
  throw new SluiceError(
    "USAGE",
    `check places and cancels orders, and ${host} is not this machine. If that is a test account, allow it: sluice check … --places-orders`,
  );
};
