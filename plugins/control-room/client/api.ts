/**
 * Requests of the page to the control port.
 *
 * Invariants: the token comes from the page's address, is kept for this tab alone and is sent in a header, never in an address; an
 * answer that is no success becomes an error in words.
 * Not here: the stream of updates (feed.ts).
 */
import type { ControlResult } from "../control-source.ts";

const tokenKey = "sluice-token";

/** Taken from the address once, which is then shown without it. */
const takeToken = () => {
  const given = /(?:^#|&)token=([^&]+)/.exec(location.hash)?.[1];
  if (given !== undefined) {
    sessionStorage.setItem(tokenKey, decodeURIComponent(given));
    history.replaceState(null, "", location.pathname);
  }
  return sessionStorage.getItem(tokenKey) ?? "";
};

const token = takeToken();

export class Refused extends Error {
  status;
  constructor(status: number, text: string) {
    super(text);
    this.status = status;
  }
}

/** @param path - below `/api/v1/` */
export const ask = async (path: string, init: RequestInit = {}) => {
  const response = await fetch(`/api/v1/${path}`, {
    cache: "no-store",
    ...init,
    headers: {
      authorization: `Bearer ${token}`,
      ...(init.body === undefined ? {} : { "content-type": "application/json" }),
    },
  });
  if (response.ok) return response;
  throw new Refused(response.status, await reasonOf(response));
};

const reasonOf = async (response: Response) => {
  const text = await response.text();
  try {
    return JSON.parse(text).text ?? `The engine answered ${response.status}.`;
  } catch {
    return `The engine answered ${response.status}.`;
  }
};

export const act = async (source: string, action: object) => {
  const response = await ask(`sources/${encodeURIComponent(source)}/actions`, {
    method: "POST",
    body: JSON.stringify(action),
  });
  return (await response.json()) as ControlResult;
};

export type StoryEvent = { type: string; at: number; seq: number } & Record<string, unknown>;

/** Events of one order, from the strategy's request to the last record. */
export const storyOfOrder = async (source: string, clOrdId: string): Promise<readonly StoryEvent[]> => {
  const response = await ask(`sources/${encodeURIComponent(source)}/orders/${encodeURIComponent(clOrdId)}`);
  return response.json();
};
