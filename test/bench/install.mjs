/**
 * Brings the peers in, exactly as the lock file beside this file lists them.
 *
 * Invariants: installs only when they are missing; runs none of their install scripts.
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));

export const installPeers = () => {
  if (existsSync(`${here}node_modules`)) return;
  process.stderr.write("Installing the peers of the bench, once.\n");
  execFileSync("npm", ["ci", "--prefix", here, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], {
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32",
  });
};
