/**
 * Lives through some busy hours twice and prints which maps, sets and lists there are afterwards that were not of that size before.
 *
 * Each part of the story takes as long, and ends with a round number of orders, so that lists that are cut off now and then are met
 * at the same place of their course. A map of this file grows by an entry for each lost answer: the search has to find that one.
 *
 *   node --import tsx test/soak/growth.ts
 */

import type { WantedOrder } from "../../src/orders/wanted-order.ts";
import { resting, restless, through } from "../support/scenarios/long-run.ts";
import { type Container, containers } from "./containers.ts";

/** So many end in the first part, more than anything is remembered for; fewer in the second, as then each of them would count. */
const orders = [5_000, 1_000];
const stepMs = 10_000;
const burst = 15;
const slack = 60;
const settleMs = 60_000;
const partMs = 90 * 60_000;
const finalPhases = ["filled", "canceled", "rejected"];

let ended = 0;
let endedInSegment = 0;
const planted = new Map<string, number>();
const story = await restless({
  lost: () => planted.set(`planted ${planted.size}`, ended),
  segment: () => {
    endedInSegment = 0;
  },
});
story.onEvent((event) => {
  if (event.type !== "order.changed" || !finalPhases.includes(event.phase)) return;
  ended++;
  endedInSegment++;
});

let steps = 0;
/** So many orders to the last one, and so much time. */
const live = async (count: number): Promise<void> => {
  const until = ended + count;
  const endAt = story.world.clock.now() + partMs;
  const trade = async (most: number, resting: readonly WantedOrder[], ms: number): Promise<void> => {
    story.want(
      ...resting,
      ...Array.from({ length: Math.min(most, until - ended) }, (_, index) => through(`through-${index}`, steps)),
    );
    steps++;
    await story.pass(ms);
  };
  while (until - ended > slack) await trade(burst, resting(steps), stepMs);
  story.want();
  await story.pass(settleMs);
  // One by one in the end: what was lost is found before the next is sent.
  while (ended < until) await trade(burst, [], settleMs);
  await story.quiet();
  await story.pass(endAt - story.world.clock.now());
};

const sample = (): readonly Container[] =>
  // What ended since the journal's last segment is remembered until the next one.
  containers().filter(({ kind, size }) => kind !== "Set" || size !== endedInSegment);
const spell = ({ kind, size }: Container): string => `${kind} of ${size}`;

const [first = 0, second = 0] = orders;
await live(first);
const before: Record<string, number> = {};
for (const one of sample()) before[spell(one)] = (before[spell(one)] ?? 0) + 1;
const endedBefore = ended;
await live(second);
const grown = sample().filter((one) => {
  const left = before[spell(one)] ?? 0;
  before[spell(one)] = left - 1;
  return left <= 0;
});
const hours = (2 * partMs) / 3_600_000;
const result = { hours, ended: [endedBefore, ended], planted: planted.size, grown };
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit());
