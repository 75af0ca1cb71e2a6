/**
 * The word to stop, for work that cleans up behind itself before it ends.
 *
 * Invariants: once said it stays said; whoever listens late hears it at once.
 */
import { type Observable, ReplaySubject } from "rxjs";

export interface StopSignal {
  readonly said: boolean;
  /** Emits once, when it is said. */
  readonly said$: Observable<0>;
  say(): void;
}

export const createStopSignal = (): StopSignal => {
  const said$ = new ReplaySubject<0>(1);
  let said = false;
  return {
    said$,
    say: () => {
      if (said) return;
      said = true;
      said$.next(0);
      said$.complete();
    },
    get said() {
      return said;
    },
  };
};
