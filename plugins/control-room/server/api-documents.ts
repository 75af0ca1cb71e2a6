/**
 * The control port's API as an OpenAPI 3.1 and an AsyncAPI 3 document.
 *
 * Invariants: pure; bodies are described by the schemas that check them, sections by the table that bounds them; what
 * the guard refuses is among the answers.
 * Not here: serving them (control-app.ts), the API of the trading service (the plugin venue-server).
 */
import { rowsMax } from "../control-document.ts";
import type { SectionName } from "../control-rows.ts";
import { actionSchemas } from "../control-source.ts";

type Json = Readonly<Record<string, unknown>>;

export interface ApiDocuments {
  readonly openapi: Json;
  readonly asyncapi: Json;
}

const says: Readonly<Record<SectionName, string>> = {
  engine: "The engine itself, under an empty key.",
  strategies: "Strategies by name.",
  positions: "What strategies hold, by strategy|instId.",
  money: "Profit, realised, unrealised and fees by currency, of all users together.",
  userMoney: "The same of each user, by user|currency.",
  balances: "Balances of each user's account, by user|currency.",
  accountPositions: "Positions of each user's account, by user|instId.",
  equity: "The equity curve by time, thinned.",
  orders: "Orders by clOrdId: all that are open, and the last that are over.",
  fills: "The last executions by number of the event.",
  quota: "Rate limits by layer|scope.",
  queue: "What waits and is in flight, by class|strategy; `all` for everything.",
  events: "The last events by number, a line each.",
  health: "Figures of the engine's health by name.",
  markets: "Best prices by instId.",
  book: "The best levels of the book by instId.",
  candles: "Candles by instId|time of the close.",
};

const sections = Object.keys(says) as SectionName[];
const ref = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });
const text = { type: "string" } as const;
const closed = { type: "object", additionalProperties: false } as const;

/** A row and its key. */
const change: readonly Json[] = [
  {
    type: "string",
    enum: sections,
    description: sections.map((name) => `${name}: ${says[name]} At most ${rowsMax[name]}.`).join(" "),
  },
  { type: "string", description: "Key of the row." },
  { type: ["object", "null"], description: "The row." },
];

/** The keyword for the members of a tuple differs: the schemas of AsyncAPI are older. */
const updateOf = (members: "prefixItems" | "items"): Json => ({
  ...closed,
  description:
    "Rows that were replaced, or removed where the row is null. Rows hold decimals as text, times in milliseconds.",
  required: ["source", "seq", "at", "rows"],
  properties: {
    source: text,
    seq: { type: "integer", description: "Rises; where updates were merged numbers are left out." },
    at: { type: "number", description: "Milliseconds on the engine's clock." },
    rows: { type: "array", items: { type: "array", minItems: 3, maxItems: 3, [members]: change } },
  },
});

const failure: Json = {
  ...closed,
  required: ["ok", "code", "text"],
  properties: {
    ok: { type: "boolean", const: false },
    code: text,
    text: { type: "string", description: "What was wrong, in words." },
  },
};

const done: Json = {
  ...closed,
  required: ["ok", "text"],
  properties: {
    ok: { type: "boolean", const: true },
    text,
    count: { type: "integer", description: "Orders or positions concerned." },
  },
};

const sourceList: Json = {
  ...closed,
  required: ["access", "sources"],
  properties: {
    access: { type: "string", enum: ["read", "act"], description: "What the token that was sent may do." },
    sources: {
      type: "array",
      items: {
        ...closed,
        required: ["id", "isGone", "engine"],
        properties: {
          id: text,
          isGone: { type: "boolean" },
          engine: { type: ["object", "null"], description: "Row of the section engine." },
        },
      },
    },
  },
};

const actionName = (type: string): string => `${type[0]?.toUpperCase()}${type.slice(1)}Action`;
const actionNames = Object.keys(actionSchemas);

const schemas = (): Json => ({
  Update: updateOf("prefixItems"),
  Failure: failure,
  Result: { oneOf: [done, failure], description: "Outcome of an action." },
  SourceList: sourceList,
  Event: {
    type: "object",
    required: ["type", "seq", "at"],
    properties: { type: text, seq: { type: "integer" }, at: { type: "number" } },
  },
  Action: {
    oneOf: actionNames.map((type) => ref(actionName(type))),
    discriminator: {
      propertyName: "type",
      mapping: Object.fromEntries(actionNames.map((type) => [type, `#/components/schemas/${actionName(type)}`])),
    },
  },
  ...Object.fromEntries(Object.entries(actionSchemas).map(([type, schema]) => [actionName(type), schema])),
});

const json = (schema: Json, description: string): Json => ({
  description,
  content: { "application/json": { schema } },
});
const refusals = (...more: readonly (readonly [status: string, description: string])[]): Json =>
  Object.fromEntries(
    [
      ["401", "No token, or a wrong one. It is answered late."],
      ["403", "Another machine, another site, or a token that may not do this."],
      ["421", "The Host header is not one of the port's names."],
      ["429", "Too many requests."],
      ...more,
    ].map(([status = "", description = ""]) => [status, json(ref("Failure"), description)]),
  );
const unknown = ["404", "No such engine."] as const;

const parameter = (name: string, description: string): Json => ({
  name,
  in: "path",
  required: true,
  description,
  schema: { type: "string", maxLength: 100 },
});
const id = parameter("id", "Id of the engine, from the list of sources.");

