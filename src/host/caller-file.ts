/**
 * File of the caller, in which something was defined.
 *
 * Invariants: files of this room, of the platform and of installed packages are passed over; the answer is an address to import.
 */
import { pathToFileURL } from "node:url";

const here = new URL(".", import.meta.url).href;
const place = /(?:\(|at (?:async )?)((?:file:\/\/)?[^()\s][^()]*?):\d+:\d+\)?$/;

/** Undefined where no file stands on the stack. */
export const fileOf = ({ stack = "" }: Error): string | undefined => {
  for (const line of stack.split("\n")) {
    const found = place.exec(line.trim())?.[1];
    if (found === undefined || found.startsWith("node:")) continue;
    const address = (found.startsWith("file:") ? found : pathToFileURL(found).href).replace(/\?.*$/, "");
    if (!address.startsWith(here) && !address.includes("/node_modules/")) return address;
  }
  return undefined;
};
