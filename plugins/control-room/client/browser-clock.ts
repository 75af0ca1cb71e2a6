/**
 * Time of the browser: how long ago something was, calls in equal steps, frames, and work spread over them.
 *
 * Invariants: the one place of the page where time comes from; instants are milliseconds since the page was opened and never go back;
 * work in turn is done in the order in which it was first asked for, and of each owner the latest only.
 * Not here: instants on the engine's clock, which come with its rows.
 */

import { oncePerFrame } from "../../ui-kit/client/frame.ts";

export const nowMs = () => performance.now();

export const eachMs = (ms: number, act: () => void) => setInterval(act, ms);

export const afterMs = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** Time for drawing within a frame of 16.7 ms; style, layout and paint come on top. */
const turnMs = 3;

const waiting: Map<object, () => void> = new Map();

const takeTurns = oncePerFrame(async () => {
  const until = performance.now() + turnMs;
  for (const [owner, work] of waiting) {
    waiting.delete(owner);
    work();
    // What the work changes is drawn before its time is measured.
    await Promise.resolve();
    if (performance.now() >= until) break;
  }
  if (waiting.size > 0) takeTurns();
});

/**
 * Work for one of the next frames: what does not fit into one is done in those after it. Asked for again before it was done, the latest
 * takes the place of the one before.
 */
export const inTurn = (owner: object, work: () => void) => {
  waiting.set(owner, work);
  takeTurns();
};
