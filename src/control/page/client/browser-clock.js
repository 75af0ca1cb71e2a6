/**
 * Time of the browser: how long ago something was, calls in equal steps, and frames.
 *
 * Invariants: the one place of the page where time comes from; instants are milliseconds since the page was opened and never go back.
 * Not here: instants on the engine's clock, which come with its rows.
 */

export const nowMs = () => performance.now();

/** @param {number} ms @param {() => void} act */
export const eachMs = (ms, act) => setInterval(act, ms);

/** @param {number} ms @returns {Promise<void>} */
export const afterMs = (ms) => new Promise((done) => setTimeout(done, ms));

/** @param {() => void} draw is called once in the next frame, however often the result is called before it */
export const oncePerFrame = (draw) => {
  let isAsked = false;
  return () => {
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(() => {
      isAsked = false;
      draw();
    });
  };
};
