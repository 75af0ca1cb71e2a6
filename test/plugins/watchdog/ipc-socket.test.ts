/** The real socket between an engine and its watchdog, on this machine. */
import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type IpcAddress, ipcPath, tripRecordPath } from "../../../plugins/watchdog/ipc-address.ts";
import { socketDial, socketListen } from "../../../plugins/watchdog/ipc-socket.ts";
import type { Report, Word } from "../../../plugins/watchdog/messages.ts";
import { fileTripRecord } from "../../../plugins/watchdog/trip-record.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder("line");
let count = 0;
const meeting = (over: Partial<IpcAddress> = {}): IpcAddress => ({
  service: `test ${count++}`,
  users: ["main"],
  instance: "main",
  dir: join(folder, "meet"),
  ...over,
});

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});
const listening = async (where: IpcAddress, answer?: Word) => {
  const heard: Report[] = [];
  let closed = 0;
  const end = await socketListen(where)((talk) => ({
    received: (report) => {
      heard.push(report);
      if (answer !== undefined) talk.send(answer);
    },
    closed: () => {
      closed++;
    },
  }));
  ends.push(end);
  return { heard, end, closed: () => closed };
};
const dialled = (where: IpcAddress) => {
  const heard: Word[] = [];
  let tellEnd: (why: string) => void;
  const ended = new Promise<string>((resolve) => {
    tellEnd = resolve;
  });
  let tellWord: () => void;
  const word = new Promise<void>((resolve) => {
    tellWord = resolve;
  });
  const talk = socketDial(where)({
    received: (one) => {
      heard.push(one);
      tellWord();
    },
    closed: (why) => tellEnd(why),
  });
  return { talk, heard, ended, word };
};
const beat: Report = { kind: "beat", ready: true, open: 1 };

describe.skipIf(process.platform === "win32")("The socket between an engine and its watchdog", () => {
  it("carries words both ways in order, and tells each side when the other goes", async () => {
    const where = meeting();
    const dog = await listening(where, { kind: "heard" });
    const { talk, heard, word, ended } = dialled(where);
    talk.send({ kind: "hello", version: 1, session: "a", beatMs: 50 });
    talk.send(beat);
    await word;
    await dog.end();
    expect(await ended).toBe("the connection ended");
    expect(dog.heard).toEqual([{ kind: "hello", version: 1, session: "a", beatMs: 50 }, beat]);
    expect(heard).toEqual([{ kind: "heard" }, { kind: "heard" }]);
    expect(dog.closed()).toBe(1);
  });

  it("where nobody listens it says so", async () => {
    expect(await dialled(meeting()).ended).toBe("no watchdog listens");
  });

  it("lets one watchdog listen at a name, and the next one when it has gone", async () => {
    const where = meeting();
    const first = await listening(where);
    await expect(socketListen(where)(() => ({ received: () => undefined, closed: () => undefined }))).rejects.toThrow(
      /Another watchdog of test \d+ \/ main \/ main/,
    );
    await first.end();
    await listening(where, { kind: "heard" });
    const { talk, word } = dialled(where);
    talk.send(beat);
    await word;
  });

  it("takes the place of one that was killed", async () => {
    const where = meeting();
    const path = ipcPath(where);
    writeFileSync(path, "left behind");
    await listening(where, { kind: "heard" });
    const { talk, word } = dialled(where);
    talk.send(beat);
    await word;
  });

  it("is open to nobody else on the machine", async () => {
    const where = meeting();
    await listening(where);
    expect([statSync(join(folder, "meet")).mode & 0o077, statSync(ipcPath(where)).mode & 0o077]).toEqual([0, 0]);
  });

  it.each([
    ["what is no message", "hello?\n"],
    ["a line without end", "x".repeat(10_000)],
  ])("hangs up on %s and goes on with the others", async (_, text) => {
    const where = meeting();
    const dog = await listening(where, { kind: "heard" });
    const stranger = net.connect(ipcPath(where));
    stranger.on("error", () => undefined);
    const closed = new Promise((resolve) => stranger.on("close", resolve));
    stranger.write(text);
    await closed;
    const { talk, word } = dialled(where);
    talk.send(beat);
    await word;
    expect(dog.heard).toEqual([beat]);
  });
});

describe("The persisted trip report", () => {
  it("is kept for whoever comes next, and told once", () => {
    const path = tripRecordPath(meeting());
    fileTripRecord(path).note("no beat for 15 s; 2 orders were cancelled");
    expect(statSync(path).mode & 0o077).toBe(0);
    expect([fileTripRecord(path).take(), fileTripRecord(path).take()]).toEqual([
      "no beat for 15 s; 2 orders were cancelled",
      undefined,
    ]);
  });

  it("is lost where the disk fails, and nothing else is", () => {
    const nowhere = fileTripRecord(join(folder, "no", "such", "folder"));
    nowhere.note("something");
    expect(nowhere.take()).toBeUndefined();
  });
});

describe.skipIf(process.platform === "win32")("The watchdog's socket address", () => {
  it("follows from service, users and instance", () => {
    const base = { service: "s", users: ["a", "b"], instance: "i", dir: join(folder, "meet") };
    const paths = [
      base,
      { ...base },
      { ...base, service: "t" },
      { ...base, users: ["a"] },
      { ...base, instance: "j" },
    ].map(ipcPath);
    expect(new Set(paths).size).toBe(4);
    expect(paths[0]).toBe(paths[1]);
  });

  it.each([
    [
      "is open to others",
      "open",
      (dir: string) => {
        mkdirSync(dir);
        chmodSync(dir, 0o755);
      },
      /is open to others \(mode 755\)\. Run: chmod 700/,
    ],
    ["is a file", "file", (dir: string) => writeFileSync(dir, ""), /is not a folder/],
    ["has too long a name", "n".repeat(120), () => undefined, /would have \d+ characters/],
  ])("a folder that %s is refused", (_, name, make, message) => {
    const dir = join(folder, name);
    make(dir);
    expect(() => ipcPath(meeting({ dir }))).toThrow(message);
  });

  it("the user's own folder below the temporary one is taken by default", () => {
    const path = ipcPath(meeting({ dir: undefined }));
    expect(path.startsWith(join(tmpdir(), `sluice-${process.getuid?.()}/`))).toBe(true);
    expect(existsSync(path)).toBe(false);
  });
});
