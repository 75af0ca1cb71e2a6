/** A plugin that traces requests is a plugin like any other: what it throws ends it, and no request. */
import { describe, expect, it } from "vitest";
import type { RequestTracer } from "../../../src/contract/transport.ts";
import { definePlugin } from "../../../src/index.ts";
import { testPlugin } from "../../../src/testing.ts";

const quiet: RequestTracer = { submitted: () => undefined, leaves: () => undefined, ends: () => undefined };
const tracing = (tracer: Partial<RequestTracer>) =>
  definePlugin({
    name: "tracing",
    options: { type: "object", additionalProperties: false, properties: {} },
    setup: ({ traceRequests }) => {
      traceRequests({ ...quiet, ...tracer });
    },
  })({});
const bid = { slot: "a", instId: "BTC-USDT-SWAP", side: "buy", px: "60000", qty: "0.01" } as const;
const trading = async (tracer: Partial<RequestTracer>) => {
  const t = await testPlugin(tracing(tracer), { failures: "record" });
  t.quote("BTC-USDT-SWAP", { bidPx: "60000", askPx: "60001" });
  t.want([bid]);
  await t.advance(1_000);
  const live = t.events.some((event) => event.type === "order.changed" && event.phase === "live");
  const failed = t.events.flatMap((event) => (event.type === "plugin.failed" ? [event.message] : []));
  await t.stop();
  return { live, failed, events: t.events };
};

describe("A plugin that traces requests", () => {
  it.each(["submitted", "leaves", "ends"] as const)(
    "fails by name where %s throws, and the order is placed",
    async (name) => {
      const broken = (): never => {
        throw new Error("no tracer");
      };
      expect(await trading({ [name]: broken })).toMatchObject({ live: true, failed: ["no tracer"] });
    },
  );

  it("follows each action by the number of its events, from wanted order to answer", async () => {
    const told: string[] = [];
    const tell = (what: string) => (action: number) => void told.push(`${what} ${action}`);
    const { events } = await trading({
      submitted: tell("submitted"),
      leaves: (action) => {
        told.push(`leaves ${action}`);
        return undefined;
      },
      ends: tell("ends"),
    });
    const sent = events.find((event) => event.type === "action.sent" && event.endpoint === "placeOrder");
    const action = sent?.type === "action.sent" ? sent.action : -1;
    expect(told.filter((line) => line.endsWith(` ${action}`))).toEqual([
      `submitted ${action}`,
      `leaves ${action}`,
      `ends ${action}`,
    ]);
  });
});