const read = (
  operationId: string,
  summary: string,
  answer: Json,
  extra: { readonly parameters?: readonly Json[]; readonly more?: Json } = {},
): Json => ({
  get: {
    operationId,
    summary,
    ...(extra.parameters !== undefined && { parameters: extra.parameters }),
    responses: { "200": answer, ...refusals(...(extra.parameters === undefined ? [] : [unknown])), ...extra.more },
  },
});

const paths = (): Json => ({
  "/api/v1/sources": read(
    "listSources",
    "Engines and recorded runs of this port",
    json(ref("SourceList"), "All of them."),
  ),
  "/api/v1/sources/{id}": read("readSource", "Everything of one engine now", json(ref("Update"), "A snapshot."), {
    parameters: [id],
  }),
  "/api/v1/sources/{id}/stream": read(
    "followSource",
    "Everything now, and changes from then on",
    {
      description: "Server-sent events: see asyncapi.json. The first is `snapshot`.",
      content: { "text/event-stream": { schema: text } },
    },
    { parameters: [id] },
  ),
  "/api/v1/sources/{id}/orders/{clOrdId}": read(
    "readStory",
    "One order from wanted order to record",
    json({ type: "array", items: ref("Event") }, "Its events."),
    {
      parameters: [id, parameter("clOrdId", "Client order id.")],
    },
  ),
  "/api/v1/sources/{id}/actions": {
    post: {
      operationId: "act",
      summary: "Asks an engine to do something",
      description: "Answered when it is done, or after ten seconds. It is noted in the engine's journal.",
      parameters: [id],
      requestBody: { required: true, content: { "application/json": { schema: ref("Action") } } },
      responses: {
        "200": json(ref("Result"), "It is done."),
        "202": json(ref("Failure"), "It was begun and is not finished after ten seconds: follow the engine."),
        ...refusals(
          unknown,
          ["400", "The action is not one of those above, or has fields that it should not have."],
          ["409", "The engine refused it."],
          ["413", "The body is larger than 16 KiB."],
          ["415", "The body is not sent as application/json."],
          ["503", "The engine has not answered earlier requests yet."],
          ["504", "The engine does not answer."],
        ),
      },
    },
  },
  "/api/v1/openapi.json": read("readOpenApi", "This document", json({ type: "object" }, "OpenAPI 3.1.")),
  "/api/v1/asyncapi.json": read("readAsyncApi", "The stream as a document", json({ type: "object" }, "AsyncAPI 3.0.")),
});

const openapi = (version: string): Json => ({
  openapi: "3.1.0",
  info: {
    title: "Control port of a Sluice engine",
    version,
    license: { name: "MIT", identifier: "MIT" },
    description: "Watches and steers running engines. Every request carries a token that is new at each start.",
  },
  servers: [{ url: "http://127.0.0.1:{port}", variables: { port: { default: "8787" } } }],
  security: [{ token: [] }],
  paths: paths(),
  components: {
    securitySchemes: {
      token: { type: "http", scheme: "bearer", description: "The reading token, or the acting one." },
    },
    schemas: schemas(),
  },
});

const messages: Readonly<Record<string, Json>> = {
  snapshot: {
    title: "Everything",
    summary: "The whole present state. The first message, and again where too much was missed.",
    payload: updateOf("items"),
  },
  update: { title: "Changes", summary: "What has changed, at most ten times a second.", payload: updateOf("items") },
  heartbeat: {
    title: "Heartbeat",
    summary: "Once a second: the port lives.",
    payload: {
      ...closed,
      required: ["silentMs"],
      properties: {
        silentMs: {
          type: "number",
          description:
            "Milliseconds since the engine's own thread last reported: more than 2,000 means that it is blocked.",
        },
      },
    },
  },
  gone: {
    title: "Gone",
    summary: "The engine has stopped; the stream ends.",
    payload: { ...closed, required: ["source"], properties: { source: text } },
  },
};

const asyncapi = (version: string): Json => ({
  asyncapi: "3.0.0",
  info: {
    title: "Stream of a Sluice engine",
    version,
    description:
      "Server-sent events of GET /api/v1/sources/{id}/stream. A reader that is slow is sent the latest rows only.",
  },
  servers: { here: { host: "127.0.0.1:{port}", protocol: "http", variables: { port: { default: "8787" } } } },
  defaultContentType: "application/json",
  channels: {
    stream: {
      address: "/api/v1/sources/{id}/stream",
      title: "The stream of one engine",
      parameters: { id: { description: "Id of the engine." } },
      messages: Object.fromEntries(
        Object.keys(messages).map((name) => [name, { $ref: `#/components/messages/${name}` }]),
      ),
    },
  },
  operations: {
    follow: {
      action: "send",
      title: "Follow an engine",
      channel: { $ref: "#/channels/stream" },
      messages: Object.keys(messages).map((name) => ({ $ref: `#/channels/stream/messages/${name}` })),
    },
  },
  components: {
    messages: Object.fromEntries(Object.entries(messages).map(([name, message]) => [name, { name, ...message }])),
  },
});

/** Both documents; `version` is that of the package. */
export const apiDocuments = (version: string): ApiDocuments => ({
  openapi: openapi(version),
  asyncapi: asyncapi(version),
});
