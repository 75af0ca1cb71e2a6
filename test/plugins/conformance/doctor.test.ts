import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { Examination, ExamineOptions } from "../../../plugins/conformance/doctor/doctor.ts";
import { main } from "../../../src/cli/main.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { capturedIo } from "../../support/captured-io.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { examination, finding } from "./harness/examinations.ts";

const folder = temporaryFolder("doctor");
const confirmation = join(folder, "kept", "confirmed.json");
beforeEach(() => {
  rmSync(join(folder, "kept"), { recursive: true, force: true });
});

const configFor = (name: string, service: object): string => {
  const path = join(folder, `${name}.mjs`);
  const config = {
    service: { kind: "sample", ...service },
    strategies: [{ kind: "strategy", name: "none" }],
    profile: { weights: { getOrder: 4 } },
  };
  writeFileSync(
    path,
    `const config = ${JSON.stringify(config)};\nconfig.service.open = () => { throw new Error("opened"); };\nexport default config;\n`,
  );
  return path;
};
const testnet = configFor("testnet", { environment: "testnet", baseUrl: "http://127.0.0.1:1", confirmation });
const mainnet = configFor("mainnet", { environment: "mainnet", baseUrl: "https://example.com" });
const embedded = configFor("embedded", {});

const doctor = (
  path: string,
  argv: readonly string[] = [],
  result: Examination | Promise<Examination> = examination([finding("holds")]),
) => {
  const io = capturedIo();
  const asked: ExamineOptions[] = [];
  let begin = (): void => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const examine = (options: ExamineOptions): Promise<Examination> => {
    asked.push(options);
    begin();
    return Promise.resolve(result);
  };
  return {
    io,
    asked,
    begun,
    ended: main(["doctor", path, ...argv], io, { examine, clock: createVirtualClock(1_700_000_000_000) }),
  };
};

