/**
 * Findings about a shared quota: compares the store and the engines of a group with the assumptions in the config of
 * one of them.
 *
 * Invariants: pure; a difference comes with its remedy; nothing is concluded about engines without a statement.
 * Not here: reading the store (store-survey.ts).
 */
import { isTooShort } from "./divided-windows.ts";
import type { StoreSurvey, SurveyedWindow } from "./store-survey.ts";

/** Finding of the doctor about one side of a shared quota. */
export interface GroupFinding {
  readonly about: string;
  readonly verdict: "holds" | "differs" | "not seen";
  readonly text: string;
}

interface GroupSettings {
  readonly member: string;
  readonly share: number;
  readonly of: number;
  readonly layers: readonly {
    readonly name: string;
    readonly scope: "ip" | "uid" | "key" | "instrument";
    readonly windowMs: number;
  }[];
}

const slowMs = 50;
const heardMsMost = 5_000;
const answersLeast = 20;
const seenLeast = 0.7;
const phaseMs = 500;

export const groupFindings = (survey: StoreSurvey, settings: GroupSettings): readonly GroupFinding[] => [
  ...serverFindings(survey),
  ...shareFindings(survey, settings),
  ...clockFindings(survey),
  ...addressFindings(survey),
  ...layerFindings(settings),
  survey.halted === undefined
    ? { about: "halt", verdict: "holds", text: "the group trades" }
    : {
        about: "halt",
        verdict: "differs",
        text: `the group is halted: ${survey.halted}. Resume it with sluice halt --everywhere … --resume`,
      },
];

const finding = (about: string, isFine: boolean, text: string): GroupFinding => ({
  about,
  verdict: isFine ? "holds" : "differs",
  text,
});

const serverFindings = ({
  version,
  runId,
  memoryPolicy,
  denied,
  roundTripsMs,
}: StoreSurvey): readonly GroupFinding[] => {
  const [median = 0, slowest = 0] = [roundTripsMs[Math.floor(roundTripsMs.length / 2)], roundTripsMs.at(-1)];
  const trip = `a round trip takes ${median.toFixed(1)} ms, ${slowest.toFixed(1)} ms at most of ${roundTripsMs.length}`;
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isKnown = version !== "unknown";
  return [
    finding(
      "round trip",
      median <= slowMs,
      median <= slowMs ? trip : `${trip}; exits beyond the first wait for it. Take a store nearer by`,
    ),
    isKnown
      ? finding(
          "server",
          major > 6 || (major === 6 && minor >= 2),
          `version ${version}, run ${runId.slice(0, 8)}${major < 6 ? "; 6.2 or later is needed" : ""}`,
        )
      : { about: "server", verdict: "not seen", text: "its version may not be read" },
    memoryPolicy === undefined
      ? { about: "memory", verdict: "not seen", text: "maxmemory-policy may not be read" }
      : finding(
          "memory",
          memoryPolicy === "noeviction",
          memoryPolicy === "noeviction"
            ? "maxmemory-policy is noeviction"
            : `maxmemory-policy is ${memoryPolicy}: what engines hold may be evicted. Set it to noeviction`,
        ),
    finding(
      "permissions",
      denied.length === 0,
      denied.length === 0
        ? "the user of the address may do all that is needed"
        : `the user of the address may not: ${denied.join(", ")}`,
    ),
  ];
};

const shareFindings = ({ members }: StoreSurvey, { member, share, of }: GroupSettings): readonly GroupFinding[] => {
  const others = members.filter((one) => one.member !== member);
  const sum = others.reduce((total, one) => total + one.share, share);
  const listed = [...others, { member, share, of }].map((one) => `${one.member} ${one.share} of ${one.of}`).join(", ");
  const differing = others.filter((one) => one.of !== of);
  return [
    finding(
      "shares",
      sum <= of + 1e-6,
      sum <= of + 1e-6
        ? `${listed}: ${of - sum} left`
        : `${listed}: ${sum} of ${of} are given. Raise of, or lower a share`,
    ),
    finding(
      "sum of shares",
      differing.length === 0,
      differing.length === 0
        ? `all ${others.length + 1} engines count on ${of} shares`
        : `${differing.map((one) => `${one.member} counts on ${one.of}`).join(", ")}, this config on ${of}. Set the same sharedQuota.of everywhere`,
    ),
  ];
};

/** Findings about the beginnings of windows, on which engines agree independent of their machines' clocks. */
const clockFindings = ({ scopes }: StoreSurvey): readonly GroupFinding[] =>
  scopes.flatMap(({ scope, members }) => {
    const known = members.filter((one) => one.begins !== undefined && one.heardMs <= heardMsMost);
    if (known.length < 2)
      return [{ about: `windows of ${scope}`, verdict: "not seen", text: "fewer than two engines reported" }];
    const earliest = Math.max(...known.map((one) => one.begins?.[0] ?? 0));
    const latest = Math.min(...known.map((one) => one.begins?.[1] ?? 0));
    const apartMs = Math.max(0, earliest - latest);
    const names = known.map((one) => one.id.replace(/#\d+$/, "")).join(", ");
    const isFine = apartMs <= phaseMs;
    const text = isFine
      ? `${names} agree when they begin`
      : `${names} differ by ${apartMs} ms about when they begin: one has misread the service's clock`;
    return [finding(`windows of ${scope}`, isFine, text)];
  });

/** Findings about one address: the service's count includes the answers to all engines behind it. */
const addressFindings = ({ windows }: StoreSurvey): readonly GroupFinding[] => {
  const latest = new Map<string, SurveyedWindow>();
  for (const one of windows.toSorted((a, b) => a.window - b.window).slice(0, -1))
    if (one.scope.startsWith("ip:") && one.rows.length > 1) latest.set(one.scope, one);
  return [...latest.values()].flatMap(({ scope, rows }) => {
    const answered = rows.reduce((sum, row) => sum + row.settled, 0);
    if (answered < answersLeast)
      return [
        { about: scope, verdict: "not seen", text: `only ${answered} requests were answered in its last minute` },
      ];
    const strange = rows.filter((row) => row.used > 0 && row.used < answered * seenLeast);
    const said = strange.map((row) => `${row.member} saw ${row.used}`).join(", ");
    const text =
      strange.length === 0
        ? `the service counts what all ${rows.length} engines send`
        : `the engines were answered ${answered} requests together, and ${said}: they do not share an address. Give each its own sharedQuota.address`;
    return [finding(scope, strange.length === 0, text)];
  });
};

const layerFindings = ({ layers }: GroupSettings): readonly GroupFinding[] =>
  layers
    .filter((layer) => layer.scope !== "instrument" && isTooShort({ scope: layer.scope, windowMs: layer.windowMs }))
    .map(({ name, scope, windowMs }) => ({
      about: `layer ${name}`,
      verdict: "differs" as const,
      text: `windows of ${windowMs / 1_000} s are too short to be divided: each engine counts on all of it. Give each engine ${scope === "uid" ? "a user" : "an address"} of its own, or lower its capacity in the profile to its part`,
    }));
