/**
 * Notice of printing, so that parts of a page can be laid out for paper.
 *
 * Invariants: it comes before the browser lays out the paper, and again afterwards.
 */

/**
 * Calls `turn` with true before the page is printed, and with false afterwards; also for an emulated medium.
 *
 * @returns the function that stops it
 */
export const followPaper = (turn: (onPaper: boolean) => void) => {
  const ending = new AbortController();
  const { signal } = ending;
  let isOnPaper = false;
  const follow = (to: boolean) => {
    if (to === isOnPaper) return;
    isOnPaper = to;
    turn(to);
  };
  matchMedia("print").addEventListener("change", ({ matches }) => follow(matches), { signal });
  addEventListener("beforeprint", () => follow(true), { signal });
  addEventListener("afterprint", () => follow(false), { signal });
  return () => ending.abort();
};
