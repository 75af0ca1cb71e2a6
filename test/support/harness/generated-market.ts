/** What tests of runs take from the public door, and generated markets for them. */

import type { Tape } from "../../../src/index.ts";
import { generateTape, instrumentFor } from "../../../src/market/tape/generate.ts";

export { add, definePlugin, type Event, type RunReport, sum } from "../../../src/index.ts";

export const generateTapeFor = (instIds: readonly string[], minutes: number, seed = "test"): Tape =>
  generateTape({ seed, instruments: instIds.map(instrumentFor), minutes });
