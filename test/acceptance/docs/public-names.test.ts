/**
 * Every name that users import says what it is for.
 */
import { describe, expect, it } from "vitest";
import { docOf, interfaceOf, publicNames } from "../../../docs/generate/docstrings.ts";
import { packageEntries } from "../../support/package-entries.ts";

describe("Public names", () => {
  it.each(packageEntries)("of %s have a docstring", (entry) => {
    const names = publicNames(entry);
    expect(names.length).toBeGreaterThan(0);
    expect(
      names
        .filter(({ path, declared }) => docOf(path, declared) === "")
        .map(({ path, declared }) => `${path}: ${declared}`),
    ).toEqual([]);
  });

  it.each([
    ["src/market/market-data.ts", ["Trade", "Quote", "Candle", "BookLevel", "BookView", "HistoryOptions", "Market"]],
    ["src/orders/positions.ts", ["Position"]],
    ["src/orders/order-update.ts", ["OrderUpdate"]],
    ["src/orders/wanted-order.ts", ["WantedOrder", "OrderSpec"]],
    ["src/orders/manual-orders.ts", ["Orders", "OrderFilter", "CancelResult"]],
    ["src/orders/state/snapshot.ts", ["Snapshot"]],
    [
      "src/host/context.ts",
      ["Account", "Own", "SharedState", "StrategyContext", "PluginContext", "QuotaState", "PlannedAction", "Estimate"],
    ],
    ["src/engine/engine.ts", ["Engine", "EngineOptions"]],
    ["src/scheduler/quota/quota-state.ts", ["LayerState"]],
    ["src/report/report.ts", ["RunReport", "StrategyReport"]],
    ["src/orders/protection/protect.ts", ["Protect", "WantedProtection"]],
  ])("that strategies and plugins meet document every field: %s", (path, names) => {
    const bare = names.flatMap((name) =>
      interfaceOf(path, name)
        .fields.filter(({ doc }) => doc === "")
        .map((field) => `${name}.${field.name}`),
    );
    expect(bare).toEqual([]);
  });
});
