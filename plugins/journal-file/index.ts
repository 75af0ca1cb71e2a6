/**
 * Writes every event to a file, one JSON object a line.
 *
 * Invariants: the path names a regular file: writing to a pipe or a terminal would hold up the engine while nothing
 * reads it.
 */
import { closeSync, mkdirSync, openSync, statSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { definePlugin, SluiceError } from "sluice";

const flushBytes = 64 * 1024;

export default definePlugin({
  name: "journal-file",
  options: {
    type: "object",
    additionalProperties: false,
    required: ["path"],
    properties: {
      path: {
        description: "File for the events, one JSON document a line; an older one is replaced.",
        type: "string",
        minLength: 1,
      },
    },
  },
  setup: ({ events$, options: { path } }) => {
    mkdirSync(dirname(path), { recursive: true });
    checkFile(path);
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

const checkFile = (path: string): void => {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.isFile()) return;
  throw new SluiceError(
    "CONFIG_INVALID",
    `plugin journal-file: path: ${path} is not a regular file. Name a file, or use the plugin log, which can write to standard output and to pipes.`,
  );
};
