/** Path of a Chromium or Chrome that is installed; undefined without one. */
import { existsSync } from "node:fs";

export const chromiumPath: string | undefined = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
].find(existsSync);
