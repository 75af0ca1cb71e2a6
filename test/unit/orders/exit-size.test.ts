/** Sizes of exits by what their strategy holds: a table. */
import { describe, expect, it } from "vitest";
import { read } from "../../../src/decimal-value.ts";
import { type ExitLimit, lackOf, sizeExit } from "../../../src/orders/exit-size.ts";
import { spelled, type Texts, valued } from "../../support/decimal-texts.ts";
import { swap } from "../../support/harness/orders.ts";

type Limit = Texts<ExitLimit>;
const limitOf = (limit: Limit): ExitLimit => valued<ExitLimit>(limit, ["held", "promised", "covered"]);

const steps = { lotSize: "0.001", minSize: "0.002" };
const alone: Limit = {
  held: "0.01",
  promised: "0",
  covered: "0.01",
  hasFlag: true,
  isAlone: true,
  isOthers: false,
  isKnown: true,
};
const among: Limit = { ...alone, isAlone: false };

describe("An exit", () => {
  it.each<[string, Limit, string | undefined]>([
    ["of a strategy alone leaves", alone, undefined],
    ["leaves where other exits promise all: the service cuts it", { ...alone, promised: "0.01" }, undefined],
    ["leaves where a position may be older than the journal", { ...alone, held: "0", isKnown: false }, undefined],
    ["waits where the strategy is known to hold nothing", { ...alone, held: "0" }, "position"],
    [
      "waits where only others hold what it would reduce",
      { ...among, held: "0", isKnown: false, isOthers: true },
      "position",
    ],
    [
      "waits where nothing is held of a product without the flag",
      { ...among, held: "0", isKnown: false, hasFlag: false },
      "position",
    ],
    ["of less than the smallest order leaves alone: the service decides", { ...alone, held: "0.0015" }, undefined],
    ["of less than the smallest order waits among others", { ...among, held: "0.0015" }, "position"],
    [
      "waits where the strategy's other exits leave less than the smallest order",
      { ...among, promised: "0.009" },
      "room",
    ],
    ["leaves where they leave as much", { ...among, promised: "0.008" }, undefined],
    ["that may not leave without the flag leaves where it is covered", { ...among, flagOnly: "so" }, undefined],
    ["leaves where a part of it is covered", { ...among, covered: "0.002", flagOnly: "so" }, undefined],
    ["waits where less than the smallest order is covered", { ...among, covered: "0.001", flagOnly: "so" }, "room"],
    ["waits where the account holds the other direction", { ...among, covered: "-0.02", flagOnly: "so" }, "room"],
    ["waits where the product has no flag", { ...among, hasFlag: false, flagOnly: "so" }, "room"],
    ["of a strategy alone carries the flag anyway", { ...alone, covered: "0", flagOnly: "so" }, undefined],
  ])("%s", (_, limit, lack) => {
    expect(lackOf(limitOf(limit), steps)?.of).toBe(lack);
  });

  it.each<[string, string, Limit, { qty: string; wantedQty: string; withoutFlag: boolean }]>([
    ["alone, of less than is held", "0.004", alone, { qty: "0.004", wantedQty: "0.004", withoutFlag: false }],
    ["alone, of more than is held", "0.05", alone, { qty: "0.01", wantedQty: "0.05", withoutFlag: false }],
    [
      "among others, with the flag only",
      "0.01",
      { ...among, covered: "0.0045", flagOnly: "so" },
      { qty: "0.004", wantedQty: "0.01", withoutFlag: false },
    ],
    [
      "alone, of what is held off the lot",
      "0.05",
      { ...alone, held: "0.0107" },
      { qty: "0.01", wantedQty: "0.05", withoutFlag: false },
    ],
    [
      "alone, whatever other exits promise",
      "0.05",
      { ...alone, promised: "0.01" },
      { qty: "0.01", wantedQty: "0.05", withoutFlag: false },
    ],
    [
      "alone, below the smallest order",
      "0.05",
      { ...alone, held: "0.0015" },
      { qty: "0.05", wantedQty: "", withoutFlag: false },
    ],
    ["of nothing that is known", "0.05", { ...alone, held: "0" }, { qty: "0.05", wantedQty: "", withoutFlag: false }],
    ["of an unknown size, alone", "", alone, { qty: "", wantedQty: "", withoutFlag: false }],
    [
      "among others of the same direction",
      "0.05",
      { ...among, covered: "0.03" },
      { qty: "0.01", wantedQty: "0.05", withoutFlag: false },
    ],
    ["covered to the last lot", "0.01", among, { qty: "0.01", wantedQty: "0.01", withoutFlag: false }],
    [
      "covered but for one lot",
      "0.01",
      { ...among, covered: "0.009" },
      { qty: "0.01", wantedQty: "0.01", withoutFlag: true },
    ],
    [
      "covered as far as it is wanted",
      "0.009",
      { ...among, covered: "0.009" },
      { qty: "0.009", wantedQty: "0.009", withoutFlag: false },
    ],
    [
      "of an account net the other way",
      "0.01",
      { ...among, covered: "-2" },
      { qty: "0.01", wantedQty: "0.01", withoutFlag: true },
    ],
    [
      "beside promises of its strategy",
      "0.01",
      { ...among, promised: "0.004" },
      { qty: "0.006", wantedQty: "0.01", withoutFlag: false },
    ],
    ["without a flag", "0.01", { ...among, hasFlag: false }, { qty: "0.01", wantedQty: "0.01", withoutFlag: true }],
  ])("%s is sized", (_, baseQty, limit, expected) => {
    const spec = { instId: swap, side: "sell", ordType: "limit", px: "60000", sz: baseQty, reduceOnly: true } as const;
    const respecify = (qty: string) => ({ ok: true as const, spec: { ...spec, sz: qty }, baseQty: read(qty) });
    const base = baseQty === "" ? undefined : read(baseQty);
    const sized = sizeExit({ spec, baseQty: base }, limitOf(limit), steps, respecify);
    expect(spelled(sized)).toMatchObject({
      ok: true,
      baseQty: expected.qty === "" ? undefined : expected.qty,
      wantedQty: expected.wantedQty === "" ? undefined : expected.wantedQty,
      withoutFlag: expected.withoutFlag,
    });
    if (sized.ok) expect(sized.spec.sz).toBe(expected.qty);
  });

  it("of an unknown size is refused among others: it might reduce more than is held", () => {
    const spec = { instId: swap, side: "sell", ordType: "market", px: "", sz: "600", reduceOnly: true } as const;
    const sized = sizeExit({ spec, baseQty: undefined }, limitOf(among), steps, () => ({ ok: false, reason: "" }));
    const reason = `no quote of ${swap} is known yet to tell how much of 0.01 it would reduce`;
    expect(sized).toEqual({ ok: false, reason, isUnquoted: true });
  });
});
