/**
 * Estimate of the weight and the waiting time of actions. Pure.
 */
import type { Contract } from "../contract/contract.ts";
import type { LayerState } from "../scheduler/quota/ledger.ts";
import type { Estimate, PlannedAction } from "./context.ts";

export const estimateOf = (actions: readonly PlannedAction[], contract: Contract, minute: LayerState | undefined, at: number): Estimate => {
  const { uid, key } = contract.layers;
  const weight = actions.reduce((sum, { endpoint, count }) => sum + contract.endpoints[endpoint].weight * count, 0);
  const requests = actions.reduce((sum, { count }) => sum + count, 0);
  const reserved = minute?.reserved ?? 0;
  const free = minute === undefined ? uid.capacity : Math.max(0, minute.free - reserved);
  // Every later minute brings what the reserve leaves of it.
  const minutes = weight <= free ? 0 : Math.ceil((weight - free) / Math.max(1, uid.capacity - reserved));
  const byWeight = minutes === 0 || minute === undefined ? 0 : minute.windowEndsAt - at + (minutes - 1) * uid.windowMs;
  const bySecond = Math.floor(Math.max(0, requests - 1) / key.capacity) * key.windowMs;
  return { weight, requests, waitMs: Math.max(0, byWeight, bySecond) };
};
