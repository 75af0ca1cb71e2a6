/** Workers as processes of their own. */
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const starter = fileURLToPath(new URL("../../../src/cli/sluice.mjs", import.meta.url));

export interface OwnWorker {
  readonly process: ChildProcess;
  readonly text: () => string;
  /** Ends it as Ctrl-C would; what it said. */
  stop(): Promise<string>;
  kill(): Promise<void>;
}

export const startWorker = (queue: string, ...flags: readonly string[]): OwnWorker => {
  const child = spawn(process.execPath, [starter, "worker", "--queue", queue, "--jobs", "1", ...flags], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, NO_COLOR: "1" },
  });
  let said = "";
  child.stderr?.on("data", (part: Buffer) => {
    said += part.toString();
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  return {
    process: child,
    text: () => said,
    stop: async () => {
      child.kill("SIGINT");
      await ended;
      return said;
    },
    kill: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
};
