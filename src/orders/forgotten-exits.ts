/**
 * Exits at the market that the service accepted and does not know any more: whether they were executed is read from the
 * account.
 *
 * A service may forget orders that ended without trading. An exit that was canceled while pushes were lost then leaves
 * no record, and only the account's position shows whether it closed anything.
 *
 * Invariants: a position counts when it was asked for after the exit was proved absent, every record of the answer can
 * be read, and no own order of the instrument is in doubt; it has to cover what all strategies hold together; the pause
 * between two reads doubles up to a minute, and no read is sent once the exit does not wait any more.
 * Not here: the proof of absence (order-resolver.ts), when the exit is placed again (exits.ts).
 */
import type { Gateway } from "../client/gateway.ts";
import type { Outcome } from "../client/outcome.ts";
import type { Clock } from "../clock/clock.ts";
import type { PositionRecord } from "../contract/schemas.ts";
import { compare, sum } from "../decimal.ts";
import type { Effects, Run } from "./effects.ts";
import type { ExitLimits } from "./exit-limits.ts";
import { against } from "./exit-size.ts";
import type { Slots } from "./slots.ts";
import type { ContractValues } from "./state/account-positions.ts";
import type { OrderSpec } from "./wanted-order.ts";

interface ForgottenExitsOptions {
  readonly clock: Clock;
  readonly gateway: Pick<Gateway, "read">;
  readonly contractValues: Pick<ContractValues, "isKnown" | "positionsOf">;
}

type Exit = Pick<OrderSpec, "instId" | "side">;

const call = { class: "resolve", owner: "engine" } as const;
const urgentCall = { class: "close", owner: "engine" } as const;
/** Reads for one exit that may use the reserve for exits. */
const urgentReadsMax = 3;
const firstPauseMs = 1_000;
const pauseMsMax = 60_000;

export class ForgottenExits {
  readonly #options: ForgottenExitsOptions;
  readonly #slots: Pick<Slots, "orders">;
  readonly #limits: Pick<ExitLimits, "net">;
  readonly #run: Run;

  constructor(options: ForgottenExitsOptions, slots: Pick<Slots, "orders">, limits: Pick<ExitLimits, "net">, run: Run) {
    this.#run = run;
    this.#options = options;
    this.#slots = slots;
    this.#limits = limits;
  }

  /**
   * Runs the effects of `onHeld` once a reading shows that the exit executed nothing. Reads as long as `waits` returns
   * true.
   */
  watch(exit: Exit, waits: () => boolean, onHeld: () => Effects, reads = 0): void {
    const { clock, gateway } = this.#options;
    const options = { ...(reads < urgentReadsMax ? urgentCall : call), needed: waits };
    gateway.read("positions", {}, options).subscribe((outcome) => {
      if (!waits()) return;
      if (this.#isHeld(exit, outcome)) {
        this.#run(onHeld());
        return;
      }
      const pauseMs = Math.min(firstPauseMs * 2 ** reads, pauseMsMax);
      clock.setTimer(clock.now() + pauseMs, () => {
        if (waits()) this.watch(exit, waits, onHeld, reads + 1);
      });
    });
  }

  /** The account holds at least what strategies hold by their own fills. */
  #isHeld({ instId, side }: Exit, outcome: Outcome<PositionRecord>): boolean {
    const { contractValues } = this.#options;
    if (outcome.kind !== "done" || outcome.problems.length > 0 || !contractValues.isKnown) return false;
    const own = this.#slots.orders().filter(({ spec }) => spec.instId === instId);
    if (own.some(({ state }) => state.kind === "submitted" || state.kind === "unknown")) return false;
    const held = contractValues.positionsOf(outcome.records).filter((position) => position.instId === instId);
    return compare(against(side, sum(held.map(({ pos }) => pos))), this.#limits.net(instId, side)) >= 0;
  }
}
