/** Every scenario of the bench by its id: those of the comparison, then the troubles, the exotic and the unlisted ones, and the groups. */

import { exotic } from "./exotic.ts";
import { groups } from "./groups.ts";
import { comparison, type Scenario } from "./scenarios.ts";
import { troubles } from "./troubles.ts";
import { unlisted } from "./unlisted.ts";

export const scenarios: Readonly<Record<string, Scenario>> = {
  ...comparison,
  ...troubles,
  ...exotic,
  ...unlisted,
  ...groups,
};
