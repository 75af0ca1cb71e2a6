/** The role of a process in one line. */
import { expect, it } from "vitest";
import { standbyWords } from "../../../plugins/standby/standby-words.ts";
import type { StandbyHealth } from "../../../src/host/operator-view.ts";

const none: StandbyHealth = { state: "none", leader: undefined, standbys: [], copyBehind: false };
const heard = (heardMs: number) => ({ name: "main@b", heardMs });

it.each<[string, Partial<StandbyHealth>, string | undefined]>([
  ["nothing without a standby", {}, undefined],
  ["nothing once it is over", { state: "over" }, undefined],
  ["that no leader is known", { state: "waiting" }, "standby: no leader is known yet"],
  ["why the store does not answer", { state: "waiting", storeError: "refused" }, "standby: refused"],
  [
    "that the leader is alive",
    { state: "waiting", leader: heard(400) },
    "standby: the leader main@b is alive, last heartbeat 0.4 s ago",
  ],
  [
    "since when the leader is silent",
    { state: "waiting", leader: heard(6_000) },
    "standby: the leader main@b, last heartbeat 6.0 s ago",
  ],
  ["who stands by", { state: "leading", standbys: [heard(500)] }, "standby main@b, last heartbeat 0.5 s ago"],
  ["that nobody stands by, where a standby is silent", { state: "leading", standbys: [heard(10_000)] }, "no standby"],
  ["what leaves without the store", { state: "alone" }, "standby: the store does not answer, cancels and exits only"],
  ["that nothing leaves", { state: "mute" }, "standby: the store does not answer, nothing is sent"],
])("The line of a standby says %s", (_, health, line) => {
  expect(standbyWords({ ...none, ...health })).toBe(line);
});
