/** The table of event names follows the union of events: the compiler refuses one name too few or too many. */
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const union = "type CoreEventBody =\n";
const table = "> = {\n";

/** Copies the sources with these lines added to the union and to the table; answers with what the compiler says of both files. */
const compiled = async (member: string, line: string): Promise<readonly string[]> => {
  const folder = temporaryFolder("event-names");
  mkdirSync(join(folder, "src"));
  for (const name of ["contract", "journal", "decimal.ts", "decimal-value.ts", "errors.ts"])
    cpSync(join(root, "src", name), join(folder, "src", name), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "junction");
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  const { compilerOptions } = JSON.parse(readFileSync(join(root, "tsconfig.json"), "utf8")) as {
    readonly compilerOptions: object;
  };
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions, files: ["src/journal/event-emitter.ts", "listener.ts"] }),
  );
  for (const [file, place, added] of [
    ["events.ts", union, member],
    ["event-map.ts", table, line],
  ] as const) {
    const path = join(folder, "src/journal", file);
    const [before, after, ...more] = readFileSync(path, "utf8").split(place);
    expect([file, after !== undefined, more]).toEqual([file, true, []]);
    writeFileSync(path, `${before}${place}${added}\n${after}`);
  }
  writeFileSync(
    join(folder, "listener.ts"),
    `import type { EventMap } from "./src/journal/event-map.ts";
export const stopOf = (event: EventMap["stop.placed"]): string => event.stopPx;
`,
  );
  const argv = [join(root, "node_modules/typescript/bin/tsc"), "-p", folder, "--pretty", "false"];
  const text = await new Promise<string>((resolve) => {
    execFile(process.execPath, argv, { cwd: folder, timeout: 60_000 }, (_, out) => {
      resolve(out);
    });
  });
  return text.split("\n").filter((each) => each.includes("error TS"));
};

const added = '| { readonly type: "stop.placed"; readonly stopPx: string }';
const named = '"stop.placed": true,';

describe("The table of event names", () => {
  it("takes a new event with one line more, and its listeners know it", async () => {
    expect(await compiled(added, named)).toEqual([]);
  });

  it.each([
    ["an event without a name", added, "", /^src\/journal\/event-map\.ts.*"stop\.placed"/],
    ["a name without an event", "", named, /^src\/journal\/event-map\.ts.*"stop\.placed"/],
    [
      "an event named like an order phase",
      `${added}\n| { readonly type: "order.filled"; readonly px: string }`,
      named,
      /^src\/journal\/event-map\.ts.*EventMap.*ByPhase/,
    ],
  ])("does not compile with %s", async (_, member, line, expected) => {
    const errors = await compiled(member, line);
    expect(errors.filter((error) => !error.startsWith("listener.ts"))).toEqual([expect.stringMatching(expected)]);
  });
});
