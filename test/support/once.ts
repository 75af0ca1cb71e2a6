/**
 * What several tests of a file ask for and takes long to make.
 */

/** Made at the first call; where that failed it is made again at the next, so that a test that is tried again can pass. */
export const once = <T>(make: () => Promise<T>): (() => Promise<T>) => {
  let made: Promise<T> | undefined;
  return () =>
    (made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    }));
};
