/**
 * Sends an answer, unchanged or corrupted by a fault.
 *
 * Invariants: every fault is real on the wire: bytes that are missing, connections that end, time that passes; an
 * uncorrupted answer is byte for byte that of the venue; big answers are made piece by piece, as fast as the reader
 * reads.
 * Not here: faults of requests (http-handler.ts).
 */
import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { VenueResponse } from "sluice/backtest";
import { blanks, changed, extended, lacking, mistyped, noJson, page } from "./corrupt-body.ts";
import type { HttpFault } from "./faults.ts";
import type { PendingTimers } from "./pending-timers.ts";

/** One answer to give: where to, and what to wait with. */
export interface Way {
  readonly response: ServerResponse;
  readonly pendingTimers: PendingTimers;
  /** Path and query as they came, for a redirect. */
  readonly url: string;
}

type Headers = VenueResponse["headers"];

const json = { "content-type": "application/json" } as const;

const sendText = (response: ServerResponse, status: number, headers: Headers, text: string): void => {
  response.writeHead(status, { ...headers, "content-length": String(Buffer.byteLength(text)) });
  response.end(text);
};

/** Gives `reply` as it is; one without a body has none. Nothing happens when the client has left. */
export const send = ({ response }: Pick<Way, "response">, { status, headers, body }: VenueResponse): void => {
  if (response.destroyed) return;
  if (body === undefined) {
    response.writeHead(status, headers);
    response.end();
  } else {
    sendText(response, status, { ...json, ...headers }, JSON.stringify(body));
  }
};

/** Ends the connection without another byte. */
export const drop = ({ response }: Way): void => {
  response.socket?.destroy();
};

type Spoil = (way: Way, reply: VenueResponse, fault: HttpFault) => void;

const truncate: Spoil = (way, { status, headers, body }) => {
  const bytes = Buffer.from(JSON.stringify(body ?? {}));
  way.response.writeHead(status, { ...json, ...headers, "content-length": String(bytes.length) });
  way.response.write(bytes.subarray(0, bytes.length >> 1), () => {
    drop(way);
  });
};

const piecesMax = 20;

const drip: Spoil = ({ response, pendingTimers }, { status, headers, body }, { ms }) => {
  const bytes = Buffer.from(JSON.stringify(body ?? {}));
  const size = Math.ceil(bytes.length / piecesMax);
  response.writeHead(status, { ...json, ...headers, "content-length": String(bytes.length) });
  response.flushHeaders();
  const next = (from: number): void => {
    if (response.destroyed) return;
    response.write(bytes.subarray(from, from + size));
    if (from + size >= bytes.length) response.end();
    else pendingTimers.later(ms / piecesMax, () => next(from + size));
  };
  pendingTimers.later(ms / piecesMax, () => next(0));
};

/** A client that leaves in the middle has done right. */
const flood = ({ response }: Way, headers: Headers, bytes: number, packed: boolean): void => {
  response.writeHead(200, { ...json, ...headers, ...(packed && { "content-encoding": "gzip" }) });
  const source = Readable.from(blanks(bytes));
  const done = packed ? pipeline(source, createGzip(), response) : pipeline(source, response);
  done.catch(() => undefined);
};

const redirect: Spoil = ({ response, url }, _reply, { status = 307, to }) => {
  // Another name for this machine, so that an origin that is pinned differs.
  const elsewhere = `http://localhost:${response.socket?.localPort ?? 80}${url}`;
  sendText(response, status, { location: to ?? elsewhere }, "");
};

const spoils: Readonly<Record<HttpFault["kind"], Spoil>> = {
  delay: (way, reply, { ms }) => {
    way.pendingTimers.later(ms, () => {
      send(way, reply);
    });
  },
  drop_request: drop,
  drop_response: drop,
  silence: () => undefined,
  // The venue has been asked twice by now.
  duplicate: send,
  html: ({ response }, _reply, { status = 502 }) => {
    sendText(response, status, { "content-type": "text/html" }, page);
  },
  json: (way, { status }, { status: given = status, body }) => {
    send(way, { status: given, headers: {}, body });
  },
  truncated: truncate,
  not_json: ({ response }, { status, headers }, fault) => {
    sendText(response, fault.status ?? status, { ...json, ...headers }, noJson);
  },
  slow_body: drip,
  redirect,
  gzip_bomb: (way, { headers }, { bytes }) => {
    flood(way, headers, bytes, true);
  },
  huge_body: (way, { headers }, { bytes }) => {
    flood(way, headers, bytes, false);
  },
  empty_body: ({ response }, { status, headers }, fault) => {
    sendText(response, fault.status ?? status, { ...json, ...headers }, "");
  },
  wrong_types: (way, reply, { random }) => {
    send(
      way,
      changed(reply, (record) => mistyped(record, random)),
    );
  },
  missing_fields: (way, reply, { random }) => {
    send(
      way,
      changed(reply, (record) => lacking(record, random)),
    );
  },
  extra_fields: (way, reply) => {
    send(way, extended(reply));
  },
};

/** Gives `reply` as `fault` leaves it. */
export const spoil = (way: Way, reply: VenueResponse, fault: HttpFault): void => {
  if (!way.response.destroyed) spoils[fault.kind](way, reply, fault);
};
