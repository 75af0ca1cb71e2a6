/**
 * Disposables of a plugin or strategy, undone in reverse order.
 *
 * Invariants: every undo runs, even if others throw; an undo that is added to a closed scope runs at once.
 */

export interface Disposables {
  add(undo: () => void): void;
  /** Undoes everything, last first. Returns the errors that were thrown. */
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
