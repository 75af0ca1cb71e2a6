/**
 * Warnings of a report, which come before its figures: sentences, the gravest first.
 *
 * Invariants: pure text from the report alone; a run without peculiarities has none.
 */
import { compare } from "../decimal.ts";
import { counted, duration } from "./number-format.ts";
import type { RunReport } from "./report.ts";

export const warningsOf = (report: Omit<RunReport, "resultHash" | "wallMs" | "warnings">): readonly string[] => {
  const failed = Object.entries(report.perStrategy).filter(([, { state }]) => state === "failed");
  return [
    ...(report.quota.limits ? [] : ["Limits were not enforced: what this run did may be impossible at the service."]),
    ...liquidated(report),
    ...noneAccepted(report),
    ...failed.map(([name]) => `The strategy ${name} failed; its orders were withdrawn.`),
    ...unprotected(report),
    ...cutByVolume(report),
    ...paused(report),
    ...afterGaps(report),
    ...missing(report.coverage),
    ...silent(report),
    ...(report.run?.equity !== "fills" && compare(report.equity.at(-1)?.equity ?? "1", "0") <= 0
      ? ["Nothing is left: equity ended at or below zero."]
      : []),
  ];
};

const unprotected = ({ perStrategy }: Pick<RunReport, "perStrategy">): readonly string[] =>
  Object.entries(perStrategy).flatMap(([name, { unprotected: gaps, inexact }]) => [
    ...(gaps === undefined
      ? []
      : [
          `${name} held a position without the exit it wanted ${counted(gaps.count, "time")}, for ${duration(gaps.ms)} in all (events position.unprotected).`,
        ]),
    ...(inexact === undefined
      ? []
      : [`${counted(inexact, "order")} of ${name} executed another quantity than was wanted (events order.inexact).`]),
  ]);

const paused = ({ perStrategy }: Pick<RunReport, "perStrategy">): readonly string[] =>
  Object.entries(perStrategy).flatMap(([name, { slowed }]) =>
    slowed === undefined
      ? []
      : [
          `${name} paused ${counted(slowed, "time")} after post-only orders were rejected one after the other (orders.postOnlyPause, events order.slowed).`,
        ],
  );

const afterGaps = ({ gapFills = {} }: Pick<RunReport, "gapFills">): readonly string[] =>
  Object.entries(gapFills).map(
    ([instId, count]) =>
      `${counted(count, "market order")} in ${instId} came in a gap of the recording, filled at the first price after it.`,
  );

const cutByVolume = ({ volumeCuts = [] }: Pick<RunReport, "volumeCuts">): readonly string[] =>
  volumeCuts.map(
    ({ instId, orders, of, percent }) =>
      `${orders} of ${counted(of, "order")} that took from bars of ${instId} got less than wanted, ${percent} % of the quantity of all: a quarter of a bar's volume is all that one price gives (volume: "traded").`,
  );

const missing = ({ missing: all, missed = [] }: RunReport["coverage"]): readonly string[] => {
  const named = new Set(missed.map(({ what }) => what));
  return [
    ...missed.flatMap(({ strategies, what, instead }) =>
      strategies.map(
        (name) =>
          `${name} subscribes to ${what}; this fixture has ${instead}${instead === "nothing" ? " of it" : " only"}.`,
      ),
    ),
    ...all
      .filter((what) => !named.has(what))
      .map((what) => `The recording has no ${what}, which was asked for: nothing was delivered.`),
  ];
};

/** Warning of a run in which no strategy wanted an order. */
const silent = ({
  perStrategy,
  orders: { placed, refused },
}: Pick<RunReport, "perStrategy" | "orders">): readonly string[] =>
  placed + refused === 0
    ? []
    : Object.entries(perStrategy)
        .filter(([, own]) => own.state !== "failed" && own.placed + own.refused === 0)
        .map(([name]) => `${name} wanted no order in this run.`);

const liquidated = ({ liquidations, currency }: Pick<RunReport, "liquidations" | "currency">): readonly string[] => {
  const [first] = liquidations?.first ?? [];
  if (liquidations === undefined || first === undefined) return [];
  const { count, covered } = liquidations;
  const begun = `${first.side === "sell" ? "long" : "short"} ${first.qty} of ${first.instId} at ${new Date(first.at).toISOString()}`;
  const beyond =
    compare(covered, "0") > 0
      ? ` The losses went ${covered} ${currency} beyond what there was, which the service paid.`
      : "";
  return [
    `LIQUIDATED: the service closed ${counted(count, "position")} for want of margin, the first ${begun}.${beyond}`,
  ];
};

/** The first warning, because every figure of such a run is a zero that looks like a calm market. */
const noneAccepted = (report: Orders & Pick<RunReport, "fills" | "perStrategy">): readonly string[] => {
  const { placed, refused } = report.orders;
  const unaccepted = unacceptedIn(report);
  if (unaccepted !== undefined) return [`No order was accepted: ${unaccepted}.`];
  if (placed + refused === 0)
    return [`No order was wanted in this run (strategies: ${Object.keys(report.perStrategy).join(", ") || "none"}).`];
  return report.fills === 0 ? ["No order was filled in this run."] : [];
};

type Orders = Pick<RunReport, "orders" | "turnedDown">;

/** Why no order of a run was accepted, where some were wanted; undefined where one was, or none was wanted. */
const unacceptedIn = ({ orders: { placed, rejected, refused }, turnedDown }: Orders): string | undefined => {
  if (placed + refused === 0 || rejected < placed) return undefined;
  const who = [
    ...(refused === 0 ? [] : [`${allOf(refused)} refused before sending`]),
    ...(rejected === 0 ? [] : [`${allOf(rejected)} rejected by the service`]),
  ].join(" and ");
  const [first] = turnedDown;
  return first === undefined ? who : `${who}, most often: ${first.example.reason.replace(/\.$/, "")}`;
};

/**
 * Why a run sent no order, or none was accepted.
 *
 * @param report - of the run
 * @returns part of a sentence; undefined where orders were accepted
 */
export const unsentIn = (report: Orders & Pick<RunReport, "coverage">): string | undefined => {
  const { placed, refused } = report.orders;
  if (placed + refused > 0 || (report.coverage.missed ?? []).length === 0) return unacceptedIn(report);
  return `none was wanted, as ${missing(report.coverage).join(" ").replace(/\.$/, "")}`;
};

const allOf = (count: number): string => (count === 1 ? "its only order" : `all ${counted(count, "order")}`);
