/** What workers refuse, and what becomes of work when a worker, a submitter or the store fails. */
import { writeFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { Queue } from "bullmq";
import { firstValueFrom } from "rxjs";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { sweep } from "../../../plugins/sweep/sweep-config.ts";
import { openQueue, shownAddress } from "../../../plugins/sweep/workers/queue-address.ts";
import { QueueSubmitter } from "../../../plugins/sweep/workers/queue-submitter.ts";
import { type OpenWork, QueueWorker } from "../../../plugins/sweep/workers/queue-worker.ts";
import { Refusal } from "../../../plugins/sweep/workers/sheet-config.ts";
import sweepWork from "../../../plugins/sweep/workers/sweep-work.ts";
import { nameOfSheet, type WorkSheet } from "../../../plugins/sweep/workers/work-sheet.ts";
import { main } from "../../../src/cli/main.ts";
import { after } from "../../../src/clock/clock.ts";
import { createSystemClock } from "../../../src/clock/system-clock.ts";
import { packageVersion } from "../../../src/host/plugin-requirements.ts";
import { hashOfSources } from "../../../src/host/source-hash.ts";
import { capturedIo } from "../../support/captured-io.ts";
import { createHurriedClock } from "../../support/harness/hurried-clock.ts";
import { postgresServer, startPostgres } from "../../support/harness/postgres.ts";
import { queueServers, until, type WatchedQueue } from "../../support/harness/queues.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { marketOf } from "./harness/sweep.ts";

interface Doubled {
  readonly index: number;
}

/** Looks and retries come five times as often as for people. */
const clock = createHurriedClock(5);
const hash = "0".repeat(64);
const fixture = { name: "nowhere", contentHash: hash };
const sheet = (more: Partial<WorkSheet> = {}): WorkSheet => ({
  kind: "sweep",
  version: packageVersion(),
  config: { path: "test/support/configs/sweep.ts", sources: hash, hash },
  fixture,
  settings: { job: {}, windows: [], warmUpMs: 0 },
  ...more,
});

describe.each(queueServers)(
  "Work on a queue in $name (skipped where there is no $program)",
  ({ isInstalled, start, watch }) => {
    beforeEach(({ skip }) => skip(!isInstalled));
    let server: Awaited<ReturnType<typeof start>>;
    let queue: WatchedQueue;
    const closing: (() => unknown)[] = [];

    beforeAll(async () => {
      if (!isInstalled) return;
      server = await start();
      queue = watch(server.url);
    });
    afterEach(async () => {
      for (const close of closing.splice(0).reverse()) await close();
      if (isInstalled) await queue.empty();
    });
    afterAll(async () => {
      if (!isInstalled) return;
      await queue.close();
      await server.stop();
    });

    const submit = async (given: WorkSheet, durable = false) => {
      const notices: string[] = [];
      const answers = { failed: (reason: string) => ({ reason }), again: () => false };
      const options = { url: server.url, clock, durable, onNotice: (text: string) => notices.push(text) };
      const submitter = await QueueSubmitter.open<Doubled, unknown>(given, answers, options);
      closing.push(() => submitter.close());
      return { submitter, notices };
    };

    const work = async (open: OpenWork, jobs = 1) => {
      const said: string[] = [];
      const worker = await QueueWorker.open({
        url: server.url,
        jobs,
        clock,
        kinds: new Map([["sweep", open]]),
        say: (text) => said.push(text),
      });
      const ended = worker.run();
      let stopped = false;
      const stop = async (): Promise<number> => {
        if (!stopped) worker.stop();
        stopped = true;
        return ended;
      };
      closing.push(stop);
      return { worker, said, stop };
    };

    const doubling: OpenWork = () =>
      Promise.resolve({
        title: "doubling",
        run: (data) => Promise.resolve({ kind: "answer" as const, answer: { value: 2 * (data as Doubled).index } }),
        close: () => Promise.resolve(),
      });

    const jobs = (count: number): readonly Doubled[] => Array.from({ length: count }, (_, index) => ({ index }));
    const answersOf = async (
      submitter: QueueSubmitter<Doubled, unknown>,
      count: number,
    ): Promise<ReadonlyMap<number, unknown>> => {
      const found = new Map<number, unknown>();
      await submitter.run(jobs(count), ({ index }, answer) => {
        expect(found.has(index)).toBe(false);
        found.set(index, answer);
      });
      return found;
    };

    it("answers every job once, and keeps no more than digests where the submitter keeps results", async () => {
      const { submitter } = await submit(sheet(), true);
      await work(doubling, 4);
      const found = await answersOf(submitter, 2_345);
      expect([...found].sort(([a], [b]) => a - b)).toEqual(
        jobs(2_345).map(({ index }) => [index, { value: 2 * index }]),
      );
      const texts = await queue.answers(nameOfSheet(sheet()));
      expect(texts.length).toBe(2_345);
      expect(texts.every((text) => /^#[\w-]{16}$/.test(text))).toBe(true);
      await submitter.close();
      expect(await queue.left()).toBe(0);
    });

    it("is run again where only its digest is left", async () => {
      const first = await submit(sheet(), true);
      await work(doubling);
      await answersOf(first.submitter, 3);
      await first.submitter.close();
      const { submitter } = await submit(sheet(), true);
      expect((await answersOf(submitter, 3)).size).toBe(3);
    });

    it.each([
      [
        "another version",
        { version: "0.0.1" },
        `it is asked for by Sluice 0.0.1, and this worker is ${packageVersion()}`,
      ],
      ["another config", {}, "or a file it imports, is another here. Give the worker the same checkout"],
      [
        "a config outside its folder",
        { config: { path: "../../etc/passwd.ts", sources: hash, hash } },
        "lies outside the worker's folder",
      ],
      [
        "a config by its full path",
        { config: { path: "/etc/passwd.ts", sources: hash, hash } },
        "lies outside the worker's folder",
      ],
      [
        "a config it does not have",
        { config: { path: "config/nowhere.ts", sources: hash, hash } },
        "there is no config/nowhere.ts in",
      ],
    ])("is refused with what to do for %s, by the worker and to the submitter", async (_, more, message) => {
      const { submitter, notices } = await submit(sheet(more));
      const run = answersOf(submitter, 1);
      const { said, stop } = await work(sweepWork.open({}));
      await until(() => Promise.resolve(notices.some((text) => text.includes("refuses"))));
      expect(said.join()).toContain(message);
      expect(notices.find((text) => text.includes("refuses"))).toContain(message);
      expect(await stop()).toBe(0);
      await submitter.close();
      expect((await run).size).toBe(0);
    });

    it("of no recorded market is refused", async () => {
      const { fixture: _, ...without } = sheet();
      await expect(sweepWork.open({})(without, { clock })).rejects.toThrow("its sheet names no recorded market");
    });

    it("leaves no queue open of sheets that are gone, and looks at one that comes back anew", async () => {
      const closed = vi.spyOn(Queue.prototype, "close");
      closing.push(() => closed.mockRestore());
      const { said } = await work(() => Promise.reject(new Refusal("no")));
      for (const time of [1, 2]) {
        const { submitter } = await submit(sheet());
        await until(() => Promise.resolve(said.length === time));
        await submitter.close();
        const name = nameOfSheet(sheet());
        const before = closed.mock.contexts.length;
        await until(() =>
          Promise.resolve(closed.mock.contexts.slice(before - 1).some((one) => (one as Queue).name === name)),
        );
        await until(() => Promise.resolve(closed.mock.contexts.length >= 2 * time));
      }
    });

    it.each([0, 1])(
      "ends soon when its worker is stopped while the queue is away and %i runs are under way",
      async (runs) => {
        const own = await start();
        closing.push(() => own.stop());
        // Its first tables: a hurried clock gives a new server little time for them.
        const first = await openQueue(own.url, createSystemClock());
        await first.ready();
        first.disconnect();
        const said: string[] = [];
        let gone = false;
        const endless: OpenWork = () =>
          Promise.resolve({
            title: "endless",
            run: () => new Promise(() => undefined),
            close: () => {
              gone = true;
              return Promise.resolve();
            },
          });
        const worker = await QueueWorker.open({
          url: own.url,
          jobs: 1,
          clock,
          kinds: new Map([["sweep", endless]]),
          say: (text) => said.push(text),
        });
        const ended = worker.run();
        const options = { url: own.url, clock, durable: false, onNotice: () => undefined };
        const answers = { failed: (reason: string) => ({ reason }), again: () => false };
        const submitter = await QueueSubmitter.open<Doubled, unknown>(sheet(), answers, options);
        if (runs > 0) submitter.run(jobs(runs), () => undefined).catch(() => undefined);
        await until(() => Promise.resolve(said.length === 1));
        const watched = watch(own.url);
        await until(async () => (await watched.active()) === runs);
        await watched.close();
        await own.stop();
        // Its next call finds nobody.
        await firstValueFrom(after(clock, 700));
        const at = clock.now();
        worker.stop();
        if (runs > 0) {
          expect(said.at(-1)).toBe("finishing what runs (1); stop it again to give that back");
          worker.stop();
        }
        expect(await ended).toBe(0);
        expect(gone).toBe(true);
        expect(clock.now() - at).toBeLessThan(5_000);
        void submitter.close();
      },
    );

    it("of a config that comes to other values here is refused", async () => {
      const path = "test/support/configs/sweep.ts";
      const { submitter, notices } = await submit(sheet({ config: { path, sources: hashOfSources(path), hash } }));
      const run = answersOf(submitter, 1);
      await work(sweepWork.open({}));
      await until(() => Promise.resolve(notices.some((text) => text.includes(`${path} comes to other values here`))));
      await submitter.close();
      await run;
    });

    it("is left to others by who refuses it, and done by who can", async () => {
      const { submitter } = await submit(sheet());
      const { said } = await work(sweepWork.open({}));
      await until(() => Promise.resolve(said.some((text) => text.startsWith("refused"))));
      const run = answersOf(submitter, 5);
      await work(doubling);
      expect((await run).size).toBe(5);
    });

    it("whose second result differs is told, and the first stays", async () => {
      const { submitter, notices } = await submit(sheet());
      const other = await openQueue(server.url, clock);
      closing.push(() => other.disconnect());
      const { store } = other;
      const name = nameOfSheet(sheet());
      expect(await store.addResult(name, 0, '{"value":1}')).toBe("new");
      expect(await store.addResult(name, 0, '{"value":1}')).toBe("same");
      expect(await store.addResult(name, 0, '{"value":2}')).toBe("differs");
      expect(await answersOf(submitter, 1)).toEqual(new Map([[0, { value: 1 }]]));
      expect(await store.addResult(name, 0, '{"value":1}')).toBe("same");
      expect(await queue.noteMs(name)).toBeGreaterThan(6 * 86_400_000);
      expect(notices).toContain(
        "run 0 was made twice, with different results: the strategy or its worker's machine is not deterministic",
      );
    });

    it("is asked for again when the store has forgotten everything", async () => {
      const { submitter } = await submit(sheet());
      const run = answersOf(submitter, 4);
      await until(async () => (await queue.waiting()) === 4);
      await queue.empty();
      await work(doubling);
      expect((await run).size).toBe(4);
    });

    it("whose worker is stopped twice goes back to the queue, and counts as no try", async () => {
      const { submitter } = await submit(sheet());
      const run = answersOf(submitter, 1);
      for (let time = 0; time < 4; time++) {
        let give = (): void => undefined;
        const endless: OpenWork = () =>
          Promise.resolve({
            title: "endless",
            run: () =>
              new Promise((resolve) => {
                give = () => resolve({ kind: "died", reason: "closed" });
              }),
            close: () => Promise.resolve(give()),
          });
        const { worker, stop, said } = await work(endless);
        await until(async () => (await queue.active()) === 1);
        worker.stop();
        expect(said.at(-1)).toBe("finishing what runs (1); stop it again to give that back");
        worker.stop();
        expect(await stop()).toBe(0);
      }
      await work(doubling);
      expect(await run).toEqual(new Map([[0, { value: 0 }]]));
    });

    it("is submitted by one process at a time", async () => {
      const { submitter } = await submit(sheet());
      const name = nameOfSheet(sheet());
      await submitter.close();
      await queue.holdElsewhere(name, "elsewhere, process 7", 300);
      const { notices } = await submit(sheet());
      expect(notices).toEqual(["elsewhere, process 7 has this work already; waiting for it to end"]);
    });
  },
);

describe.skipIf(postgresServer === undefined)("A queue in PostgreSQL (skipped where there is no postgres)", () => {
  const settings = {
    concurrency: 1,
    lockDuration: 10_000,
    stalledInterval: 5_000,
    maxStalledCount: 5,
    runRetryDelay: 100,
    name: "me",
  };

  it("waits for a server that restarts, and keeps the order of a job's fields", async () => {
    const first = await startPostgres();
    const queue = await openQueue(first.url, clock);
    await queue.ready();
    const jobs = queue.queue("restarted");
    const given: unknown[] = [];
    const worker = queue.worker("restarted", async ({ data }) => void given.push(data), settings);
    await until(async () => (await jobs.getWorkersCount()) === 1);
    await first.stop(true);
    const asked = queue.patiently(() => jobs.getJobCounts("waiting"));
    const second = await startPostgres(Number(new URL(first.url).port), first.data);
    expect(await asked).toEqual({ waiting: 0 });
    await jobs.addBulk([{ name: "run", data: { zz: "\0", b: -0, a: 1e-7 }, opts: { jobId: "run-0" } }]);
    await until(async () => given.length > 0);
    expect(JSON.stringify(given)).toBe('[{"zz":"\\u0000","b":0,"a":1e-7}]');
    await worker.close();
    queue.disconnect();
    await second.stop();
  });

  it("that is lost at the first look of a queue and a worker serves both once it is back", async () => {
    const server = await startPostgres();
    const path = await startCutter(Number(new URL(server.url).port));
    const url = new URL(server.url);
    url.port = String(path.port);
    const queue = await openQueue(url.href, clock);
    await queue.ready();
    path.cuts = true;
    const jobs = queue.queue("cut");
    const given: unknown[] = [];
    const worker = queue.worker("cut", async ({ data }) => void given.push(data), settings);
    // Of the queue, of the worker, and again of both.
    await until(async () => path.cut >= 4);
    path.cuts = false;
    await until(async () =>
      jobs.addBulk([{ name: "run", data: { a: 1 }, opts: { jobId: "run-0" } }]).then(
        () => true,
        () => false,
      ),
    );
    await until(async () => given.length > 0);
    expect(given).toEqual([{ a: 1 }]);
    await worker.close();
    await jobs.close();
    queue.disconnect();
    path.close();
    await server.stop();
  });

  it("that refuses a password is told of at once, and without it", async () => {
    const server = await startPostgres();
    const io = capturedIo();
    const url = new URL(server.url);
    url.password = "hidden";
    expect(await main(["worker", "--queue", url.href], io)).not.toBe(0);
    expect(io.errText).toContain('failed: error: password authentication failed for user "sluice"');
    expect(io.errText).not.toContain("hidden");
    await server.stop();
  });
});

/** A way to a server that, while it `cuts`, ends a connection at the first thing that is asked on it. */
const startCutter = async (to: number) => {
  const ready = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);
  const sockets = new Set<Socket>();
  const state = { cuts: false, cut: 0, port: 0, close: (): void => undefined };
  const server = createServer((client) => {
    const upstream = connect(to, "127.0.0.1");
    let isReady = false;
    const end = (): void => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", end);
      socket.on("close", end);
    }
    upstream.on("data", (bytes: Buffer) => {
      isReady ||= bytes.includes(ready);
      client.write(bytes);
    });
    client.on("data", (bytes: Buffer) => {
      if (!state.cuts || !isReady) upstream.write(bytes);
      else {
        state.cut++;
        end();
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  state.port = (server.address() as { readonly port: number }).port;
  state.close = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return state;
};

describe("A queue that cannot be used", () => {
  it.each(["redi://me:secret@host", "me:secret@host", "http://me:secret@host"])(
    "is refused without its address: %s",
    async (workers) => {
      const asked = sweep("test/support/configs/sweep.ts", {
        fixture: marketOf(1),
        vary: ["fickle.mood=calm"],
        workers,
      });
      await expect(asked).rejects.toThrow(/^The address of the queue is not valid\. Write redis:/);
      await expect(openQueue(workers, clock)).rejects.toThrow(/^(?!.*secret)/);
    },
  );

  it("is named without any part of its password", () => {
    expect(shownAddress("redis://ann:12/sec@ret@store.example:6379/2")).toBe("store.example:6379/2");
    expect(shownAddress("postgres://ann:12/sec@ret@store.example/work?password=secret")).toBe("store.example/work");
  });

  const outside = join(temporaryFolder("outside"), "config.ts");
  writeFileSync(outside, 'export { default } from "/work";\n');

  it.each([
    [["worker", "--queue", "redis://127.0.0.1:1"], "The queue at 127.0.0.1:1 does not answer. Is it running"],
    [
      ["worker", "--queue", "postgres://me:secret@127.0.0.1:1/work"],
      "The queue at 127.0.0.1:1/work does not answer. Is it running",
    ],
    [["worker", "--queue", "postgres://me:12/secret@word@127.0.0.1:1/work"], "write user and password percent-encoded"],
    [
      ["worker", "--queue", "localhost"],
      "Write redis://HOST:PORT, rediss://HOST:PORT or postgres://HOST:PORT/DATABASE, or env:NAME.",
    ],
    [["worker", "--queue", "redi://user:pa:secret@word@host"], '"redi://host" is not the address of a queue.'],
    [
      ["worker", "--queue", "redis://127.0.0.1:1", "--fixtures", "http://"],
      "--fixtures: the http:// address is not valid.",
    ],
    [
      ["worker", "--queue", "redis://127.0.0.1:1", "--fixtures", "s3://user:secret@host"],
      "--fixtures: the s3:// address names no bucket.",
    ],
    [
      ["worker", "--queue", "redis://127.0.0.1:1", "--fixtures", "ftp://user:secret@host"],
      "--fixtures: ftp:// is not supported.",
    ],
    [["worker", "--queue", "env:NO_SUCH_QUEUE"], "The environment variable NO_SUCH_QUEUE is not set."],
    [
      [
        "sweep",
        "test/support/configs/sweep.ts",
        "--fixture",
        marketOf(1),
        "--vary",
        "fickle.mood=calm",
        "--workers",
        "redis://me:secret@127.0.0.1:1",
      ],
      "The queue at 127.0.0.1:1 does not answer.",
    ],
  ])("is told of in time: %j", async (argv, message) => {
    const io = capturedIo();
    expect([await main(argv as readonly string[], io)]).not.toEqual([0]);
    expect(io.errText).toContain(message);
    expect(io.errText).not.toMatch(/secret|@word|\bpa:|user:/);
  });
});
