/**
 * Writes the pages of the documentation that are generated from the sources, apart from the API's, which TypeDoc writes.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { commandsPage } from "./commands.ts";
import { configurationPage } from "./configuration.ts";
import { eventsPage } from "./events.ts";
import { fieldsPage } from "./fields.ts";
import { layoutsPage } from "./layouts.ts";
import { errorsPage, profilePage } from "./profile.ts";

const folder = fileURLToPath(new URL("../reference/", import.meta.url));
const pages = {
  commands: await commandsPage(),
  configuration: configurationPage(),
  errors: errorsPage(),
  events: eventsPage(),
  fields: fieldsPage(),
  layouts: layoutsPage(),
  profile: profilePage(),
};

mkdirSync(folder, { recursive: true });
for (const [name, text] of Object.entries(pages)) writeFileSync(`${folder}${name}.md`, `${text}\n`);
