/**
 * Writes everything that happens to a file, one JSON object a line.
 */
import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { definePlugin } from "sluice";

const flushBytes = 64 * 1024;

export default definePlugin({
  name: "journal-file",
  options: {
    type: "object",
    additionalProperties: false,
    required: ["path"],
    properties: { path: { type: "string", minLength: 1 } },
  },
  setup: ({ events$, options: { path } }) => {
    mkdirSync(dirname(path), { recursive: true });
    const file = openSync(path, "w");
    let text = "";
    const flush = (): void => {
      const bytes = Buffer.from(text);
      // A write may take only part of what it is given.
      for (let from = 0; from < bytes.length; ) from += writeSync(file, bytes, from);
      text = "";
    };
    const watching = events$.subscribe((event) => {
      text += `${JSON.stringify(event)}\n`;
      if (text.length >= flushBytes) flush();
    });
    return () => {
      watching.unsubscribe();
      flush();
      closeSync(file);
    };
  },
});
