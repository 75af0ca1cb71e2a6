/**
 * `sluice venue`: the embedded service as a server on this machine, with a market, users, keys, limits and faults.
 *
 * Invariants: with --json stdout holds one line, written when requests are answered, and nothing else; a request to
 * stop ends the market first, then the server, and leaves no socket or timer; mistakes in an option or a file are
 * reported before anything is opened.
 * Not here: the server (server/server.ts), the market (replayMarket), the wording (venue-text.ts).
 */
import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { mul, parseInstId, SluiceError } from "sluice";
import { createVenue, type Tape, type Venue, type VenueInstrument } from "sluice/backtest";
import type { Contract } from "sluice/dialect";
import {
  type CliIo,
  type Clock,
  createRandom,
  createSystemClock,
  defineCommand,
  every,
  generateTape,
  inkOf,
  instrumentFor,
  loadRow,
  openFixture,
  readContributions,
  readJson,
  readOverrides,
  replayMarket,
  wholeFrom,
} from "sluice/extension";
import { asyncApi } from "./documents/asyncapi.ts";
import { openApi } from "./documents/openapi.ts";
import { type FaultPlan, parseFaultPlan } from "./server/fault-plan.ts";
import { describedService, type ServedDialect, servedContract } from "./server/served-dialect.ts";
import type { VenueServer } from "./server/server.ts";
import { keysFor, type NamedKey, userIds, writeKeys } from "./venue-keys.ts";
import { askedLine, openLine, readyLine, readyText } from "./venue-text.ts";

export interface VenueParts {
  readonly clock?: Clock;
}

interface Flags {
  readonly port: number;
  readonly profile?: string;
  readonly fixture?: string;
  readonly instruments?: readonly string[];
  readonly speed: number;
  readonly seed?: string;
  readonly faults?: string;
  readonly dialect?: string;
  readonly limits: boolean;
  readonly keys?: string;
  readonly json?: true;
}

type ServedDialects = ReturnType<typeof readContributions>["servedDialects"];

const addVenueCommand = (program: Command, io: CliIo, parts: VenueParts = {}): void => {
  const dialects = readContributions(process.cwd()).servedDialects;
  program
    .command("venue")
    .description(
      "Open the embedded service on this machine: HTTP and WebSocket, with a market, keys and limits, until Ctrl-C.",
    )
    .option("--port <n>", "port to listen on; 0 takes a free one", wholeFrom(0, 65_535, "a port"), 0)
    .option("--profile <file>", "JSON with rows of the service profile to override")
    .option("--fixture <dir>", "recorded market to play (default: a generated one)")
    .option(
      "--instruments <list>",
      "instruments of the generated market, with commas (default: BTC-USDT-SWAP,ETH-USDT-SWAP,BTC-USDT)",
      listOf,
    )
    .option("--speed <n>", "how many times faster than recorded the market plays", speedOf, 1)
    .option("--seed <text>", "seed of the keys, the generated market and all chance (default: a new one each time)")
    .option("--faults <file>", "JSON with the faults to play")
    .addOption(
      new Option(
        "--dialect <name>",
        "use the dialect of another exchange: its paths, signatures, codes, limits and sockets",
      ).choices([...dialects.keys()]),
    )
    .option("--no-limits", "count requests and refuse none")
    .option("--keys <file>", "write the keys to a file that only its owner may read")
    .option("--json", "print one line of JSON when ready, and nothing else")
    .action((flags: Flags) => serve(flags, io, parts, dialects));
};

const speedMax = 10_000;

const speedOf = (text: string): number => {
  const speed = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && speed > 0 && speed <= speedMax) return speed;
  throw new InvalidArgumentError(`Write a number above 0, at most ${speedMax}.`);
};

const listOf = (text: string): readonly string[] => [...new Set(text.split(",").map((name) => name.trim()))];

const serve = async (
  flags: Flags,
  io: CliIo,
  { clock = createSystemClock() }: VenueParts,
  dialects: ServedDialects,
): Promise<void> => {
  const seed = flags.seed ?? randomBytes(8).toString("hex");
  const dialect = flags.dialect === undefined ? describedService : await servedDialectOf(flags.dialect, dialects);
  const contract = servedContract(dialect, flags.profile === undefined ? {} : readOverrides(flags.profile));
  const faults = flags.faults === undefined ? {} : parseFaultPlan(readJson(flags.faults), flags.faults);
  const tape = marketOf(flags, seed);
  const keys = keysFor(contract, seed);
  const venue = venueOf(contract, tape, keys, flags);
  const server = await open({ contract, dialect, venue, keys, seed, faults, clock, port: flags.port, io });
  const closing: (() => unknown)[] = [];
  try {
    const stop = stopOf(io);
    closing.push(stop.leave);
    const market = replayMarket(tape, venue, server.board, server.faults.clock, { speed: flags.speed, loop: true });
    closing.push(() => market.stop());
    if (flags.json !== true) closing.push(countMinutes(venue, server, clock, io));
    if (flags.keys !== undefined) writeKeys(flags.keys, keys);
    const instruments = tape.instruments.map(({ instId }) => instId);
    const { url, wsUrl } = server;
    const described = dialect === describedService;
    const ready = { url, wsUrl, keys, seed, instruments, keysFile: flags.keys, described, notes: notesOf(flags) };
    io.out(flags.json === true ? readyLine(ready) : readyText(ready));
    await stop.asked;
  } finally {
    for (const close of closing) close();
    await server.close();
  }
  if (flags.json !== true) io.err(`Closed after ${askedLine(venue.meterReport())}.\n`);
};

