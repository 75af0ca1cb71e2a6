/**
 * Standing of an engine in its group, in words for people: why it was refused, which settings of the others disagree
 * with its own, what it goes by while it is on its own.
 *
 * Invariants: pure; each text names the engines, their shares and what to set.
 * Not here: who decides (claim.ts).
 */
import { byName, type Enrolled, presentMs, silentMs } from "./claim.ts";

export interface Enrolling {
  readonly member: string;
  readonly share: number;
  readonly of: number;
  /** The process that used the name before is known to be over. */
  readonly gone: boolean;
}

interface EnrolmentDoubt {
  readonly what: string;
  readonly detail: string;
}

/** Why there is no room for this engine's share. */
export const fullText = ({ member, share, of }: Enrolling, enrolled: readonly Enrolled[]): string => {
  const others = enrolled.filter((one) => one.member !== member).toSorted(byName);
  const held = others.map((one) => `${one.member} has ${one.share}`).join(", ");
  const minutes = Math.ceil(presentMs / 60_000);
  return `the shares of the group are given: ${held === "" ? "nobody has any" : held}, and ${member} asks for ${share} of ${of} in all. Set sharedQuota.of to the sum of all shares in every engine, or lower a share; an engine that has gone without stopping keeps its share for ${minutes} minutes.`;
};

/** Settings that disagree with those of engines that are there already. */
export const enrolmentDoubts = (
  { member, of, gone }: Enrolling,
  enrolled: readonly Enrolled[],
): readonly EnrolmentDoubt[] => {
  const doubts: EnrolmentDoubt[] = [];
  const before = enrolled.find((one) => one.member === member);
  // A process that was killed has not come back within a second.
  if (before !== undefined && before.heardMs <= (gone ? 1_000 : silentMs))
    doubts.push({
      what: "quota.name",
      detail: `another process reported as ${member} ${(before.heardMs / 1_000).toFixed(1)} s ago and halts now; give each engine its own sharedQuota.name`,
    });
  const differing = enrolled.filter((one) => one.member !== member && one.of !== of);
  if (differing.length > 0)
    doubts.push({
      what: "quota.shares",
      detail: `${differing.map((one) => `${one.member} counts on ${one.of} shares in all`).join(", ")}, and ${member} on ${of}; set the same sharedQuota.of in every engine of the group`,
    });
  return doubts;
};

/** Its windows are not those of the other engines. */
export const astrayText = (scope: string, wrong: "renamed" | "apart"): string =>
  wrong === "renamed"
    ? `windows of ${scope} were numbered otherwise than by the other engines of the group, whose numbers are used now`
    : `windows of ${scope} begin at other times than for the other engines of the group: their beginning is searched again, and until all agree this engine keeps to its part and to the service's counts`;

export const aloneText =
  "the store of the shared quota does not answer; until it does, this engine keeps to its part and to the service's counts";
