/**
 * Recognition of promises of any library.
 */
export const isPromise = (value: unknown): value is PromiseLike<unknown> =>
  typeof (value as { readonly then?: unknown } | undefined | null)?.then === "function";
