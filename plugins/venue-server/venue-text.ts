/**
 * Output of `sluice venue`: one line for programs, and the lines for people.
 *
 * Invariants: the line for programs is one line of JSON; nothing here reads the time or touches a stream.
 */

import type { Venue } from "sluice/backtest";
import { counted, grouped } from "sluice/extension";
import type { NamedKey } from "./venue-keys.ts";

type MeterReport = ReturnType<Venue["meterReport"]>;

interface Ready {
  readonly url: string;
  readonly wsUrl: string;
  readonly keys: readonly NamedKey[];
  readonly seed: string;
  readonly instruments: readonly string[];
  /** The file the keys were written to, if any. */
  readonly keysFile: string | undefined;
  /** True for the described service: lines about documents and configs apply only to it. */
  readonly described: boolean;
  /** Notes on unusual settings. */
  readonly notes: readonly string[];
}

export const readyLine = ({ url, wsUrl, keys }: Ready): string =>
  `${JSON.stringify({ url, wsUrl, keys: keys.map(({ key }) => key) })}\n`;

export const readyText = (ready: Ready): string => {
  const { url, wsUrl, keys, seed, instruments, described, notes } = ready;
  const lines = [
    `The service is open at ${url}, sockets at ${wsUrl}.`,
    `Market: ${instruments.join(", ")}.${described ? ` Documents: ${url}/openapi.json, ${url}/asyncapi.json.` : ""}`,
    ...notes,
    "",
    ...keys.flatMap(({ name, key }) => [
      `${name}  (${key.uid}: ${key.permissions.join(", ")})`,
      `  apiKey      ${key.apiKey}`,
      `  secretKey   ${key.secretKey}`,
      `  passphrase  ${key.passphrase}`,
    ]),
    "",
    ...(described ? [...pointing(ready), ""] : []),
    `--seed ${seed} gives these keys and this market again. Stop with Ctrl-C.`,
  ];
  return `${lines.join("\n")}\n`;
};

/**
 * Returns the lines that point a config to the server: environment variables for config/testnet.ts, or a line for other
 * configs.
 */
const pointing = ({ url, keys, keysFile }: Ready): readonly string[] => {
  const [first] = keys;
  if (first === undefined) return [];
  const { apiKey, secretKey, passphrase } = first.key;
  const key =
    keysFile === undefined
      ? 'fromEnv("SLUICE")'
      : `fromFile(${JSON.stringify(keysFile)}, ${JSON.stringify(first.name)})`;
  return [
    "For config/testnet.ts, in the shell that runs it:",
    `  export SLUICE_BASE_URL=${url}`,
    `  export SLUICE_API_KEY=${apiKey} SLUICE_SECRET_KEY=${secretKey} SLUICE_PASSPHRASE=${passphrase}`,
    "In a config of your own:",
    `  service: live({ environment: "testnet", baseUrl: ${JSON.stringify(url)}, keys: [${key}] }),`,
  ];
};

interface Counts {
  readonly connections: number;
  readonly sockets: number;
}

/** Requests since `before`, and their results. */
export const askedLine = (now: MeterReport, before?: MeterReport): string => {
  const since = (pick: (report: MeterReport) => number): number =>
    pick(now) - (before === undefined ? 0 : pick(before));
  const over = (["ip", "key", "uid"] as const)
    .map((layer) => [layer, since((report) => report.refused[layer])] as const)
    .filter(([, count]) => count > 0)
    .map(([layer, count]) => `${grouped(count)} over the ${layer} layer`);
  return [
    counted(
      since((report) => report.requests),
      "request",
    ),
    `weight ${grouped(since((report) => report.weight))}`,
    ...(over.length === 0 ? ["none refused"] : over),
  ].join(", ");
};

export const openLine = ({ connections, sockets }: Counts): string =>
  `${counted(connections, "connection")}, ${counted(sockets, "socket")}`;
