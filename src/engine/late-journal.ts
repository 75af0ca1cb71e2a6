/**
 * Lazily loaded journal of placements: its code is loaded only for a config with a journal.
 *
 * Invariants: before it is open nothing is recorded, and so no placement is sent.
 * Not here: the records (placement-journal.ts).
 */
import type { Interceptor } from "../contract/transport.ts";
import { SluiceError } from "../errors.ts";
import type { CheckedConfig } from "../host/config.ts";
import type { Verdict } from "../journal/decisions.ts";
import type { EventOf } from "../journal/events.ts";
import type { ProtectionRecord } from "../journal/protection-records.ts";
import type { JournalParts, Noted, PlacementJournal, Recovered } from "./journal-port.ts";

type Code = typeof import("./placement-journal.ts") &
  typeof import("./recovery.ts") &
  typeof import("./history-read-back.ts");
let code: Code | undefined;

/**
 * Loads the code of journals. Once loaded, it is there for every engine of the process, without a wait.
 *
 * @returns when it is loaded
 */
export const loadJournalCode = async (): Promise<void> => {
  if (code !== undefined) return;
  const [journal, recovery, history] = await Promise.all([
    import("./placement-journal.ts"),
    import("./recovery.ts"),
    import("./history-read-back.ts"),
  ]);
  code = { ...journal, ...recovery, ...history };
};

export class LateJournal implements PlacementJournal {
  readonly noted: readonly Noted[] = [
    "strategy.reducing",
    "strategy.halted",
    "strategy.resumed",
    "journal.opened",
    "order.changed",
  ];
  /** Undefined where it is loaded already. */
  readonly load: (() => Promise<void>) | undefined = code === undefined ? loadJournalCode : undefined;
  readonly #config: CheckedConfig;
  readonly #parts: JournalParts;
  #journal: PlacementJournal | undefined;

  constructor(config: CheckedConfig, parts: JournalParts) {
    this.#config = config;
    this.#parts = parts;
  }

  open(goesOn = false): Promise<Recovered> {
    this.#journal = this.recovery.placementJournal(this.#config, this.#parts);
    return this.#journal.open(goesOn);
  }

  /** Code of the recovery. */
  get recovery(): Code {
    if (code !== undefined) return code;
    throw new SluiceError("ENGINE_STATE", "The journal's code is not loaded. Await engine.load() first.");
  }

  readonly interceptor: Interceptor = (next) => {
    let written: typeof next | undefined;
    return (request, sink) => {
      written ??= this.#journal?.interceptor(next);
      if (written !== undefined) written(request, sink);
      else if (request.endpoint !== "placeOrder") next(request, sink);
      else sink.failed(new SluiceError("JOURNAL_FAILED", "The journal is not open: no order leaves without it."));
    };
  };

  readonly note = (event: EventOf<Noted>): void => this.#journal?.note(event);

  readonly decide = (mode: Verdict["mode"], reason: string, full?: boolean): void =>
    this.#journal?.decide(mode, reason, full);

  readonly closed: PlacementJournal["closed"] = (...what) => this.#journal?.closed(...what);

  readonly protection = (uid: string, record: ProtectionRecord): void => this.#journal?.protection(uid, record);

  readonly found: PlacementJournal["found"] = (...what) => this.#journal?.found(...what);

  readonly reached: PlacementJournal["reached"] = (latest) => this.#journal?.reached(latest);

  readonly refused = (isExit: boolean): string | undefined => this.#journal?.refused(isExit);

  async close(): Promise<void> {
    await this.#journal?.close();
  }
}
