/** The heap after its garbage was collected. Programs that import this are started with `--expose-gc`. */

const { gc } = globalThis as { readonly gc?: () => void };
if (gc === undefined) throw new Error("Start with --expose-gc.");

/** Heap in use, in KiB. */
export const heapKiB = (): number => {
  gc();
  gc();
  return process.memoryUsage().heapUsed / 1_024;
};
