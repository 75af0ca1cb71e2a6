/**
 * Windows that are divided among the engines of a group.
 *
 * Invariants: windows that are too short for a statement are not divided, nor are those of a key, which one engine has
 * to itself.
 */
import type { LayerSpec } from "sluice/dialect";
import { FixedWindow, type LimitWindow } from "sluice/extension";

const windowMsLeast = 10_000;

export const isDivided = (window: LimitWindow): window is FixedWindow =>
  window instanceof FixedWindow && window.spec.scope !== "key" && window.spec.windowMs >= windowMsLeast;

/** Several engines meet in it, and it is too short to be divided. */
export const isTooShort = ({ scope, windowMs }: Pick<LayerSpec, "scope" | "windowMs">): boolean =>
  scope !== "key" && windowMs < windowMsLeast;
