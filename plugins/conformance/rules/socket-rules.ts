/**
 * Section 8.2: the two limits of the WebSocket.
 *
 * Invariants: the form of the refusal is open; the rules check that the service refuses, and not too early. All sockets
 * are closed afterwards.
 * Not here: channels and messages, which the description does not name (G14).
 */

import { firstValueFrom, map, merge, Observable, take } from "rxjs";
import { type OpenTransport, websocketLimits } from "sluice/dialect";
import { after } from "sluice/extension";
import { fieldOf, isRaw, type Raw } from "../probe/reply.ts";
import { pass, type Rule, rule, skipped, open as told, type Verdict } from "./rule.ts";
import type { TestClient } from "./test-client.ts";

const { connectionsPerIp, subscriptionsPerConnection } = websocketLimits;

type Word =
  | { readonly kind: "opened" }
  | { readonly kind: "closed"; readonly reason: string }
  | { readonly kind: "text"; readonly message: Raw };

interface Line {
  readonly socket: ReturnType<OpenTransport["openSocket"]>;
  readonly words: readonly Word[];
  /** Returns the first matching message, received already or later; undefined if none arrives in time. */
  next(fits: (word: Word) => boolean, ms: number): Promise<Word | undefined>;
}

const parsed = (text: string): Raw => {
  try {
    const value: unknown = JSON.parse(text);
    return isRaw(value) ? value : {};
  } catch {
    return {};
  }
};

const lineTo = (testClient: TestClient, url: string, open: NonNullable<TestClient["socket"]>["open"]): Line => {
  const words: Word[] = [];
  const listeners = new Set<(word: Word) => void>();
  const say = (word: Word): void => {
    words.push(word);
    for (const listener of [...listeners]) listener(word);
  };
  // Opening one is a request of the address, like any other.
  const now = testClient.clock.now();
  testClient.pacing.count(testClient.charge(undefined, {}, 0), now)(now);
  const socket = open(url, {
    opened: () => {
      say({ kind: "opened" });
    },
    text: (message) => {
      say({ kind: "text", message: parsed(message) });
    },
    closed: (reason) => {
      say({ kind: "closed", reason });
    },
  });
  const coming = new Observable<Word>((subscriber) => {
    const listener = (word: Word): void => {
      subscriber.next(word);
    };
    listeners.add(listener);
    return () => listeners.delete(listener);
  });
  return {
    socket,
    words,
    next: async (fits, ms) => {
      const known = words.find(fits);
      if (known !== undefined) return known;
      const fitting = new Observable<Word>((subscriber) =>
        coming.subscribe((word) => fits(word) && subscriber.next(word)),
      );
      return firstValueFrom(merge(fitting, after(testClient.clock, ms).pipe(map(() => undefined))).pipe(take(1)));
    },
  };
};

const openMs = 5_000;
/** Time for which a connection must stay open to count as accepted. */
const standMs = 1_000;

const isEnd = ({ kind }: Word): boolean => kind !== "text";
const closed = ({ kind }: Word): boolean => kind === "closed";
const isError = (word: Word): boolean => word.kind === "text" && fieldOf(word.message, "event") === "error";

/** Returns true if the socket opened and stayed open; each opening is a request of the address. */
const accepted = async (line: Line): Promise<boolean> => {
  const first = await line.next(isEnd, openMs);
  if (first?.kind !== "opened") return false;
  return (await line.next((word) => closed(word) || isError(word), standMs)) === undefined;
};

const withLines = async (testClient: TestClient, run: (open: () => Line) => Promise<Verdict>): Promise<Verdict> => {
  const { socket } = testClient;
  if (socket === undefined) return skipped("no address of a WebSocket was given");
  const lines: Line[] = [];
  try {
    return await run(() => {
      const line = lineTo(testClient, socket.url, socket.open);
      lines.push(line);
      return line;
    });
  } finally {
    for (const line of lines) line.socket.close();
    for (const line of lines) await line.next(closed, standMs);
  }
};

const bad = (testClient: TestClient, expected: string, got: string): Verdict => ({
  kind: "fail",
  expected,
  got,
  request: `WebSocket ${testClient.socket?.url}`,
});

