/** Limits that a config names beside those of the description, over real sockets: what the service tells of them is heard. */
import { filter, firstValueFrom, NEVER } from "rxjs";

import { afterEach, describe, expect, it } from "vitest";
import { live } from "../../../../src/client/live/live-service.ts";
import { createCredentials } from "../../../../src/client/transport/secrets.ts";
import { createContract } from "../../../../src/contract/contract.ts";
import { createEngine } from "../../../../src/engine/engine.ts";
import { checkConfig } from "../../../../src/host/config.ts";
import { defineStrategy } from "../../../../src/host/define.ts";
import type { Event } from "../../../../src/journal/events.ts";
import { type LayerSpec, layersOf } from "../../../../src/scheduler/quota/layers.ts";
import { httpText, type RawServer, startRawServer } from "../../../support/harness/raw-server.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const idle = defineStrategy({
  name: "idle",
  options: { type: "object", additionalProperties: false, properties: {} },
  wanted: () => NEVER,
});
const credentials = createCredentials({ apiKey: "key", secretKey: "secret", passphrase: "phrase" });

const own: LayerSpec = {
  name: "gate",
  scope: "uid",
  unit: "weight",
  capacity: 6_000,
  windowMs: 60_000,
  anchor: "wall_clock",
  banMs: 0,
  header: { name: "X-Used-Weight", kind: "used" },
};

const serve = async (extra: Readonly<Record<string, string>>): Promise<RawServer> => {
  const server = await startRawServer(({ socket }) => {
    const headers = { Date: new Date().toUTCString(), "X-RATELIMIT-UID-WEIGHT-USED": "5", ...extra };
    socket.write(httpText(200, JSON.stringify({ code: "0", msg: "", data: [] }), headers));
  });
  closing.push(() => server.close());
  return server;
};

const engineAt = ({ url }: RawServer, layers?: readonly LayerSpec[]) => {
  const events: Event[] = [];
  const engine = createEngine({
    service: live({ environment: "testnet", baseUrl: url, keys: [{ credentials }], push: false }),
    strategies: [idle({})],
    ...(layers !== undefined && { quota: { layers } }),
  });
  engine.events$.subscribe((event) => events.push(event));
  closing.push(() => engine.stop());
  return { engine, events };
};

describe("A configured layer with its own header", () => {
  it.each(["X-Used-Weight", "x-used-weight", "X-USED-WEIGHT"])(
    "named %s reaches the count of that layer",
    async (name) => {
      const server = await serve({ "x-used-weight": "4321" });
      const layers = [...layersOf(createContract()), { ...own, header: { name, kind: "used" } as const }];
      const { engine } = engineAt(server, layers);
      await engine.start();
      const told = await firstValueFrom(
        engine.quota$.pipe(
          filter(({ layers: known }) => known.some(({ layer, used }) => layer === "gate" && used >= 4_321)),
        ),
      );
      expect(told.layers.find(({ layer }) => layer === "gate")?.foreign).toBeGreaterThan(4_000);
    },
  );

  it("is refused where no header can have that name", () => {
    const quota = { layers: [{ ...own, header: { name: "x used: weight", kind: "used" } }] };
    const service = live({ environment: "testnet", baseUrl: "http://127.0.0.1:1", keys: [{ credentials }] });
    expect(() => checkConfig({ service, strategies: [idle({})], quota })).toThrow(/quota\.layers\.0\.header\.name/);
  });
});

describe("An endpoint with a sunset header", () => {
  it("is told of once", async () => {
    const server = await serve({ Deprecation: "true", Sunset: "Fri, 01 Jan 2027 00:00:00 GMT" });
    const { engine, events } = engineAt(server);
    await engine.start();
    const told = events.filter((event) => event.type === "anomaly" && event.what === "endpoint.deprecated");
    const details = told.map((event) => (event.type === "anomaly" ? event.detail : ""));
    expect(details).toContain(
      "GET /api/v1/common/instruments is deprecated by the service; it ends Fri, 01 Jan 2027 00:00:00 GMT. Look for a newer version of the interface.",
    );
    expect(new Set(details).size).toBe(details.length);
  });
});
