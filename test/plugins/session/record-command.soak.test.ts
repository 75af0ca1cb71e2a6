import { mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { main } from "../../../src/cli/main.ts";
import { type CapturedIo, capturedIo } from "../../support/captured-io.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder("record");
const source = fileURLToPath(new URL("../../..", import.meta.url));
const config = join(folder, "config.ts");
const session = join(folder, "session");

/** A config that trades at once; `px` is where. */
const write = (file: string, px: string): void => {
  writeFileSync(
    file,
    `import { NEVER, concat, of, switchMap, take } from ${JSON.stringify(join(source, "node_modules/rxjs/dist/cjs/index.js"))};
import { defineConfig, defineStrategy } from ${JSON.stringify(join(source, "src/index.ts"))};
import { constant, paper } from ${JSON.stringify(join(source, "src/backtest.ts"))};
const resting = defineStrategy({
  name: "resting",
  options: { type: "object", additionalProperties: false, properties: { px: { type: "string" } } },
  wanted: ({ market, options: { px } }) =>
    market.quotes("BTC-USDT-SWAP").pipe(take(1), switchMap(() => concat(of([{ slot: "one", instId: "BTC-USDT-SWAP", side: "buy", px, qty: "0.01" }]), NEVER))),
});
export default defineConfig(() => ({
  service: paper({ instruments: ["BTC-USDT-SWAP"], latency: constant(1) }),
  strategies: [resting({ px: "${px}" })],
}));
`,
  );
};

const sluice = (...argv: string[]) => at(capturedIo(), argv);

const at = async (io: CapturedIo, argv: readonly string[]) => {
  const code = await main(argv, io);
  return { code, out: io.outText, err: io.errText };
};

beforeAll(async () => {
  write(config, "50000");
  const io = capturedIo({ isTty: true });
  const ended = at(io, ["record", config, "--out", session, "--seconds", "200"]);
  const status = /\rrecording for [\d.]+ s, [\d.]+ (m?s|min) left: 1 orders placed, 0 filled, 0 canceled/;
  await vi.waitFor(() => expect(io.errText).toMatch(status), 100_000);
  io.stop();
  const { code, err } = await ended;
  expect(err).toContain("Recorded ");
  expect(code).toBe(0);
});

describe("sluice record", () => {
  it("leaves a session that ends and a fixture beside it", () => {
    expect(readdirSync(session).sort()).toEqual(expect.arrayContaining(["manifest.json", "session.ndjson"]));
    expect(readFileSync(join(session, "session.ndjson"), "utf8")).toMatch(/\n\{"end":"stopped".*\n$/);
  });

  it.each([
    [["record"], /name a config file/],
    [["record", "x.ts"], /with --out DIR/],
    [["record", "missing.ts", "--out", join(folder, "new")], /missing.ts: no such file/],
    [["record", "x.ts", "--out", "y", "--seconds", "-1"], /number of seconds above 0/],
    [["replay"], /missing required argument 'dir'/],
  ])("%j is wrong usage and says what to write", async (argv, message) => {
    const { code, err } = await sluice(...argv);
    expect(code).toBe(2);
    expect(err).toMatch(message);
  });

  it("says what was executed in the currency that the service counts", async () => {
    const crossing = join(folder, "crossing.ts");
    write(crossing, "500000");
    const { out } = await sluice("record", crossing, "--out", join(folder, "crossing"), "--seconds", "5");
    expect(out).toMatch(/filled resting\/one buy BTC-USDT-SWAP [\d.]+ USDT at [\d.]+/);
  });

  it("does not write into a folder that holds anything", async () => {
    const { code, err } = await sluice("record", config, "--out", session);
    expect(code).toBe(1);
    expect(err).toContain("exists already");
  });

  it("--finish ends a session that was cut off and writes its market data", async () => {
    const torn = join(folder, "torn");
    const bytes = readFileSync(join(session, "session.ndjson"));
    mkdirSync(torn);
    writeFileSync(join(torn, "session.ndjson"), bytes);
    truncateSync(join(torn, "session.ndjson"), bytes.length - 250);
    const { code, err } = await sluice("record", "--finish", torn);
    expect(code).toBe(0);
    expect(err).toContain("was cut off while it was written");
    expect(readFileSync(join(torn, "session.ndjson"), "utf8")).toMatch(/\n\{"end":"crashed".*\n$/);
    expect((await sluice("replay", torn)).code).toBe(0);
  });
});

describe("sluice replay", () => {
  it("says that nothing differs, with the recorded config or the same one named", async () => {
    for (const argv of [
      ["replay", session],
      ["replay", session, config],
    ]) {
      const { code, out } = await sluice(...argv);
      expect(out).toMatch(/^no divergence: \d+ commands, \d+ events \(\d+ journal entries, [\d.]+ s\)\n$/);
      expect(code).toBe(0);
    }
  });

  it("--json prints one document", async () => {
    const { code, out } = await sluice("replay", session, "--json");
    expect(JSON.parse(out)).toMatchObject({ diverged: false, commands: expect.any(Number), changed: [], notes: [] });
    expect(code).toBe(0);
  });

  it("names what was changed in the config, the field that differs, and fails", async () => {
    const other = join(folder, "other.ts");
    write(other, "50002");
    const { code, out, err } = await sluice("replay", session, other);
    expect(out).toContain('strategies.resting.px: "50000" -> "50002"');
    expect(out).toMatch(
      /divergence at record \d+ \(line \d+\), [\d.]+ s after the start: the replay did something else/,
    );
    expect(out).toContain('body.px: "50000" -> "50002"');
    expect(err).toMatch(/diverges from the recording at record \d+/);
    expect(code).toBe(1);
    const json = await sluice("replay", session, other, "--json");
    expect(JSON.parse(json.out)).toMatchObject({ diverged: true, divergence: { kind: "differs" } });
    expect(json.code).toBe(1);
  });

  it("asks for the config of a session that names none", async () => {
    const nameless = join(folder, "nameless");
    const lines = readFileSync(join(session, "session.ndjson"), "utf8").replace(/"config":"[^"]*"/, '"config":""');
    mkdirSync(nameless);
    writeFileSync(join(nameless, "session.ndjson"), lines);
    const { code, err } = await sluice("replay", nameless);
    expect(err).toContain("was recorded without a config file");
    expect(code).toBe(2);
  });
});
