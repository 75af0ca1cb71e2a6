/**
 * Disposables of a plugin or strategy, undone in reverse order.
 *
 * Invariants: every undo runs, even when others throw; a closed scope undoes at once what is added late.
 */

export interface Disposables {
  add(undo: () => void): void;
  /** Undoes everything, last first; returns what was thrown on the way. */
  close(): readonly unknown[];
}

export const createDisposables = (): Disposables => {
  const undos: (() => void)[] = [];
  let closed = false;
  return {
    add: (undo) => {
      if (closed) undo();
      else undos.push(undo);
    },
    close: () => {
      closed = true;
      const thrown: unknown[] = [];
      for (let undo = undos.pop(); undo !== undefined; undo = undos.pop()) {
        try {
          undo();
        } catch (error) {
          thrown.push(error);
        }
      }
      return thrown;
    },
  };
};
