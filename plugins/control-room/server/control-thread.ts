/**
 * The engine's side of the control port: starts its thread, sends it the updates of each source as text, and answers
 * its requests.
 *
 * Invariants: at most `aheadMax` updates are on their way; a thread that falls behind receives a snapshot when it has
 * caught up, so that nothing queues; a failure of the thread does not stop trading.
 * Not here: HTTP (http-listener.ts), sources (engine-source.ts).
 */
import type { Worker } from "node:worker_threads";
import type { Subscription } from "rxjs";
import { SluiceError } from "sluice";
import { messageOf, outside, startThread } from "sluice/extension";
import type { ControlResult, ControlSource } from "../control-source.ts";
import type { FromPort, PortFacts, ToPort } from "./thread-messages.ts";

const aheadMax = 50;
const heapMb = 512;

/** Packages that the port needs, as specifiers for `npm install`. */
const portPackages = { hono: "hono@4", "@hono/node-server": "@hono/node-server@2" } as const;

interface Link {
  readonly source: ControlSource;
  readonly watching: Subscription;
  ahead: number;
  /** Updates were left out. */
  isBehind: boolean;
}

export class ControlThread {
  readonly port: number;
  readonly #worker: Worker;
  readonly #links = new Map<string, Link>();
  #isOver = false;

  private constructor(worker: Worker, port: number, failed: (why: string) => void) {
    this.#worker = worker;
    this.port = port;
    worker.on("message", (message: FromPort) => this.#receive(message));
    worker.on("error", (error) => this.#end(() => failed(messageOf(error))));
    worker.on("exit", () => this.#end(() => failed("its thread ended by itself")));
  }

  /** Resolves when the port listens; rejects when it cannot. `failed` is called when it closes unexpectedly later. */
  static async start(facts: PortFacts, failed: (why: string) => void): Promise<ControlThread> {
    const worker = outside(() =>
      startThread(
        new URL("./control-worker", import.meta.url),
        { facts },
        {
          env: {},
          loadsFiles: false,
          resourceLimits: { maxOldGenerationSizeMb: heapMb },
        },
      ),
    );
    const first = await new Promise<FromPort>((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("error", reject);
    });
    if (first.kind === "listening") return new ControlThread(worker, first.port, failed);
    void worker.terminate();
    throw first.kind === "failed"
      ? refusal(first.code, first.text, facts)
      : new SluiceError("BUG", `The control port began with ${first.kind}.`);
  }

  /** It was closed, or has failed. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Publishes a source; the returned function takes it away. */
  add(source: ControlSource): () => void {
    if (this.#links.has(source.id))
      throw new SluiceError(
        "CONFIG_INVALID",
        `The control port already shows an engine named "${source.id}". Give this one another name.`,
      );
    const watching = source.updates$.subscribe((update) => this.#pass(link, JSON.stringify(update)));
    const link: Link = { source, watching, ahead: 0, isBehind: false };
    this.#links.set(source.id, link);
    this.#passWhole(link);
    return () => {
      if (!this.#links.delete(source.id)) return;
      link.watching.unsubscribe();
      this.#passWhole(link);
      this.#send({ kind: "gone", source: source.id });
    };
  }

  /** The engine's thread runs: to be called a few times a second. */
  beat(source: string): void {
    this.#send({ kind: "beat", source });
  }

  /** Resolves when every connection is closed. */
  async close(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    // The process stays alive until the thread has ended, because the caller waits for that.
    this.#worker.ref();
    const closed = new Promise<void>((resolve) => this.#worker.once("exit", () => resolve()));
    this.#worker.postMessage({ kind: "close" } satisfies ToPort);
    await closed;
  }

  /** The process may end while the port listens. */
  unref(): void {
    this.#worker.unref();
  }

  #pass(link: Link, text: string): void {
    if (link.isBehind || link.ahead >= aheadMax) link.isBehind = true;
    else {
      link.ahead++;
      this.#send({ kind: "update", source: link.source.id, text });
    }
  }

  #passWhole(link: Link): void {
    link.isBehind = false;
    link.ahead++;
    this.#send({ kind: "snapshot", source: link.source.id, text: JSON.stringify(link.source.snapshot()) });
  }

  #receive(message: FromPort): void {
    if (message.kind === "took") this.#took(this.#links.get(message.source));
    else if (message.kind === "story") void this.#tellStory(message);
    else if (message.kind === "act") void this.#act(message);
  }

  async #tellStory({ request, source, clOrdId }: Extract<FromPort, { readonly kind: "story" }>): Promise<void> {
    const story = (await this.#links.get(source)?.source.story(clOrdId)) ?? [];
    const unknown: ControlResult = { ok: false, code: "ORDER_UNKNOWN", text: "No order of this id is known." };
    this.#answer(request, story.length === 0 ? 404 : 200, story.length === 0 ? unknown : story);
  }

  #took(link: Link | undefined): void {
    if (link === undefined) return;
    link.ahead--;
    if (link.isBehind && link.ahead <= 0) this.#passWhole(link);
  }

  async #act({ request, source, action, by }: Extract<FromPort, { readonly kind: "act" }>): Promise<void> {
    const link = this.#links.get(source);
    const result: ControlResult =
      link === undefined
        ? { ok: false, code: "SOURCE_UNKNOWN", text: "This engine has stopped." }
        : await link.source.act(action, by);
    this.#answer(request, result.ok ? 200 : result.code === "UNFINISHED" ? 202 : 409, result);
  }

  #answer(request: number, status: number, value: unknown): void {
    this.#send({ kind: "answer", request, status, text: JSON.stringify(value) });
  }

  #send(message: ToPort): void {
    if (!this.#isOver) this.#worker.postMessage(message);
  }

  #end(tell: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const { watching } of this.#links.values()) watching.unsubscribe();
    this.#links.clear();
    tell();
  }
}

const refusal = (code: string, text: string, { host, port }: PortFacts): SluiceError => {
  const missing = Object.keys(portPackages).find((name) => text.includes(`'${name}'`));
  if (code === "ERR_MODULE_NOT_FOUND" && missing !== undefined) return missingPackages(missing);
  const remedy = code === "EADDRINUSE" ? "Another program listens there: name another port, or 0 for a free one." : "";
  return new SluiceError(
    "PORT_UNAVAILABLE",
    `The control port cannot listen on ${host}:${port} (${code || text}). ${remedy}`.trim(),
  );
};

const missingPackages = (name: string): SluiceError =>
  new SluiceError(
    "PLATFORM_UNSUPPORTED",
    `The control port needs the package ${name}, which is not installed. Install it: npm install ${Object.values(portPackages).join(" ")}`,
  );
