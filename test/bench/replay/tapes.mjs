/**
 * Made markets for the replay bench: columns filled by a small generator, the same numbers every time.
 *
 * Invariants: a tape depends on its size alone; times rise by 10 to 30 ms a row, as on a busy product; prices are whole ticks.
 */
const startAt = 1_704_067_200_000;

/** A generator of whole numbers below `limit`, seeded by nothing but its constants. */
const dice = () => {
  let state = 0x2545f491;
  return (limit) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % limit;
  };
};

const instIdOf = (index) => (index === 0 ? "BTC-USDT-SWAP" : `T${index}-USDT-SWAP`);

export const instrumentsOf = (count) =>
  Array.from({ length: count }, (_, index) => ({ instId: instIdOf(index), tickSize: "0.1", lotSize: "0.001" }));

/** `rows` trades over all instruments in turn, as many for each. */
export const tradeTape = ({ createTape }, rows, instruments = 1) => {
  const roll = dice();
  const each = Math.floor(rows / instruments);
  const series = Array.from({ length: instruments }, (_, instrument) => ({
    kind: "trade",
    instrument,
    at: new Float64Array(each),
    side: new Int8Array(each),
    px: new Float64Array(each),
    qty: new Float64Array(each),
  }));
  let at = startAt;
  const px = new Float64Array(instruments).fill(600_000);
  for (let row = 0; row < each; row++) {
    for (const { instrument, ...columns } of series) {
      at += 10 + roll(21);
      px[instrument] += roll(5) - 2;
      columns.at[row] = at;
      columns.side[row] = roll(2) === 0 ? 1 : -1;
      columns.px[row] = px[instrument];
      columns.qty[row] = 1 + roll(5_000);
    }
  }
  return createTape(instrumentsOf(instruments), series);
};

/** `rows` best quotes of one product; the middle moves by at least a tick with every row. */
export const quoteTape = ({ createTape }, rows) => {
  const roll = dice();
  const series = { kind: "quote", instrument: 0, at: new Float64Array(rows) };
  for (const name of ["bidPx", "bidQty", "askPx", "askQty"]) series[name] = new Float64Array(rows);
  let at = startAt;
  let bid = 600_000;
  for (let row = 0; row < rows; row++) {
    at += 10 + roll(21);
    bid += roll(2) === 0 ? 1 + roll(2) : -1 - roll(2);
    series.at[row] = at;
    series.bidPx[row] = bid;
    series.askPx[row] = bid + 1;
    series.bidQty[row] = 1 + roll(5_000);
    series.askQty[row] = 1 + roll(5_000);
  }
  return createTape(instrumentsOf(1), [series]);
};

/** `rows` bars of a minute. */
export const barTape = ({ createTape }, rows) => {
  const roll = dice();
  const series = { kind: "candle", instrument: 0, barMs: 60_000, at: new Float64Array(rows) };
  for (const name of ["open", "high", "low", "close", "volume"]) series[name] = new Float64Array(rows);
  let close = 600_000;
  for (let row = 0; row < rows; row++) {
    const open = close;
    close = Math.max(1_000, open + roll(401) - 200);
    series.at[row] = startAt + (row + 1) * 60_000;
    series.open[row] = open;
    series.high[row] = Math.max(open, close) + roll(50);
    series.low[row] = Math.min(open, close) - roll(50);
    series.close[row] = close;
    series.volume[row] = 4_000 + roll(10_000);
  }
  return createTape(instrumentsOf(1), [series]);
};

const levelsAside = 2_000;

/**
 * `messages` book changes of one product, 50 ms apart and of 30 levels and more, ten quotes for each, and trades: what a maker has to
 * deal with on a real book. The middle moves with two messages of three, and what it passes is taken away.
 */
export const bookTape = ({ createTape }, messages) => {
  const roll = dice();
  const levels = { at: [], side: [], px: [], qty: [], snapshot: [] };
  const quotes = { at: [], bidPx: [], bidQty: [], askPx: [], askQty: [] };
  const trades = { at: [], side: [], px: [], qty: [] };
  const push = (columns, ...row) => {
    for (const [index, column] of Object.values(columns).entries()) column.push(row[index]);
  };
  let at = startAt;
  let bid = 600_000;
  const show = (side, ticks, qty, snapshot = 0) => {
    push(levels, at, side, side === 1 ? bid - ticks : bid + 1 + ticks, qty, snapshot);
  };
  for (let ticks = 0; ticks < levelsAside; ticks++) {
    show(1, ticks, 1 + roll(5_000), ticks === 0 ? 1 : 0);
    show(-1, ticks, 1 + roll(5_000));
  }
  for (let message = 0; message < messages; message++) {
    const move = roll(3) - 1;
    bid += move;
    at += 50;
    if (move !== 0) show(-move, -1, 0);
    for (const side of [1, -1]) {
      show(side, 0, 1 + roll(5_000));
      for (let change = 0; change < 15; change++)
        show(side, 1 + roll(roll(2) === 0 ? 20 : levelsAside), roll(4) === 0 ? 0 : 1 + roll(5_000));
    }
    for (let quote = 0; quote < 10; quote++)
      push(quotes, at + quote * 4, bid, 1 + roll(5_000), bid + 1, 1 + roll(5_000));
    const side = roll(2) === 0 ? 1 : -1;
    push(trades, at + 10, side, side === 1 ? bid + 1 : bid, 1 + roll(500));
  }
  const kinds = { side: Int8Array, snapshot: Uint8Array };
  const typed = (columns) =>
    Object.fromEntries(
      Object.entries(columns).map(([name, values]) => [name, (kinds[name] ?? Float64Array).from(values)]),
    );
  return createTape(instrumentsOf(1), [
    { kind: "level", instrument: 0, ...typed(levels) },
    { kind: "quote", instrument: 0, ...typed(quotes) },
    { kind: "trade", instrument: 0, ...typed(trades) },
  ]);
};
