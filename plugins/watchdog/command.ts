/**
 * `sluice watchdog <config>`: a dead-man's switch in its own process: cancels an engine's orders when its heartbeat
 * stops.
 *
 * Invariants: it places no orders; with --json stdout holds one line of JSON for each event and nothing else; a closed
 * pipe does not end it; a request to stop while it cancels takes effect afterwards or when a new engine takes over, and
 * a second one at once; exit code 0: no order of the engine was left, 1: an order is, or may be.
 * Not here: when it acts (heartbeat-monitor.ts), what it does (client/cancel-all.ts).
 */
import { type Command, Option } from "commander";
import {
  filter,
  firstValueFrom,
  from,
  map,
  merge,
  NEVER,
  type Observable,
  Subject,
  Subscription,
  switchMap,
} from "rxjs";
import { SluiceError } from "sluice";
import {
  after,
  type CliIo,
  type Clock,
  createSystemClock,
  defineCommand,
  every,
  jsonText,
  listenForStop,
  loadConfigFile,
  printable,
  wholeFrom,
} from "sluice/extension";
import { checkHeartbeat } from "./heartbeat-check.ts";
import { isParentGone, unmet$ } from "./unmet-run.ts";
import { createWatchdog, type Watchdog, type WatchdogNews, type WatchdogProcessOptions } from "./watchdog.ts";

interface WatchdogParts {
  readonly clock?: Clock;
  /** Address for engines, for tests; a local socket otherwise. */
  readonly listen?: WatchdogProcessOptions["listen"];
  /** Returns true once the run that started it is gone, for tests; otherwise the operating system is asked. */
  readonly isGone?: () => boolean;
}

interface Flags {
  readonly silenceMs?: number;
  readonly scope?: "instance" | "user";
  readonly once?: true;
  readonly json?: true;
  /** The process of the run, where it is known. */
  readonly besideRun?: string | true;
}

const addWatchdogCommand = (program: Command, io: CliIo, parts: WatchdogParts = {}): void => {
  program
    .command("watchdog")
    .description("Dead-man's switch: watch an engine's heartbeat and cancel its orders when it stops. Until Ctrl-C.")
    .argument(
      "<config>",
      'the config file of the engine; it is asked with the command "watchdog", so that it may name other keys',
    )
    .option(
      "--silence-ms <n>",
      "cancel after this long without a heartbeat (default: the config's, or 15000)",
      wholeFrom(500, 3_600_000, "whole milliseconds"),
    )
    .addOption(
      new Option("--scope <what>", "orders of the config's instance (default), or every order of its users").choices([
        "instance",
        "user",
      ]),
    )
    .option("--once", "end when the engine has stopped in order, or when its orders are gone")
    .option("--json", "print what happens as lines of JSON")
    // Set by `sluice run --watchdog`, whose engine sends heartbeats even when the config has no watchdog.
    .addOption(new Option("--beside-run [process]").hideHelp())
    .addHelpText(
      "after",
      "\nExit codes: 0 nothing it answers for is left, 1 something is or may be left, or it cannot do its work, 2 wrong usage or config.",
    )
    .action((path: string, flags: Flags) => watchdog(path, flags, io, parts));
};

type Status =
  /** No engine sends a heartbeat, so that nothing is protected. `connectedBefore`: one did before. */
  | { readonly kind: "waiting"; readonly connectedBefore: boolean }
  /** Orders are being canceled, and the service has not answered for so long. */
  | { readonly kind: "unanswered"; readonly forMs: number };

const statusMs = 30_000;
/** A request to stop waits so long for a start that is under way. */
const startGraceMs = 1_000;

const watchdog = async (path: string, flags: Flags, io: CliIo, parts: WatchdogParts): Promise<void> => {
  const { clock = createSystemClock(), listen } = parts;
  const config = await loadConfigFile(path, { command: "watchdog", clock });
  if (flags.besideRun === undefined) checkHeartbeat({ path, config, engine: await engineConfig(path, clock) });
  const news$ = new Subject<WatchdogNews>();
  let connected = false;
  const reads = new ReadProgress(clock);
  const { silenceMs, scope } = flags;
  const keeper = createWatchdog(config, {
    report: (news) => {
      connected ||= news.kind === "armed";
      reads.take(news);
      say(news, flags.json === true, clock, io);
      news$.next(news);
    },
    ...(silenceMs === undefined ? {} : { silenceMs }),
    ...(scope === undefined ? {} : { scope }),
    ...(listen === undefined ? {} : { listen }),
  });
  // A closed output does not end it: it is needed most when everything else has ended.
  const stopping = listenForStop(io, { unread: false });
  const done$ = news$.pipe(filter(({ kind }) => kind === "goodbye" || kind === "over"));
  const sayStatus = (): void => {
    const { state } = keeper;
    const status: Status | undefined =
      state === "canceling"
        ? reads.status()
        : state === "armed"
          ? undefined
          : { kind: "waiting", connectedBefore: connected };
    if (status !== undefined) say(status, flags.json === true, clock, io);
  };
  const status = new Subscription();
  try {
    const ended = firstValueFrom(merge(stopping.first$, flags.once === true ? done$ : NEVER));
    const starting = keeper.start();
    starting.catch(() => undefined);
    // A service that does not answer keeps a start waiting for long, but no stop.
    const abandoned$ = stopping.first$.pipe(switchMap(() => merge(after(clock, startGraceMs), stopping.abandoned$)));
    const isStarted = await firstValueFrom(
      merge(from(starting).pipe(map(() => true)), abandoned$.pipe(map(() => false))),
    );
    status.add(
      unmetOf(flags, parts, clock, keeper.silenceMs).subscribe((why) => {
        if (connected) return;
        io.err(`${why.slice(0, 1).toUpperCase()}${why.slice(1)}.\n`);
        keeper.giveUp(why);
      }),
    );
    if (isStarted) sayStatus();
    status.add(every(clock, statusMs).subscribe(sayStatus));
    await ended;
    if (keeper.state === "canceling") {
      io.err(`Canceling orders; it ends when they are gone.${reads.problem} Press Ctrl-C again to end it now.\n`);
      // A new engine that takes over looks after the orders itself.
      const over$ = merge(done$, news$.pipe(filter(({ kind }) => kind === "taken-over")));
      await firstValueFrom(merge(over$, stopping.abandoned$));
    }
    if (keeper.state === "armed") io.err("The engine is not protected any more.\n");
  } finally {
    stopping.end();
    status.unsubscribe();
    const { state } = keeper;
    await keeper.stop();
    if (state === "left") io.err("Orders that the service cannot cancel are left open.\n");
  }
  failIfLeft(keeper);
};

