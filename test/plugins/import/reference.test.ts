/** The reference page of the files that can be imported. */
import { describe, expect, it } from "vitest";
import { layoutsPage } from "../../../docs/generate/layouts.ts";
import { layouts } from "../../../plugins/import/table/layouts.ts";

describe("The reference of files that are imported", () => {
  it("has a row for every layout", () => {
    const named = [...layoutsPage().matchAll(/^\| <code v-pre>([\w&#;-]+)<\/code> \|/gm)].map((match) =>
      match[1]?.replaceAll("&#95;", "_"),
    );
    expect(named).toEqual(layouts.map(({ name }) => name));
  });
});
