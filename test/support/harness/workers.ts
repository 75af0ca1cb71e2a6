/** Workers as processes of their own, on a Redis of the test's own. */
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Redis } from "ioredis";

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

/** What a test reads of the queue itself. */
export class WatchedQueue {
  readonly redis: Redis;

  constructor(url: string) {
    this.redis = new Redis(url);
  }

  /** Results in all sheets. */
  async results(): Promise<number> {
    let count = 0;
    for (const key of await this.redis.keys("sluice:results:*")) count += await this.redis.hlen(key);
    return count;
  }

  /** Jobs that some worker has taken. */
  async active(): Promise<number> {
    let count = 0;
    for (const key of await this.redis.keys("sluice:queue:*:active")) count += await this.redis.llen(key);
    return count;
  }

  async until(what: () => Promise<boolean>): Promise<void> {
    while (!(await what())) await new Promise((resolve) => setTimeout(resolve, 20));
  }

  async empty(): Promise<void> {
    await this.redis.flushall();
  }

  close(): void {
    this.redis.disconnect();
  }
}
