/**
 * Upstream port: the control port of another process, asked over HTTP with the token of its link.
 *
 * Invariants: only the address that was given is asked, no redirect is followed, and the token goes nowhere else and is
 * in no message; every answer has a bound in time and in size; answers are checked before use.
 * Not here: the source (relay-source.ts), the list of engines (engine-relay.ts).
 */

import { type Event, SluiceError } from "sluice";
import { type Clock, messageOf } from "sluice/extension";
import { type ControlUpdate, rowsMax } from "../control-document.ts";
import type { ControlChange, EngineRow } from "../control-rows.ts";
import type { ControlAction, ControlResult } from "../control-source.ts";

/** Address of a port, and its token. */
export interface PortLink {
  /** Scheme, host and port, such as `http://127.0.0.1:8787`. */
  readonly origin: string;
  readonly token: string;
}

/** An engine at a port, as its list of sources has it. */
interface ListedEngine {
  readonly id: string;
  readonly isGone: boolean;
  readonly engine: Partial<EngineRow> | null;
}

export interface PortList {
  readonly access: "read" | "act";
  readonly engines: readonly ListedEngine[];
}

const answerMsMax = 2_000;
/** Longer than a port waits for its engine. */
const actMsMax = 17_000;
/** A port sends a message each second; a hung one sends nothing. */
const silenceMsMax = 1_500;
const openMsMax = 2_000;
/** All rows of an engine at their bounds are less. */
const messageCharsMax = 64 * 1024 * 1024;
const idMax = 100;

/**
 * Parses a link as printed by `sluice run --ui`. Throws if it is not a link; the message leaves out the part behind its
 * `#`.
 */
export const readLink = (text: string): PortLink => {
  const [address = ""] = text.split("#");
  const refuse = (why: string): never => {
    throw new SluiceError(
      "USAGE",
      `${address}: ${why} Write the link as it was printed, such as 'http://127.0.0.1:8787/#token=…'.`,
    );
  };
  if (!URL.canParse(text)) return refuse("this is no address.");
  const { protocol, origin, username, password, hash } = new URL(text);
  if (protocol !== "http:" && protocol !== "https:") refuse("the address of a control port begins with http or https.");
  if (username !== "" || password !== "") refuse("an address with a user's name or password is not taken.");
  const token = /^#token=([\w-]{16,200})$/.exec(hash)?.[1];
  return { origin, token: token ?? refuse("the token of the engine is missing.") };
};

const request = async (
  { origin, token }: PortLink,
  path: string,
  init: RequestInit & { readonly signal: AbortSignal },
): Promise<Response> => {
  try {
    return await fetch(`${origin}/api/v1/${path}`, {
      ...init,
      redirect: "error",
      headers: {
        authorization: `Bearer ${token}`,
        ...(init.body !== undefined && { "content-type": "application/json" }),
      },
    });
  } catch (error) {
    const cause = (error as { readonly cause?: unknown }).cause ?? error;
    throw new SluiceError("ENGINE_STATE", `The control port at ${origin} does not answer: ${messageOf(cause)}.`);
  }
};

/** The text of an answer, as far as the bound. */
const textIn = async (response: Response): Promise<string> => {
  let text = "";
  for await (const part of partsOf(response)) {
    text += part;
    if (text.length > messageCharsMax) throw tooLarge();
  }
  return text;
};

const tooLarge = (): SluiceError =>
  new SluiceError("ENGINE_STATE", "The control port sent more than any engine can report.");

async function* partsOf({ body }: Response): AsyncGenerator<string> {
  if (body === null) return;
  const decoder = new TextDecoder();
  for await (const bytes of body) yield decoder.decode(bytes as Uint8Array, { stream: true });
}

