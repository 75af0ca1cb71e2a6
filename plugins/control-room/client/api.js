/**
 * Requests of the page to the control port.
 *
 * Invariants: the token comes from the page's address, is kept for this tab alone and is sent in a header, never in an address; an
 * answer that is no success becomes an error in words.
 * Not here: the stream of updates (feed.js).
 */

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
  /** @param {number} status @param {string} text */
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

/** @param {string} path below `/api/v1/` @param {RequestInit} [init] */
export const ask = async (path, init = {}) => {
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

/** @param {Response} response */
const reasonOf = async (response) => {
  const text = await response.text();
  try {
    return JSON.parse(text).text ?? `The engine answered ${response.status}.`;
  } catch {
    return `The engine answered ${response.status}.`;
  }
};

/** @param {string} source @param {object} action */
export const act = async (source, action) => {
  const response = await ask(`sources/${encodeURIComponent(source)}/actions`, {
    method: "POST",
    body: JSON.stringify(action),
  });
  return /** @type {import("../control-source.ts").ControlResult} */ (await response.json());
};

/**
 * Events of one order, from the strategy's request to the last record.
 * @param {string} source
 * @param {string} clOrdId
 * @returns {Promise<any[]>}
 */
export const storyOfOrder = async (source, clOrdId) => {
  const answer = await (
    await ask(`sources/${encodeURIComponent(source)}/orders/${encodeURIComponent(clOrdId)}`)
  ).json();
  return Array.isArray(answer) ? answer : answer.events;
};