/** Progress of the listings while orders are canceled. */
class ReadProgress {
  readonly #clock: Clock;
  #readAt = 0;
  #why = "";
  #hasNews = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  take({ kind, ...news }: WatchdogNews): void {
    this.#hasNews = true;
    if (kind === "unread") this.#why = "why" in news ? news.why : "";
    else {
      this.#readAt = this.#clock.now();
      this.#why = "";
    }
  }

  /** Line to report when nothing was reported since the last call; else undefined. */
  status(): Status | undefined {
    const hadNews = this.#hasNews;
    this.#hasNews = false;
    return hadNews ? undefined : { kind: "unanswered", forMs: this.#unreadMs };
  }

  /** A sentence, with a space before it; empty while orders can be read. */
  get problem(): string {
    return this.#why === "" ? "" : ` Open orders could not be read for ${secondsIn(this.#unreadMs)} s: ${this.#why}`;
  }

  get #unreadMs(): number {
    return Math.round(this.#clock.now() - this.#readAt);
  }
}

const secondsIn = (ms: number): number => Math.round(ms / 1_000);

const unmetOf = (
  { besideRun }: Flags,
  { isGone }: WatchdogParts,
  clock: Clock,
  silenceMs: number,
): Observable<string> => {
  if (besideRun === undefined) return NEVER;
  const pid = Number(besideRun === true ? Number.NaN : besideRun);
  return unmet$({ clock, silenceMs, isGone: isGone ?? (() => Number.isInteger(pid) && isParentGone(pid)) });
};

/** The config as the engine reads it; undefined where that needs keys that this process does not have. */
const engineConfig = async (path: string, clock: Clock): Promise<unknown> => {
  try {
    return await loadConfigFile(path, { command: "run", clock });
  } catch {
    return undefined;
  }
};

const failIfLeft = ({ state }: Watchdog): void => {
  if (state === "left")
    throw new SluiceError("OUTCOME_UNKNOWN", "Not everything could be canceled: look at the service.");
};

const say = (news: WatchdogNews | Status, json: boolean, clock: Clock, io: CliIo): void => {
  if (json) io.out(`${jsonText({ at: Math.round(clock.now()), ...news })}\n`);
  else io.out(`${new Date(clock.wallNow()).toISOString().slice(11, 19)}  ${printable(wordsOf(news))}\n`);
};

const many = (count: number): string => `${count} ${count === 1 ? "order" : "orders"}`;

const wordsOf = (news: WatchdogNews | Status): string => {
  switch (news.kind) {
    case "proved":
      return `the keys of ${news.user} can read; ${many(news.open)} open`;
    case "unproved":
      return `${news.user}: the service could not be read yet: ${news.why}`;
    case "waiting":
      return news.connectedBefore
        ? "no engine is running: nothing is protected now"
        : "no engine has connected: nothing is protected yet";
    case "unanswered":
      return `orders are still being canceled; the service has not answered for ${secondsIn(news.forMs)} s`;
    case "armed":
      return `${news.again ? "a new engine took over" : "an engine is connected"}; after ${news.silenceMs / 1_000} s of silence its orders are canceled`;
    case "unmet":
      return `${news.reason}; its open orders are looked for and canceled`;
    case "disconnected":
      return "the engine's connection was lost; waiting for it to come back";
    case "goodbye":
      return "the engine stopped in order; its resting orders stay";
    case "tripped":
      return `tripped: ${news.reason}; canceling its orders`;
    case "taken-over":
      return "a new engine took over; nothing more is canceled";
    case "reconnected":
      return "the tripped engine has reconnected; its orders are checked again";
    case "listed":
      return `${news.user}: ${many(news.open)} open, ${news.gone} gone`;
    case "unread":
      return `${news.user}: open orders could not be read, so they are not known: ${news.why}`;
    case "stuck":
      return `${news.user}: the service has no way to cancel ${news.clOrdIds.join(", ")}`;
    case "flat":
      return `${news.user}: two listings in a row show no order`;
    case "over":
      return news.stuck === 0
        ? `flat: ${many(news.gone)} gone, none left`
        : `${many(news.gone)} gone, ${many(news.stuck)} cannot be canceled`;
  }
};

export default defineCommand("watchdog", addWatchdogCommand);
