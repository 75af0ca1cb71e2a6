/**
 * Thread of the control port: HTTP, its guard, and all readers, apart from the engine's thread.
 *
 * Invariants: it holds hashes of the tokens and no API key; a reader costs the engine's thread nothing; it ends on
 * request, and with its process.
 * Not here: the engine's side (control-thread.ts).
 */
import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { createSystemClock, every } from "sluice/extension";
import { apiDocuments } from "./api-documents.ts";
import type { EngineAnswer, PortBindings, Question } from "./control-app.ts";
import { listen } from "./http-listener.ts";
import { pageFiles } from "./page-files.ts";
import { SourceFeed } from "./source-feed.ts";
import type { FromPort, PortFacts, ToPort } from "./thread-messages.ts";

const beatMs = 1_000;
/** Nice value, of at most 19: the thread runs at once if a processor is free, and after the engine if none is. */
const givenWay = 5;
/** Number of ended sources that are remembered, so that a page that reconnects learns of their end. */
const goneMax = 20;

const clock = createSystemClock();
const port = parentPort as NonNullable<typeof parentPort>;
const send = (message: FromPort): void => {
  port.postMessage(message);
};
const facts = (workerData as { readonly facts: PortFacts }).facts;
const feeds = new Map<string, SourceFeed>();
const waiting = new Map<number, (answer: EngineAnswer) => void>();
let asked = 0;

/** Timeout of an action; longer than an engine needs for one (engine-source.ts). */
const askMsMax = 15_000;
const silence = {
  ok: false,
  code: "ENGINE_SILENT",
  text: `The engine did not answer within ${askMsMax / 1_000} s; what was asked for may still be done.`,
};

const ask = (question: Question): Promise<EngineAnswer> =>
  new Promise((resolve) => {
    const request = ++asked;
    const timer = clock.setTimer(clock.now() + askMsMax, () => {
      waiting.delete(request);
      resolve({ status: 504, text: JSON.stringify(silence) });
    });
    waiting.set(request, (answer) => {
      timer.cancel();
      resolve(answer);
    });
    send({ ...question, request });
  });

const feedOf = (id: string): SourceFeed => {
  const known = feeds.get(id);
  if (known !== undefined && !known.isGone) return known;
  const feed = new SourceFeed(id, clock.now);
  feeds.set(id, feed);
  return feed;
};

const forgetGone = (): void => {
  const gone = [...feeds.values()].filter(({ isGone }) => isGone);
  for (const { id } of gone.slice(0, Math.max(0, gone.length - goneMax))) feeds.delete(id);
};

/**
 * Lowers the priority of this thread below the engine's, on platforms where threads have their own. Elsewhere the call
 * would slow the whole process down.
 */
const giveWay = (): void => {
  if (process.platform !== "linux") return;
  try {
    setPriority(givenWay);
  } catch {
    // A container may forbid it.
  }
};

const start = async (): Promise<void> => {
  giveWay();
  const [{ getRequestListener }, { RESPONSE_ALREADY_SENT }, { controlApp }] = await Promise.all([
    import("@hono/node-server"),
    import("@hono/node-server/utils/response"),
    import("./control-app.ts"),
  ]);
  const app = controlApp(
    { clock, feeds, files: pageFiles(), documents: apiDocuments(facts.version), ask },
    RESPONSE_ALREADY_SENT,
  );
  const accesses = new WeakMap<object, PortBindings["access"]>();
  const respond = getRequestListener(
    (request, env) => {
      const { incoming, outgoing } = env as Omit<PortBindings, "access">;
      return app.fetch(request, { incoming, outgoing, access: accesses.get(incoming) ?? "open" });
    },
    { overrideGlobalObjects: false },
  );
  const listening = await listen(facts, clock, (incoming, outgoing, access) => {
    accesses.set(incoming, access);
    void respond(incoming, outgoing);
  });
  const beats = every(clock, beatMs).subscribe(() => {
    for (const feed of feeds.values()) feed.heartbeat();
  });
  port.on("message", (message: ToPort) => {
    switch (message.kind) {
      case "snapshot":
        feedOf(message.source).takeSnapshot(message.text);
        return send({ kind: "took", source: message.source });
      case "update":
        feedOf(message.source).take(message.text);
        return send({ kind: "took", source: message.source });
      case "beat":
        return feedOf(message.source).beat();
      case "gone":
        feedOf(message.source).gone();
        return forgetGone();
      case "answer":
        waiting.get(message.request)?.(message);
        waiting.delete(message.request);
        return undefined;
      case "close":
        beats.unsubscribe();
        // Ends this thread, with any pending work.
        return void listening.close().then(() => process.exit());
    }
  });
  send({ kind: "listening", port: listening.port });
};

start().catch((error: NodeJS.ErrnoException) => {
  send({ kind: "failed", code: error.code ?? "", text: error.message });
  port.close();
});
