/**
 * Client of a control port for the command line: finds the running engine and sends requests to it.
 *
 * Invariants: a token is sent only to the address it was found with and is in no message; requests have a timeout.
 */
import { readFileSync } from "node:fs";
import { type Event, SluiceError } from "sluice";
import { messageOf } from "sluice/extension";
import type { ControlUpdate } from "./control-document.ts";
import type { ControlRows, SectionName } from "./control-rows.ts";
import type { ControlAction, ControlResult } from "./control-source.ts";
import { portText, runningPorts } from "./port-file.ts";

export interface Whereabouts {
  readonly url?: string;
  readonly tokenFile?: string;
  /** Name of the engine, where there are several. */
  readonly engine?: string;
}

interface Port {
  readonly url: string;
  readonly token: string;
}

interface Listed {
  readonly sources: readonly { readonly id: string; readonly isGone: boolean }[];
}

/** Timeout of an answer; longer than any answer of the port takes. */
const answerMsMax = 20_000;

const usage = (text: string): SluiceError => new SluiceError("USAGE", text);

/** A file of tokens, or one that an engine left. */
const tokenIn = (file: string): string => {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw usage(`--token-file ${file}: ${messageOf(error)}`);
  }
  const [first = ""] = text.split(/\s+/);
  const found = text.startsWith("{")
    ? (JSON.parse(text) as { readonly act?: string; readonly read: string })
    : { read: first };
  return found.act ?? found.read;
};

const foundPort = ({ engine }: Whereabouts): Port => {
  const ports = runningPorts();
  const meant = engine === undefined ? ports : ports.filter(({ engines }) => engines.includes(engine));
  const [only] = meant;
  if (only !== undefined && meant.length === 1) return { url: only.url, token: only.act ?? only.read };
  const list = ports.map(portText).join(", ");
  if (ports.length === 0) {
    throw new SluiceError(
      "ENGINE_STATE",
      "No engine with a control port runs on this machine. Start one: sluice run config/paper.ts --ui",
    );
  }
  if (engine !== undefined && only === undefined)
    throw usage(`--engine ${engine}: no such engine runs here; there is ${list}.`);
  throw usage(`Several control ports are open: ${list}. Choose one: --engine NAME, or --url URL.`);
};

const portOf = (where: Whereabouts): Port => {
  const { url, tokenFile } = where;
  if (url === undefined && tokenFile === undefined) return foundPort(where);
  if (url === undefined) return { ...foundPort(where), token: tokenIn(tokenFile as string) };
  const origin = URL.canParse(url) ? new URL(url).origin : undefined;
  if (origin === undefined || !/^https?:/.test(url))
    throw usage(`--url ${url} is no address. Write it as it was printed, such as http://127.0.0.1:8787.`);
  if (tokenFile !== undefined) return { url: origin, token: tokenIn(tokenFile) };
  const known = runningPorts().find((one) => one.url === origin);
  if (known === undefined)
    throw usage(
      `--url ${origin} is not of an engine on this machine: name the file with its token, too: --token-file FILE.`,
    );
  return { url: origin, token: known.act ?? known.read };
};

/** One engine at a control port. */
export class CtlClient {
  readonly source: string;
  readonly #port: Port;

  private constructor(port: Port, source: string) {
    this.#port = port;
    this.source = source;
  }

  static async open(where: Whereabouts): Promise<CtlClient> {
    const port = portOf(where);
    const { sources } = (await ask(port, "sources")) as Listed;
    const running = sources.filter(({ isGone, id }) => !isGone && (where.engine === undefined || id === where.engine));
    const [only] = running;
    if (only !== undefined && running.length === 1) return new CtlClient(port, only.id);
    const names = sources.map(({ id }) => id).join(", ");
    throw usage(
      only === undefined
        ? `No such engine runs at ${port.url}; there is ${names || "none"}.`
        : `Several engines run at ${port.url}: ${names}. Choose one: --engine NAME.`,
    );
  }

  /** Address of the port that answers. */
  get url(): string {
    return this.#port.url;
  }

  async snapshot(): Promise<ControlUpdate> {
    return (await ask(this.#port, `sources/${encodeURIComponent(this.source)}`)) as ControlUpdate;
  }

  async story(clOrdId: string): Promise<readonly Event[]> {
    return (await ask(
      this.#port,
      `sources/${encodeURIComponent(this.source)}/orders/${encodeURIComponent(clOrdId)}`,
    )) as readonly Event[];
  }

  async act(action: ControlAction): Promise<ControlResult> {
    return (await ask(this.#port, `sources/${encodeURIComponent(this.source)}/actions`, action)) as ControlResult;
  }
}

/** Sends a request. The answer to an action is returned with any status; any other refusal is an error. */
const ask = async ({ url, token }: Port, path: string, action?: ControlAction): Promise<unknown> => {
  let response: Response;
  try {
    response = await fetch(`${url}/api/v1/${path}`, {
      method: action === undefined ? "GET" : "POST",
      headers: {
        authorization: `Bearer ${token}`,
        ...(action !== undefined && { "content-type": "application/json" }),
      },
      redirect: "error",
      signal: AbortSignal.timeout(answerMsMax),
      ...(action !== undefined && { body: JSON.stringify(action) }),
    });
  } catch (error) {
    const cause = (error as { readonly cause?: unknown }).cause ?? error;
    throw new SluiceError("ENGINE_STATE", `The control port at ${url} does not answer: ${messageOf(cause)}.`);
  }
  const answer: unknown = await response.json().catch(() => undefined);
  if (response.ok || (action !== undefined && isResult(answer))) return answer;
  const { code = `HTTP ${response.status}`, text = "" } = (answer ?? {}) as {
    readonly code?: string;
    readonly text?: string;
  };
  throw new SluiceError(
    response.status === 401 || response.status === 403 ? "USAGE" : "ENGINE_STATE",
    `${url} refused (${code}). ${text}`.trim(),
  );
};

const isResult = (answer: unknown): answer is ControlResult =>
  typeof (answer as ControlResult | undefined)?.ok === "boolean";

/** Rows of a section, in the order in which they came. */
export const rowsOf = <S extends SectionName>({ rows }: ControlUpdate, section: S): readonly ControlRows[S][] =>
  rows.flatMap(([name, , row]) => (name === section && row !== null ? [row as ControlRows[S]] : []));
