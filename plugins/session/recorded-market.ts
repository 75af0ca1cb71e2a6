/**
 * The market as a recorded engine sees it: each stream followed once, each question and its answer written down.
 *
 * Invariants: each stream is the same object ever after; the trades of every instrument asked about are kept besides,
 * because a backtest without trades hardly fills anything.
 */
import type { Observable } from "rxjs";
import type { Market, Trade } from "sluice";
import { messageOf } from "sluice/extension";
import type { InputSequencer } from "./input-sequencer.ts";
import {
  codecOf,
  keepsLatest,
  type MarketValue,
  marketOver,
  type StreamName,
  spellName,
  streamOf,
} from "./market-rows.ts";
import { recordedStream } from "./recorded-stream.ts";
import { codeIn } from "./session-records.ts";

export const recordedMarket = (inner: Market, turns: InputSequencer, onError: (error: unknown) => void): Market => {
  const kept = new Set<string>();

  const ask = <T>(question: Parameters<InputSequencer["note"]>[0], answer: () => T): T => {
    turns.note(question);
    try {
      return turns.asking(answer);
    } catch (error) {
      turns.reply(thrownReply(error));
      throw error;
    }
  };
  const keepTrades = (instId: string): void => {
    if (kept.has(instId)) return;
    kept.add(instId);
    const name = { kind: "trades", instId } as const;
    const codec = codecOf(name);
    const keep = (trade: Trade): void => {
      turns.keep({ tape: spellName(name), value: codec.encode(trade) });
    };
    const keeping = turns.asking(() => inner.trades(instId).subscribe(keep));
    turns.onClose(() => {
      keeping.unsubscribe();
    });
  };
  const open = (name: StreamName, stream: string): Observable<MarketValue> => {
    const source = ask({ out: "open", stream }, () => streamOf(inner, name) as Observable<MarketValue>);
    const keeps = keepsLatest(name.kind);
    const made = recordedStream<MarketValue>({ stream, keeps, source, turns, onError, ends: true, ...codecOf(name) });
    keepTrades(name.instId);
    return made;
  };
  return marketOver(open, (instId) =>
    ask({ out: "lastPx", instId }, () => {
      const px = inner.lastPx(instId);
      turns.reply({ re: "value", value: px ?? null });
      return px;
    }),
  );
};

/** Entry of a call that threw. */
const thrownReply = (error: unknown) => ({
  re: "thrown" as const,
  ...codeIn(error),
  message: messageOf(error),
});
