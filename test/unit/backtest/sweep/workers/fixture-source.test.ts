/** Fixtures by their hash: what a source may do wrong, and what a cache may have become. */
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import {
  type FixturePlaces,
  fixtureByHash,
  pushFixtures,
} from "../../../../../src/backtest/sweep/workers/fixture-source.ts";
import { main } from "../../../../../src/cli/main.ts";
import { createVirtualClock } from "../../../../../src/clock/virtual-clock.ts";
import { readFixture, readManifest } from "../../../../../src/market/tape/fixture.ts";
import { capturedIo } from "../../../../support/captured-io.ts";
import { folder, marketOf } from "../../../../support/harness/sweep.ts";

const fixture = marketOf(1);
const { contentHash, series } = readManifest(fixture);
const { file } = series[0] as { readonly file: string };
const clock = createVirtualClock(0);
const byHash = (name: string, hash: string, places: FixturePlaces, signal?: AbortSignal): Promise<string> =>
  fixtureByHash(name, hash, places, { clock, ...(signal !== undefined && { signal }) });
const servers: Server[] = [];
let count = 0;

const fresh = async (): Promise<{ readonly source: string; readonly cache: string }> => {
  count++;
  const source = join(folder, `source-${count}`);
  await pushFixtures([fixture], source);
  return { source, cache: join(folder, `cache-${count}`) };
};

