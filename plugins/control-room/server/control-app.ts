/**
 * Routes of the control port, behind the guard.
 *
 * Invariants: a GET changes nothing; every answer that is no file and no stream is JSON; an error contains nothing
 * about this machine; requests to the engine's thread are bounded in number and by the second, stories apart from
 * actions, and urgent actions are never refused for it.
 * Not here: access (request-guard.ts), the form of answers (api-documents.ts).
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Context, Hono } from "hono";
import type { Clock } from "sluice/extension";
import { type ControlAction, isUrgent, readAction } from "../control-source.ts";
import type { ApiDocuments } from "./api-documents.ts";
import type { pageFiles } from "./page-files.ts";
import { readBody } from "./request-body.ts";
import type { Access } from "./request-guard.ts";
import type { Sink, SourceFeed } from "./source-feed.ts";
import type { FromPort } from "./thread-messages.ts";
import { TokenBucket } from "./token-bucket.ts";
import { UrgentActions, urgentKey } from "./urgent-actions.ts";

/** Answer to a request to the engine's thread. */
export interface EngineAnswer {
  readonly status: number;
  readonly text: string;
}

export interface AppParts {
  readonly clock: Clock;
  readonly feeds: ReadonlyMap<string, SourceFeed>;
  readonly files: ReturnType<typeof pageFiles>;
  readonly documents: ApiDocuments;
  /** Asks the engine's thread; resolves with its answer, or with an answer of this thread after a timeout. */
  readonly ask: (question: Question) => Promise<EngineAnswer>;
}

type Asking<T> = T extends { readonly request: number } ? Omit<T, "request"> : never;
export type Question = Asking<FromPort>;

export interface PortBindings {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly access: Access;
}

interface Env {
  Bindings: PortBindings;
}

const streamsMax = 256;
const askingMax = 16;
const actsPerSecond = 5;
const readsPerSecond = 50;

const failure = (code: string, text: string): { readonly ok: false; readonly code: string; readonly text: string } => ({
  ok: false,
  code,
  text,
});

