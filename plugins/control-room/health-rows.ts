/**
 * The health of an engine as rows: one figure each, with the state that a person should see.
 *
 * Invariants: pure; a figure that is not known has no row.
 */
import type { EngineHealth } from "sluice";
import type { PositionDifference, ResourceHealth } from "sluice/extension";
import type { HealthRow } from "./control-rows.ts";

type Named = readonly [name: string, row: HealthRow];
type State = HealthRow["state"];

/** A turn of the event loop that is later than this is felt by orders. */
const lateMsWarn = 50;
const lateMsBad = 500;
/** A request signed so far off is refused by many services. */
const offsetMsWarn = 1_000;
const latencyMsWarn = 2_000;
/** Age from which the last look of a standby process is a warning; such a process looks twice a second. */
const standbyMsWarn = 10_000;

const row = (name: string, value: HealthRow["value"], unit = "", state: State = "ok"): Named => [
  name,
  { value, unit, state },
];
const above = (value: number, warn: number, bad = Number.POSITIVE_INFINITY): State =>
  value > bad ? "bad" : value > warn ? "warn" : "ok";

const journalStates: Readonly<Record<EngineHealth["journal"]["state"], State>> = {
  none: "ok",
  opening: "warn",
  open: "ok",
  failed: "bad",
};
const journalWords: Readonly<Record<EngineHealth["journal"]["state"], string>> = {
  none: "none",
  opening: "opening",
  open: "open",
  failed: "failed, at most exits and cancels leave",
};
const watchdogStates: Readonly<Record<EngineHealth["watchdog"]["state"], State>> = {
  none: "ok",
  waiting: "warn",
  armed: "ok",
  lost: "bad",
  tripped: "bad",
};

const standbyStates: Readonly<Record<EngineHealth["standby"]["state"], State>> = {
  none: "ok",
  waiting: "ok",
  settling: "ok",
  leading: "ok",
  alone: "bad",
  mute: "bad",
  over: "bad",
};

const standbyRows = ({
  state,
  leader,
  standbys,
  copyBehind,
  storeError,
}: EngineHealth["standby"]): readonly Named[] => {
  if (state === "none") return [];
  const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s ago`;
  const words = leader === undefined ? state : `${state}, ${leader.name} heard ${seconds(leader.heardMs)}`;
  const fresh = standbys.filter(({ heardMs }) => heardMs < standbyMsWarn);
  return [
    row("standby", words, "", standbyStates[state]),
    ...(state === "leading" && fresh.length === 0 ? [row("standbys", "none is alive", "", "warn")] : []),
    ...fresh.map(({ name, heardMs }) => row(`standby ${name}`, `heard ${seconds(heardMs)}`)),
    ...(storeError === undefined ? [] : [row("standby store", storeError, "", "warn")]),
    ...(copyBehind ? [row("journal copy", "behind", "", "warn")] : []),
  ];
};

const withReason = (state: string, reason: string): string => (reason === "" ? state : `${state}: ${reason}`);

export const healthRows = (health: EngineHealth): readonly Named[] => {
  const { clock, open, pushing, eventLoop, journal, watchdog, standby, resources, differences, anomalies, latency } =
    health;
  return [
    ...(clock === undefined
      ? []
      : [row("clock offset", Math.round(clock.offsetMs), "ms", above(Math.abs(clock.offsetMs), offsetMsWarn))]),
    ...(eventLoop === undefined
      ? []
      : [
          row("event loop", Math.round(eventLoop.lateMs), "ms", above(eventLoop.lateMs, lateMsWarn, lateMsBad)),
          row("event loop, worst", Math.round(eventLoop.lateMsMax), "ms", above(eventLoop.lateMsMax, lateMsBad)),
        ]),
    ...(open === undefined
      ? []
      : [
          row("sockets", open.sockets),
          row("subscriptions", open.subscriptions),
          row("requests in flight", open.requests),
        ]),
    ...Object.entries(pushing).map(([uid, isPushing]) =>
      row(`pushed orders ${uid}`, isPushing, "", isPushing ? "ok" : "warn"),
    ),
    row("journal", withReason(journalWords[journal.state], journal.reason), "", journalStates[journal.state]),
    row("watchdog", withReason(watchdog.state, watchdog.reason), "", watchdogStates[watchdog.state]),
    ...standbyRows(standby),
    ...differences.map(differenceRow),
    row("anomalies", anomalies, "", above(anomalies, 0)),
    ...resources.flatMap(resourceRow),
    ...latency.flatMap(({ endpoint, p50Ms, p99Ms }) => [
      row(`${endpoint} p50`, Math.round(p50Ms), "ms", above(p50Ms, latencyMsWarn)),
      row(`${endpoint} p99`, Math.round(p99Ms), "ms", above(p99Ms, latencyMsWarn)),
    ]),
  ];
};

const differenceRow = ({ user, instId, account, held, holders }: PositionDifference): Named =>
  row(`position ${instId} ${user}`, `account ${account}, strategies ${held}${holdersOf(holders)}`, "", "bad");

const resourceRow = ({ user, name, ageMs, stale, problem }: ResourceHealth): readonly Named[] =>
  ageMs === undefined
    ? []
    : [
        row(
          `${name} ${user}`,
          stale ? withReason("stale", problem) : Math.round(ageMs),
          stale ? "" : "ms",
          stale ? "warn" : "ok",
        ),
      ];

const holdersOf = (holders: PositionDifference["holders"]): string =>
  holders.length === 0 ? "" : ` (${holders.map(({ strategy, qty }) => `${strategy} ${qty}`).join(", ")})`;
