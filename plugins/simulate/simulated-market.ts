/**
 * The market of a seed: another part of the config's recording each time, or a made one for the products its strategies
 * name.
 *
 * Invariants: the same config, seed and length give the same tape.
 */
import { resolve } from "node:path";
import type { BacktestSpec, Tape } from "sluice/backtest";
import { readInstId } from "sluice/dialect";
import { type CheckedConfig, createRandom, generateTape, instrumentFor, openFixture } from "sluice/extension";
import { excerpt } from "./distorted-tape.ts";

export type MarketOf = (seed: string, minutes: number) => Tape;

const defaults = ["BTC-USDT-SWAP", "ETH-USDT-SWAP"];

export const marketOf = (config: CheckedConfig, fixture?: string): MarketOf => {
  const dir = fixture ?? (config.service as Partial<BacktestSpec>).options?.fixture;
  if (dir === undefined) {
    const named = config.strategies.flatMap(({ options }) => Object.values(options as object).filter(isProduct));
    const instruments = [...new Set(named.length > 0 ? named : defaults)].map(instrumentFor);
    return (seed, minutes) => generateTape({ seed, instruments, minutes });
  }
  const { tape } = openFixture(resolve(dir));
  return (seed, minutes) => {
    const spareMs = tape.endAt - tape.startAt - minutes * 60_000;
    const fromAt =
      tape.startAt + (spareMs > 0 ? createRandom(`${seed}/market`).whole(0, Math.floor(spareMs / 1_000)) * 1_000 : 0);
    return excerpt(tape, fromAt, minutes * 60_000);
  };
};

const isProduct = (value: unknown): value is string => typeof value === "string" && readInstId(value) !== undefined;
