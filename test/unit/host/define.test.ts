import { NEVER } from "rxjs";
import { describe, expect, it } from "vitest";
import { backtest, constant, lognormal, paper } from "../../../src/backtest.ts";
import { checkConfig } from "../../../src/host/config.ts";
import { definePlugin, defineStrategy } from "../../../src/index.ts";
import { closed } from "../../support/harness/backtest.ts";

const messageOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    expect(error).toMatchObject({ name: "SluiceError", code: "CONFIG_INVALID" });
    return (error as Error).message;
  }
  throw new Error("nothing was thrown");
};

const maker = defineStrategy({
  name: "maker",
  options: {
    type: "object",
    required: ["instId"],
    additionalProperties: false,
    properties: {
      instId: { type: "string", format: "inst-id" },
      levels: { type: "integer", minimum: 1, default: 3 },
      step: { type: "string", format: "decimal", default: "0.001" },
    },
  },
  wanted: () => NEVER,
});
const good = maker({ instId: "BTC-USDT-SWAP" });

describe("Options of a definition", () => {
  it("are completed with defaults, and the same call makes a value of its own every time", () => {
    expect(good).toMatchObject({
      kind: "strategy",
      name: "maker",
      options: { instId: "BTC-USDT-SWAP", levels: 3, step: "0.001" },
    });
    expect(maker({ instId: "BTC-USDT-SWAP" }, { as: "second" }).name).toBe("second");
  });

  it.each<[string, object, readonly string[]]>([
    [
      "an unknown key",
      { instId: "BTC-USDT", level: 2 },
      ['options of strategy "maker": unknown key "level". Did you mean "levels"?'],
    ],
    [
      "a wrong type",
      { instId: "BTC-USDT", levels: "2" },
      ['options of strategy "maker".levels: must be integer (got "2")'],
    ],
    ["a missing key", {}, ['"instId" is missing']],
    ["an exponent", { instId: "BTC-USDT", step: "1e3" }, ['.step: "1e3" is not a decimal; write plain digits']],
    ["a hex number", { instId: "BTC-USDT", step: "0x10" }, ['.step: "0x10" is not a decimal']],
    ["text that is no number", { instId: "BTC-USDT", step: "NaN" }, ['.step: "NaN" is not a decimal']],
    [
      "neither kind of product",
      { instId: "BTC/USDT" },
      ['.instId: "BTC/USDT" is neither BASE-QUOTE nor BASE-QUOTE-SWAP'],
    ],
    [
      "several problems at once",
      { level: 2, levels: 0 },
      ['"instId" is missing', 'unknown key "level"', "must be >= 1 (got 0)"],
    ],
  ])("with %s are refused where they are given", (_, options, parts) => {
    const message = messageOf(() => maker(options as never));
    for (const part of parts) expect(message).toContain(part);
  });

  it("name the instance they were given to", () => {
    expect(messageOf(() => maker({} as never, { as: "left" }))).toContain('options of strategy "left"');
    const plugin = definePlugin({ name: "bell", options: closed, setup: () => undefined });
    expect(messageOf(() => plugin({ loud: true } as never))).toContain('options of plugin "bell": unknown key "loud"');
  });
});

describe("A definition", () => {
  it.each<[string, () => unknown, string]>([
    [
      "of nothing",
      () => defineStrategy({ name: "idle", options: closed }),
      'defineStrategy "idle": neither `wanted` nor `run`',
    ],
    [
      "with the former name of wanted",
      () => defineStrategy({ name: "old", options: closed, desired: () => NEVER } as never),
      'defineStrategy "old": `desired` is called `wanted` now',
    ],
    [
      "without a name",
      () => defineStrategy({ name: "", options: closed, run: () => NEVER }),
      'the name "" is not 1 to 40 characters',
    ],
    [
      "without a schema",
      () => defineStrategy({ name: "x", run: () => NEVER } as never),
      "options are not the JSON Schema of an object",
    ],
    [
      "of a plugin without setup",
      () => definePlugin({ name: "bell", options: closed } as never),
      'definePlugin "bell": neither setup nor extend is given',
    ],
  ])("%s is refused at once", (_, define, part) => {
    expect(messageOf(define)).toContain(part);
  });
});

