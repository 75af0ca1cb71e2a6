/**
 * Acceptance run of a dialect: the rules that apply to it, and the run of lost and doubled orders, at one service by
 * its address.
 *
 * Invariants: as `check`: nothing is sent to another machine unless `placesOrders` permits orders there; orders that
 * may be left open are named. The result covers what a copy or a demo can show; real money is not tested.
 * Not here: rules (verify/conformance/), one fault (lost-orders.ts).
 */

import { compare, SluiceError } from "sluice";
import { type Dialect, exchangeContract, openTransport } from "sluice/dialect";
import { type Clock, createSystemClock } from "sluice/extension";
import { ProbeClient } from "../probe/probe-client.ts";
import { fieldOf, type Raw } from "../probe/reply.ts";
import { type CheckOptions, check } from "../rules/check.ts";
import { keysFrom } from "../rules/check-keys.ts";
import type { CheckedRule, CheckReport } from "../rules/findings.ts";
import type { Verdict } from "../rules/rule.ts";
import { type WayFault, wayFaults } from "./faulty-way.ts";
import { loseOrder, type TradedProduct } from "./lost-orders.ts";

/** Options of `accept`: those of `check`, and which faults to play. */
export interface AcceptOptions extends CheckOptions {
  readonly dialect: Dialect;
  /** Faults to play instead of all; see the report's rules `L-…` for their names. */
  readonly faults?: readonly string[];
}

interface Surroundings {
  readonly clock?: Clock;
  readonly env?: (name: string) => string | undefined;
}

/**
 * Checks a service in a dialect by the rules that apply, and then drops, corrupts and duplicates placements and cancels
 * on the way to it: each time one order is wanted, and one must exist. Rules of lost orders are named `L-…`. Takes some
 * minutes, most of them for an order that never arrived. Errors are those of `check`.
 */
export const accept = async (
  url: string,
  { faults, ...given }: AcceptOptions,
  surroundings: Surroundings = {},
): Promise<CheckReport> => {
  const chosen = faultsOf(faults);
  const checked = await check(url, given, surroundings);
  const { clock = createSystemClock(), env = (name) => process.env[name] } = surroundings;
  const contract = exchangeContract(given.dialect, given.profile);
  const { profile } = contract;
  const { dialect } = given;
  const { keys, credentials, wsUrl } = keysFrom(url, given.keys, profile, env);
  const key = keys.find(
    ({ permissions }) => permissions.includes("read") && permissions.includes(profile.permissions.placeSwap),
  );
  const secrets = key && credentials.get(key.name);
  if (key === undefined || secrets === undefined)
    throw new SluiceError("USAGE", "Lost orders are tried with a key that may read and trade; give one with --keys.");
  const stop = given.signal ?? new AbortController().signal;
  const way = await openTransport({ url, contract, dialect, credentials, clock });
  const client = new ProbeClient({ contract, clock, transport: way.transport, stop, split: dialect.split });
  const sending = { key: key.name, uid: key.uid };
  try {
    const product = productFor((await client.send("instruments", {}, {})).records, given);
    const openOrders = async (): Promise<readonly string[]> => {
      const { records } = await client.send("pendingOrders", { instId: product.instId, limit: "100" }, sending);
      return records.map((record) => fieldOf(record, "ordId"));
    };
    const rules: CheckedRule[] = [];
    for (const fault of chosen) {
      if (stop.aborted) break;
      const about = { id: `L-${fault}`, section: "L", title: `a placement and a cancel: ${wayFaults[fault]}` };
      given.onProgress?.(about);
      const socket = given.ws ?? (wsUrl === undefined ? socketHost(url) : socketHost(wsUrl));
      const traded = {
        url,
        wsUrl: socket,
        dialect,
        profile: given.profile ?? {},
        credentials: secrets,
        clock,
        product,
        openOrders,
        stop,
      };
      rules.push({ ...about, ...(await loseOrder(traded, fault)) });
    }
    return withRules(checked, rules);
  } finally {
    await way.close();
  }
};

const faultsOf = (given: readonly string[] | undefined): readonly WayFault[] => {
  const known = Object.keys(wayFaults) as WayFault[];
  const unknown = given?.find((name) => !(known as readonly string[]).includes(name));
  if (unknown === undefined) return known.filter((name) => given?.includes(name) ?? true);
  throw new SluiceError("USAGE", `faults: there is no "${unknown}"; there is ${known.join(", ")}.`);
};

/** Returns the host of the sockets; their paths are defined by the dialect. */
const socketHost = (url: string): string => {
  const { protocol, host } = new URL(url);
  return `${protocol.replace("http", "ws")}//${host}`;
};

/** The product named or the first swap, at its smallest size. */
const productFor = (records: readonly Raw[], { instrument, px }: CheckOptions): TradedProduct => {
  const found = records.find((record) => {
    const instId = fieldOf(record, "instId");
    return instrument === undefined ? instId.endsWith("-SWAP") : instId === instrument;
  });
  if (found === undefined)
    throw new SluiceError("USAGE", `${instrument ?? "A perpetual swap"} is not listed; name one with --instrument.`);
  const [tick, lot, least] = ["tickSize", "lotSize", "minSize"].map((name) => fieldOf(found, name)) as [
    string,
    string,
    string,
  ];
  const qty = least !== "" && compare(least, lot) > 0 ? least : lot;
  return { instId: fieldOf(found, "instId"), tickSize: tick, qty, ...(px !== undefined && { px }) };
};

const withRules = (checked: CheckReport, rules: readonly CheckedRule[]): CheckReport => {
  const of = (kind: Verdict["kind"]): number => rules.filter((rule) => rule.kind === kind).length;
  const { pass, fail, open, skipped } = checked.counts;
  const counts = {
    pass: pass + of("pass"),
    fail: fail + of("fail"),
    open: open + of("open"),
    skipped: skipped + of("skipped"),
  };
  return { ...checked, passed: checked.passed && of("fail") === 0, counts, rules: [...checked.rules, ...rules] };
};
