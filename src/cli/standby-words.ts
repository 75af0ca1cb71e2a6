/**
 * What a process is among those of which one leads, in words for people.
 *
 * Not here: who leads (engine/standby/).
 */
import type { StandbyHealth } from "../host/operator-view.ts";
import { printable } from "./io.ts";

/** Twenty signs of life are missing. */
const silentMs = 10_000;

/** A process that stands by was heard not long ago. */
export const isAlive = ({ heardMs }: StandbyHealth["standbys"][number]): boolean => heardMs < silentMs;

const heard = ({ name, heardMs }: StandbyHealth["standbys"][number]): string =>
  `${printable(name)} heard ${(heardMs / 1_000).toFixed(1)} s ago`;

/** In one line; undefined where there is nothing to say. */
export const standbyWords = ({ state, leader, standbys, storeError }: StandbyHealth): string | undefined => {
  if (state === "none" || state === "over") return undefined;
  if (state === "waiting" && storeError !== undefined) return `standby: ${printable(storeError)}`;
  if (state === "waiting") return leader === undefined ? "standby: no leader is known yet" : aliveWords(leader);
  if (state === "settling") return "standby: takes over once nothing of the leader before can be executed";
  if (state !== "leading") return `standby: the store does not answer, ${state === "alone" ? "cancels and exits only" : "nothing is sent"}`;
  const [first] = standbys.filter(isAlive);
  return first === undefined ? "no standby" : `standby ${heard(first)}`;
};

const aliveWords = (leader: NonNullable<StandbyHealth["leader"]>): string =>
  leader.heardMs < silentMs / 2
    ? `standby: the leader ${printable(leader.name)} is alive, ${heard(leader).slice(printable(leader.name).length + 1)}`
    : `standby: the leader ${heard(leader)}`;