describe("A config", () => {
  const service = backtest({ fixture: "nowhere" });
  it("gets its defaults", () => {
    expect(checkConfig({ service, strategies: [good] })).toMatchObject({
      plugins: [],
      instance: "main",
      seed: 1,
      quota: {},
    });
  });

  it.each<[string, unknown, string]>([
    ["nothing", undefined, "config: must be object"],
    [
      "no service",
      { strategies: [good] },
      'config: "service" is missing. Write service: backtest({ fixture: "…" }) or service: paper({ … }).',
    ],
    ["no strategies", { service }, 'config: "strategies" is missing. Write strategies: [ladder({ … })].'],
    ["an empty list", { service, strategies: [] }, "fewer than 1 items (got []). Write strategies:"],
    [
      "a strategy that was not called",
      { service, strategies: [good, maker] },
      "config.strategies.1 is a function, not what it returns. Call it",
    ],
    [
      "a plugin in the wrong list",
      { service, strategies: [good], plugins: [good] },
      "config.plugins.0.kind: must be equal to constant",
    ],
    [
      "an unknown key",
      { service, strategies: [good], plugin: [] },
      'config: unknown key "plugin". Did you mean "plugins"?',
    ],
    [
      "an unknown key inside",
      { service, strategies: [good], quota: { spendin: "paced" } },
      'config.quota: unknown key "spendin". Did you mean "spending"?',
    ],
    [
      "a wrong choice",
      { service, strategies: [good], quota: { spending: "pace" } },
      '"pace" is not one of burst, paced. Did you mean "paced"?',
    ],
    ["a wrong type", { service, strategies: [good], seed: true }, "config.seed: must be string,number (got true)"],
    [
      "two of one name",
      { service, strategies: [good, good] },
      'two strategies are named "maker". Name one of them with a second argument: { as:',
    ],
    [
      "a share for nobody",
      { service, strategies: [good], quota: { shares: { makr: 2 } } },
      'no strategy is named "makr"; there is maker. Did you mean "maker"?',
    ],
  ])("with %s is refused with the remedy", (_, config, part) => {
    expect(messageOf(() => checkConfig(config))).toContain(part);
  });

  it("takes two of one kind under two names", () => {
    expect(
      checkConfig({ service, strategies: [good, maker({ instId: "ETH-USDT-SWAP" }, { as: "other" })] }).strategies,
    ).toHaveLength(2);
  });
});

describe("Options of the embedded service", () => {
  it.each<[string, () => unknown, string]>([
    [
      "an unknown key",
      () => backtest({ fixtures: "x" } as never),
      'backtest options: unknown key "fixtures". Did you mean "fixture"?',
    ],
    [
      "half a fee",
      () => backtest({ fees: { makerBps: "1" } as never }),
      'backtest options.fees: "takerBps" is missing',
    ],
    [
      "a fee that is a number",
      () => paper({ fees: { makerBps: 1, takerBps: 2 } as never }),
      "paper options.fees.makerBps: must be string (got 1)",
    ],
    [
      "fees of one kind only",
      () => backtest({ fees: { SPOT: { makerBps: "1", takerBps: "1" } } as never }),
      '"SWAP" is missing',
    ],
    [
      "a balance with an exponent",
      () => backtest({ balances: { USDT: "1e4" } }),
      'balances.USDT: "1e4" is not a decimal',
    ],
    [
      "a latency that is a number",
      () => backtest({ latency: 25 as never }),
      "backtest options.latency: 25 is not a latency model. Write constant(25)",
    ],
    [
      "a latency that is no model",
      () => backtest({ latency: { ms: 25 } as never }),
      'latency: {"ms":25} is not a latency model. Write constant(25)',
    ],
    ["a latency below zero", () => constant(-1), "constant: ms is -1. Write a finite number"],
    ["a latency of nothing", () => lognormal({ medianMs: Number.NaN }), "lognormal: medianMs is NaN"],
    ["bounds the wrong way", () => lognormal({ medianMs: 5, minMs: 9, maxMs: 6 }), "minMs 9 is above maxMs 6"],
    [
      "products of neither kind",
      () => paper({ instruments: ["BTCUSDT"] }),
      'paper options.instruments.0: "BTCUSDT" is neither',
    ],
  ])("with %s are refused where they are written", (_, make, part) => {
    expect(messageOf(make)).toContain(part);
  });
});
