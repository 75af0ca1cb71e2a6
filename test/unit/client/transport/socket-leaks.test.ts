import { describe, expect, it } from "vitest";
import { createRandom } from "../../../../src/random.ts";
import { createRig, type FakeSocket, type Heard, obedient } from "../../../support/harness/fake-sockets.ts";

const dayMs = 86_400_000;

/** A service that fails in every way it can, by chance. */
const unreliable = (seed: string) => {
  const chance = createRandom(seed);
  const deeds = { opened: 0, refused: 0, died: 0, mute: 0, gaps: 0 };
  const prepare = (
    socket: FakeSocket,
    clock: { now(): number; setTimer(at: number, run: () => void): { cancel(): void } },
  ): void => {
    const later = (ms: number, run: () => void): void => {
      clock.setTimer(clock.now() + ms, run);
    };
    let mute = false;
    const tick = (): void => {
      if (socket.ended) return;
      const draw = chance.next();
      if (draw < 0.02) {
        deeds.died++;
        socket.end("reset by peer");
        return;
      }
      if (draw < 0.03) {
        deeds.mute++;
        mute = true;
      }
      if (!mute) {
        const skip = chance.next() < 0.05 ? 1 : 0;
        deeds.gaps += skip;
        socket.push("trades", [1], { instId: "A-USDT", skip });
        socket.push("orders", [1], { skip });
        socket.say({ event: "ping", ts: 0 });
      }
      later(15_000, tick);
    };
    socket.answer = (request) => {
      if (mute) return;
      if (chance.next() < 0.1) socket.say({ event: "error", code: "1", msg: "no", ts: 0 });
      else obedient(request, socket);
    };
    later(chance.whole(1, 3_000), () => {
      if (socket.ended) return;
      if (chance.next() < 0.3) {
        deeds.refused++;
        socket.end("connection refused");
        return;
      }
      deeds.opened++;
      socket.open();
      later(1_000, tick);
    });
  };
  return { prepare, deeds };
};

describe("Sockets over 24 hours of a failing service", () => {
  it("leak nothing: at the end there is what there was at the beginning", async () => {
    const { prepare, deeds } = unreliable("day");
    const rig = createRig({ prepare, random: createRandom("ours") });
    const from = rig.clock.now();
    rig.pool.start();
    const login = { name: "main", arg: () => ({ apiKey: "k", passphrase: "p", timestamp: "t", sign: "s" }) };
    const heard: Heard[] = [
      rig.subscribe("trades", "A-USDT"),
      rig.subscribe("books", "A-USDT"),
      rig.subscribe("orders", undefined, login),
    ];
    let mostAlive = 0;
    let mostTimers = 0;
    while (rig.clock.step(from + dayMs)) {
      mostAlive = Math.max(mostAlive, rig.network.alive);
      mostTimers = Math.max(mostTimers, rig.clock.pending);
    }
    expect(deeds.opened).toBeGreaterThan(100);
    expect(Math.min(deeds.refused, deeds.died, deeds.mute, deeds.gaps)).toBeGreaterThan(20);
    // Two connections; their sockets' own timers are the test's: at most two each.
    expect(mostAlive).toBe(2);
    expect(mostTimers).toBeLessThan(20);
    for (const { story } of heard) {
      // A turn is told once, and the story goes on to the end.
      const states = story.filter((line) => !line.startsWith("message")).map((line) => line.split(":")[0]);
      expect(states.length).toBeGreaterThan(50);
      expect(states.filter((state, index) => state === states[index - 1])).toEqual([]);
    }
    await rig.pool.close();
    expect(rig.network.alive).toBe(0);
    expect(rig.pool.counts()).toEqual({ connections: 0, sockets: 0, subscriptions: 0 });
    // What is left are timers of the test's sockets; they find their sockets ended and set no new ones.
    const opened = rig.network.sockets.length;
    rig.clock.advanceTo(from + dayMs + 60_000);
    expect(rig.clock.pending).toBe(0);
    expect(rig.network.sockets.length).toBe(opened);
  });
});
