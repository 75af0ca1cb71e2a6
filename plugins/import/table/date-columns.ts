/**
 * Date and time of day in two columns, with separators or as digits alone.
 *
 * Invariants: a column is a time of day only if every cell of it is one and every cell of the other is a date; zeros
 * that a program has dropped from the left are put back.
 */

/** The column with the time of day, and how many digits it has where it has no colons: 4, 6 or 9, else 0. */
export interface ClockColumn {
  readonly place: number;
  readonly digits: 0 | 4 | 6 | 9;
}

const dateOnly = /^(\d{4})([-/.]?)(\d{2})\2(\d{2})$/;
const withColons = /^\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?$/;

export const isDate = (cell: string): boolean => dateOnly.test(cell);

/** Returns the form in which a column contains the time of day; undefined where it does not. */
export const clockDigits = (cells: readonly string[]): ClockColumn["digits"] | undefined => {
  if (cells.length === 0) return undefined;
  if (cells.every((cell) => withColons.test(cell))) return 0;
  return ([4, 6, 9] as const).find((digits) => cells.every((cell) => isClock(cell, digits)));
};

const isClock = (cell: string, digits: 4 | 6 | 9): boolean => {
  if (!/^\d+$/.test(cell) || cell.length > digits) return false;
  const whole = cell.padStart(digits, "0");
  const [hour, minute, second] = [whole.slice(0, 2), whole.slice(2, 4), whole.slice(4, 6)];
  return Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60;
};

/** Both as one text, such as `2024-03-01 09:30:00`. */
export const dateAndClock = (date: string, time: string, digits: ClockColumn["digits"]): string => {
  const day = date.replace(dateOnly, "$1-$3-$4");
  if (digits === 0) return `${day} ${/^\d:/.test(time) ? "0" : ""}${time}`;
  const whole = time.padStart(digits, "0");
  const second = digits === 4 ? "00" : whole.slice(4, 6);
  return `${day} ${whole.slice(0, 2)}:${whole.slice(2, 4)}:${second}${digits === 9 ? `.${whole.slice(6)}` : ""}`;
};
