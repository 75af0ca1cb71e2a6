/** Listeners by name: which events reach which, and what a name that no event has is answered with. */
import { describe, expect, it } from "vitest";
import { isSluiceError } from "../../../src/errors.ts";
import { createNotices, onceFaulty } from "../../../src/journal/event-emitter.ts";
import { EventLog } from "../../../src/journal/event-log.ts";
import type { EventName } from "../../../src/journal/event-map.ts";
import type { Event, EventBody, OrderPhase } from "../../../src/journal/events.ts";

const refused: EventBody = { type: "quota.rejected", layer: "uid", until: 9 };
const anomaly: EventBody = { type: "anomaly", what: "x", detail: "" };
const changed = (phase: OrderPhase): EventBody => ({
  type: "order.changed",
  strategy: "s",
  slot: "bid",
  instId: "BTC-USDT-SWAP",
  clOrdId: "c",
  phase,
  record: undefined,
  reason: "",
});

const setup = () => {
  const problems: unknown[] = [];
  const journal = new EventLog(() => 0);
  const onError = (error: unknown): void => void problems.push(error);
  const notices = createNotices(journal, onError);
  return { journal, notices, onError, problems };
};

describe("Listeners by name", () => {
  it.each<[EventBody, readonly EventName[]]>([
    [refused, ["event", "quota.rejected"]],
    [anomaly, ["event", "anomaly"]],
    [changed("filled"), ["event", "order.changed", "order.filled"]],
    [changed("partially_filled"), ["event", "order.changed", "order.partially_filled"]],
  ])("of %j are those of all events, of its type and of its phase, in this order", (body, expected) => {
    const { journal, notices } = setup();
    const heard: string[] = [];
    const names = [
      "order.partially_filled",
      "order.filled",
      "order.live",
      "order.changed",
      "quota.rejected",
      "anomaly",
      "event",
    ] as const;
    for (const name of names) notices.on(name, () => heard.push(name));
    journal.append(body);
    expect(heard).toEqual(expected);
  });

  it("receive the event itself, frozen, until they are removed", () => {
    const { journal, notices } = setup();
    const heard: Event[] = [];
    const stop = notices.on("order.filled", (event) => heard.push(event));
    notices.on("event", () => undefined);
    journal.append(changed("live"));
    journal.append(changed("filled"));
    stop();
    stop();
    journal.append(changed("filled"));
    expect(heard).toEqual([{ ...changed("filled"), seq: 2, at: 0 }]);
    expect(heard.every(Object.isFrozen)).toBe(true);
  });

  it("that throw harm neither the others nor the journal, and stay", () => {
    const { journal, notices, problems } = setup();
    const heard: string[] = [];
    notices.on("event", () => {
      throw new Error("no");
    });
    notices.on("event", ({ type }) => heard.push(type));
    journal.attach(({ type }) => heard.push(`sink ${type}`));
    journal.append(refused);
    journal.append(refused);
    expect(heard).toEqual(["quota.rejected", "sink quota.rejected", "quota.rejected", "sink quota.rejected"]);
    expect(problems).toHaveLength(2);
  });

  it("that throw where the report is an event too are removed", () => {
    const { journal, notices, onError, problems } = setup();
    onceFaulty(notices, onError)("quota.rejected", () => {
      throw new Error("no");
    });
    journal.append(refused);
    journal.append(refused);
    expect(problems).toEqual([new Error("no")]);
  });
});

describe("An event of a plugin", () => {
  it("has a listener where the config has the plugin", () => {
    const journal = new EventLog(() => 0);
    const heard: string[] = [];
    const { on } = createNotices(journal, () => undefined, new Set(["acme.seen"]));
    on("acme.seen" as EventName, ({ type }) => heard.push(type));
    journal.append({ type: "acme.seen" } as never);
    expect(heard).toEqual(["acme.seen"]);
    expect(() => on("acme:seen" as EventName, () => undefined)).toThrow('Names are written with a dot: "acme.seen"');
  });
});

describe("A name that no event has", () => {
  it.each<[unknown, string]>([
    [
      "order.filed",
      'on("order.filed"): no event has this name. Did you mean "order.filled"? The type EventMap lists them all; those of a plugin exist where the config has the plugin.',
    ],
    [
      "fills",
      'on("fills"): no event has this name. Did you mean "fill"? The type EventMap lists them all; those of a plugin exist where the config has the plugin.',
    ],
    [
      "Order.Filled",
      'on("Order.Filled"): no event has this name. Did you mean "order.filled"? The type EventMap lists them all; those of a plugin exist where the config has the plugin.',
    ],
    ["order:filled", 'on("order:filled"): no event has this name. Names are written with a dot: "order.filled".'],
    [
      "quota:otherClients",
      'on("quota:otherClients"): no event has this name. Names are written with a dot: "quota.otherClients".',
    ],
    [
      "order:filed",
      'on("order:filed"): no event has this name. Did you mean "order.filled"? The type EventMap lists them all; those of a plugin exist where the config has the plugin.',
    ],
    [
      "zebra crossing",
      'on("zebra crossing"): no event has this name. The type EventMap lists them all; those of a plugin exist where the config has the plugin.',
    ],
    [
      "toString",
      'on("toString"): no event has this name. The type EventMap lists them all; those of a plugin exist where the config has the plugin.',
    ],
    [
      "",
      'on(""): no event has this name. The type EventMap lists them all; those of a plugin exist where the config has the plugin.',
    ],
    [undefined, 'on(undefined): no event has this name. Give a text such as "order.filled".'],
    [["fill"], 'on(object): no event has this name. Give a text such as "order.filled".'],
  ])("%j is refused, with the name to write", (name, message) => {
    const { notices } = setup();
    let thrown: unknown;
    try {
      notices.on(name as EventName, () => undefined);
    } catch (error) {
      thrown = error;
    }
    expect([isSluiceError(thrown) && thrown.code, (thrown as Error).message]).toEqual(["EVENT_UNKNOWN", message]);
  });
});
