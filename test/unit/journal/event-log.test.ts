/** Numbered facts for sinks. */
import { describe, expect, it } from "vitest";
import { EventLog } from "../../../src/journal/event-log.ts";
import type { Event, EventBody } from "../../../src/journal/events.ts";

const fact = (what: string): EventBody => ({ type: "anomaly", what, detail: "" });
const whatOf = (event: Event): string => (event.type === "anomaly" ? event.what : event.type);

describe("The event log:", () => {
  it("numbers without holes, stamps the clock's instant and freezes", () => {
    let now = 5;
    const journal = new EventLog(() => now);
    const heard: Event[] = [];
    journal.events$.subscribe((event) => heard.push(event));
    for (const what of ["a", "b", "c"]) {
      journal.append(fact(what));
      now += 10;
    }
    expect(heard.map(({ seq, at }) => [seq, at])).toEqual([
      [1, 5],
      [2, 15],
      [3, 25],
    ]);
    expect(heard.every(Object.isFrozen)).toBe(true);
    expect(journal.length).toBe(3);
  });

  it("delivers events to a sink of their type in the order in which sinks were attached", () => {
    const journal = new EventLog(() => 0);
    const heard: string[] = [];
    journal.attach(({ type }) => heard.push(`first ${type}`));
    const off = journal.on(["mode.changed", "engine.stopped"], ({ type, reason }) =>
      heard.push(`typed ${type} ${reason}`),
    );
    journal.attach(({ type }) => heard.push(`last ${type}`));
    journal.append(fact("a"));
    journal.append({ type: "engine.stopped", reason: "b" });
    off();
    journal.append({ type: "engine.stopped", reason: "c" });
    expect(heard).toEqual([
      "first anomaly",
      "last anomaly",
      "first engine.stopped",
      "typed engine.stopped b",
      "last engine.stopped",
      "first engine.stopped",
      "last engine.stopped",
    ]);
  });

  it("takes a draft for the event itself, and copies any other body", () => {
    const journal = new EventLog(() => 7);
    const heard: Event[] = [];
    journal.attach((event) => heard.push(event));
    const draft = { seq: 0, at: 0, ...fact("a") };
    const body = fact("b");
    journal.append(draft);
    journal.append(body);
    expect(heard[0]).toBe(draft);
    expect(heard[1]).not.toBe(body);
    const header = (seq: number, what: string) => `{"seq":${seq},"at":7,"type":"anomaly","what":"${what}","detail":""}`;
    expect(heard.map((event) => JSON.stringify(event))).toEqual([header(1, "a"), header(2, "b")]);
  });

  it("numbers and stamps a draft when it is appended, also while another is delivered", () => {
    let now = 5;
    const journal = new EventLog(() => now);
    const heard: unknown[] = [];
    journal.attach(({ seq, type }) => {
      if (type === "anomaly" && seq === 1) {
        journal.append({ seq: 0, at: 0, type: "engine.stopped", reason: "within" });
        now = 6;
      }
    });
    journal.attach(({ seq, at, type }) => heard.push([seq, at, type]));
    journal.append({ seq: 0, at: 0, ...fact("a") });
    expect(heard).toEqual([
      [1, 5, "anomaly"],
      [2, 5, "engine.stopped"],
    ]);
  });

  it("counts what nobody listens to", () => {
    const journal = new EventLog(() => 0);
    journal.append(fact("unheard"));
    const heard: number[] = [];
    journal.attach(({ seq }) => heard.push(seq));
    journal.append(fact("heard"));
    expect([heard, journal.length]).toEqual([[2], 2]);
  });

  it("a sink that throws is reported and removed; the others go on", () => {
    const problems: unknown[] = [];
    const journal = new EventLog(
      () => 0,
      (error) => problems.push(error),
    );
    const heard: string[] = [];
    journal.attach((event) => heard.push(`first ${whatOf(event)}`));
    journal.attach(() => {
      throw new Error("disk full");
    });
    journal.attach((event) => heard.push(`last ${whatOf(event)}`));
    journal.append(fact("a"));
    journal.append(fact("b"));
    expect(heard).toEqual(["first a", "last a", "first b", "last b"]);
    expect(problems.map(String)).toEqual(["Error: disk full"]);
  });

  it("an event appended by a sink comes after the one being delivered, to every sink in the same order", () => {
    const journal = new EventLog(() => 0);
    const [one, two]: [string[], string[]] = [[], []];
    journal.attach((event) => {
      one.push(whatOf(event));
      if (whatOf(event) === "a") {
        journal.append(fact("from a"));
        journal.append(fact("also from a"));
      }
    });
    journal.attach((event) => two.push(whatOf(event)));
    journal.append(fact("a"));
    journal.append(fact("b"));
    expect(one).toEqual(["a", "from a", "also from a", "b"]);
    expect(two).toEqual(one);
  });

  it("detaching ends it, and so does unsubscribing from the stream", () => {
    const journal = new EventLog(() => 0);
    const heard: string[] = [];
    const detach = journal.attach((event) => heard.push(`sink ${whatOf(event)}`));
    const stream = journal.events$.subscribe((event) => heard.push(`stream ${whatOf(event)}`));
    journal.append(fact("a"));
    detach();
    journal.append(fact("b"));
    stream.unsubscribe();
    journal.append(fact("c"));
    expect(heard).toEqual(["sink a", "stream a", "stream b"]);
  });
});
