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
  const columns = Object.fromEntries(["open", "high", "low", "close", "volume"].map((name) => [name, new Float64Array(rows)]));
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

/** Every change of side turns the position at once; the first side of all opens it when `opensAtFirst`. */
export const turns = (close, opensAtFirst) => {
  let [count, before] = [opensAtFirst ? 0 : -1, 0];
  for (const side of sides(close)) {
    if (side === 0 || side === before) continue;
    before = side;
    count++;
  }
  return count;
};

/** One long position at a time; a bar to enter after the signal, one to leave, and no rule is asked on either. */
export const longTrades = (close) => {
  let [count, state] = [0, "none"];
  for (const side of sides(close)) {
    if (state === "entering") state = "in";
    else if (state === "leaving") {
      state = "none";
      count++;
    } else if (state === "none" && side > 0) state = "entering";
    else if (state === "in" && side < 0) state = "leaving";
  }
  // What is open at the end is closed by it.
  return count + (state === "in" || state === "leaving" ? 1 : 0);
};
