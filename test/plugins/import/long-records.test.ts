/** Texts whose records have no end: refused after a bounded part, not read into memory. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { partsOf } from "../../../plugins/import/byte-source.ts";
import { plainName } from "../../../plugins/import/table/layout.ts";
import { eachRecord } from "../../../plugins/import/table/text-rows.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder("long-records");

describe("A record that does not end", () => {
  it.each([
    ["one line of a table", `time,close\n${"1".repeat(3_000_000)}`],
    ["a quoted cell over many lines", `time,close\n1,"${"2\n".repeat(100_000)}`],
    ["a text of JSON", `[["${"3".repeat(3_000_000)}`],
  ])("is refused: %s", async (name, text) => {
    const file = join(folder, `${name.length}.csv`);
    writeFileSync(file, text);
    const [part] = await partsOf(file);
    await expect(eachRecord(part as NonNullable<typeof part>, { row: () => undefined })).rejects.toThrow(
      /a record that begins with .* is longer than \d+ characters/,
    );
  });
});

it("The name of a column is read in time that grows with its length", () => {
  const name = "/".repeat(200_000);
  expect(plainName(name)).toBe(name);
  expect([plainName("trade_id/撮合id"), plainName('Best "Ask"'), plainName("a/b")]).toEqual([
    "tradeid",
    "bestask",
    "a/b",
  ]);
});