export const controlApp = (parts: AppParts, alreadySent: Response): Hono<Env> => {
  const { clock, feeds, files, documents } = parts;
  const app = new Hono<Env>();
  const acts = new TokenBucket(actsPerSecond, 2 * actsPerSecond);
  const urgents = new UrgentActions<EngineAnswer>(clock);
  const reads = new TokenBucket(readsPerSecond, 4 * readsPerSecond);
  const tooMany = (context: Context<Env>) =>
    context.json(failure("RATE_LIMITED", "Too many requests: wait a second."), 429, { "retry-after": "1" });
  const unknown = (context: Context<Env>) =>
    context.json(failure("SOURCE_UNKNOWN", "No engine of this id is here: see /api/v1/sources."), 404);
  const asked = questions(parts);

  // Of actions the guard has let in those with an acting token alone; how often is decided when their small body is
  // known.
  app.use("/api/*", async (context, next) =>
    context.req.method === "POST" || reads.take(clock.now()) ? next() : tooMany(context),
  );
  app.get("/api/v1/openapi.json", (context) => context.json(documents.openapi));
  app.get("/api/v1/asyncapi.json", (context) => context.json(documents.asyncapi));
  app.get("/api/v1/sources", (context) =>
    context.json({
      access: context.env.access,
      sources: [...feeds.values()].map(({ id, engine, isGone }) => ({ id, isGone, engine: engine ?? null })),
    }),
  );
  app.get("/api/v1/sources/:id", (context) => {
    const feed = feeds.get(context.req.param("id"));
    if (feed === undefined) return unknown(context);
    return context.body(feed.snapshotText(), 200, { "content-type": "application/json" });
  });
  app.get("/api/v1/sources/:id/stream", (context) => {
    const feed = feeds.get(context.req.param("id"));
    if (feed === undefined) return unknown(context);
    if ([...feeds.values()].reduce((sum, { readers }) => sum + readers, 0) >= streamsMax) return tooMany(context);
    stream(feed, context.env.outgoing);
    return alreadySent;
  });
  app.get("/api/v1/sources/:id/orders/:clOrdId", async (context) => {
    const feed = feeds.get(context.req.param("id"));
    const clOrdId = context.req.param("clOrdId");
    if (feed === undefined) return unknown(context);
    if (clOrdId.length > 100) return context.json(failure("ORDER_UNKNOWN", "No order of this id is known."), 404);
    return asked(context, { kind: "story", source: feed.id, clOrdId });
  });
  app.post("/api/v1/sources/:id/actions", async (context) => {
    const feed = feeds.get(context.req.param("id"));
    if (feed === undefined || feed.isGone) return unknown(context);
    const body = await readBody(context.env.incoming, clock);
    if (body.kind === "large")
      return context.json(failure("BODY_LARGE", "The body is larger than any action."), 413, { connection: "close" });
    if (body.kind === "slow")
      return context.json(failure("BODY_SLOW", "The body did not come."), 408, { connection: "close" });
    const read = body.kind === "json" ? readAction(body.value) : { unread: `The body ${body.problem}` };
    const urgent = "action" in read && isUrgent(read.action) && isKnown(feed, read.action);
    if (!urgent && !acts.take(clock.now())) return tooMany(context);
    if ("unread" in read) return context.json(failure("REQUEST_MALFORMED", read.unread), 400);
    if ("problems" in read) return context.json(failure("ACTION_INVALID", read.problems.join(" ")), 400);
    const { remoteAddress = "", remotePort = 0 } = context.env.incoming.socket;
    const question = {
      kind: "act",
      source: feed.id,
      action: read.action,
      by: `${remoteAddress}:${remotePort}`,
    } as const;
    if (!urgent) return asked(context, question);
    return answered(context, await urgents.run(urgentKey(feed.id, read.action), () => parts.ask(question)));
  });
  app.get("*", (context) => {
    const file = files.get(context.req.path);
    if (file === undefined) return context.json(failure("PATH_UNKNOWN", "There is nothing at this address."), 404);
    return context.body(new Uint8Array(file.bytes), 200, { "content-type": file.type });
  });
  app.notFound((context) => context.json(failure("PATH_UNKNOWN", "There is nothing at this address."), 404));
  app.onError((_, context) => context.json(failure("FAILED", "The control port failed to answer."), 500));
  return app;
};

const answered = (context: Context<Env>, { text, status }: EngineAnswer): Response =>
  context.body(text, status as 200, { "content-type": "application/json" });

/** A halt of a strategy that there is not is no halt: it may wait its turn. */
const isKnown = (feed: SourceFeed, action: ControlAction): boolean =>
  !("strategy" in action) || action.strategy === undefined || feed.hasStrategy(action.strategy);

/** Asks the engine's thread, with a bound on pending questions of each kind. */
const questions = ({ ask }: AppParts) => {
  const asking = new Map<Question["kind"], number>();
  return async (context: Context<Env>, question: Question): Promise<Response> => {
    const { kind } = question;
    const before = asking.get(kind) ?? 0;
    if (before >= askingMax)
      return context.json(failure("ENGINE_BUSY", "The engine has not answered earlier requests yet."), 503);
    asking.set(kind, before + 1);
    try {
      return answered(context, await ask(question));
    } finally {
      asking.set(kind, (asking.get(kind) ?? 1) - 1);
    }
  };
};

const stream = (feed: SourceFeed, outgoing: ServerResponse): void => {
  outgoing.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
  outgoing.flushHeaders();
  const sink: Sink = {
    write: (bytes) => outgoing.write(bytes),
    onDrain: (run) => outgoing.on("drain", run),
    end: () => outgoing.end(),
    destroy: () => outgoing.destroy(),
  };
  const leave = feed.join(sink);
  outgoing.on("error", () => undefined);
  outgoing.once("close", leave);
};