/** A static server of `source`; `instead` may answer first, and says so. */
const serve = async (source: string, instead: (...call: Parameters<RequestListener>) => boolean = () => false) => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    asked.push(request.url ?? "");
    if (instead(request, response)) return;
    const path = join(source, pathname.replace(/^\/markets/, ""));
    if (existsSync(path)) response.end(readFileSync(path));
    else response.writeHead(404).end("nothing here");
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}/markets`, asked };
};

afterEach(() => {
  for (const server of servers.splice(0)) server.closeAllConnections();
});

const lost = "not/where/it/was";
const damage = (path: string): void => {
  const bytes = readFileSync(path);
  bytes[bytes.length - 1] = (bytes.at(-1) as number) ^ 1;
  writeFileSync(path, bytes);
};

describe("A fixture by its hash", () => {
  it("is taken where it lies if it is the right one, and else from a folder", async () => {
    const { source, cache } = await fresh();
    expect(await byHash(fixture, contentHash, { source, cache })).toBe(fixture);
    expect(await byHash(lost, contentHash, { source, cache })).toBe(join(source, contentHash));
    expect(await byHash(marketOf(1, "other"), contentHash, { source, cache })).toBe(join(source, contentHash));
    expect(existsSync(cache)).toBe(false);
  });

  it("is fetched once over HTTP, with the query of the address, and read to its end from the cache", async () => {
    const { source, cache } = await fresh();
    const { base, asked } = await serve(source);
    const dir = await byHash(lost, contentHash, { source: `${base}/?token=abc`, cache });
    expect(dir).toBe(join(cache, contentHash));
    expect(readFixture(dir).tape).toEqual(readFixture(fixture).tape);
    expect(asked).toEqual(
      ["manifest.json", ...series.map((one) => one.file)].map((name) => `/markets/${contentHash}/${name}?token=abc`),
    );
    expect(await byHash(lost, contentHash, { source: base, cache })).toBe(dir);
    expect(asked).toHaveLength(1 + series.length);
    expect(readdirSync(cache)).toEqual([contentHash]);
  });

  it("is fetched again where the cache was spoiled", async () => {
    const { source, cache } = await fresh();
    const { base, asked } = await serve(source);
    const dir = await byHash(lost, contentHash, { source: base, cache });
    damage(join(dir, file));
    expect(await byHash(lost, contentHash, { source: base, cache })).toBe(dir);
    expect(asked).toHaveLength(2 * (1 + series.length));
    expect(readFixture(dir).manifest.contentHash).toBe(contentHash);
    writeFileSync(join(dir, "manifest.json"), "{}");
    expect(await byHash(lost, contentHash, { source: base, cache })).toBe(dir);
    expect(readFixture(dir).manifest.contentHash).toBe(contentHash);
  });

  const manifestWith = (source: string, change: (text: string) => string): void => {
    const path = join(source, contentHash, "manifest.json");
    const text = readFileSync(path, "utf8");
    writeFileSync(path, change(text));
    expect(readFileSync(path, "utf8")).not.toBe(text);
  };

  it.each([
    [
      "whose file is damaged",
      (source: string) => damage(join(source, contentHash, file)),
      "is not what its manifest says",
    ],
    [
      "whose file is longer than it says",
      (source: string) => writeFileSync(join(source, contentHash, file), Buffer.alloc(5_000_000)),
      "bytes of its manifest",
    ],
    [
      "of another content",
      (source: string) => cpSync(marketOf(1, "other"), join(source, contentHash), { recursive: true }),
      "holds a fixture of another content",
    ],
    [
      "whose manifest claims the hash of another",
      (source: string) => manifestWith(source, (text) => text.replace(/"tickSize": "[^"]+"/, '"tickSize": "7"')),
      "holds a fixture of another content",
    ],
    [
      "with a file outside the folder",
      (source: string) =>
        manifestWith(source, (text) => text.replace(`"file": "${file}"`, '"file": "../../../stolen.bin"')),
      "file",
    ],
    [
      "with a manifest without end",
      (source: string) => manifestWith(source, (text) => text + " ".repeat(1_100_000)),
      "a manifest has 1048576 bytes at most",
    ],
    [
      "that is not there",
      (source: string) => writeFileSync(join(source, contentHash, "manifest.json"), "nothing"),
      "expected JSON",
    ],
  ])("%s is refused, and nothing is kept of it", async (_, spoil, message) => {
    const { source, cache } = await fresh();
    spoil(source);
    const { base } = await serve(source);
    await expect(byHash(lost, contentHash, { source: base, cache })).rejects.toThrow(message);
    expect(readdirSync(cache)).toEqual([]);
    expect(existsSync(join(folder, "stolen.bin"))).toBe(false);
  });

  it("follows a redirect on its host, and none to another", async () => {
    const { source, cache } = await fresh();
    const other = await serve(source);
    const away = await serve(source, ({ url = "" }, response) => {
      if (url.includes("/moved/")) return false;
      response
        .writeHead(302, {
          location: url.includes("manifest.json") ? `${other.base}/${contentHash}/manifest.json` : url,
        })
        .end();
      return true;
    });
    const refused = byHash(lost, contentHash, { source: `${away.base}?token=secret`, cache });
    await expect(refused).rejects.toThrow(
      `leads to ${new URL(other.base).origin}, which was not named. Name that address with --fixtures.`,
    );
    await expect(refused).rejects.not.toThrow("secret");
    expect(other.asked).toEqual([]);
    const near = await serve(source, ({ url = "" }, response) => {
      if (url.startsWith("/markets")) return false;
      response.writeHead(307, { location: url.replace("/old", "/markets") }).end();
      return true;
    });
    const dir = await byHash(lost, contentHash, { source: near.base.replace("/markets", "/old"), cache });
    expect(readFixture(dir).manifest.contentHash).toBe(contentHash);
  });

  it("is asked for with the user and password of the address, which no message shows", async () => {
    const { source, cache } = await fresh();
    const given: (string | undefined)[] = [];
    const { base } = await serve(source, ({ headers }) => {
      given.push(headers.authorization);
      return false;
    });
    const address = base.replace("//", "//ann:pa%3Ass@");
    await byHash(lost, contentHash, { source: address, cache });
    expect(new Set(given)).toEqual(new Set([`Basic ${Buffer.from("ann:pa:ss").toString("base64")}`]));
    const refused = byHash(lost, "f".repeat(64), { source: address, cache });
    await expect(refused).rejects.toThrow("answered 404");
    await expect(refused).rejects.not.toThrow(/ann|pa/);
  });

  it.each(["", "..", "/etc", "F".repeat(64)])(
    "by the hash %j is refused, and the cache is left as it is",
    async (hash) => {
      const cache = join(folder, `kept-${count++}`);
      mkdirSync(join(cache, contentHash), { recursive: true });
      await expect(byHash(lost, hash, { cache })).rejects.toThrow("is not the hash of a fixture");
      expect(readdirSync(cache)).toEqual([contentHash]);
    },
  );

  it.each(["manifest.json", file])(
    "whose %s does not come is given up in time, or at once when it is stopped",
    async (name) => {
      const { source, cache } = await fresh();
      let asked = (): void => undefined;
      const { base } = await serve(source, ({ url = "" }, response) => {
        if (!url.endsWith(name)) return false;
        response.write("{");
        asked();
        return true;
      });
      const begin = async (signal?: AbortSignal): Promise<{ readonly ended: Promise<string> }> => {
        const reached = new Promise<void>((resolve) => {
          asked = resolve;
        });
        const ended = byHash(lost, contentHash, { source: base, cache }, signal).catch(String);
        await reached;
        return { ended };
      };
      const slow = await begin();
      clock.advanceTo(clock.now() + 59_999);
      clock.advanceTo(clock.now() + 1 + 5_000_000 / 100);
      expect(await slow.ended).toMatch(/cannot be fetched: it took longer than \d+ s\./);
      const stop = new AbortController();
      const stopped = await begin(stop.signal);
      stop.abort();
      expect(await stopped.ended).toContain("cannot be fetched: it was stopped.");
      expect(readdirSync(cache)).toEqual([]);
    },
  );

  it.each([
    ["whole", () => undefined],
    ["damaged", damage],
  ])("that another process has put there meanwhile, %s, is whole in the end", async (_, change) => {
    const { source, cache } = await fresh();
    const { base } = await serve(source, ({ url = "" }) => {
      if (!url.endsWith(file)) return false;
      cpSync(fixture, join(cache, contentHash), { recursive: true });
      change(join(cache, contentHash, file));
      return false;
    });
    const dir = await byHash(lost, contentHash, { source: base, cache });
    expect(readFixture(dir).manifest.contentHash).toBe(contentHash);
    expect(readdirSync(cache)).toEqual([contentHash]);
  });

  it("removes what was left half done a day ago, and nothing younger", async () => {
    const { source, cache } = await fresh();
    const { base } = await serve(source);
    for (const [name, hours] of [
      [".fetch-old", 25],
      [".push-old", 25],
      [".fetch-new", 23],
      ["other", 25],
    ] as const) {
      mkdirSync(join(cache, name), { recursive: true });
      const seconds = Date.now() / 1_000 - hours * 3_600;
      utimesSync(join(cache, name), seconds, seconds);
    }
    await byHash(lost, contentHash, { source: base, cache });
    expect(new Set(readdirSync(cache))).toEqual(new Set([".fetch-new", "other", contentHash]));
  });

  it("that nobody has is asked for with what to do", async () => {
    const { cache } = await fresh();
    await expect(byHash(lost, contentHash, { cache })).rejects.toThrow("Say where fixtures are with --fixtures");
    const empty = join(folder, "empty");
    mkdirSync(empty, { recursive: true });
    await expect(byHash(lost, contentHash, { source: empty, cache })).rejects.toThrow(
      `sluice data push DIR --to ${empty}`,
    );
    const { base } = await serve(empty);
    await expect(byHash(lost, contentHash, { source: base, cache })).rejects.toThrow(
      "answered 404. Is the fixture there?",
    );
  });
});

describe("sluice data push", () => {
  it("copies what links lead to", async () => {
    const linked = join(folder, "linked");
    mkdirSync(linked);
    for (const name of readdirSync(fixture)) symlinkSync(join(fixture, name), join(linked, name));
    const [pushed] = await pushFixtures([linked], join(folder, "pushed-links"));
    const { place } = pushed as NonNullable<typeof pushed>;
    expect(readdirSync(place).filter((name) => lstatSync(join(place, name)).isSymbolicLink())).toEqual([]);
    expect(readFixture(place).manifest.contentHash).toBe(contentHash);
  });

  it("copies fixtures to their hashes, once, and puts right what was spoiled there", async () => {
    const to = join(folder, "pushed");
    const push = async (...flags: readonly string[]) => {
      const io = capturedIo();
      expect(await main(["data", "push", fixture, "--to", to, ...flags], io)).toBe(0);
      return io.outText;
    };
    const place = join(to, contentHash);
    expect(await push()).toBe(`${fixture}: copied to ${place}\n`);
    expect(JSON.parse(await push("--json"))).toEqual([{ fixture, place, contentHash, isNew: false }]);
    damage(join(place, file));
    expect(await push()).toBe(`${fixture}: copied to ${place}\n`);
    expect(readFixture(place).tape).toEqual(readFixture(fixture).tape);
    expect(readdirSync(to)).toEqual([contentHash]);
  });
});
