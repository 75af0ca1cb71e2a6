/**
 * An application with more to say than it may: keeps calls waiting, sends urgent ones at random, survives restarts.
 *
 * Invariants: in a saturated load the number of unanswered calls is constant; after a restart everything not yet sent is
 * submitted again with its first time of submission, and calls whose answers were lost are replaced.
 */
import type { VirtualClock } from "../../../src/clock/virtual-clock.ts";
import type { Random } from "../../../src/random.ts";
import type { Answer, CallKind, Limiter } from "./limiter.ts";
import type { Machine } from "./machine.ts";
import type { Verdict } from "./meter.ts";
import type { Scenario, Share } from "./scenarios.ts";
import type { Counter } from "./tally.ts";

export interface LoadOptions {
  readonly scenario: Scenario;
  readonly truth: VirtualClock;
  readonly machine: Machine;
  readonly random: Random;
  readonly counter: Counter;
  readonly createLimiter: () => Limiter;
  readonly send: (
    user: string,
    key: string | undefined,
    weight: number,
    judged: (verdict: Verdict) => void,
  ) => Promise<Answer>;
  /** Who calls, in turn. */
  readonly users: readonly string[];
}

export interface Load {
  start(): void;
  /** After `machine.restart()`. */
  resume(): void;
  /** Counts what still waits. */
  finish(): void;
}

interface Call {
  readonly kind: CallKind;
  readonly weight: number;
  readonly user: string;
  readonly share: Share;
  readonly urgent: boolean;
  readonly submittedAt: number;
  readonly sleptBefore: number;
  readonly burst: Burst | undefined;
  /** An orphan is on its way, but the process that would read its answer is gone. */
  state: "waiting" | "flying" | "orphan" | "accepted";
}

interface Burst {
  readonly startedAt: number;
  left: number;
}

const drawCall = (mix: readonly Share[], random: Random): Share => {
  let point = random.next();
  for (const share of mix) {
    point -= share.share;
    if (point < 0) return share;
  }
  return mix[0] as Share;
};

export const createLoad = ({
  scenario,
  truth,
  machine,
  random,
  counter,
  createLimiter,
  send,
  users,
}: LoadOptions): Load => {
  const mixes = random.fork("mix");
  const urgents = random.fork("urgent");
  const open = new Set<Call>();
  let calls = 0;
  let limiter: Limiter;

  const judge = (call: Call, verdict: Verdict): void => {
    if (!verdict.accepted) {
      const again = call.state === "orphan" && open.has(call);
      call.state = "waiting";
      if (again) machine.within(() => submit(call))();
      return;
    }
    if (call.state === "accepted") return;
    call.state = "accepted";
    if (call.urgent)
      counter.urgent(call.submittedAt, truth.now() - call.submittedAt - (machine.slept() - call.sleptBefore));
    if (call.burst !== undefined) counter.placed(call.submittedAt, truth.now() - call.submittedAt);
    if (call.burst !== undefined && --call.burst.left === 0)
      counter.burst(call.burst.startedAt, truth.now() - call.burst.startedAt);
  };
  const submit = (call: Call): void => {
    open.add(call);
    const task = {
      kind: call.kind,
      weight: call.weight,
      urgent: call.urgent,
      user: call.user,
      key: call.share.key,
      send: () => {
        call.state = "flying";
        return send(call.user, call.share.key, call.weight, (verdict) => judge(call, verdict));
      },
    };
    void limiter.submit(task).then(() => {
      open.delete(call);
      // It was lost on its way: an urgent call is made again, of the others there are more.
      if (call.state !== "accepted" && call.urgent) submit(call);
      else if (!call.urgent && call.burst === undefined) more(call.share);
    });
  };
  const callOf = (share: Share, urgent: boolean, burst: Burst | undefined): Call => ({
    kind: share.kind,
    weight: share.weight,
    user: users[calls++ % users.length] as string,
    share,
    urgent,
    submittedAt: truth.now(),
    sleptBefore: machine.slept(),
    burst,
    state: "waiting",
  });
  /** Another call in place of one of `share`. */
  const more = (share?: Share): void =>
    submit(callOf(share?.key === undefined ? drawCall(scenario.mix, mixes) : share, false, undefined));
  const urgent = (size: number): void => {
    for (let i = 0; i < size; i++) submit(callOf({ share: 1, kind: "cancel", weight: 15 }, true, undefined));
  };
  const saturate = (outstanding: number): void => {
    const { mix } = scenario;
    for (const share of mix)
      if (share.key !== undefined) for (let i = 0; i < outstanding * share.share; i++) more(share);
    if (mix.every(({ key }) => key === undefined)) for (let i = 0; i < outstanding; i++) more();
  };
  const burst = (mix: readonly Share[], size: number): void => {
    const one = { startedAt: truth.now(), left: size };
    for (let i = 0; i < size; i++) submit(callOf(drawCall(mix, mixes), false, one));
  };

  /** Runs client code at random or regular instants of true time, whatever the client's process goes through meanwhile. */
  const recur = (nextMs: () => number, run: () => void): void => {
    truth.setTimer(truth.now() + nextMs(), () => {
      if (!machine.asleep()) machine.within(run)();
      recur(nextMs, run);
    });
  };
  return {
    start: () => {
      limiter = createLimiter();
      recur(
        () => urgents.exponential(60_000 / scenario.urgentPerMinute),
        () => urgent(scenario.urgentAtOnce),
      );
      const { load, storm, bursts } = scenario;
      if (load.kind === "saturated") saturate(load.outstanding);
      else
        recur(
          () => load.everyMs,
          () => burst(scenario.mix, load.size),
        );
      if (bursts !== undefined)
        recur(
          () => bursts.everyMs,
          () => burst(bursts.mix, bursts.size),
        );
      if (storm !== undefined) {
        let waitMs = storm.atMs;
        recur(
          () => waitMs,
          () => {
            waitMs = storm.everyMs;
            urgent(storm.size);
          },
        );
      }
    },
    resume: () => {
      const before = [...open];
      open.clear();
      limiter = createLimiter();
      for (const call of before) {
        if (call.state === "waiting") submit(call);
        else if (!call.urgent && call.burst === undefined) more(call.share);
        else if (call.state === "flying") {
          call.state = "orphan";
          open.add(call);
        }
      }
    },
    finish: () => {
      for (const call of open)
        if (call.urgent && call.state !== "accepted")
          counter.urgent(call.submittedAt, truth.now() - call.submittedAt - (machine.slept() - call.sleptBefore));
    },
  };
};
