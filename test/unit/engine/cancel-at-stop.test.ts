/** A stop that cancels: what is told is what the service's records show. */
import { expect, it } from "vitest";
import type { WireResponse } from "../../../src/contract/transport.ts";
import { begun, pass, resting, stop, type World, worldOf } from "../../support/harness/engine.ts";

const done = (world: World): WireResponse => ({
  status: 200,
  headers: {},
  body: {
    code: "0",
    msg: "",
    data: world.venue.truth("main").orders.map(({ ordId, clOrdId }) => ({ ordId, clOrdId, sCode: "0", sMsg: "" })),
  },
});

it.each<[string, (world: World) => void, string]>([
  ["are done", () => undefined, "orders cancelled"],
  [
    "do not arrive",
    (world) => {
      world.lose = ({ endpoint }) => (endpoint === "cancelBatch" ? "request" : undefined);
    },
    "2 orders could not be confirmed as canceled",
  ],
  [
    "are answered and never executed",
    (world) => {
      world.lose = ({ endpoint }) => (endpoint === "cancelBatch" ? "request" : undefined);
      world.answerLost = (request) => (request.endpoint === "cancelBatch" ? done(world) : undefined);
    },
    "2 orders could not be confirmed as canceled",
  ],
])("Orders whose cancels %s", async (_, spoil, reason) => {
  const world = worldOf();
  const { engine, events } = await begun(world);
  await pass(world, 3_000);
  expect(resting(world)).toHaveLength(2);
  spoil(world);
  const stopping = engine.stop({ cancel: true });
  await pass(world, 100_000);
  await stopping;
  expect(events.find(({ type }) => type === "engine.stopped")).toMatchObject({ reason });
  expect(resting(world)).toHaveLength(reason === "orders cancelled" ? 0 : 2);
  await stop(world, engine);
});