/** The other side of an exchange, as a plugin's manifest names it. */
const servedDialectOf = async (name: string, dialects: ServedDialects): Promise<ServedDialect> => {
  const entry = dialects.get(name) as NonNullable<ReturnType<ServedDialects["get"]>>;
  return loadRow<ServedDialect>(
    entry,
    (value) => typeof value.name === "string" && typeof value.speak === "function",
    `servedDialects.${name}.module: the default export of ${entry.module} is no served dialect. Write export default { name: "${name}", speak: … }.`,
  );
};

const stopOf = (io: CliIo): { readonly asked: Promise<void>; readonly leave: () => void } => {
  let leave = (): void => undefined;
  const asked = new Promise<void>((resolve) => {
    leave = io.onStop(() => resolve());
  });
  return { asked, leave };
};

interface Opening {
  readonly dialect: ServedDialect;
  readonly contract: Contract;
  readonly venue: Venue;
  readonly keys: readonly NamedKey[];
  readonly seed: string;
  readonly faults: FaultPlan;
  readonly clock: Clock;
  readonly port: number;
  readonly io: CliIo;
}

/** Loaded when it is needed: help and mistakes should not wait for a server. */
const open = async ({
  contract,
  dialect,
  venue,
  keys,
  seed,
  faults,
  clock,
  port,
  io,
}: Opening): Promise<VenueServer> => {
  const { startVenueServer } = await import("./server/server.ts");
  return startVenueServer({
    venue,
    contract,
    clock,
    random: createRandom(seed),
    keys: keys.map(({ key }) => key),
    port,
    faults,
    dialect,
    // They describe the described service.
    documents: ({ url, wsUrl }) =>
      dialect === describedService
        ? { "/openapi.json": openApi(contract, { serverUrl: url }), "/asyncapi.json": asyncApi(contract, { wsUrl }) }
        : {},
    onError: (error) => {
      io.err(
        `${inkOf(io).red("error:")} inside the service: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
      );
    },
  });
};

/** Swaps first, and a spot instrument, so that spot orders and balances can be tried without an option. */
const instrumentsDefault = ["BTC-USDT-SWAP", "ETH-USDT-SWAP", "BTC-USDT"];
const minutesMade = 240;

const marketOf = ({ fixture, instruments }: Flags, seed: string): Tape => {
  if (fixture === undefined) {
    return generateTape({
      seed,
      minutes: minutesMade,
      instruments: (instruments ?? instrumentsDefault).map(instrumentFor),
    });
  }
  if (instruments === undefined) return openFixture(resolve(fixture)).tape;
  throw new SluiceError(
    "USAGE",
    "--instruments is for the generated market; the fixture has its own. Leave one of them out.",
  );
};

const fees = { makerBps: "2", takerBps: "5" } as const;

/** Exchanges count swaps in contracts, with a minimum of a tenth; the generated market has none. */
const inContracts = (instrument: VenueInstrument): VenueInstrument =>
  instrument.instId.endsWith("-SWAP") ? { contractValue: mul(instrument.lotSize, "10"), ...instrument } : instrument;

const venueOf = (contract: Contract, tape: Tape, keys: readonly NamedKey[], { limits, dialect }: Flags): Venue =>
  createVenue({
    contract,
    instruments: dialect === undefined ? tape.instruments : tape.instruments.map(inContracts),
    users: userIds.map((uid) => ({
      uid,
      keys: keys
        .filter(({ key }) => key.uid === uid)
        .map(({ key }) => ({ name: key.apiKey, permissions: key.permissions })),
      balances: balancesFor(tape),
    })),
    fees: { SPOT: fees, SWAP: fees },
    enforceLimits: limits,
  });

/** Money in every quote currency, and something to sell of every spot instrument. */
const balancesFor = ({ instruments }: Tape): Readonly<Record<string, string>> => {
  const parts = instruments.map(({ instId }) => parseInstId(instId, "venue"));
  const bases = parts.filter(({ instType }) => instType === "SPOT").map(({ base }) => [base, "10"]);
  return { ...Object.fromEntries(bases), ...Object.fromEntries(parts.map(({ quote }) => [quote, "10000"])) };
};

const notesOf = ({ limits, faults, profile, dialect }: Flags): readonly string[] => [
  ...(dialect === undefined ? [] : [`It uses the dialect ${dialect}.`]),
  ...(limits ? [] : ["No limits are enforced."]),
  ...(faults === undefined ? [] : [`Faults of ${faults} are played.`]),
  ...(profile === undefined ? [] : [`The profile differs by ${profile}.`]),
];

/** Prints the activity of each minute, until the returned function is called. */
const countMinutes = (venue: Venue, server: VenueServer, clock: Clock, io: CliIo): (() => void) => {
  let before = venue.meterReport();
  const minutes = every(clock, 60_000).subscribe(() => {
    const now = venue.meterReport();
    const time = new Date(server.faults.clock.wallNow()).toISOString().slice(11, 16);
    io.err(`${time}  ${askedLine(now, before)}, ${openLine(server.counts())}\n`);
    before = now;
  });
  return () => minutes.unsubscribe();
};

export default defineCommand("venue", addVenueCommand);
