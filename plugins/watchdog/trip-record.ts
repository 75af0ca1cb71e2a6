/**
 * Trip record: the watchdog's last trip on disk, reported to the next engine, also by another watchdog process.
 *
 * Invariants: reported once; a disk failure loses only the record, as canceling needs no disk.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";

export interface TripRecord {
  note(text: string): void;
  /** The last note, which is then removed. */
  readonly take: () => string | undefined;
}

const lengthMax = 400;

const quietly = <T>(work: () => T): T | undefined => {
  try {
    return work();
  } catch {
    return undefined;
  }
};

export const fileTripRecord = (path: string): TripRecord => ({
  note: (text) => {
    quietly(() => {
      writeFileSync(path, text.slice(0, lengthMax), { mode: 0o600 });
    });
  },
  take: () => {
    const text = quietly(() => readFileSync(path, "utf8").slice(0, lengthMax));
    quietly(() => {
      rmSync(path, { force: true });
    });
    return text === "" ? undefined : text;
  },
});
