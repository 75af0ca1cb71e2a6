/**
 * The two limits of the WebSocket, against sockets that keep them and sockets that do not.
 */
import { describe, expect, it } from "vitest";
import type { OpenSocket } from "../../../src/client/transport/socket.ts";
import { examine, ofKind, patient } from "./harness/conformance.ts";

type SocketEvents = Parameters<OpenSocket>[1];

interface Habits {
  /** Connections that may stand. */
  readonly connections?: number;
  readonly subscriptions?: number;
  /** What becomes of one too many. */
  readonly refusal?: "never opens" | "closes" | "says error";
  readonly silent?: true;
}

const many = Array.from({ length: 30 }, (_, index) => ({
  instId: `C${index}-USDT-SWAP`,
  tickSize: "0.1",
  lotSize: "0.001",
}));

/** Sockets of a service on the patient's clock. */
const socketsOf = ({ connections = 30, subscriptions = 100, refusal = "closes", silent }: Habits) => {
  const subject = patient({}, { venue: () => ({ instruments: many }) });
  const standing = new Set<SocketEvents>();
  const soon = (run: () => void): void => {
    subject.clock.setTimer(subject.clock.now() + 2, run);
  };
  const say = (events: SocketEvents, message: unknown): void => {
    soon(() => {
      events.text(JSON.stringify(message));
    });
  };
  const open: OpenSocket = (_, events) => {
    const beyond = standing.size >= connections;
    let count = 0;
    standing.add(events);
    const close = (reason: string): void => {
      if (standing.delete(events)) events.closed(reason);
    };
    soon(() => {
      if (beyond && refusal === "never opens") {
        close("refused");
        return;
      }
      events.opened();
      if (beyond && refusal === "closes") {
        soon(() => {
          close("too many");
        });
      }
      if (beyond && refusal === "says error") say(events, { event: "error", code: "1", msg: "too many", ts: 0 });
    });
    return {
      send: (text) => {
        if (silent) return;
        const { op, args } = JSON.parse(text) as { op: string; args: readonly unknown[] };
        count++;
        if (count > subscriptions) say(events, { event: "error", code: "1", msg: "too many", arg: args[0], ts: 0 });
        else say(events, { event: op, arg: args[0], ts: 0 });
      },
      close: () => {
        soon(() => {
          close("closed by us");
        });
      },
    };
  };
  const check = () => examine(subject, { quick: true, only: ["8.2"], socket: { url: "ws://service", open } });
  return { check, standing, subject };
};

describe("The limits of the WebSocket", () => {
  it.each(["never opens", "closes", "says error"] as const)(
    "are kept by a service where one connection too many %s",
    async (refusal) => {
      const { check, standing, subject } = socketsOf({ refusal });
      const result = await check();
      expect(ofKind(result, "pass")).toEqual(["8.2-connections", "8.2-subscriptions"]);
      expect(standing.size).toBe(0);
      expect(subject.clock.pending).toBe(0);
    },
  );

  it.each([
    ["31 connections stand", { connections: 31 }, "8.2-connections"],
    ["29 connections are too many", { connections: 29 }, "8.2-connections"],
    ["101 subscriptions are acknowledged", { subscriptions: 101 }, "8.2-subscriptions"],
    ["99 subscriptions are too many", { subscriptions: 99 }, "8.2-subscriptions"],
  ] satisfies readonly (readonly [string, Habits, string])[])("are broken where %s", async (_, habits, rule) => {
    const { check, standing } = socketsOf(habits);
    const result = await check();
    expect(ofKind(result, "fail")).toEqual([rule]);
    expect(standing.size).toBe(0);
  });

  it("cannot be judged where subscriptions are not acknowledged", async () => {
    const result = await socketsOf({ silent: true }).check();
    expect(ofKind(result, "fail")).toEqual([]);
    expect(result.findings.find(({ rule }) => rule.id === "8.2-subscriptions")?.verdict).toMatchObject({
      kind: "skipped",
    });
  });
});
