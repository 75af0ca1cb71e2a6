/**
 * Request guard: access to the control port, decided from the head of a request before routing.
 *
 * Invariants: pure; checks run in this order and the first that fails answers: shape, peer, Host, Origin,
 * Sec-Fetch-Site, upgrade, path, token, method, content type, size; a token is compared in constant time and only in
 * the header made for it; nothing that a browser sends automatically gives access.
 * Not here: rate limits (token-bucket.ts), bodies (request-body.ts).
 */
import { createHash, timingSafeEqual } from "node:crypto";

/** The head of a request, as it was received. */
interface RequestHead {
  readonly peer: string;
  readonly httpVersion: string;
  readonly method: string;
  readonly url: string;
  /** Names and values in turn, as they were sent. */
  readonly rawHeaders: readonly string[];
}

export interface GuardRules {
  readonly isOpen: boolean;
  /** `https` also where a proxy ends TLS. */
  readonly scheme: "http" | "https";
  /** Values of Host that are ours. */
  readonly hosts: ReadonlySet<string>;
  readonly tokens: { readonly read: string; readonly act?: string };
}

/** `open`: what needs no token. */
export type Access = "open" | "read" | "act";

type Verdict =
  | { readonly ok: true; readonly access: Access; readonly path: string }
  | { readonly ok: false; readonly status: number; readonly code: RefusalCode; readonly text: string };

export type RefusalCode = keyof typeof refusals;

const refusals = {
  REQUEST_MALFORMED: [400, "The request is not one that this port understands."],
  HTTP_VERSION: [505, "Only HTTP/1.1 is supported."],
  PEER_FOREIGN: [403, "Only this machine may ask."],
  HOST_FOREIGN: [421, "The Host header is not one of this port's names."],
  ORIGIN_FOREIGN: [403, "Requests of other sites are not answered."],
  UPGRADE_REFUSED: [400, "There is no other protocol here."],
  PATH_UNKNOWN: [404, "There is nothing at this address."],
  TOKEN_WRONG: [
    401,
    "A token is needed: Authorization: Bearer, with the token that was printed at the start of the engine.",
  ],
  TOKEN_READS: [403, "This token may read and not act."],
  METHOD_WRONG: [405, "This address does not take that method."],
  CONTENT_TYPE: [415, "Send the action as application/json."],
  BODY_LARGE: [413, "The body is larger than any action."],
} as const satisfies Record<string, readonly [status: number, text: string]>;

export const bodyBytesMax = 16 * 1024;

const refuse = (code: RefusalCode): Verdict => ({
  ok: false,
  status: refusals[code][0],
  code,
  text: refusals[code][1],
});

/** Sent once or never: two of them could be read differently by two readers. */
const single: ReadonlySet<string> = new Set([
  ...[
    "host",
    "origin",
    "authorization",
    "content-length",
    "content-type",
    "transfer-encoding",
    "sec-fetch-site",
    "upgrade",
  ],
]);
const overriding: readonly string[] = ["x-http-method-override", "x-http-method", "x-method-override"];

/** By lower-case name; undefined where the head is ambiguous. */
const headersOf = (raw: readonly string[]): ReadonlyMap<string, string> | undefined => {
  const headers = new Map<string, string>();
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = (raw[index] as string).toLowerCase();
    if ((headers.has(name) && single.has(name)) || overriding.includes(name)) return undefined;
    headers.set(name, raw[index + 1] as string);
  }
  if (headers.has("content-length") && headers.has("transfer-encoding")) return undefined;
  return headers;
};

