/**
 * Writes the pages of the documentation that are generated from the sources, apart from the API's, which TypeDoc writes.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { commandsPage } from "./commands.ts";

const folder = fileURLToPath(new URL("../reference/", import.meta.url));

mkdirSync(folder, { recursive: true });
writeFileSync(`${folder}commands.md`, `${await commandsPage()}\n`);
process.exit();
