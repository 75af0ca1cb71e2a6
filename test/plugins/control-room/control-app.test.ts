import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { controlApp, type EngineAnswer, type Question } from "../../../plugins/control-room/server/control-app.ts";
import { SourceFeed } from "../../../plugins/control-room/server/source-feed.ts";

it("What is urgent reaches an engine that has not answered stories and actions yet; other actions wait apart from stories", async () => {
  let now = 0;
  const clock = { now: () => now, setTimer: () => ({ cancel: () => undefined }) };
  const asked: Question[] = [];
  const ask = (question: Question): Promise<EngineAnswer> => {
    asked.push(question);
    return new Promise(() => undefined);
  };
  const feeds = new Map([["main", new SourceFeed("main", clock.now)]]);
  const parts = { clock, feeds, files: { get: () => undefined }, documents: {}, ask } as unknown as Parameters<
    typeof controlApp
  >[0];
  const app = controlApp(parts, new Response());
  const settled = async (answer: Response | Promise<Response>): Promise<number> =>
    Promise.race([
      Promise.resolve(answer).then(({ status }) => status),
      new Promise<number>((resolve) => setImmediate(resolve, 0)),
    ]);
  const story = () => settled(app.request("/api/v1/sources/main/orders/x"));
  const act = async (action: object): Promise<number> => {
    now += 1_000;
    const incoming = Object.assign(Readable.from([Buffer.from(JSON.stringify(action))]), { socket: {}, headers: {} });
    const answer = app.request("/api/v1/sources/main/actions", { method: "POST" }, {
      incoming,
      access: "act",
    } as never);
    for (let turn = 0; turn < 5; turn++) await settled(answer);
    return settled(answer);
  };
  for (let count = 0; count < 16; count++) expect(await story()).toBe(0);
  expect(await story()).toBe(503);
  const some = { type: "cancel", where: { side: "buy" } };
  for (let count = 0; count < 16; count++) expect([count, await act(some)]).toEqual([count, 0]);
  expect(await act(some)).toBe(503);
  for (const urgent of [{ type: "halt" }, { type: "cancel", where: {} }]) {
    expect(await act(urgent)).toBe(0);
    expect(asked.at(-1)).toMatchObject({ kind: "act", action: urgent });
  }
});
