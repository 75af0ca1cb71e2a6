/**
 * Reads back the order history at a start, to the time at which the journal ends. It contains own orders that the
 * journal lacks.
 *
 * Invariants: the history is read again, page by page, up to a bound that is reported when it is reached; a start that
 * cannot read it fails, because otherwise an exit that was already executed would be sent again.
 * Not here: what the records mean (orders/unrecorded-orders.ts).
 */
import {
  defer,
  EMPTY,
  expand,
  filter,
  firstValueFrom,
  map,
  merge,
  type Observable,
  switchMap,
  take,
  takeUntil,
} from "rxjs";
import { whyNot } from "../client/outcome.ts";
import { walkOrders } from "../client/paging.ts";
import { after, type Clock } from "../clock/clock.ts";
import type { OrderRecord } from "../contract/schemas.ts";
import { SluiceError } from "../errors.ts";
import type { EventLog } from "../journal/event-log.ts";
import type { JournalEnd } from "../orders/unrecorded-orders.ts";
import { tooLong } from "./initial-sync.ts";
import type { StartWatch } from "./start-watch.ts";
import type { UserAccount } from "./user-account.ts";

interface ReadBackOptions {
  readonly clock: Clock;
  readonly journal: Pick<EventLog, "append">;
  readonly watch: Pick<StartWatch, "guard" | "limitedAt">;
  /** The service's calendar where its answers have shown it; otherwise the machine's. */
  readonly serviceNow: number;
  readonly unitsPerMs: number;
  /** Emits when the engine stops, which ends the reading. */
  readonly stopped$: Observable<unknown>;
}

/** Maximum number of pages, each of a hundred orders. */
const pagesMax = 50;
/** Largest assumed difference, or later step, between the calendars of the service and of this machine. */
const calendarMs = 900_000;
const retryMs = 1_000;

interface Reading {
  readonly records: readonly OrderRecord[];
  readonly isDone: boolean;
  readonly problem: string;
}

/** Records of the history from new to old, back to the end of the journal. */
export const readBack = async (
  { clock, journal, watch, serviceNow, unitsPerMs, stopped$ }: ReadBackOptions,
  { gateway }: Pick<UserAccount, "gateway">,
  end: JournalEnd,
): Promise<readonly OrderRecord[]> => {
  const since = (serviceNow - Math.max(0, clock.wallNow() - end.at) - calendarMs) * unitsPerMs;
  let problem = "no answer";
  const once$ = defer((): Observable<Reading> => {
    const records: OrderRecord[] = [];
    let pages = 0;
    const onPage = (page: readonly OrderRecord[]): void => {
      pages++;
      records.push(...page);
    };
    return walkOrders(gateway, "orderHistory", {}, { class: "read", owner: "engine", since, pagesMax, onPage }).pipe(
      map((outcome): Reading => {
        if (outcome.kind === "done") return { records, isDone: true, problem: "" };
        return { records, isDone: pages >= pagesMax, problem: whyNot(outcome) };
      }),
    );
  });
  const read$ = once$.pipe(
    expand((reading) => {
      if (reading.isDone) return EMPTY;
      problem = reading.problem;
      return after(clock, retryMs).pipe(switchMap(() => once$));
    }),
    filter(({ isDone }) => isDone),
    take(1),
  );
  const reading = await firstValueFrom(watch.guard(read$).pipe(takeUntil(merge(tooLong(clock, watch), stopped$))), {
    defaultValue: undefined,
  });
  if (reading === undefined) {
    const text = `The engine cannot start: the order history could not be read back to the end of the journal (${problem}).`;
    throw new SluiceError("ENGINE_STATE", text);
  }
  if (reading.problem !== "") {
    const detail = `the order history was read back by ${pagesMax} pages and does not reach the end of the journal: what own orders executed before is not booked`;
    journal.append({ type: "anomaly", what: "history.bound", detail });
  }
  return reading.records;
};
