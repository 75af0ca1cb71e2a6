/**
 * `sluice exchanges`: the other exchanges supported, the abilities of their dialects, and how these were verified.
 *
 * Invariants: reads only the package and sends no request; with --json stdout holds one document.
 * Not here: the exchanges (okx-exchange.ts, blofin-exchange.ts).
 */
import type { Command } from "commander";
import type { LayerSpec } from "sluice/dialect";
import { type CliIo, defineCommand, jsonText } from "sluice/extension";
import { blofinExchange } from "./blofin-exchange.ts";
import type { Exchange } from "./exchange-service.ts";
import { okxExchange } from "./okx-exchange.ts";

const exchanges: readonly Exchange[] = [okxExchange, blofinExchange];

const addExchangesCommand = (program: Command, io: CliIo): void => {
  program
    .command("exchanges")
    .description("List the supported exchanges, their limits, and what was verified and how.")
    .option("--json", "print one JSON document")
    .action(({ json }: { readonly json?: true }) => {
      const listed = exchanges.map(described);
      io.out(json === true ? `${jsonText(listed, 2)}\n` : `${listed.map(text).join("\n\n")}\n`);
    });
};

const described = ({ name, title, addresses, dialect, abilities, verified }: Exchange) => {
  const { name: spoken, layers = [], tried = false } = dialect("testnet");
  return {
    name,
    title,
    entry: "sluice/plugins/exchanges",
    dialect: spoken,
    tried,
    addresses,
    abilities,
    limits: layers.map(limitText),
    verified,
  };
};

const text = ({
  name,
  title,
  entry,
  addresses,
  tried,
  abilities,
  limits,
  verified,
}: ReturnType<typeof described>): string =>
  [
    `${title}: ${name} of ${entry}${tried ? "" : ", not tried at the exchange itself"}`,
    ...Object.entries(addresses).map(
      ([environment, { baseUrl, wsUrl }]) => `  ${environment}: ${baseUrl}${wsUrl === undefined ? "" : `, ${wsUrl}`}`,
    ),
    ...section("can", abilities),
    ...section("limits", limits),
    ...section(
      "verified",
      verified.map(({ what, how }) => `${what}: ${how ?? "not yet"}`),
    ),
  ].join("\n");

const section = (heading: string, lines: readonly string[]): readonly string[] => [
  `  ${heading}`,
  ...lines.map((line) => `    ${line}`),
];

/** Such as "place: 60 requests in 2 s of a user". */
const limitText = ({ name, scope, unit, capacity, windowMs, banMs }: LayerSpec): string => {
  const ban = banMs === 0 ? "" : `, else shut out for ${banMs / 60_000} min`;
  return `${name}: ${capacity} ${unit} in ${windowMs / 1_000} s of ${whom[scope]}${ban}`;
};

const whom = { ip: "an address", uid: "a user", key: "a key", instrument: "a user, for each product" } as const;

export default defineCommand("exchanges", addExchangesCommand);
