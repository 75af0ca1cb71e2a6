/**
 * Processes of one scenario: the service, the store, its sentinels, and engines that are killed, stopped and started again.
 *
 * Invariants: everything is on free ports of loopback and ends with `close`; processes are signalled by their own id.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { freePort } from "../../support/harness/free-port.ts";
import { type OwnRedis, startRedis } from "../../support/harness/redis.ts";
import { fakeTimeLibrary, type Scenario } from "./faults.ts";

interface Minute {
  readonly minute: number;
  readonly weight: number;
  readonly requests: number;
  readonly refused: Readonly<Record<string, number>>;
  /** Placements by key. */
  readonly orders: Readonly<Record<string, number>>;
  /** Client order ids that came before. */
  readonly twice: number;
}

interface Key {
  readonly uid: string;
  readonly apiKey: string;
  readonly secretKey: string;
  readonly passphrase: string;
}

const root = fileURLToPath(new URL("../../..", import.meta.url));
const here = (file: string): string => join(root, "test/soak/shared", file);
const sluice = join(root, "src/cli/sluice.mjs");
const urgentClasses = new Set(["cancel", "emergency", "close"]);

export class Group {
  readonly minutes: Minute[] = [];
  readonly urgentMs: number[] = [];
  readonly anomalies: Record<string, number> = {};
  /** From the word of `sluice halt` until each engine had halted. */
  readonly haltMs: number[] = [];
  /** Placements that an engine sent while it was halted. */
  sentHalted = 0;
  readonly #size: number;
  readonly #scenario: Scenario;
  readonly #isPlain: boolean;
  readonly #scratch = mkdtempSync(join(tmpdir(), "sluice-shared-"));
  readonly #engines = new Map<number, ChildProcess>();
  readonly #others: ChildProcess[] = [];
  readonly #trading = new Set<number>();
  #url = "";
  #keys: readonly Key[] = [];
  #store: OwnRedis | undefined;
  #storeUrl = "";
  #saidHaltAt = Number.NaN;
  readonly #halted = new Set<number>();
  #isClosing = false;

  /** `isPlain`: the service is the one of another making. */
  constructor(size: number, scenario: Scenario, isPlain: boolean) {
    this.#size = size;
    this.#scenario = scenario;
    this.#isPlain = isPlain;
  }

