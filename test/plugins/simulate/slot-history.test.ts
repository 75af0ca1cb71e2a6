/** Which wanted orders are settled, by an engine's events. */
import { describe, expect, it } from "vitest";
import { SlotHistory } from "../../../plugins/simulate/slot-history.ts";
import { createClientOrderIds } from "../../../src/orders/client-order-id.ts";
import type { WantedOrder } from "../../../src/orders/wanted-order.ts";

const ids = createClientOrderIds("history");
const sell: WantedOrder = { slot: "sell", instId: "BTC-USDT-SWAP", side: "sell", px: "60000", qty: "0.01" };
type Noted = Parameters<SlotHistory["note"]>[0];

/** An order's change as the engine tells it; of a previous run's order it does not know the slot. */
const changed = (slot: string, phase: string, of = "sell"): Noted =>
  ({ type: "order.changed", strategy: "quotes", slot, clOrdId: ids.of(ids.slotHash("quotes", of), 1), phase }) as Noted;
const anything = { type: "engine.started", strategies: [], plugins: [] } as unknown as Noted;

const historyOf = (...phases: readonly Noted[]) => {
  const wanted = new Map<string, readonly WantedOrder[]>();
  const history = new SlotHistory(wanted, ids);
  for (const event of phases) history.note(event);
  return {
    history,
    want: (...orders: readonly WantedOrder[]) => {
      wanted.set("quotes", orders);
      history.note(anything);
    },
  };
};

describe("A slot whose order of a previous run was filled while no engine ran", () => {
  it("has what is wanted there first settled, and nothing that is wanted later", () => {
    const { history, want } = historyOf(changed("", "filled"));
    want(sell);
    expect(history.settled("quotes sell", sell)).toBe(true);
    const later = { ...sell, px: "61000" };
    want(later);
    expect(history.settled("quotes sell", later)).toBe(false);
  });

  it("settles nothing of another slot", () => {
    const { history, want } = historyOf(changed("", "filled", "buy"));
    want(sell);
    expect(history.settled("quotes sell", sell)).toBe(false);
  });

  it("waits for the first set in which it is wanted", () => {
    const { history, want } = historyOf(changed("", "canceled"));
    want();
    want(sell);
    expect(history.settled("quotes sell", sell)).toBe(true);
  });
});

it("An order of a previous run that still rests settles nothing", () => {
  const { history, want } = historyOf(changed("", "live"));
  want(sell);
  expect(history.settled("quotes sell", sell)).toBe(false);
});
