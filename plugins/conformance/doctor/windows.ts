/**
 * Kinds of windows that explain the counts of a user: minutes of the calendar, minutes from the first request, or
 * sliding ones.
 *
 * Invariants: pure; a way is ruled out only by a count it cannot explain, with room for the time an answer is under
 * way.
 */
import type { wire } from "sluice/dialect";

const windowMs = 60_000;
/** Largest difference between our instant of a call and the instant at which the service counted it. */
const slackMs = 400;

/** The user's count of used weight after a call. */
export interface Mark {
  readonly at: number;
  /** The service's minute since the Unix epoch, where its calendar is known. */
  readonly minute: number | undefined;
  readonly used: number;
  /** Assumed weight of the call before it. */
  readonly weight: number;
}

/** One counted call: its instant, its minute at the service, its weight, and the count after it. */
interface Charge {
  readonly at: number;
  readonly minute: number;
  readonly weight: number;
  readonly used: number;
}

/**
 * Returns the charges that follow from the marks. At and after `from`, and where the count began again, a call has its
 * assumed weight.
 */
export const chargesOf = (marks: readonly Mark[], from: number): readonly Charge[] =>
  marks.flatMap(({ at, minute, used, weight }, index) => {
    if (minute === undefined) return [];
    const before = marks[index - 1];
    const grown = before === undefined || before.minute !== minute ? -1 : used - before.used;
    return [{ at, minute, used, weight: at < from && grown >= 0 ? grown : weight }];
  });

const total = (charges: readonly Charge[]): number => charges.reduce((sum, { weight }) => sum + weight, 0);

interface Span {
  readonly least: number;
  readonly most: number;
}

const exactly = (value: number): Span => ({ least: value, most: value });

/**
 * Returns the weight that others had used before the first charge; only a calendar minute defines when it is released.
 */
const baselineOf = ([first]: readonly Charge[]): number => (first === undefined ? 0 : first.used - first.weight);

const byCalendar = (charges: readonly Charge[], index: number): Span => {
  const { minute } = charges[index] as Charge;
  const same = charges.slice(0, index + 1).filter((charge) => charge.minute === minute);
  return exactly(total(same) + (charges[0]?.minute === minute ? baselineOf(charges) : 0));
};

const sliding = (charges: readonly Charge[], index: number): Span => {
  const { at } = charges[index] as Charge;
  const seen = charges.slice(0, index + 1);
  const since = (edge: number): number => total(seen.filter((charge) => charge.at > edge));
  const baseline = at < (charges[0]?.at ?? 0) + windowMs + slackMs ? baselineOf(charges) : 0;
  return { least: since(at - windowMs + slackMs), most: since(at - windowMs - slackMs) + baseline };
};

/**
 * Possible starts of windows: the first charge, or any instant of the minute before it where quota had been spent by
 * then.
 */
const fromFirst = (charges: readonly Charge[], index: number): readonly Span[] => {
  const seen = charges.slice(0, index + 1);
  const [first] = seen;
  const last = seen[index];
  if (first === undefined || last === undefined) return [];
  const whole = exactly(total(seen) + baselineOf(charges));
  const fits = seen.flatMap((charge, start) => {
    const before = seen[start - 1];
    if (before === undefined || last.at > charge.at + windowMs + slackMs) return [];
    // The window before ended between these two charges.
    const earliest = baselineOf(charges) > 0 ? first.at : first.at + windowMs;
    const possible = charge.at + slackMs >= earliest && before.at - slackMs <= first.at + windowMs;
    return possible ? [exactly(total(seen.slice(start)))] : [];
  });
  return last.at <= first.at + windowMs + slackMs ? [whole, ...fits] : fits;
};

const within = (value: number, { least, most }: Span): boolean => value >= least && value <= most;

/** The ways that explain every count from `from` on. */
export const anchorsFitting = (charges: readonly Charge[], from: number): readonly wire.Anchor[] => {
  const later = charges.map((charge, index) => ({ charge, index })).filter(({ charge }) => charge.at >= from);
  const explains = (spans: (index: number) => readonly Span[]): boolean =>
    later.length > 0 && later.every(({ charge, index }) => spans(index).some((span) => within(charge.used, span)));
  const ways: readonly (readonly [wire.Anchor, (index: number) => readonly Span[]])[] = [
    ["wall_clock", (index) => [byCalendar(charges, index)]],
    ["first_request", (index) => fromFirst(charges, index)],
    ["sliding", (index) => [sliding(charges, index)]],
  ];
  return ways.filter(([, spans]) => explains(spans)).map(([anchor]) => anchor);
};