const jsonIn = async (response: Response): Promise<unknown> => {
  try {
    return JSON.parse(await textIn(response)) as unknown;
  } catch {
    return undefined;
  }
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

const refusalOf = async (response: Response, origin: string): Promise<SluiceError> => {
  const answer = await jsonIn(response);
  const { code = `HTTP ${response.status}`, text = "" } = isObject(answer) ? answer : {};
  return new SluiceError(
    "ENGINE_STATE",
    `${origin} refused (${String(code).slice(0, 100)}). ${String(text).slice(0, 300)}`.trim(),
  );
};

/** Engines at the port, without those that it shows of other ports. */
export const listEngines = async (link: PortLink): Promise<PortList> => {
  const response = await request(link, "sources", { signal: AbortSignal.timeout(answerMsMax) });
  if (!response.ok) throw await refusalOf(response, link.origin);
  const answer = await jsonIn(response);
  if (!isObject(answer) || !Array.isArray(answer["sources"]))
    throw new SluiceError("ENGINE_STATE", `${link.origin} is no control port.`);
  const engines = (answer["sources"] as readonly unknown[]).flatMap((one): readonly ListedEngine[] => {
    if (!isObject(one) || typeof one["id"] !== "string" || one["id"] === "" || one["id"].length > idMax) return [];
    const engine = isObject(one["engine"]) ? (one["engine"] as Partial<EngineRow>) : null;
    return engine?.via === undefined ? [{ id: one["id"], isGone: one["isGone"] === true, engine }] : [];
  });
  return { access: answer["access"] === "act" ? "act" : "read", engines };
};

const pathOf = (id: string): string => `sources/${encodeURIComponent(id)}`;

export const storyAt = async (link: PortLink, id: string, clOrdId: string): Promise<readonly Event[]> => {
  const path = `${pathOf(id)}/orders/${encodeURIComponent(clOrdId)}`;
  const response = await request(link, path, { signal: AbortSignal.timeout(answerMsMax) });
  const answer = response.ok ? await jsonIn(response) : undefined;
  return Array.isArray(answer) ? (answer as readonly Event[]) : [];
};

/** Returns the engine's own result of an action; rejects if the result is not known. */
export const actAt = async (link: PortLink, id: string, action: ControlAction): Promise<ControlResult> => {
  const signal = AbortSignal.timeout(actMsMax);
  const response = await request(link, `${pathOf(id)}/actions`, {
    method: "POST",
    body: JSON.stringify(action),
    signal,
  });
  const answer = await jsonIn(response);
  if (!isObject(answer) || typeof answer["ok"] !== "boolean" || typeof answer["text"] !== "string")
    throw new SluiceError(
      "ENGINE_STATE",
      `${link.origin} answered ${response.status} without words; what was asked for may be done.`,
    );
  return answer as unknown as ControlResult;
};

/** Receiver of a stream of updates. */
interface Followed {
  /** Takes an update. `isWhole`: it is a complete snapshot. */
  update(update: ControlUpdate, isWhole: boolean): void;
  /** Takes a beat: the port is alive, and its engine's thread was active `silentMs` ago. */
  beat(silentMs: number): void;
}

interface Following {
  readonly clock: Clock;
  readonly stopping: AbortSignal;
}

/**
 * Follows an engine until its stream ends, fails or falls silent. Resolves where the engine has stopped, rejects
 * otherwise.
 */
export const followEngine = async (
  link: PortLink,
  id: string,
  tell: Followed,
  { clock, stopping }: Following,
): Promise<void> => {
  const silence = new AbortController();
  const signal = AbortSignal.any([stopping, silence.signal]);
  const fallSilent = (): void =>
    silence.abort(new SluiceError("ENGINE_STATE", `Nothing was received from ${link.origin} for two seconds.`));
  let timer = clock.setTimer(clock.now() + openMsMax, fallSilent);
  try {
    const response = await request(link, `${pathOf(id)}/stream`, { signal });
    if (!response.ok) throw await refusalOf(response, link.origin);
    let rest = "";
    for await (const part of partsOf(response)) {
      timer.cancel();
      timer = clock.setTimer(clock.now() + silenceMsMax, fallSilent);
      rest += part;
      if (rest.length > messageCharsMax) throw tooLarge();
      const messages = rest.split("\n\n");
      rest = messages.pop() ?? "";
      for (const message of messages) if (take(message, tell) === "gone") return;
    }
    throw new SluiceError("ENGINE_STATE", `${link.origin} has closed the connection.`);
  } finally {
    timer.cancel();
  }
};

/** One server-sent event. */
const take = (message: string, tell: Followed): string => {
  const name = /^event: (\w+)$/m.exec(message)?.[1] ?? "";
  const text = /^data: (.*)$/m.exec(message)?.[1] ?? "null";
  const data: unknown = JSON.parse(text);
  if (name === "heartbeat") tell.beat(isObject(data) ? Number(data["silentMs"] ?? 0) : 0);
  else if (name === "snapshot" || name === "update") {
    if (isUpdate(data)) tell.update({ ...data, rows: data.rows.filter(isChange) }, name === "snapshot");
  }
  return name;
};

const isUpdate = (value: unknown): value is ControlUpdate =>
  isObject(value) && typeof value["at"] === "number" && Array.isArray(value["rows"]);

/** Sections that this version does not know are left out. */
const isChange = (value: unknown): value is ControlChange => {
  if (!Array.isArray(value)) return false;
  const [section, key, row] = value as readonly unknown[];
  return (
    typeof section === "string" &&
    Object.hasOwn(rowsMax, section) &&
    typeof key === "string" &&
    (row === null || isObject(row))
  );
};
