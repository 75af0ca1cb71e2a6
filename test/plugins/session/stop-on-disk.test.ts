/** A recorded engine stops also while its journal waits for the disk. */
import { concat, NEVER, of, Subject, switchMap } from "rxjs";
import { expect, it } from "vitest";
import { letPromisesSettle } from "../../../src/clock/microtasks.ts";
import { memoryDisk } from "../../support/harness/memory-disk.ts";
import { record, strategy } from "./harness/session.ts";

it("An answer of the disk that has not had its turn when the service stops is not lost", async () => {
  const disk = memoryDisk();
  let slow = false;
  let answer = (): void => undefined;
  const openDisk = async () => ({
    ...disk,
    open: async (name: string) => {
      const file = await disk.open(name);
      const sync = async (): Promise<void> => {
        await file.sync();
        if (slow) await new Promise<void>((resolve) => (answer = resolve));
      };
      return { ...file, sync };
    },
  });
  const wanted = { slot: "a", instId: "BTC-USDT-SWAP", side: "buy", px: "20000", qty: "0.01" } as const;
  const go$ = new Subject<void>();
  let stopping = false;
  const taken = record([strategy("s", { wanted: () => go$.pipe(switchMap(() => concat(of([wanted]), NEVER))) })], {
    journal: { dir: "journal" },
    record: { openDisk },
    during: (engine) => {
      slow = true;
      engine.events$.subscribe((event) => {
        // In the middle of a turn: the answer has to wait for its own.
        if (event.type !== "engine.stopped") return;
        stopping = true;
        answer();
      });
      go$.next();
    },
  });
  let done = false;
  void taken.finally(() => {
    done = true;
  });
  for (let turn = 0; turn < 100_000 && !stopping; turn++) await letPromisesSettle();
  for (let turn = 0; turn < 2_000 && !done; turn++) await letPromisesSettle();
  expect([stopping, done]).toEqual([true, true]);
});
