/** What an author's editor knows of events: each name of `on` has its own, and a misspelt one does not compile. */
import { filter, type Observable } from "rxjs";
import type { Engine, Event, EventMap, PluginContext } from "sluice";
import type { EventType } from "sluice/extension";
import { describe, expectTypeOf, it } from "vitest";

declare const engine: Engine;
declare const context: PluginContext<object>;

describe("A listener", () => {
  it("receives the event of its name", () => {
    engine.on("fill", (event) => {
      expectTypeOf(event.type).toEqualTypeOf<"fill">();
      expectTypeOf(event.px).toEqualTypeOf<string>();
      expectTypeOf(event.at).toEqualTypeOf<number>();
      // @ts-expect-error: a fill has no such field
      void event.price;
    });
    context.on("strategy.failed", ({ strategy, message }) => {
      expectTypeOf([strategy, message]).toEqualTypeOf<string[]>();
    });
    engine.on("event", (event) => {
      expectTypeOf(event).toEqualTypeOf<Event>();
    });
  });

  it("to an order phase receives that phase, and to order.changed any", () => {
    context.on("order.partially_filled", (event) => {
      expectTypeOf(event.type).toEqualTypeOf<"order.changed">();
      expectTypeOf(event.phase).toEqualTypeOf<"partially_filled">();
      expectTypeOf(event.record).toEqualTypeOf<EventMap["order.changed"]["record"]>();
    });
    context.on("order.changed", ({ phase }) => {
      expectTypeOf<"partially_filled">().toExtend<typeof phase>();
      expectTypeOf<"lost">().not.toExtend<typeof phase>();
    });
  });

  it("to one of several names receives one of their events", () => {
    const listen = (name: "fill" | "order.refused"): void => {
      engine.on(name, (event) => {
        expectTypeOf(event).toEqualTypeOf<EventMap["fill"] | EventMap["order.refused"]>();
      });
    };
    void listen;
  });

  it("returns nothing that is used, and is ended by a function", () => {
    const events: Event[] = [];
    expectTypeOf(engine.on("event", (event) => events.push(event))).toEqualTypeOf<() => void>();
  });
});

describe("A name", () => {
  it("is an event type, an order phase, or all", () => {
    expectTypeOf<EventType>().toExtend<keyof EventMap>();
    expectTypeOf<Exclude<keyof EventMap, EventType>>().toExtend<
      "event" | `order.${EventMap["order.changed"]["phase"]}`
    >();
  });

  it("that is misspelt does not compile", () => {
    // @ts-expect-error: "order.filled"
    engine.on("order.filed", () => undefined);
    // @ts-expect-error: "order.filled"
    context.on("order:filled", () => undefined);
    // @ts-expect-error: any text may be misspelt
    void ((name: string) => context.on(name, () => undefined));
  });
});

describe("The stream of all events", () => {
  it("is narrowed by the type of an event", () => {
    const fills$ = context.events$.pipe(filter((event) => event.type === "fill"));
    expectTypeOf(fills$).toEqualTypeOf<Observable<EventMap["fill"]>>();
  });
});
