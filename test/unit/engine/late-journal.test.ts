/** The journal of placements before it is open. */

import { NEVER } from "rxjs";
import { describe, expect, it } from "vitest";
import { paper } from "../../../src/backtest.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import type { Transport, WireRequest } from "../../../src/contract/transport.ts";
import { LateJournal, loadJournalCode } from "../../../src/engine/late-journal.ts";
import { checkConfig } from "../../../src/host/config.ts";
import { strategy, swap } from "../../support/harness/backtest.ts";
import { memoryDisk } from "../../support/harness/memory-disk.ts";

const journal = () => {
  const service = paper({ instruments: [swap] });
  const config = checkConfig({
    service,
    strategies: [strategy("one", { wanted: () => NEVER })],
    journal: { dir: "journal" },
  });
  const disk = memoryDisk();
  return new LateJournal(config, {
    service: { clock: createVirtualClock(0), users: [] },
    deskOf: () => {
      throw new Error("not asked");
    },
    events: { append: () => undefined },
    openDisk: async () => disk,
  });
};

const request = (endpoint: WireRequest["endpoint"]): WireRequest => ({
  endpoint,
  method: "POST",
  path: "/",
  query: {},
  body: {},
  key: "k1",
});

describe("A journal that is not open", () => {
  it("lets no placement pass, and everything else", () => {
    const passed: string[] = [];
    const failed: string[] = [];
    const next: Transport = ({ endpoint }) => void passed.push(endpoint);
    const guarded = journal().interceptor(next);
    const sink = {
      response: () => undefined,
      failed: (error: unknown) => void failed.push(String(error)),
      closed: false,
    };
    for (const endpoint of ["placeOrder", "cancelBatch", "pendingOrders"] as const) guarded(request(endpoint), sink);
    expect(passed).toEqual(["cancelBatch", "pendingOrders"]);
    expect(failed).toEqual(["SluiceError: The journal is not open: no order leaves without it."]);
  });

  it("has nothing to load once its code was loaded in the process, and then opens", async () => {
    await loadJournalCode();
    const loaded = journal();
    expect(loaded.load).toBeUndefined();
    expect(await loaded.open()).toMatchObject({ life: 1, open: [], held: [] });
    await loaded.close();
  });
});
