/** Set-up of every test file: one seed for the property tests that do not state their own, and no folder left behind. */
import fc from "fast-check";
import { afterAll } from "vitest";
import { removeTemporaryFolders } from "./temporary-folder.ts";

fc.configureGlobal({ seed: 20_260_101 });
afterAll(removeTemporaryFolders);
