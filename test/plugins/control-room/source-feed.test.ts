import { describe, expect, it } from "vitest";
import { ControlDocument, type ControlUpdate } from "../../../plugins/control-room/index.ts";
import { type Sink, SourceFeed } from "../../../plugins/control-room/server/source-feed.ts";

/** A reader that takes what it is given, or nothing until it is told to. */
const reader = () => {
  let drained: () => void = () => undefined;
  const state = { taken: [] as Uint8Array[], bytes: 0, isOpen: true, isSlow: false };
  const sink: Sink = {
    write: (bytes) => {
      state.taken.push(bytes);
      state.bytes += bytes.length;
      return !state.isSlow;
    },
    onDrain: (run) => {
      drained = run;
    },
    end: () => {
      state.isOpen = false;
    },
    destroy: () => {
      state.isOpen = false;
    },
  };
  const events = () =>
    state.taken.map((bytes) => {
      const [, event = "", data = ""] = /^event: (\w+)\ndata: (.*)\n\n$/.exec(Buffer.from(bytes).toString()) ?? [];
      return { event, data: JSON.parse(data) as ControlUpdate };
    });
  /** The document as this reader has it. */
  const known = () => {
    let document = new ControlDocument("main");
    for (const { event, data } of events()) {
      if (event === "snapshot") document = new ControlDocument("main");
      if (event === "snapshot" || event === "update") document.apply(data);
    }
    return new Map(document.keys("money").map((key) => [key, document.row("money", key)]));
  };
  return { state, sink, events, known, drain: () => drained() };
};

const money = (profit: number) => ({
  currency: "USDT",
  profit: `${profit}`,
  realised: "0",
  unrealised: "0",
  fees: "0",
});
const played = () => {
  const time = { now: 0 };
  const origin = new ControlDocument("main");
  const feed = new SourceFeed("main", () => time.now);
  feed.takeSnapshot(JSON.stringify(origin.snapshot()));
  const change = (key: string, profit: number): void => {
    origin.put("money", key, money(profit));
    feed.take(JSON.stringify(origin.take(time.now)));
  };
  return { time, origin, feed, change };
};

describe("The feed of a source", () => {
  it("writes an update once, and gives the same bytes to all", () => {
    const { feed, change } = played();
    const readers = Array.from({ length: 200 }, reader);
    for (const { sink } of readers) feed.join(sink);
    change("USDT", 1);
    const [first] = readers;
    expect(first?.events().map(({ event }) => event)).toEqual(["snapshot", "update"]);
    for (const { state } of readers) {
      expect(state.taken[0]).toBe(first?.state.taken[0]);
      expect(state.taken[1]).toBe(first?.state.taken[1]);
    }
  });

  it("keeps nothing for a reader that does not read, and then gives it the latest rows in one piece", () => {
    const { feed, change } = played();
    const [slow, quick] = [reader(), reader()];
    slow.state.isSlow = true;
    feed.join(slow.sink);
    feed.join(quick.sink);
    for (let round = 0; round < 10_000; round++) change(`k${round % 50}`, round);
    feed.heartbeat();
    expect(slow.state.taken).toHaveLength(1);
    slow.state.isSlow = false;
    slow.drain();
    expect(slow.events().map(({ event, data }) => `${event} ${data.rows.length}`)).toEqual(["snapshot 0", "update 50"]);
    expect(slow.known()).toEqual(quick.known());
    change("k0", -1);
    expect(slow.known()).toEqual(quick.known());
  });

  it("gives everything anew to a reader that has missed more than can be counted", () => {
    const { feed, origin, change } = played();
    const slow = reader();
    slow.state.isSlow = true;
    feed.join(slow.sink);
    for (let round = 0; round < 12_000; round++) {
      change(`k${round}`, round);
      if (round > 30) origin.drop("money", `k${round - 30}`);
    }
    slow.state.isSlow = false;
    slow.drain();
    const [, second] = slow.events();
    expect([slow.state.taken.length, second?.event]).toEqual([2, "snapshot"]);
    expect(second?.data.rows.length).toBeLessThanOrEqual(100);
  });

  it("disconnects a reader that has taken nothing for half a minute", () => {
    const { time, feed } = played();
    const [slow, quick] = [reader(), reader()];
    slow.state.isSlow = true;
    const leave = feed.join(slow.sink);
    feed.join(quick.sink);
    for (; time.now <= 30_000; time.now += 1_000) feed.heartbeat();
    expect([slow.state.isOpen, feed.readers]).toEqual([true, 2]);
    time.now += 1_000;
    feed.heartbeat();
    expect([slow.state.isOpen, quick.state.isOpen]).toEqual([false, true]);
    leave();
    expect(feed.readers).toBe(1);
  });

  it("says in each heartbeat since when the engine is silent", () => {
    const { time, feed } = played();
    const one = reader();
    feed.join(one.sink);
    time.now += 700;
    feed.beat();
    time.now += 3_000;
    feed.heartbeat();
    expect(one.events().at(-1)).toEqual({ event: "heartbeat", data: { silentMs: 3_000 } });
  });

  it("tells everybody when the source has ended, those who come later included", () => {
    const { feed, change } = played();
    const [one, late] = [reader(), reader()];
    feed.join(one.sink);
    change("USDT", 7);
    feed.gone();
    expect([one.events().at(-1)?.event, one.state.isOpen, feed.readers]).toEqual(["gone", false, 0]);
    feed.join(late.sink);
    expect([late.events().map(({ event }) => event), late.state.isOpen]).toEqual([["snapshot"], false]);
    expect(late.known()).toEqual(one.known());
  });
});
