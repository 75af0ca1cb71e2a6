/**
 * A Redis of a test's own on a free port of loopback, without a file, ended with the test.
 *
 * Not here: whether one is installed is asked with `redisServer`, so that a test can be skipped with a word.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { freePort } from "./free-port.ts";

/** Where the server's program is, or undefined. */
export const redisServer = ["redis-server", "valkey-server"].find(
  (name) => spawnSync(name, ["--version"]).status === 0,
);

export interface OwnRedis {
  readonly url: string;
  readonly process: ChildProcess;
  stop(): Promise<void>;
}

export const startRedis = async (onPort?: number, more: readonly string[] = []): Promise<OwnRedis> => {
  const port = onPort ?? (await freePort());
  // Its folder is not ours: a replica writes what it copied to dump.rdb there.
  const own = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", tmpdir()];
  const child = spawn(redisServer as string, [...own, ...more], { stdio: ["ignore", "pipe", "ignore"] });
  await new Promise<void>((resolve, reject) => {
    let text = "";
    child.stdout?.on("data", (part: Buffer) => {
      text += part.toString();
      if (/Ready to accept connections|ready to accept/i.test(text)) resolve();
    });
    child.once("exit", () => reject(new Error(`the server ended: ${text}`)));
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  return {
    url: `redis://127.0.0.1:${port}`,
    process: child,
    stop: async () => {
      child.kill("SIGCONT");
      child.kill("SIGKILL");
      await ended;
    },
  };
};
