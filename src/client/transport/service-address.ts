/**
 * Addresses of the service and its WebSocket, read from a config and refused where credentials could go to the wrong
 * place.
 *
 * Invariants: an address consists of a scheme, a host and a port, and for the WebSocket a path, and of nothing else; an
 * unencrypted connection leaves this machine only if that was requested; a text that contains a user name or a password
 * is not repeated in the message that refuses it.
 */
import { SluiceError } from "../../errors.ts";

export interface Origin {
  readonly secure: boolean;
  readonly hostname: string;
  readonly port: number;
}

const loopback = /^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1)$/;

/** True if a host name or address is this machine. */
export const isLoopback = (hostname: string): boolean => loopback.test(hostname);

const refuse = (why: string): never => {
  throw new SluiceError("CONFIG_INVALID", `The service's address ${why}`);
};

export const readBaseUrl = (text: string, plainAllowed = false): Origin => {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return refuse('is not a URL; write one such as "https://api.example.com".');
  }
  if (url.username !== "" || url.password !== "")
    return refuse("holds a user name or a password; keys are given as credentials.");
  if (url.protocol !== "https:" && url.protocol !== "http:")
    return refuse(`begins with ${url.protocol}; it must begin with https:`);
  if (url.pathname !== "/" || /[?#]/.test(text)) {
    return refuse(`${url.origin} is followed by a path or a query; end it after the host, the paths are known.`);
  }
  const secure = url.protocol === "https:";
  const hostname = url.hostname.replace(/^\[(.*)\]$/, "$1");
  if (!secure && !plainAllowed && !isLoopback(hostname)) {
    return refuse(
      `${url.origin} is not encrypted, and keys would be readable on the way; write https:, plain http is for this machine only.`,
    );
  }
  return { secure, hostname, port: url.port === "" ? (secure ? 443 : 80) : Number(url.port) };
};

/** The given address if it names a path; otherwise this path at the given host, or at that of `baseUrl`. */
export const socketUrlOf = (baseUrl: string, wsUrl: string | undefined, path: string): string => {
  const url = new URL(wsUrl ?? baseUrl.replace(/^http/, "ws"));
  return wsUrl !== undefined && url.pathname !== "/" ? wsUrl : `${url.protocol}//${url.host}${path}`;
};

/** Checks the address of a WebSocket as given. */
export const checkSocketUrl = (text: string): void => {
  const refuse = (why: string): never => {
    throw new SluiceError(
      "CONFIG_INVALID",
      `The address of the WebSocket ${why}; write one such as "wss://api.example.com/ws/v1".`,
    );
  };
  if (!URL.canParse(text)) refuse("is not a URL");
  const url = new URL(text);
  if (url.protocol !== "wss:" && url.protocol !== "ws:") refuse(`begins with ${url.protocol}`);
  if (url.hash !== "") refuse("has a fragment");
  // The same rules as for requests: no password in it, and nothing unencrypted beyond this machine.
  const { username, password } = url;
  readBaseUrl(
    `${url.protocol === "wss:" ? "https:" : "http:"}//${username === "" && password === "" ? "" : "user@"}${url.host}`,
  );
};
