/**
 * Work that is done in the next frame of the browser.
 *
 * Invariants: requests within one frame lead to one call.
 */

/** @param draw - is called once in the next frame, however often the result is called before it */
export const oncePerFrame = (draw: () => unknown) => {
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
