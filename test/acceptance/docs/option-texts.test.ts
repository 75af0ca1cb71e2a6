/** Every option of a shipped strategy or plugin says what it is for, and the command line prints it. */
import { describe, expect, it } from "vitest";
import { main } from "../../../src/cli/main.ts";
import { capturedIo } from "../../support/captured-io.ts";

interface Schema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly anyOf?: readonly Schema[];
}

const undescribed = (schema: Schema, place: string): readonly string[] => {
  const { properties = {}, items, additionalProperties, anyOf = [] } = schema;
  const own = Object.entries(properties).flatMap(([name, one]) => [
    ...((one.description ?? "") === "" ? [`${place}.${name}`] : []),
    ...undescribed(one, `${place}.${name}`),
  ]);
  const rest = typeof additionalProperties === "object" ? [additionalProperties] : [];
  return [
    ...own,
    ...[...rest, ...anyOf, ...(items === undefined ? [] : [items])].flatMap((one) => undescribed(one, place)),
  ];
};

const sluice = async (...argv: readonly string[]) => {
  const io = capturedIo();
  const code = await main(["options", ...argv], io);
  return { code, out: io.outText, err: io.errText };
};

describe("Options of strategies and plugins", () => {
  it("are described, each of them", async () => {
    const { code, out } = await sluice("--json");
    expect(code).toBe(0);
    const all = JSON.parse(out) as readonly { readonly name: string; readonly options: Schema }[];
    expect(all.map(({ name }) => name)).toEqual(expect.arrayContaining(["ladder", "average-cross"]));
    expect(all.flatMap(({ name, options }) => undescribed(options, name))).toEqual([]);
  });

  it("are printed with type, default and description", async () => {
    const { code, out } = await sluice("ladder");
    expect(code).toBe(0);
    expect(out).toMatch(/^ladder\n/);
    expect(out).toMatch(/^ {2}levels +integer from 1 to 20 +default 3 +Orders on each side\.$/m);
  });

  it("lists the names, and refuses one that there is not", async () => {
    expect((await sluice()).out).toContain("average-cross, bands, join-best, ladder");
    expect(await sluice("ladr")).toMatchObject({
      code: 2,
      err: expect.stringContaining('There is no strategy, plugin or file "ladr". Did you mean "ladder"?'),
    });
  });
});
