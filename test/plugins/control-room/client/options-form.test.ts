import { expect, it } from "vitest";
import { changesIn, fieldsOf } from "../../../../plugins/control-room/client/options-form.tsx";
import { withoutSecrets } from "../../../../src/host/hidden-values.ts";

const given = (values: Readonly<Record<string, string>>): FormData => {
  const form = new FormData();
  for (const [name, value] of Object.entries(values)) form.set(name, value);
  return form;
};

it("An option that is hidden, in whole or in part, has no field and is not sent", () => {
  const schema = { properties: { px: { type: "string" }, apiSecret: { type: "string" }, feed: { type: "object" } } };
  const fields = fieldsOf(schema, withoutSecrets({ px: "1", apiSecret: "cnry", feed: { url: "a", token: "cnry" } }));
  expect(fields.map(({ kind }) => kind)).toEqual(["text", "hidden", "hidden"]);
  expect(changesIn(fields, given({ px: "2", apiSecret: "x", feed: "{}" }))).toEqual({ px: "2" });
});

it.each([
  ["an equal value", { type: "number" }, 0.5, "0.5", undefined],
  ["a number", { type: "number" }, 0.5, "0.25", 0.25],
  ["nothing in place of a number", { type: "integer" }, 5, " ", undefined],
  ["a text that was not set", { type: "string" }, undefined, "", undefined],
  ["an emptied text", { type: "string" }, "a", "", ""],
  ["another choice", { enum: ["a", 2] }, "a", "2", 2],
  ["no choice", { enum: ["a", 2] }, undefined, "", undefined],
  ["a ticked box", { type: "boolean" }, false, "on", true],
  ["a box that is no longer ticked", { type: "boolean" }, true, undefined, false],
  ["a box that was not set", { type: "boolean" }, undefined, undefined, undefined],
  ["JSON", { type: "array" }, [1], "[1, 2]", [1, 2]],
])("Of %s only a change is sent", (_, about, before, text, sent) => {
  const fields = fieldsOf({ properties: { x: about } }, { x: before });
  expect(changesIn(fields, given(text === undefined ? {} : { x: text }))).toEqual(
    sent === undefined ? {} : { x: sent },
  );
});

it("A value that cannot be parsed is reported with the name of its option", () => {
  const fields = fieldsOf({ properties: { levels: { type: "integer" }, feed: { type: "object" } } }, {});
  expect(() => changesIn(fields, given({ levels: "x" }))).toThrow('levels: "x" is no number');
  expect(() => changesIn(fields, given({ feed: "{" }))).toThrow("feed: this is not JSON");
});
