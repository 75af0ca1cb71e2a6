/**
 * Brings the peers in, exactly as the lock file beside this file lists them.
 *
 * Invariants: installs only when one of them is missing or has another version; runs none of their install scripts.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));

const manifestOf = (folder) => JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));

const isThere = ([name, version]) => {
  try {
    return manifestOf(`${here}node_modules/${name}`).version === version;
  } catch {
    return false;
  }
};

export const installPeers = () => {
  if (Object.entries(manifestOf(here).dependencies).every(isThere)) return;
  process.stderr.write("Installing the peers of the bench, once.\n");
  execFileSync("npm", ["ci", "--prefix", here, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], {
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32",
  });
};
