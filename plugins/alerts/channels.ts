/**
 * Channels over HTTP: webhook, Telegram, Discord, Slack, ntfy; each as its service documents it.
 *
 * Invariants: a request follows no redirect, reads at most 4 KiB of the answer and ends at its signal; only the answer
 * that the service documents for a taken message counts as one; texts about a failure have passed `hide`.
 * Not here: mail (mail.ts), sending again (outbox.ts), the check of options (channel-options.ts).
 */
import { createHmac } from "node:crypto";
import type { Level, Message } from "./alert.ts";
import type { Channel, Delivery } from "./outbox.ts";

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly retryAfter: string;
}

interface Request {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface Service {
  readonly textMax: number;
  readonly request: (message: Message) => Request;
  /** Undefined when the message was taken; otherwise why not. */
  readonly problem?: (answer: Answer) => string | undefined;
  /** Returns the milliseconds to wait, if the body contains them. */
  readonly waitMs?: (body: string) => number | undefined;
}

type Hide = (text: string) => string;

const bodyMax = 4_096;

const json = (url: string, body: object, headers: Readonly<Record<string, string>> = {}): Request => ({
  url,
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});

const fieldOf = (body: string, ...path: readonly string[]): unknown => {
  try {
    let value: unknown = JSON.parse(body);
    for (const name of path) value = (value as Readonly<Record<string, unknown>> | null)?.[name];
    return value;
  } catch {
    return undefined;
  }
};

const wordsOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

const seconds = (value: unknown): number | undefined =>
  typeof value === "number" && value >= 0 ? Math.ceil(value * 1_000) : undefined;

/** Webhook with a signature, so that its receiver can verify sender and time: HMAC-SHA256 over `timestamp.body`. */
export const webhook = (url: string, secret: string | undefined, now: () => number): Service => ({
  textMax: 60_000,
  request: ({ id, title, level, alerts, leftOut }) => {
    const sentAt = Math.floor(now());
    const request = json(url, { id, engine: title, sentAt, level, alerts, leftOut });
    if (secret === undefined) return request;
    const signature = createHmac("sha256", secret).update(`${sentAt}.${request.body}`).digest("hex");
    return {
      ...request,
      headers: { ...request.headers, "x-sluice-timestamp": `${sentAt}`, "x-sluice-signature": `sha256=${signature}` },
    };
  },
});

export const telegram = (token: string, chatId: string, server = "https://api.telegram.org"): Service => ({
  textMax: 4_000,
  request: ({ text, level }) =>
    json(`${server}/bot${token}/sendMessage`, {
      chat_id: chatId,
      text,
      disable_notification: level === "info",
      link_preview_options: { is_disabled: true },
    }),
  problem: ({ body }) =>
    fieldOf(body, "ok") === true ? undefined : (wordsOf(fieldOf(body, "description")) ?? "no answer of the bot API"),
  waitMs: (body) => seconds(fieldOf(body, "parameters", "retry_after")),
});

export const discord = (url: string): Service => ({
  textMax: 1_900,
  request: ({ text }) => json(url, { content: text, allowed_mentions: { parse: [] } }),
  waitMs: (body) => seconds(fieldOf(body, "retry_after")),
});

export const slack = (url: string): Service => ({
  textMax: 3_000,
  request: ({ text }) =>
    json(url, { text: text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;") }),
  problem: ({ body }) => (body.trim() === "ok" ? undefined : body),
});

const ntfyPriority: Readonly<Record<Level, string>> = { info: "3", warning: "4", critical: "5" };
const ntfyTag: Readonly<Record<Level, string>> = {
  info: "information_source",
  warning: "warning",
  critical: "rotating_light",
};

/** Headers hold ASCII only; anything else is an encoded word. */
const headerText = (text: string): string =>
  /^[\x20-\x7e]*$/.test(text) ? text : `=?UTF-8?B?${Buffer.from(text, "utf8").toString("base64")}?=`;

export const ntfy = (server: string, topic: string, token: string | undefined): Service => ({
  textMax: 3_500,
  request: ({ title, text, level }) => ({
    url: `${server.replace(/\/$/, "")}/${encodeURIComponent(topic)}`,
    headers: {
      title: headerText(title),
      priority: ntfyPriority[level],
      tags: ntfyTag[level],
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: text.slice(text.indexOf("\n") + 1),
  }),
  problem: ({ body }) => (typeof fieldOf(body, "id") === "string" ? undefined : "the answer is not that of ntfy"),
});

/** Reads the first part of a body: an endless answer is not read to its end. */
const firstOf = async (response: Response): Promise<string> => {
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  const parts: Uint8Array[] = [];
  let length = 0;
  while (length < bodyMax) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    length += value.length;
  }
  void reader.cancel().catch(() => undefined);
  return Buffer.concat(parts).subarray(0, bodyMax).toString("utf8");
};

const namesProxy = (): boolean => Object.keys(process.env).some((name) => /_proxy$/i.test(name));

/** Sends through the proxy that the environment names for the address; directly where it names none. */
const sent = async ({ url, headers, body }: Request, signal: AbortSignal): Promise<Response> => {
  const request = { method: "POST", headers, body, redirect: "manual", signal } as const;
  // Loaded where it is needed: a config imports this file.
  const dispatcher = namesProxy() ? (await import("sluice/extension")).proxyDispatcherOf(url) : undefined;
  if (dispatcher === undefined) return await fetch(url, request);
  const undici = await import("undici");
  try {
    return (await undici.fetch(url, { ...request, dispatcher })) as unknown as Response;
  } finally {
    // It ends once the body has been read.
    void dispatcher.close();
  }
};

/** Posts once; never rejects. */
const post = async (request: Request, signal: AbortSignal): Promise<Answer | { readonly lost: string }> => {
  try {
    const response = await sent(request, signal);
    const text = await firstOf(response);
    return { status: response.status, body: text, retryAfter: response.headers.get("retry-after") ?? "" };
  } catch (error) {
    if (signal.aborted) return { lost: "no answer in time" };
    const { code } = ((error as Error).cause ?? error) as NodeJS.ErrnoException;
    return { lost: typeof code === "string" ? code : "the connection failed" };
  }
};

const waitOf = ({ retryAfter, body }: Answer, waitMs: Service["waitMs"]): number | undefined =>
  waitMs?.(body) ?? (/^\d+(\.\d+)?$/.test(retryAfter) ? seconds(Number(retryAfter)) : undefined);

const isPassing = (status: number): boolean => status === 408 || status === 425 || status === 429 || status >= 500;

/** Creates a channel that sends to a service over HTTP. */
export const overHttp = (service: Service, hide: Hide): Channel => ({
  textMax: service.textMax,
  send: async (message, signal): Promise<Delivery> => {
    const answer = await post(service.request(message), signal);
    if ("lost" in answer) return { kind: "later", why: answer.lost };
    const { status, body } = answer;
    const isWell = status >= 200 && status < 300;
    const problem = isWell ? service.problem?.(answer) : undefined;
    if (isWell && problem === undefined) return { kind: "taken" };
    const why = hide(`status ${status}${isWell ? `: ${problem}` : saidBy(body)}`);
    if (!isPassing(status) && !isWell) return { kind: "refused", why };
    const afterMs = waitOf(answer, service.waitMs);
    return afterMs === undefined ? { kind: "later", why } : { kind: "later", why, afterMs };
  },
});

/** Returns the service's text about a failure, if it is in a known field. */
const saidBy = (body: string): string => {
  const said = wordsOf(fieldOf(body, "description") ?? fieldOf(body, "message") ?? fieldOf(body, "error"));
  return said === undefined ? "" : `: ${said}`;
};

/** Calls a URL once, such as that of a dead-man's switch; undefined when it answered well. */
export const call = async (url: string, signal: AbortSignal): Promise<string | undefined> => {
  const answer = await post({ url, headers: {}, body: "" }, signal);
  if ("lost" in answer) return answer.lost;
  return answer.status >= 200 && answer.status < 300 ? undefined : `status ${answer.status}`;
};