const loopback = /^(?:127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1|::ffff:127\.\d{1,3}\.\d{1,3}\.\d{1,3})$/;
const isSound = (url: string): boolean => /^\/[\w\-.~/%|!$&'()*+,;=:@?]*$/.test(url) && url.length <= 2_000;

export const judge = (head: RequestHead, rules: GuardRules): Verdict => {
  const { peer, httpVersion, method, url, rawHeaders } = head;
  const headers = headersOf(rawHeaders);
  if (httpVersion !== "1.1") return refuse("HTTP_VERSION");
  if (headers === undefined || !isSound(url)) return refuse("REQUEST_MALFORMED");
  if (!rules.isOpen && !loopback.test(peer)) return refuse("PEER_FOREIGN");
  const host = headers.get("host") ?? "";
  if (!rules.hosts.has(host.toLowerCase())) return refuse("HOST_FOREIGN");
  const origin = headers.get("origin");
  if (origin !== undefined && origin !== `${rules.scheme}://${host}`) return refuse("ORIGIN_FOREIGN");
  const site = headers.get("sec-fetch-site");
  if (site !== undefined && site !== "same-origin" && site !== "none") return refuse("ORIGIN_FOREIGN");
  if (headers.has("upgrade") || headers.has("expect")) return refuse("UPGRADE_REFUSED");
  return judgeRoute(method, url, headers, rules);
};

const judgeRoute = (method: string, url: string, headers: ReadonlyMap<string, string>, rules: GuardRules): Verdict => {
  const path = url.split("?", 1)[0] as string;
  const length = Number(headers.get("content-length") ?? "0");
  const isActing = /^\/api\/v1\/sources\/[^/]+\/actions$/.test(path);
  if (!path.startsWith("/api/")) {
    if (path !== "/" && path !== "/favicon.ico" && !path.startsWith("/assets/")) return refuse("PATH_UNKNOWN");
    if (method !== "GET") return refuse("METHOD_WRONG");
    return length > 0 || headers.has("transfer-encoding") ? refuse("BODY_LARGE") : { ok: true, access: "open", path };
  }
  const access = accessOf(headers.get("authorization"), rules.tokens);
  if (access === undefined) return refuse("TOKEN_WRONG");
  if (method !== (isActing ? "POST" : "GET")) return refuse("METHOD_WRONG");
  if (!isActing)
    return length > 0 || headers.has("transfer-encoding") ? refuse("BODY_LARGE") : { ok: true, access, path };
  if (access !== "act") return refuse("TOKEN_READS");
  if (!/^application\/json(?:; ?charset=utf-8)?$/i.test(headers.get("content-type") ?? ""))
    return refuse("CONTENT_TYPE");
  if (!(length <= bodyBytesMax)) return refuse("BODY_LARGE");
  return { ok: true, access, path };
};

/** Returns the access of a token. Both comparisons are always made, over hashes of one length. */
const accessOf = (
  authorization: string | undefined,
  { read, act }: GuardRules["tokens"],
): "read" | "act" | undefined => {
  const given = /^Bearer ([\w-]{16,200})$/.exec(authorization ?? "")?.[1] ?? "";
  const hash = Buffer.from(tokenHash(given), "hex");
  const mayRead = timingSafeEqual(hash, Buffer.from(read, "hex"));
  const mayAct = timingSafeEqual(hash, Buffer.from(act ?? tokenHash(""), "hex"));
  if (given === "") return undefined;
  if (mayAct && act !== undefined) return "act";
  return mayRead ? "read" : undefined;
};

/** Returns the hash of a token, stored where it is only compared. */
export const tokenHash = (token: string): string => createHash("sha256").update(token).digest("hex");

/** Values of Host under which a port is ours: its address, and the names that it was given. */
export const hostsOf = (port: number, scheme: "http" | "https", names: readonly string[]): ReadonlySet<string> => {
  const isDefault = port === (scheme === "https" ? 443 : 80);
  const own = ["localhost", "127.0.0.1", "[::1]"].flatMap((name) =>
    isDefault ? [name, `${name}:${port}`] : [`${name}:${port}`],
  );
  return new Set([...own, ...names.flatMap((name) => [name.toLowerCase(), `${name.toLowerCase()}:${port}`])]);
};
