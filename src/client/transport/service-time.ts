/**
 * Estimate of the service's current time for signing, from the Date headers of its answers.
 *
 * A stamp in whole seconds and a round trip bound the distance between our steady clock and the service's calendar from
 * both sides; several answers narrow it, and the middle of what is left is used.
 *
 * Invariants: before the first answer the machine's calendar is used, afterwards it is not, even if it is wrong; an
 * answer that contradicts the others counts only when a second one agrees with it, when our own clocks have moved apart
 * meanwhile, as after a suspend, or when it refuses a signature whose timestamp came from the contradicted estimate.
 * Not here: where the service's rate-limit windows begin (scheduler/quota/server-clock.ts), which takes no middle.
 */
import type { Clock } from "../../clock/clock.ts";

export interface ServiceTime {
  /**
   * Observes the time in any answer, including a rejection. `refused` is true if the signature was refused. Instants
   * are of the steady clock; a header that is missing or not a date is skipped.
   */
  observe(dateHeader: string | undefined, sentAt: number, receivedAt: number, refused?: boolean): void;
  /** Milliseconds since the Unix epoch, as the service counts them. */
  wallNow(): number;
  /** Milliseconds by which the service's calendar is ahead of this machine's; 0 until it is known. */
  readonly offsetMs: number;
}

interface Interval {
  readonly lo: number;
  readonly hi: number;
  readonly asOf: number;
}

const stepMs = 1_000;
/** Worst drift of a steady clock: twice the specified error of crystals. */
const drift = 200 / 1e6;
const suspendMs = 1_000;
/** A stamp outside these years is a clock that was never set. */
const plausible = { from: Date.UTC(2020, 0), to: Date.UTC(2100, 0) } as const;

const readDate = (text: string | undefined): number | undefined => {
  if (text === undefined || !/^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/.test(text))
    return undefined;
  const at = Date.parse(text);
  return at >= plausible.from && at < plausible.to ? at : undefined;
};

const widened = ({ lo, hi, asOf }: Interval, at: number): Interval => {
  const slack = drift * Math.abs(at - asOf);
  return { lo: lo - slack, hi: hi + slack, asOf: at };
};

/** The part that both intervals allow, or undefined if they contradict each other. */
const meet = (old: Interval, fresh: Interval): Interval | undefined => {
  const known = widened(old, fresh.asOf);
  const lo = Math.max(known.lo, fresh.lo);
  const hi = Math.min(known.hi, fresh.hi);
  return lo <= hi ? { lo, hi, asOf: fresh.asOf } : undefined;
};

export const createServiceTime = (clock: Clock): ServiceTime => {
  let known: Interval | undefined;
  /** An interval that contradicts the estimate and waits for a second answer. */
  let doubted: Interval | undefined;
  let calendarOffset = 0;
  /** The last stamp, which many answers of a second share. */
  const last: { text: string | undefined; at: number | undefined } = { text: undefined, at: undefined };

  /**
   * True when our calendar moved apart from the steady clock since the last answer: one of the two cannot be trusted.
   */
  const disturbed = (): boolean => {
    const offset = clock.wallNow() - clock.now();
    const moved = Math.abs(offset - calendarOffset);
    calendarOffset = offset;
    return moved > suspendMs;
  };

  const learn = (fresh: Interval, restart: boolean): void => {
    if (known === undefined || restart) {
      known = fresh;
      doubted = undefined;
      return;
    }
    const met = meet(known, fresh);
    if (met !== undefined) {
      known = met;
      doubted = undefined;
    } else {
      const agreed = doubted === undefined ? undefined : meet(doubted, fresh);
      doubted = agreed === undefined ? fresh : undefined;
      known = agreed ?? known;
    }
  };

  const offset = (): number => (known === undefined ? clock.wallNow() - clock.now() : (known.lo + known.hi) / 2);

  return {
    observe: (dateHeader, sentAt, receivedAt, refused = false) => {
      if (dateHeader !== last.text) Object.assign(last, { text: dateHeader, at: readDate(dateHeader) });
      const dateAt = last.at;
      if (dateAt === undefined || !(receivedAt >= sentAt)) return;
      const fresh = { lo: dateAt - receivedAt, hi: dateAt + stepMs - sentAt, asOf: receivedAt };
      const isOutdated = refused && known !== undefined && meet(known, fresh) === undefined;
      learn(fresh, disturbed() || isOutdated);
    },
    wallNow: () => clock.now() + offset(),
    get offsetMs() {
      return known === undefined ? 0 : clock.now() + offset() - clock.wallNow();
    },
  };
};
