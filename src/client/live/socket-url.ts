/**
 * Where the WebSocket is opened: derived from the service's address, or given and checked like it.
 *
 * Invariants: a login never leaves this machine over a connection that is not encrypted; a text that may hold a password is not
 * repeated in the message that refuses it.
 */
import { SluiceError } from "../../errors.ts";
import { readBaseUrl } from "../transport/base-url.ts";

/** The same host as `baseUrl`, at the profile's path. */
export const socketUrlOf = (baseUrl: string, path: string): string => `${new URL(baseUrl).origin.replace(/^http/, "ws")}${path}`;

/** Checks an address as given. */
export const checkSocketUrl = (text: string): void => {
  const refuse = (why: string): never => {
    throw new SluiceError("CONFIG_INVALID", `The address of the WebSocket ${why}; write one such as "wss://api.example.com/ws/v1".`);
  };
  if (!URL.canParse(text)) refuse("is not a URL");
  const url = new URL(text);
  if (url.protocol !== "wss:" && url.protocol !== "ws:") refuse(`begins with ${url.protocol}`);
  if (url.hash !== "") refuse("has a fragment");
  // The same rules as for requests: no password in it, and nothing unencrypted beyond this machine.
  const { username, password } = url;
  readBaseUrl(`${url.protocol === "wss:" ? "https:" : "http:"}//${username === "" && password === "" ? "" : "user@"}${url.host}`);
};
