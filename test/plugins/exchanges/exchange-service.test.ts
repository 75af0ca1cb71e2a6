/** Exchanges as services of a config: their addresses, and that what was not tried there sends no order with real money. */
import { describe, expect, it } from "vitest";
import { blofin } from "../../../plugins/exchanges/blofin.ts";
import type { ExchangeOptions } from "../../../plugins/exchanges/exchange-service.ts";
import { okx } from "../../../plugins/exchanges/okx.ts";
import type { LiveSpec } from "../../../src/client/live/live-service.ts";
import { createCredentials } from "../../../src/client/transport/secrets.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { createContract } from "../../../src/contract/contract.ts";
import { createRandom } from "../../../src/random.ts";
import { dialectCredentials } from "../../support/harness/dialects.ts";
import { createNetwork } from "../../support/harness/fake-sockets.ts";

const keys = [{ credentials: createCredentials(dialectCredentials) }];
const exchanges = [
  ["okx-v5", okx],
  ["blofin-v1", blofin],
] as const;

const opened = async (
  service: (options: ExchangeOptions) => LiveSpec,
  options: Partial<ExchangeOptions> = {},
  iTestedThis?: true,
) => {
  const network = createNetwork(() => undefined);
  const anomalies: string[] = [];
  const spec = service({
    environment: "mainnet",
    keys,
    clock: createVirtualClock(1_700_000_000_000),
    openSocket: network.open,
    ...options,
  });
  const live = spec.open({
    contract: createContract(spec.profile),
    random: createRandom("dialects"),
    onError: (error) => anomalies.push(String(error)),
    onAnomaly: (what) => anomalies.push(what),
    leave: () => undefined,
    ...(iTestedThis && { iTestedThis }),
  });
  await live.load?.();
  live.start();
  const refusal = live.ordersRefused?.();
  await live.stop();
  return { spec, refusal, anomalies, sockets: network.sockets.map(({ url }) => url) };
};

describe.each(exchanges)("The exchange %s", (name, service) => {
  it("sends no order on mainnet until somebody says to have tested it", async () => {
    const { spec, refusal, anomalies } = await opened(service);
    expect(spec).toMatchObject({ environment: "mainnet", untried: name });
    expect(refusal).toMatch(
      new RegExp(`dialect ${name}, which has not traded at the exchange itself.*--i-tested-this, or iTestedThis: true`),
    );
    expect(anomalies).toEqual(["dialect.untried"]);
  });

  it.each([
    ["in the options", { iTestedThis: true }, undefined],
    ["by the flag of a command", {}, true],
  ] as const)("trades on mainnet when that is said %s", async (_, options, flag) => {
    const { refusal, anomalies } = await opened(service, options, flag);
    expect([refusal, anomalies]).toEqual([undefined, []]);
  });

  it("trades on its demo and says at the start that it was not tried", async () => {
    const { refusal, anomalies } = await opened(service, { environment: "testnet" });
    expect([refusal, anomalies]).toEqual([undefined, ["dialect.untried"]]);
  });

  it("does not take an environment that it does not have", () => {
    expect(() => service({ environment: "sandbox" as never, keys })).toThrow(/environment/);
  });
});

describe("The addresses of OKX", () => {
  it.each([
    [{ environment: "testnet" }, "https://www.okx.com", "wss://wspap.okx.com:8443/ws/v5/private"],
    [{ environment: "mainnet" }, "https://www.okx.com", "wss://ws.okx.com:8443/ws/v5/private"],
    [
      { baseUrl: "https://eea.okx.com", wsUrl: "wss://wseea.okx.com:8443" },
      "https://eea.okx.com",
      "wss://wseea.okx.com:8443/ws/v5/private",
    ],
    [{ baseUrl: "http://127.0.0.1:1" }, "http://127.0.0.1:1", "ws://127.0.0.1:1/ws/v5/private"],
  ] as const)("of %j", async (options, baseUrl, socket) => {
    const { spec, sockets } = await opened(okx, options);
    expect([spec.baseUrl, sockets]).toEqual([baseUrl, [socket]]);
  });
});

describe("The addresses of BloFin", () => {
  it.each([
    ["testnet", "https://demo-trading-openapi.blofin.com"],
    ["mainnet", "https://openapi.blofin.com"],
  ] as const)("of %s", async (environment, baseUrl) => {
    const { spec, sockets } = await opened(blofin, { environment });
    expect([spec.baseUrl, sockets]).toEqual([baseUrl, [`${baseUrl.replace("https", "wss")}/ws/private`]]);
  });
});
