/** The three layers, and what answers say of them, over the wire. */
import { describe, expect, it } from "vitest";
import { keys, serverSetting, startAt } from "./harness/server.ts";

const left = (headers: Readonly<Record<string, unknown>>): readonly unknown[] => [
  headers["x-ratelimit-ip-remaining"],
  headers["x-ratelimit-key-remaining"],
  headers["x-ratelimit-uid-weight-used"],
];

const nextMinuteAt = startAt + 40_000;

describe("A used-up layer answers 429:", () => {
  it("the address: signed or not, whatever it asks for, until the next minute", async () => {
    const { get, call, venue, clock } = await serverSetting({ limits: true });
    for (let count = 0; count < 1_197; count++) venue.knock("10.0.0.1", startAt);
    expect(left((await get("common/instruments")).headers)).toEqual(["2", undefined, undefined]);
    // One whose signature is refused has reached the address all the same.
    expect(left((await get("trade/orders/pending", { key: { ...keys.ann, secretKey: "guess" } })).headers)).toEqual([
      "1",
      undefined,
      undefined,
    ]);
    expect((await call("GET", "/no/such/path")).status).toBe(404);
    const refused = [
      await get("common/instruments"),
      await get("trade/orders/pending", { key: keys.ann }),
      await get("trade/orders/pending", { key: { ...keys.ann, secretKey: "guess" } }),
      await call("OPTIONS", "/api/v1/trade/order"),
      await call("POST", "/api/v1/trade/order", { key: keys.ann, body: "{" }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([429, 429, 429, 429, 429]);
    expect(refused[1]?.body).toEqual({ code: "50011", msg: "Too Many Requests", data: [] });
    expect((await get("common/instruments", { ip: "10.0.0.2" })).status).toBe(200);
    clock.advanceTo(nextMinuteAt);
    expect((await get("common/instruments")).status).toBe(200);
  });

  it("the key: ten a second, and another key of the user goes on", async () => {
    const { get, clock } = await serverSetting({ limits: true });
    const statuses: number[] = [];
    for (let count = 0; count < 11; count++) statuses.push((await get("asset/spot", { key: keys.ann })).status);
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 200), 429]);
    expect((await get("asset/spot", { key: keys.ann2 })).status).toBe(200);
    clock.advanceTo(startAt + 1_000);
    expect((await get("asset/spot", { key: keys.ann })).status).toBe(200);
  });

  it("the user: all keys are mute until the next minute begins, others are not", async () => {
    const { get, venue, clock } = await serverSetting({ limits: true });
    venue.spendElsewhere("ann", 1_190, startAt);
    expect(left((await get("account/positions", { key: keys.ann })).headers)).toEqual(["1199", "9", "1195"]);
    expect((await get("account/positions", { key: keys.ann2 })).status).toBe(200);
    const over = await get("common/instruments", { key: keys.ann });
    expect([over.status, left(over.headers)[2]]).toEqual([429, "1200"]);
    expect((await get("common/instruments", { key: keys.reader })).status).toBe(429);
    expect((await get("common/instruments", { key: keys.bob })).status).toBe(200);
    clock.advanceTo(nextMinuteAt);
    expect(left((await get("account/positions", { key: keys.ann })).headers)).toEqual(["1199", "9", "5"]);
  });
});

describe("The rate headers of an answer", () => {
  it("carry the service's own time, and none where the profile has none", async () => {
    const { get, clock } = await serverSetting();
    clock.advanceTo(startAt + 1_999);
    expect((await get("common/instruments")).headers.date).toBe("Tue, 14 Nov 2023 22:13:21 GMT");
    const without = await serverSetting({ profile: { limits: { dateHeader: false } } });
    expect((await without.get("common/instruments")).headers).not.toHaveProperty("date");
  });

  it("say nothing of limits on a failure where the profile says so", async () => {
    const { get } = await serverSetting({ profile: { limits: { headersOnError: false } } });
    expect(left((await get("trade/order", { key: keys.ann })).headers)).toEqual([undefined, undefined, undefined]);
    expect(left((await get("trade/order", { key: { ...keys.ann, secretKey: "guess" } })).headers)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("count what was malformed at the key and the user too, as the service does with every failed call", async () => {
    const { post, get, venue } = await serverSetting();
    expect((await post("trade/order", "{", { key: keys.ann })).status).toBe(400);
    expect((await get("trade/orders/pending", { key: keys.ann, query: "limit=1&limit=2" })).status).toBe(400);
    expect(venue.meterReport().peak).toEqual({ ip: 2, key: 2, uid: 15 });
  });

  it("without limits nothing is refused and everything is counted", async () => {
    const { get, venue } = await serverSetting({ limits: false });
    for (let count = 0; count < 12; count++) expect((await get("asset/spot", { key: keys.ann })).status).toBe(200);
    expect(venue.meterReport()).toMatchObject({ requests: 12, weight: 60, refused: { key: 0 } });
  });
});
