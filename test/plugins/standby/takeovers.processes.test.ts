/**
 * Takeovers between two real processes that trade against a service which loses answers, counted at the service.
 *
 * Leases of two seconds and a tolerance of one, so that a takeover takes three; test/soak/standby.ts does it a hundred times, and with the
 * default figures.
 */
import { describe, expect, it } from "vitest";
import { main } from "../../../src/cli/main.ts";
import { capturedIo } from "../../support/captured-io.ts";
import { redisServer } from "../../support/harness/redis.ts";
import { endings, StandbyTrial } from "./harness/standby-trial.ts";

describe.skipIf(redisServer === undefined)(
  `A hot standby${redisServer === undefined ? " (no redis-server here)" : ""}`,
  () => {
    it("goes on with orders, position and profit when the leader is killed, stopped, ended, or killed without its store, and the one before sends nothing more", async () => {
      const trial = await StandbyTrial.open({ seed: "takeovers", leaseMs: 2_000, toleranceMs: 1_000, stepMs: 500 });
      try {
        await trial.begin();
        const io = capturedIo();
        expect([await main(["quota", trial.store, "--group", "trial"], io), io.errText]).toEqual([0, ""]);
        expect(io.outText).toMatch(
          /^main {2}leader main@(a|b), last heartbeat \d\.\d s ago; standby main@(?!\1)[ab], last heartbeat \d\.\d s ago$/m,
        );
        for (const ending of endings) await trial.takeOver(ending);
      } finally {
        await trial.end();
      }
      expect(trial.problems).toEqual([]);
      expect(trial.takeovers.map(({ ending }) => ending)).toEqual([...endings]);
      expect(trial.fills).toBeGreaterThan(3);
    });
  },
);
