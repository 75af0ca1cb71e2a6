/**
 * Interface of the journal of placements to the rest of an engine.
 *
 * Not here: what is written (placement-journal.ts), when its code is loaded (late-journal.ts).
 */
import type { OpenService } from "../client/service-port.ts";
import type { Interceptor } from "../contract/transport.ts";
import type { Verdict } from "../journal/decisions.ts";
import type { Disk } from "../journal/disk.ts";
import type { EventLog } from "../journal/event-log.ts";
import type { EventOf } from "../journal/events.ts";
import type { ClosedPart, Held } from "../journal/holdings.ts";
import type { Intent } from "../journal/intents.ts";
import type { Protected, ProtectionRecord } from "../journal/protection-records.ts";
import type { OrderManager } from "../orders/order-manager.ts";
import type { JournalEnd } from "../orders/unrecorded-orders.ts";

/** Events that it notes. */
export type Noted = "strategy.reducing" | "strategy.halted" | "strategy.resumed" | "journal.opened" | "order.changed";

export interface PlacementJournal {
  /**
   * Takes the lock and reads the state that previous runs left. `goesOn`: another process led until now, so the start
   * options of this one for previous runs (`resume`, `resetRiskCounters`) do not apply.
   */
  open(goesOn?: boolean): Promise<Recovered>;
  readonly interceptor: Interceptor;
  /** Notes what is over and what holds for a strategy: a sink of the event log for events of these types. */
  readonly note: (event: EventOf<Noted>) => void;
  /** Everything was halted or resumed: recorded for the next run. */
  readonly decide: (mode: Verdict["mode"], reason: string, full?: boolean) => void;
  /** The account's position was closed, or a part of it; with a price nothing is left. */
  readonly closed: (uid: string, instId: string, parts: readonly ClosedPart[], px: string | undefined) => void;
  /** Records that the protection of a position changed. */
  readonly protection: (uid: string, record: ProtectionRecord) => void;
  /** An order that the journal may lack was found at the service: it is recorded as sent. */
  readonly found: (uid: string, found: FoundIntent) => void;
  /** The service's lists were read: own orders up to this generation are accounted for, by user. */
  readonly reached: (latest: ReadonlyMap<string, number>) => void;
  /** Why no order may be sent now; exits may while nothing can be written. */
  readonly refused: (isExit: boolean) => string | undefined;
  close(): Promise<void>;
}

/** An order found at the service, as far as it is known. */
export type FoundIntent = Omit<Intent, "uid" | "sentAt"> & { readonly ageMs: number };

export interface Recovered {
  readonly life: number;
  /** Sent by a previous run and not known to be over. */
  readonly open: readonly Intent[];
  /** Halts and the like that were not lifted. */
  readonly held: readonly Verdict[];
  /** Strategies (empty name: all) with a recorded decision, including those lifted now. */
  readonly judged: readonly string[];
  /** Holdings of strategies by orders that are over. */
  readonly holdings: readonly Held[];
  /** Protections of positions. */
  readonly protections: readonly Protected[];
  readonly repaired: string | undefined;
  /** End of the journal for a user; undefined where it is new or does not record its end. */
  readonly endOf: (uid: string) => JournalEnd | undefined;
}

/** Dependencies of a journal, besides its config. */
export interface JournalParts {
  readonly service: Pick<OpenService, "clock" | "users">;
  readonly deskOf: (
    uid: string,
  ) => Pick<OrderManager, "leaves" | "ownerOf" | "isExit" | "closeOf" | "plannedOf" | "tradedBy" | "positions">;
  /** Receives the events that it cannot be written, and that it can again. */
  readonly events: Pick<EventLog, "append">;
  /** Folders of the machine when left out. */
  readonly openDisk: ((dir: string) => Promise<Disk>) | undefined;
}