const connections = (testClient: TestClient): Promise<Verdict> =>
  withLines(testClient, async (open) => {
    const lines: Line[] = [];
    for (let index = 0; index < connectionsPerIp; index++) {
      const line = open();
      lines.push(line);
      if ((await line.next(isEnd, openMs))?.kind !== "opened")
        return bad(testClient, `${connectionsPerIp} connections`, `only ${index} were opened`);
    }
    await testClient.wait(standMs);
    const turnedAway = lines.filter(({ words }) => words.some(closed) || words.some(isError)).length;
    if (turnedAway > 0)
      return bad(testClient, `${connectionsPerIp} connections`, `only ${connectionsPerIp - turnedAway} stand`);
    return (await accepted(open()))
      ? bad(testClient, `at most ${connectionsPerIp} connections`, `${connectionsPerIp + 1} stand`)
      : pass;
  });

/** Different pairs of a public channel and a product. */
const pairsOf = async (testClient: TestClient): Promise<readonly Raw[]> => {
  const { profile } = testClient.contract;
  const reply = await testClient.askInstruments();
  const ids = reply.records.map((record) => fieldOf(record, "instId")).filter((id) => id !== "");
  return profile.websocket.publicChannels.flatMap((channel) => ids.map((instId) => ({ channel, instId })));
};

const argIs = (word: Word, { channel, instId }: Raw): boolean => {
  if (word.kind !== "text" || fieldOf(word.message, "event") !== "subscribe") return false;
  const arg = word.message["arg"];
  return isRaw(arg) && arg["channel"] === channel && arg["instId"] === instId;
};

const subscriptions = (testClient: TestClient): Promise<Verdict> =>
  withLines(testClient, async (open) => {
    const pairs = await pairsOf(testClient);
    if (pairs.length <= subscriptionsPerConnection) {
      return skipped(
        `needs ${subscriptionsPerConnection + 1} pairs of channel and product; the service lists ${pairs.length}`,
      );
    }
    const { ackMsMax } = testClient.contract.profile.websocket;
    const line = open();
    if ((await line.next(isEnd, openMs))?.kind !== "opened") return bad(testClient, "a connection", "none was opened");
    for (let index = 0; index < subscriptionsPerConnection; index++) {
      const arg = pairs[index] as Raw;
      line.socket.send(JSON.stringify({ op: "subscribe", args: [arg] }));
      if (
        (await line.next((word) => argIs(word, arg) || isError(word) || closed(word), ackMsMax))?.kind !== "text" ||
        line.words.some(isError)
      ) {
        return index === 0
          ? skipped("subscriptions are not acknowledged in the assumed way (G14)")
          : bad(testClient, `${subscriptionsPerConnection} subscriptions`, `only ${index} were acknowledged`);
      }
    }
    const beyond = pairs[subscriptionsPerConnection] as Raw;
    line.socket.send(JSON.stringify({ op: "subscribe", args: [beyond] }));
    const answer = await line.next((word) => argIs(word, beyond) || isError(word) || closed(word), ackMsMax);
    return answer !== undefined && argIs(answer, beyond)
      ? bad(
          testClient,
          `at most ${subscriptionsPerConnection} subscriptions`,
          `${subscriptionsPerConnection + 1} are acknowledged`,
        )
      : pass;
  });

const login = (testClient: TestClient): Promise<Verdict> =>
  withLines(testClient, async (open) => {
    const line = open();
    const first = await line.next(isEnd, openMs);
    const word = await line.next(({ kind }) => kind === "text", standMs);
    return told(
      `${first?.kind ?? "no answer"}; ${word === undefined ? "nothing is said unasked" : "the service speaks first"} (G14)`,
    );
  });

export const socketRules: readonly Rule[] = [
  rule("8.2-connections", "at most 30 connections of one address fit", "socket", connections),
  rule("8.2-subscriptions", "at most 100 subscriptions of one connection fit", "socket", subscriptions),
  rule("8.2-words", "open: the first messages of a connection", "socket", login),
];
