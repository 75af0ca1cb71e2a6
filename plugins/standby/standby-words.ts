/**
 * Text for a process's role in a standby group.
 *
 * Invariants: names and errors are text of others, which the printer of the line makes printable.
 * Not here: the choice of the leader (lease.ts).
 */
import type { StandbyHealth } from "sluice/extension";

/** Length of twenty heartbeats. */
const silentMs = 10_000;

/** True if a standby's last heartbeat is recent. */
const isAlive = ({ heardMs }: StandbyHealth["standbys"][number]): boolean => heardMs < silentMs;

const ago = ({ heardMs }: StandbyHealth["standbys"][number]): string =>
  `last heartbeat ${(heardMs / 1_000).toFixed(1)} s ago`;

/** The role in one line; undefined without a standby. */
export const standbyWords = ({ state, leader, standbys, storeError }: StandbyHealth): string | undefined => {
  if (state === "none" || state === "over") return undefined;
  if (state === "waiting" && storeError !== undefined) return `standby: ${storeError}`;
  if (state === "waiting") return leader === undefined ? "standby: no leader is known yet" : aliveWords(leader);
  if (state === "settling") return "standby: takes over once no request of the previous leader can be executed";
  if (state !== "leading")
    return `standby: the store does not answer, ${state === "alone" ? "cancels and exits only" : "nothing is sent"}`;
  const [first] = standbys.filter(isAlive);
  return first === undefined ? "no standby" : `standby ${first.name}, ${ago(first)}`;
};

const aliveWords = (leader: NonNullable<StandbyHealth["leader"]>): string =>
  leader.heardMs < silentMs / 2
    ? `standby: the leader ${leader.name} is alive, ${ago(leader)}`
    : `standby: the leader ${leader.name}, ${ago(leader)}`;