describe("Doctor", () => {
  it("ends with 0 when nothing differs, also when not everything was there to be seen", async () => {
    const { ended, io, asked } = doctor(
      testnet,
      [],
      examination([finding("holds"), finding("not seen", "limits.anchor")]),
    );
    expect(await ended).toBe(0);
    expect(io.outText).toContain("0 differs, 0 could not be asked, 1 not seen, 1 holds.");
    expect(io.errText).toBe("");
    expect(asked[0]).toMatchObject({ profile: { weights: { getOrder: 4 } }, quick: false, signs: true });
    expect(asked[0]?.orders).toBeUndefined();
  });

  it.each([
    ["something differs", [finding("differs")], "error: The service differs from the profile in 1 row.\n"],
    [
      "something could not be asked",
      [finding("holds"), finding("not asked")],
      "error: No difference was found; 1 row could not be tested.\n",
    ],
  ] as const)("ends with 1 when %s", async (_, findings, message) => {
    const { ended, io } = doctor(testnet, [], examination(findings));
    expect(await ended).toBe(1);
    expect(io.errText).toBe(message);
  });

  it("that could not tell a good key from a bad one says so first, offers no line, and ends with 1", async () => {
    const given = examination([finding("not asked")], { inconclusive: "any key is accepted" });
    const { ended, io } = doctor(testnet, [], given);
    expect(await ended).toBe(1);
    expect(io.outText).toMatch(
      /^Nothing below can be concluded, and there is nothing to write in the config: any key is\s+accepted\.\n/,
    );
    expect(io.outText).not.toContain("profile: {");
    expect(io.errText).toBe("error: Nothing can be concluded: any key is accepted.\n");
    const { ended: again, io: json } = doctor(testnet, ["--json"], given);
    expect(await again).toBe(1);
    expect(JSON.parse(json.outText)).toMatchObject({
      ok: false,
      inconclusive: "any key is accepted",
      overrides: [],
      lines: "",
    });
  });

  it("prints one JSON document", async () => {
    const { ended, io } = doctor(testnet, ["--json", "--quick"], examination([finding("differs")]));
    expect(await ended).toBe(1);
    expect(io.outText.trimEnd().split("\n")).toHaveLength(1);
    expect(JSON.parse(io.outText)).toMatchObject({
      ok: false,
      weight: 51,
      requests: 14,
      overrides: [{ path: "weights.getOrder", value: 2 }],
      lines: "profile: {\n  weights: { getOrder: 2 },\n},",
      findings: [{ gap: "G17", row: "weights.getOrder", verdict: "differs" }],
    });
  });

  it.each([
    [
      "orders on mainnet",
      mainnet,
      ["--testnet-orders"],
      /^error: --testnet-orders places orders, and config\.service is mainnet\./,
    ],
    [
      "an instrument without orders",
      testnet,
      ["--instrument", "BTC-USDT-SWAP"],
      /^error: --instrument names the swap of --testnet-orders/,
    ],
    ["no config", join(folder, "none.ts"), [], /no such file/],
    ["an unknown flag", testnet, ["--quik"], /unknown option '--quik'\. Did you mean --quick\?/],
  ])("refuses %s with 2, before anything is asked", async (_, path, argv, message) => {
    const { ended, io, asked } = doctor(path, argv);
    expect(await ended).toBe(2);
    expect(io.errText).toMatch(message);
    expect(asked).toEqual([]);
  });

  it("knows a service without an address for one that checks no signatures", async () => {
    const { ended, asked } = doctor(embedded);
    expect(await ended).toBe(0);
    expect(asked[0]?.signs).toBe(false);
  });

  it("names orders that may be left behind", async () => {
    const { ended, io } = doctor(
      testnet,
      ["--testnet-orders"],
      examination([finding("not asked")], { left: ["dr1"], stopped: true }),
    );
    expect(await ended).toBe(1);
    expect(io.errText).toContain("orders that may still be open, by clOrdId: dr1.");
    expect(io.errText).toContain("it was stopped before everything was asked.");
  });

  it("passes the word to stop on once, and is abandoned by the second", async () => {
    const { ended, io, asked, begun } = doctor(testnet, [], new Promise<Examination>(() => {}));
    await begun;
    await new Promise((resolve) => setImmediate(resolve));
    io.stop();
    expect(asked[0]?.stop.aborted).toBe(true);
    expect(io.errText).toBe("Stopping: what was placed is canceled first.\n");
    io.stop();
    expect(await ended).toBe(1);
    expect(io.errText).toContain("error: Abandoned while stopping");
  });
});

describe("What doctor writes down", () => {
  const unit = { SPOT: "quote_notional", SWAP: "base" } as const;
  const found = finding("differs", "order.szUnit", { override: { path: "order.szUnit", value: unit } });

  it.each([
    ["the unit that was found", found, unit],
    ["the unit that holds", finding("holds", "order.szUnit"), { SPOT: "quote_notional", SWAP: "quote_notional" }],
  ])("%s", async (_, one, szUnit) => {
    const { ended, io } = doctor(testnet, ["--testnet-orders", "--instrument", "BTC-USDT-SWAP"], examination([one]));
    await ended;
    expect(JSON.parse(readFileSync(confirmation, "utf8"))).toEqual({
      baseUrl: "http://127.0.0.1:1",
      szUnit,
      at: "2023-11-14T22:13:20.000Z",
    });
    expect(io.errText).toContain(`Written to ${confirmation}`);
  });

  it.each([
    ["an order may be left", [], examination([found], { left: ["dr1"] })],
    ["the unit was not seen", [], examination([finding("not seen", "order.szUnit")])],
    ["no order was asked for", ["none"], examination([found])],
  ] as const)("nothing when %s", async (_, [none], result) => {
    const { ended } = doctor(testnet, none === undefined ? ["--testnet-orders"] : [], result);
    await ended;
    expect(existsSync(confirmation)).toBe(false);
  });

  it("nothing for the embedded service", async () => {
    const { ended, io } = doctor(embedded, ["--testnet-orders"], examination([found]));
    expect(await ended).toBe(1);
    expect(io.errText).not.toContain("Written");
  });
});
