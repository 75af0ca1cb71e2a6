import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { isSluiceError } from "../../../src/errors.ts";
import { loadConfigFile } from "../../../src/host/load.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder("load");
const at = (name: string): string => join(folder, name);

const files: Readonly<Record<string, string>> = {
  "plain.mjs": "export default { a: 1 };",
  "paper.mjs": "export default { a: 2 };",
  "promised.mjs": "export default Promise.resolve({ a: 3 });",
  "function.mjs": "export default ({ command }) => ({ command });",
  "slow.mjs": "export default async ({ command }) => ({ command, slow: true });",
  "old.cjs": "module.exports = { a: 4 };",
  "compiled.cjs": 'Object.defineProperty(exports, "__esModule", { value: true }); exports.default = { a: 5 };',
  "named.mjs": "export const strategies = []; export const plugins = [];",
  "empty.mjs": "",
  "number.mjs": "export default 5;",
  "nothing.mjs": "export default undefined;",
  "returns-nothing.mjs": "export default () => {};",
  "throws.mjs": 'const a = 1;\n\nthrow new TypeError("no luck");\nexport default a;',
  "throws-value.mjs": "throw { reason: 3 };",
  "throws-later.mjs": 'export default async () => { throw new Error("inside"); };',
  "mute.mjs": "throw new Error();",
  "refused.mjs":
    'const e = new Error("options are not valid:\\n  - options.level: unknown key."); e.name = "SluiceError"; e.code = "PROFILE_INVALID"; e.issues = ["options.level: unknown key."]; throw e;',
  "lost.mjs": 'import "./nowhere.mjs"; export default {};',
  "stuck.mjs": "export default () => new Promise(() => {});",
  "notes.json": "{}",
  bare: "",
};

beforeAll(() => {
  for (const [name, text] of Object.entries(files)) writeFileSync(at(name), text);
  mkdirSync(at("none"));
});

const failure = async (name: string): Promise<{ code: string; message: string }> => {
  try {
    await loadConfigFile(at(name));
  } catch (error) {
    if (isSluiceError(error)) return { code: error.code, message: error.message.replaceAll(folder, "…") };
    throw error;
  }
  throw new Error(`${name} was loaded`);
};

describe("A config file", () => {
  it.each([
    ["plain.mjs", { a: 1 }],
    ["promised.mjs", { a: 3 }],
    ["function.mjs", { command: "backtest" }],
    ["slow.mjs", { command: "backtest", slow: true }],
    ["old.cjs", { a: 4 }],
    ["compiled.cjs", { a: 5 }],
  ])("%s gives its default export", async (name, expected) => {
    expect(await loadConfigFile(at(name), { command: "backtest" })).toEqual(expected);
  });

  it.each([
    [
      "papre.mjs",
      "CONFIG_NOT_FOUND",
      /papre\.mjs: no such file\. Did you mean "…\/paper\.mjs"\? In …: compiled\.cjs, .* and \d+ more\.$/,
    ],
    ["elsewhere/a.ts", "CONFIG_NOT_FOUND", /no such file\. The folder …\/elsewhere does not exist either\.$/],
    ["none/a.ts", "CONFIG_NOT_FOUND", /no such file\. There are no config files in …\/none\.$/],
    ["none", "CONFIG_NOT_FOUND", /none is a folder; name a config file\./],
    [
      "named.mjs",
      "CONFIG_NOT_FOUND",
      /has no default export; it exports plugins, strategies\. Write export default defineConfig/,
    ],
    ["empty.mjs", "CONFIG_NOT_FOUND", /has no default export; it exports nothing\./],
    ["number.mjs", "CONFIG_INVALID", /its default export is 5, not a config\./],
    ["nothing.mjs", "CONFIG_INVALID", /its default export is undefined, not a config\./],
    ["returns-nothing.mjs", "CONFIG_INVALID", /its default export returned undefined, not a config\./],
    ["throws.mjs", "CONFIG_INVALID", /throws\.mjs could not be loaded: TypeError: no luck \(line 3\)$/],
    ["throws-value.mjs", "CONFIG_INVALID", /\{ reason: 3 \} was thrown\. Throw an Error/],
    ["throws-later.mjs", "CONFIG_INVALID", /throws-later\.mjs threw: inside \(line 1\)$/],
    ["mute.mjs", "CONFIG_INVALID", /an error without a message/],
    ["refused.mjs", "PROFILE_INVALID", /refused\.mjs: options are not valid:\n {2}- options\.level: unknown key\.$/],
    ["lost.mjs", "CONFIG_INVALID", /lost\.mjs could not be loaded: .*nowhere\.mjs/],
    ["notes.json", "CONFIG_INVALID", /a config is a program, not a \.json file\. Write it as \.ts/],
    ["bare", "CONFIG_INVALID", /not a file without an ending/],
  ])("%s is refused with one message", async (name, code, pattern) => {
    const found = await failure(name);
    expect(found.code).toBe(code);
    expect(found.message).toMatch(pattern);
    expect(found.message).not.toMatch(/^ {4}at /m);
  });

  it("is named as people type it: from the working folder", async () => {
    await expect(loadConfigFile("src/nothing-here/a.ts")).rejects.toThrow(/^src\/nothing-here\/a\.ts: no such file\./);
    await expect(loadConfigFile(join(process.cwd(), "src/nothing-here/a.ts"))).rejects.toThrow(
      /^src\/nothing-here\/a\.ts: /,
    );
    await expect(loadConfigFile(".")).rejects.toThrow(
      /^\. is a folder; name a config file\..* In this folder: .*vitest\.config\.ts/,
    );
  });

  it("that never finishes loading fails by name", async () => {
    const clock = createVirtualClock();
    const loading = expect(loadConfigFile(at("stuck.mjs"), { clock })).rejects.toThrow(
      /stuck\.mjs did not finish loading within 30 s/,
    );
    clock.advanceTo(30_000);
    await loading;
  });

  it("leaves no timer behind", async () => {
    const clock = createVirtualClock();
    await loadConfigFile(at("plain.mjs"), { clock });
    await expect(loadConfigFile(at("throws-value.mjs"), { clock })).rejects.toThrow();
    expect(clock.pending).toBe(0);
  });
});
