import { afterEach, expect, it, vi } from "vitest";
import { optionsForm } from "../../../../plugins/control-room/client/options-form.ts";
import { withoutSecrets } from "../../../../src/host/hidden-values.ts";

/** As much of an element as the form uses. */
class MadeElement {
  readonly tag: string;
  readonly inside: (MadeElement | string)[] = [];
  value = "";

  constructor(tag: string) {
    this.tag = tag;
  }

  setAttribute(): void {}

  append(...inside: (MadeElement | string)[]): void {
    this.inside.push(...inside);
  }

  get all(): readonly MadeElement[] {
    return [this, ...this.inside.flatMap((one) => (typeof one === "string" ? [] : one.all))];
  }

  get text(): string {
    return this.inside.map((one) => (typeof one === "string" ? one : one.text)).join(" ");
  }
}

afterEach(() => vi.unstubAllGlobals());

it("An option that is hidden, in whole or in part, has no field and is not sent", () => {
  vi.stubGlobal("document", { createElement: (tag: string) => new MadeElement(tag) });
  const schema = { properties: { px: { type: "string" }, apiSecret: { type: "string" }, feed: { type: "object" } } };
  const form = optionsForm(schema, withoutSecrets({ px: "1", apiSecret: "cnry", feed: { url: "a", token: "cnry" } }));
  const [px, secret, feed] = form.nodes as unknown as MadeElement[];
  const fieldsOf = (node: MadeElement | undefined) =>
    node?.all.filter(({ tag }) => ["input", "textarea", "select"].includes(tag)) ?? [];
  expect([px, secret, feed].map((node) => fieldsOf(node).length)).toEqual([1, 0, 0]);
  expect([secret?.text, feed?.text]).toEqual([
    "apiSecret (hidden) Not changeable here.",
    "feed (hidden) Not changeable here.",
  ]);
  const [input] = fieldsOf(px);
  if (input !== undefined) input.value = "2";
  expect(form.changes()).toEqual({ px: "2" });
});