  async open(): Promise<void> {
    const { addressRequests } = this.#scenario;
    const wants = [String(this.#size + 1), ...(addressRequests === undefined ? [] : ["each", String(addressRequests)])];
    const program = this.#isPlain ? [here("plain-service.mjs")] : ["--import", "tsx", here("venue.ts")];
    const venue = spawn(process.execPath, [...program, ...wants], {
      cwd: root,
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#others.push(venue);
    const ready = new Promise<void>((resolve) => {
      createInterface({ input: venue.stdout }).on("line", (line) => {
        const told = JSON.parse(line) as Minute & { readonly url?: string; readonly keys?: readonly Key[] };
        if (told.url === undefined) this.minutes.push(told);
        else {
          this.#url = told.url;
          this.#keys = told.keys ?? [];
          resolve();
        }
      });
    });
    this.#store = await startRedis();
    this.#storeUrl = this.#scenario.sentinel === true ? await this.#watch(this.#store) : this.#store.url;
    await ready;
    for (let index = 0; index < this.#size; index++) this.start(index);
  }

  /** Every engine has placed an order. */
  async trading(): Promise<void> {
    for (let waited = 0; this.#trading.size < this.#size; waited++) {
      if (waited > 1_200)
        throw new Error(`only ${this.#trading.size} of ${this.#size} engines trade after two minutes`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  start(index: number, member = `engine-${index}`): void {
    const key = this.#keys[index] as Key;
    const { clocks, engines, addressRequests } = this.#scenario;
    const clock = clocks?.[index];
    const { share = 1, load = "" } = engines?.[index] ?? {};
    const of = engines?.reduce((sum, one) => sum + (one.share ?? 1), 0) ?? this.#size;
    const child = spawn(process.execPath, [sluice, "run", here("engine.ts"), "--json"], {
      cwd: root,
      env: {
        ...process.env,
        ...(clock !== undefined && { LD_PRELOAD: fakeTimeLibrary, FAKETIME: clock }),
        SLUICE_BASE_URL: this.#url,
        SLUICE_API_KEY: key.apiKey,
        SLUICE_SECRET_KEY: key.secretKey,
        SLUICE_PASSPHRASE: key.passphrase,
        SOAK_NAME: `engine-${index}`,
        SOAK_MEMBER: member,
        SOAK_JOURNAL: join(this.#scratch, `journal-${index}`),
        SOAK_STORE: this.#storeUrl,
        SOAK_OF: String(of),
        SOAK_SHARE: String(share),
        SOAK_LOAD: load,
        SOAK_PUSH: this.#isPlain ? "no" : "yes",
        SOAK_UID: addressRequests === undefined ? "" : key.uid,
        SOAK_ADDRESS_REQUESTS: String(addressRequests ?? 1_200),
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    if (process.env["SOAK_DEBUG"] !== undefined)
      child.stdout.pipe(createWriteStream(`${process.env["SOAK_DEBUG"]}-${index}.ndjson`));
    let said = "";
    child.stderr.on("data", (part: Buffer) => (said = `${said}${part.toString()}`.slice(-2_000)));
    createInterface({ input: child.stdout }).on("line", (line) => this.#hear(index, line));
    child.once("exit", (code, signal) => {
      if (!this.#isClosing && signal !== "SIGKILL") process.stderr.write(`${member} ended (${code}): ${said}\n`);
    });
    this.#engines.set(index, child);
  }

  async kill(index: number): Promise<void> {
    const child = this.#engines.get(index) as ChildProcess;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }

  signal(index: number, signal: "SIGSTOP" | "SIGCONT"): void {
    this.#engines.get(index)?.kill(signal);
  }

  signalStore(signal: "SIGSTOP" | "SIGCONT"): void {
    this.#store?.process.kill(signal);
  }

  async killStore(): Promise<void> {
    await this.#store?.stop();
  }

  async startStore(): Promise<void> {
    this.#store = await startRedis(Number(new URL(this.#storeUrl).port));
  }

  async halt(reason: string | undefined): Promise<void> {
    const how = reason === undefined ? ["--resume"] : ["--reason", reason];
    const child = spawn(process.execPath, [sluice, "halt", "--everywhere", this.#storeUrl, "--group", "soak", ...how], {
      cwd: root,
      stdio: ["ignore", "pipe", "inherit"],
    });
    child.stdout.on("data", () => {
      this.#saidHaltAt = Date.now();
    });
    await once(child, "exit");
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    const all = [...this.#engines.values(), ...this.#others].filter(
      (child) => child.exitCode === null && child.signalCode === null,
    );
    const ended = all.map((child) => once(child, "exit"));
    for (const child of all) {
      child.kill("SIGCONT");
      child.kill("SIGKILL");
    }
    await Promise.all(ended);
    await this.#store?.stop().catch(() => undefined);
    rmSync(this.#scratch, { recursive: true, force: true });
  }

  #hear(index: number, line: string): void {
    if (line.includes('"action.sent"')) {
      const event = JSON.parse(line) as {
        readonly class: string;
        readonly waitedMs: number;
        readonly endpoint: string;
      };
      if (urgentClasses.has(event.class)) this.urgentMs.push(event.waitedMs);
      if (event.endpoint !== "placeOrder") return;
      this.#trading.add(index);
      if (this.#halted.has(index)) this.sentHalted++;
    } else if (line.includes('"mode.changed"')) {
      const { mode } = JSON.parse(line) as { readonly mode: string };
      if (mode !== "halted") this.#halted.delete(index);
      else {
        this.#halted.add(index);
        // It may have heard of it before the command has read it back.
        this.haltMs.push(Number.isNaN(this.#saidHaltAt) ? 0 : Date.now() - this.#saidHaltAt);
      }
    } else if (line.includes('"anomaly"')) {
      const { what } = JSON.parse(line) as { readonly what: string };
      this.anomalies[what] = (this.anomalies[what] ?? 0) + 1;
    }
  }

  /** A replica and three sentinels beside the store; the address by which engines find whoever is the primary. */
  async #watch(primary: OwnRedis): Promise<string> {
    const { port } = new URL(primary.url);
    const replica = await startRedis(undefined, ["--replicaof", "127.0.0.1", port]);
    this.#others.push(replica.process);
    const ports: number[] = [];
    for (let index = 0; index < 3; index++) {
      const own = await freePort();
      const file = join(this.#scratch, `sentinel-${index}.conf`);
      writeFileSync(
        file,
        [
          `port ${own}`,
          "bind 127.0.0.1",
          `dir ${this.#scratch}`,
          `sentinel monitor soak 127.0.0.1 ${port} 2`,
          "sentinel down-after-milliseconds soak 2000",
          "sentinel failover-timeout soak 10000",
          "",
        ].join("\n"),
      );
      this.#others.push(spawn("redis-sentinel", [file], { stdio: "ignore" }));
      ports.push(own);
    }
    return `sentinel://${ports.map((own) => `127.0.0.1:${own}`).join(",")}/soak`;
  }
}

export const openGroup = async (size: number, scenario: Scenario, isPlain: boolean): Promise<Group> => {
  const group = new Group(size, scenario, isPlain);
  try {
    await group.open();
  } catch (error) {
    await group.close();
    throw error;
  }
  return group;
};
