/**
 * `sluice check <url>`: asks a service, rule by rule of its description, whether it keeps them.
 *
 * Invariants: nothing is sent to an address that is not this machine's unless --places-orders says that orders are meant to be
 * placed there; with --json stdout holds one document; orders placed to look at are small, post-only, far from the market, and
 * canceled also on Ctrl-C. 0 nothing failed, 1 a rule failed or an order was left, 2 wrong usage.
 * Not here: the rules (conformance/), what the profile assumes beyond them (doctor/).
 */
import type { Command } from "commander";
import { HttpTransport } from "../client/transport/http.ts";
import { createServiceTime } from "../client/transport/service-time.ts";
import { openWebSocket } from "../client/transport/socket.ts";
import type { Clock } from "../clock/clock.ts";
import { createSystemClock } from "../clock/system-clock.ts";
import { createContract } from "../contract/contract.ts";
import { decimal } from "../decimal.ts";
import { SluiceError } from "../errors.ts";
import { findingsDocument, findingsText, isClean, summaryOf } from "../verify/conformance/findings.ts";
import type { OrderHints } from "../verify/conformance/test-orders.ts";
import { keysFromEnv, keysFromFile } from "./check-keys.ts";
import { type CliIo, inkOf, printable, transientLine } from "./io.ts";
import { readOverrides } from "./profile-file.ts";

export interface CheckParts {
  readonly clock?: Clock;
}

interface CheckFlags extends OrderHints {
  readonly keys?: string;
  readonly ws?: string;
  readonly profile?: string;
  readonly only?: readonly string[];
  readonly quick?: true;
  readonly instrument?: string;
  readonly placesOrders?: true;
  readonly json?: true;
}

export const addCheckCommand = (program: Command, io: CliIo, parts: CheckParts = {}): void => {
  program
    .command("check")
    .description(
      "Ask a service, rule by rule of its description, whether it keeps them. Places and cancels small orders; for test accounts.",
    )
    .argument("<url>", "address of the service, such as http://127.0.0.1:8080")
    .option(
      "--keys <file>",
      "line of sluice venue --json, or its file of keys (default: SLUICE_API_KEY, SLUICE_SECRET_KEY, SLUICE_PASSPHRASE)",
    )
    .option("--ws <url>", "address of the WebSocket, to check its limits too")
    .option("--profile <file>", "JSON with rows of the service profile to override")
    .option("--quick", "leave out what uses up or waits for a minute")
    .option("--only <rules...>", "only rules whose id begins so, such as 4.4 or 8.1-key")
    .option("--instrument <instId>", "swap to place orders on; the first listed when left out")
    .option("--px <price>", "price of those orders, far below the market", (text) => decimal(text, "--px"))
    .option("--sz <size>", "size of those orders", (text) => decimal(text, "--sz"))
    .option("--places-orders", "needed where the service is not on this machine: orders are placed and canceled there")
    .option("--json", "print one JSON document")
    .action((url: string, flags: CheckFlags) => check(url, flags, io, parts));
};

/** Checks and prints, and fails by name when a rule is broken; nothing is left open afterwards. */
const check = async (url: string, flags: CheckFlags, io: CliIo, { clock = createSystemClock() }: CheckParts): Promise<void> => {
  askFirst(url, flags);
  const contract = createContract(flags.profile === undefined ? {} : readOverrides(flags.profile));
  const { profile } = contract;
  const keySet =
    flags.keys === undefined ? keysFromEnv((name) => io.env(name), profile) : keysFromFile(flags.keys, profile, isLoopback(url));
  const { instrument: instId, px, sz, ws: wsUrl = keySet.wsUrl } = flags;
  if (wsUrl !== undefined) askFirst(wsUrl, flags);
  const time = createServiceTime(clock);
  const wire = new HttpTransport({ baseUrl: url, profile, signers: keySet.signers, clock, time });
  const { checkService, rules } = await import("../verify/conformance/suite.ts");
  const unknown = flags.only?.find((start) => !rules.some(({ id }) => id.startsWith(start)));
  if (unknown !== undefined)
    throw new SluiceError("USAGE", `--only: no rule begins with "${unknown}". Rules are called ${rules[0]?.id}, 4.4-elements, 8.1-key …`);
  const progress = transientLine(io);
  try {
    const result = await checkService({
      contract,
      clock,
      transport: wire.transport,
      serviceNow: () => time.wallNow(),
      keys: keySet.keys,
      quick: flags.quick === true,
      order: { ...(instId !== undefined && { instId }), ...(px !== undefined && { px }), ...(sz !== undefined && { sz }) },
      stop: stopOf(io),
      ...(wsUrl !== undefined && { socket: { url: wsUrl, open: openWebSocket } }),
      ...(flags.only && { only: flags.only }),
      onRule: ({ id, title }) => {
        progress.show(() => `${id} ${title}`);
      },
    });
    io.out(flags.json ? `${JSON.stringify(findingsDocument(url, result))}\n` : findingsText(result, { ...inkOf(io), plain: printable }));
    if (!isClean(result)) throw new SluiceError("DESCRIPTION_BROKEN", `${url} does not keep to the description. ${summaryOf(result)}`);
  } finally {
    progress.clear();
    await wire.close();
  }
};

const stopOf = (io: CliIo): AbortSignal => {
  const stop = new AbortController();
  io.onStop(() => stop.abort());
  return stop.signal;
};

/** By its whole name: localhost.example.com is another machine. */
const isLoopback = (url: string): boolean =>
  URL.canParse(url) && /^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/.test(new URL(url).hostname);

/** Refuses another machine's service, keys unread, without --places-orders. */
const askFirst = (url: string, { placesOrders }: CheckFlags): void => {
  if (placesOrders === true || isLoopback(url)) return;
  const host = URL.canParse(url) ? new URL(url).host : "";
  // What is no address is refused where it is used, before it could lead anywhere.
  if (host === "") return;
  throw new SluiceError(
    "USAGE",
    `check places and cancels orders, and ${host} is not this machine. If that is a test account, say so: sluice check … --places-orders`,
  );
};
