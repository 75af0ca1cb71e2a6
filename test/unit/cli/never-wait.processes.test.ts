/**
 * Output of a command that trades, to a reader that takes none: a process of its own, in a terminal made by `script` (util-linux) or with one
 * pipe for both streams, which a child process of its own inherits.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder("never-wait");
const ioFile = fileURLToPath(new URL("../../../src/cli/io.ts", import.meta.url));
const hasScript = spawnSync("script", ["--version"]).status === 0;

/** Writes four megabytes to the terminal, then works on; `neverWait` is called when `calls` is true. */
const program = (mark: string, calls: boolean): string => `
import { spawnSync } from "node:child_process";
import { appendFileSync } from "node:fs";
import { processIo } from ${JSON.stringify(ioFile)};
const io = processIo();
${calls ? "io.neverWait();" : ""}
spawnSync("true", [], { stdio: "inherit" });
for (let i = 0; i < 4_000; i++) io.err("x".repeat(1_000) + "\\n");
appendFileSync(${JSON.stringify(mark)}, "went on\\n");
await io.drained();
appendFileSync(${JSON.stringify(mark)}, "ended\\n");
process.exit();
`;

/** Arguments that run a command with output to a terminal, or with one pipe for both streams. */
const ways = {
  terminal: (command: string) => ["script", "-qfc", command, "/dev/null"],
  pipe: (command: string) => ["sh", "-c", `exec ${command} 2>&1`],
} as const;

interface Run {
  /** What the program noted: `went on` after its last write, `ended` when all of it was taken or given up. */
  readonly noted: string;
  /** Number of the program's characters that arrived at the reader. */
  readonly arrived: number;
}

/** Runs the program with output that nothing reads for `unreadMs`, and then with a reader, until it noted `ended` or 30 s are over. */
const run = async (name: string, way: keyof typeof ways, calls: boolean, unreadMs: number): Promise<Run> => {
  const [file, mark] = [join(folder, `${name}.mts`), join(folder, `${name}.txt`)];
  writeFileSync(file, program(mark, calls));
  writeFileSync(mark, "");
  const [command = "", ...args] = ways[way](`${process.execPath} --import tsx ${file}`);
  const child = spawn(command, args, {
    stdio: ["ignore", "pipe", "ignore"],
    cwd: fileURLToPath(new URL("../../..", import.meta.url)),
    detached: true,
  });
  // A pipe that is not read fills, and then the terminal takes no more.
  child.stdout.pause();
  const noted = (): string => (existsSync(mark) ? readFileSync(mark, "utf8") : "");
  const waitForEnd = async (ms: number): Promise<void> => {
    const until = Date.now() + ms;
    while (!noted().includes("ended") && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 50));
  };
  await waitForEnd(unreadMs);
  let arrived = 0;
  if (!noted().includes("ended")) {
    child.stdout.on("data", (chunk: Buffer) => {
      arrived += chunk.toString("latin1").replaceAll(/[^x]/gu, "").length;
    });
    child.stdout.resume();
    await waitForEnd(30_000);
    // The last characters may still be on their way through the terminal.
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  if (child.pid !== undefined) {
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // The program has ended, and its group with it.
    }
  }
  return { noted: noted(), arrived };
};

describe.skipIf(!hasScript)("A terminal that takes no output", () => {
  it("does not hold up a command that called neverWait, nor its end", async () => {
    expect((await run("calls", "terminal", true, 30_000)).noted).toBe("went on\nended\n");
  });

  it("holds up any other command, so that none of its results are lost", async () => {
    expect(await run("waits", "terminal", false, 4_000)).toEqual({ noted: "went on\nended\n", arrived: 4_000_000 });
  });
});

describe.skipIf(process.platform === "win32")("A pipe that is not read, of both streams", () => {
  it("does not hold up a command that called neverWait, although a child process inherited it", async () => {
    expect((await run("piped", "pipe", true, 30_000)).noted).toBe("went on\nended\n");
  });
});
