/**
 * What an application does about a 429 when its limiter does not: the same two manners for every peer.
 *
 * Invariants: a call is repeated until it is accepted; it passes through the limiter again each time.
 * Here a turn is a function `(task, send) => answer` that waits for the limiter and then sends once.
 */

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Repeats a refused call through the limiter after one second. */
export const repeating = (turn) => ({
  submit: async (task) => {
    while ((await turn(task, task.send)).status === 429) await sleep(1_000);
  },
});

/**
 * Stops everybody when one is refused: for 1.1 s at first, and to the next local minute + 0.5 s when it happens again with no
 * success in between. Calls sent before the gate shut do not strike twice. A call the limiter lets through while the gate is
 * shut goes back to the limiter afterwards; otherwise all of them would leave together when it opens.
 */
export const gated = (turn) => {
  const held = { status: 0, headers: {} };
  let openAt = 0;
  let shutAt = 0;
  let struck = false;
  const isShut = () => performance.now() < openAt;
  const note = (answer, sentAt) => {
    if (answer.status !== 429) {
      struck = false;
      return;
    }
    if (sentAt < shutAt) return;
    const holdMs = struck ? 60_500 - (Date.now() % 60_000) : 1_100;
    shutAt = performance.now();
    openAt = shutAt + holdMs;
    struck = true;
  };
  return {
    submit: async (task) => {
      const send = async () => {
        if (isShut()) return held;
        const sentAt = performance.now();
        const answer = await task.send();
        note(answer, sentAt);
        return answer;
      };
      for (;;) {
        while (isShut()) await sleep(openAt - performance.now());
        const { status } = await turn(task, send);
        if (status === 200) return;
      }
    },
  };
};
