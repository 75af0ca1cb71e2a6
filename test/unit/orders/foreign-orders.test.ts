import { describe, expect, it } from "vitest";
import type { OrderRecord } from "../../../src/contract/schemas.ts";
import { EventLog } from "../../../src/journal/event-log.ts";
import type { Event } from "../../../src/journal/events.ts";
import type { Effects } from "../../../src/orders/effects.ts";
import { ForeignOrders } from "../../../src/orders/foreign-orders.ts";
import { orderRecord } from "../../support/harness/records.ts";

const stage = () => {
  const journal = new EventLog(() => 0);
  const events: Event[] = [];
  journal.attach((event) => events.push(event));
  const foreign = new ForeignOrders();
  const run = (effects: Effects): void => {
    for (const effect of effects)
      if (effect.kind === "outside" && effect.what === "record") journal.append(effect.event);
  };
  const known = new Map<string, OrderRecord>();
  const see = (ordId: string, state: OrderRecord["state"], updatedAt = "1000"): void => {
    const record = orderRecord({ ordId, state, updatedAt });
    run(foreign.take(record, known.get(ordId)));
    known.set(ordId, record);
  };
  const begin = (): void => run(foreign.begin());
  const close = (clOrdId: string): void => foreign.close(clOrdId);
  const told = (): readonly string[] =>
    events.flatMap((event) =>
      event.type === "order.external"
        ? [`${event.ordId} ${event.state}`]
        : event.type === "history.external"
          ? [`${event.orders} ended`]
          : [],
    );
  return { see, begin, told, close, events };
};

describe("Orders that this instance did not place", () => {
  it("are not those that our own close calls made", () => {
    const { see, begin, told, close } = stage();
    begin();
    close("c");
    see("7", "filled", "2000");
    expect(told()).toEqual([]);
  });

  it("are told when open at the start, and those that ended before are only counted", () => {
    const { see, begin, told, events } = stage();
    for (let id = 1; id <= 29; id++) see(String(id), id % 2 === 0 ? "filled" : "canceled", String(1_000 + id));
    see("30", "live");
    begin();
    expect(told()).toEqual(["30 live", "29 ended"]);
    expect(events[0]).toMatchObject({ side: "buy", sz: "50", px: "42000.5", instId: "BTC-USDT-SWAP", clOrdId: "c" });
  });

  it("are told as they change and as they end, once each", () => {
    const { see, begin, told } = stage();
    see("1", "live");
    begin();
    see("1", "live", "1001");
    see("1", "partially_filled");
    see("1", "filled");
    see("1", "filled", "1002");
    expect(told()).toEqual(["1 live", "1 partially_filled", "1 filled"]);
  });

  it("that came and went while the engine trades are told; older ones that a longer look at the history brings are not", () => {
    const { see, begin, told } = stage();
    see("1", "canceled", "5000");
    begin();
    see("2", "filled", "6000");
    see("0", "canceled", "4000");
    expect(told()).toEqual(["1 ended", "2 filled"]);
  });
});
