/** A strategy that is not the default export of its file, beside one that is. */
import { NEVER } from "rxjs";
import { defineStrategy } from "sluice";

const closed = { type: "object", additionalProperties: false, properties: {} } as const;

export const hidden = defineStrategy({ name: "hidden", options: closed, wanted: () => NEVER });
export default defineStrategy({
  name: "shown",
  options: { type: "object", additionalProperties: false, properties: { other: { type: "string" } } },
  wanted: () => NEVER,
});
