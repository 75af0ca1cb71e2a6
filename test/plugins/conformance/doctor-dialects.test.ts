/**
 * The doctor over services that use the dialect of another exchange: what is concluded, and that what the dialect
 * answers for is not offered.
 */
import { describe, expect, it, onTestFinished } from "vitest";
import { examine } from "../../../plugins/conformance/doctor/doctor.ts";
import { blofin } from "../../../plugins/exchanges/blofin.ts";
import { okx } from "../../../plugins/exchanges/okx.ts";
import { createCredentials } from "../../../src/client/transport/secrets.ts";
import { createRandom } from "../../../src/random.ts";
import { dialectService } from "../exchanges/harness/dialect-service.ts";

const services = { okx, blofin } as const;

const examined = async (name: keyof typeof services) => {
  const { url, keys, clock, venue, quotes } = await dialectService(name, onTestFinished, { times: 10 });
  const [key] = keys as unknown as readonly [(typeof keys)[number]];
  const service = services[name]({
    environment: "testnet",
    baseUrl: url,
    keys: [{ credentials: createCredentials(key) }],
    clock,
  });
  quotes("BTC-USDT-SWAP", "59999", "60001");
  const report = await examine({
    profile: service.profile ?? {},
    dialect: service.dialect,
    stop: new AbortController().signal,
    signs: true,
    quick: true,
    orders: {},
    open: (contract) =>
      service.open({
        contract,
        random: createRandom("doctor"),
        onError: () => undefined,
        onAnomaly: () => undefined,
        leave: () => undefined,
        faultyKeys: true,
      }),
  });
  return { report, venue };
};

const rowsOf = ({ report }: Awaited<ReturnType<typeof examined>>, verdict: string) =>
  report.findings.filter((finding) => finding.verdict === verdict).map(({ row, found }) => `${row} ${found}`);

describe("The doctor over a dialect", () => {
  it("reads OKX's listings in parts, places, looks and cancels, and offers only what a row can change", async () => {
    const found = await examined("okx");
    expect(found.report.inconclusive).toBeUndefined();
    // The copy takes a mix of ids and remembers what was canceled; the dialect assumes the stricter of both.
    expect(rowsOf(found, "differs")).toEqual(["cancelBatch.oneIdKind false", "history.unfilledCanceledVanish false"]);
    expect(rowsOf(found, "not asked")).toEqual([]);
    expect(rowsOf(found, "holds")).toEqual(
      expect.arrayContaining(["answers.notFoundCode 51603", 'order.szUnit {"SPOT":"base","SWAP":"contracts"}']),
    );
    expect(found.report.left).toEqual([]);
    expect(found.venue.truth("ann").orders.map(({ state }) => state)).not.toContain("live");
  });

  it("says of BloFin that the absence of an order is not told", async () => {
    const found = await examined("blofin");
    expect(rowsOf(found, "differs")).toEqual(["answers.duplicateCode 102002"]);
    expect(rowsOf(found, "not asked").map((row) => row.split(" ")[0])).toEqual([
      ...["answers.notFound", "answers.notFoundCode", "answers.orderErrorStatus"],
    ]);
    expect(rowsOf(found, "holds")).toContain('order.szUnit {"SPOT":"base","SWAP":"contracts"}');
  });
});
