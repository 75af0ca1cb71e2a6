/**
 * The market all engines get, and what each should make of it: bars of a minute, and crossings counted by hand.
 *
 * Invariants: bars depend on their number alone; prices are whole, so that every engine's averages are the same numbers.
 */
export const fast = 10;
export const slow = 30;
export const startAt = 1_704_067_200_000;
export const barMs = 60_000;

/** Columns of a random walk. */
export const makeBars = (rows) => {
  let state = 0x2545f491;
  const roll = (limit) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % limit;
  };
  const columns = Object.fromEntries(
    ["open", "high", "low", "close", "volume"].map((name) => [name, new Float64Array(rows)]),
  );
  let close = 600_000;
  for (let row = 0; row < rows; row++) {
    const open = close;
    close = Math.max(1_000, open + roll(401) - 200);
    columns.open[row] = open;
    columns.high[row] = Math.max(open, close) + roll(50);
    columns.low[row] = Math.min(open, close) - roll(50);
    columns.close[row] = close;
    columns.volume[row] = 4_000 + roll(10_000);
  }
  return columns;
};

/** Mean of the last `length` numbers as a running sum; NaN before there are so many. */
export const mean = (length) => {
  const last = new Float64Array(length);
  let [slot, sum, count] = [0, 0, 0];
  return (value) => {
    sum += value - last[slot];
    last[slot] = value;
    slot = slot + 1 === length ? 0 : slot + 1;
    if (count < length) count++;
    return count < length ? Number.NaN : sum / length;
  };
};

/** 1 where the fast mean is above the slow one, -1 where it is below, 0 where neither or unknown. */
export const sides = (close) => {
  const [quick, calm] = [mean(fast), mean(slow)];
  return Int8Array.from(close, (value) => {
    const difference = quick(value) - calm(value);
    return difference > 0 ? 1 : difference < 0 ? -1 : 0;
  });
};

/**
 * What a strategy that always turns its position makes of the bars, counted by a loop in whole numbers: of 0.001 of the instrument,
 * and of a hundred-thousandth of the quote currency for fees. The first side opens one unit, each change of side trades two.
 * Orders are executed around the next open, which is the last close: sells at the bid, buys a tick above it. A bid is the price
 * itself, and a tick less where the bar that begins has its high there, so that no price outside a bar is quoted. The position is
 * valued at the middle of the two at the end.
 */
export const turned = (columns, { unit, takerBps }) => {
  const { close } = columns;
  const milli = BigInt(Math.round(unit * 1_000));
  let [orders, position, cash, fees, before] = [0, 0n, 0n, 0n, 0];
  const all = sides(close);
  for (let row = 0; row < close.length; row++) {
    const side = all[row];
    if (side === 0 || side === before) continue;
    const quantity = before === 0 ? milli : 2n * milli;
    const px = BigInt(bidAfter(columns, row) + (side > 0 ? 1 : 0));
    position += BigInt(side) * quantity;
    cash -= BigInt(side) * quantity * px;
    fees += quantity * px * BigInt(takerBps);
    orders++;
    before = side;
  }
  // Half ticks of thousandths, and fees in ten-thousandths of them: seven places.
  const doubled = 2n * cash + position * BigInt(2 * bidAfter(columns, close.length - 1) + 1);
  return { trades: orders, position: text(position, 3), fees: text(fees, 7), profit: text(doubled * 5_000n - fees, 7) };
};

/** The bid when the bar of this row has closed and the next begins; after the last bar, by its close. */
const bidAfter = ({ open, high, low, close }, row) => {
  const [bar, px] = row + 1 < close.length ? [row + 1, open[row + 1]] : [row, close[row]];
  return px >= high[bar] && low[bar] < high[bar] ? px - 1 : px;
};

/** A whole number of units of the last decimal place, as decimal text without trailing zeros. */
const text = (units, places) => {
  const digits = (units < 0n ? -units : units).toString().padStart(places + 1, "0");
  const fraction = digits.slice(-places).replace(/0+$/, "");
  return `${units < 0n ? "-" : ""}${digits.slice(0, -places)}${fraction === "" ? "" : `.${fraction}`}`;
};

/** One unit long at a time; a bar to enter after the signal, one to leave, and no rule is asked on either. Profit in price units. */
export const longTrades = ({ open, close }) => {
  let [trades, profit, entry, state] = [0, 0, 0, "none"];
  sides(close).forEach((side, row) => {
    if (state === "entering") {
      state = "in";
      entry = open[row];
    } else if (state === "leaving") {
      state = "none";
      profit += open[row] - entry;
      trades++;
    } else if (state === "none" && side > 0) state = "entering";
    // A rule of exit is asked from the bar after the entry.
    else if (state === "in" && side < 0) state = "leaving";
  });
  // What is open at the end is closed by it.
  if (state === "in" || state === "leaving") {
    profit += close.at(-1) - entry;
    trades++;
  }
  return { trades, profit: String(profit) };
};
