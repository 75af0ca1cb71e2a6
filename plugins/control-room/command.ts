/**
 * `sluice ctl`: monitors and controls a running engine from a shell or a script, through its control port.
 *
 * Invariants: finds the engine of this user on this machine without an address; with --json stdout holds one document;
 * exit code 0: done, 1: the engine refused or has not finished, 2: wrong command or unknown engine; irreversible
 * actions need an explicit option.
 * Not here: the API (server/), the texts (ctl-text.ts).
 */
import type { Command } from "commander";
import { SluiceError } from "sluice";
import { type CliIo, defineCommand, jsonText } from "sluice/extension";
import type { ControlUpdate } from "./control-document.ts";
import type { ControlAction, ControlResult } from "./control-source.ts";
import { CtlClient, rowsOf, type Whereabouts } from "./ctl-client.ts";
import { closingText, fillsText, ordersText, statusText, storyText, type ToClose } from "./ctl-text.ts";

interface Shared extends Whereabouts {
  readonly json?: true;
}

interface Where {
  readonly strategy?: string;
  readonly instId?: string;
  readonly side?: string;
  readonly slot?: string;
  readonly order?: string;
  readonly all?: true;
}

const addCtlCommand = (program: Command, io: CliIo): void => {
  const ctl = program
    .command("ctl")
    .description("Monitor and control a running engine that was started with --ui or has the plugin dashboard.")
    .option("--url <url>", "address of the control port (default: the engine that runs on this machine)")
    .option("--token-file <file>", "file with the token")
    .option("--engine <name>", "name of the engine, where several run")
    .option("--json", "print one JSON document");
  const shared = (): Shared => ctl.opts<Shared>();
  const show = async (
    read: (client: CtlClient) => Promise<{ readonly value: unknown; readonly text: string }>,
  ): Promise<void> => {
    const { value, text } = await read(await CtlClient.open(shared()));
    io.out(shared().json === true ? `${jsonText(value, 2)}\n` : text);
  };
  const act: Act = async (action) => {
    const client = await CtlClient.open(shared());
    const result = await client.act(typeof action === "function" ? await action(client) : action);
    io.out(shared().json === true ? `${jsonText(result)}\n` : `${result.text}\n`);
    if (!result.ok) throw refused(result);
  };
  addReadings(ctl, show, io);
  addActions(ctl, act);
};

type Show = (read: (client: CtlClient) => Promise<{ readonly value: unknown; readonly text: string }>) => Promise<void>;
type Act = (action: ControlAction | ((client: CtlClient) => Promise<ControlAction>)) => Promise<void>;

const addReadings = (ctl: Command, show: Show, { columns }: CliIo): void => {
  ctl
    .command("status")
    .description("state, mode, money, quota and strategies")
    .action(() =>
      show(async (client) => {
        const snapshot = await client.snapshot();
        const sections = ["engine", "strategies", "positions", "money", "quota", "health"] as const;
        return {
          value: { url: client.url, ...Object.fromEntries(sections.map((name) => [name, rowsOf(snapshot, name)])) },
          text: statusText(snapshot, columns, client.url),
        };
      }),
    );
  ctl
    .command("orders")
    .description("open orders")
    .option("--all", "also completed orders")
    .action(({ all = false }: { readonly all?: boolean }) =>
      show(async (client) => {
        const snapshot = await client.snapshot();
        return {
          value: rowsOf(snapshot, "orders").filter(({ isFinal }) => all || !isFinal),
          text: ordersText(snapshot, all, columns),
        };
      }),
    );
  ctl
    .command("fills")
    .description("the last executions")
    .action(() =>
      show(async (client) => {
        const snapshot = await client.snapshot();
        return { value: rowsOf(snapshot, "fills"), text: fillsText(snapshot, columns) };
      }),
    );
  ctl
    .command("story")
    .description("history of one order, from wanted order to final record")
    .argument("<clOrdId>", "client order id, as `orders` shows it")
    .action((clOrdId: string) =>
      show(async (client) => {
        const events = await client.story(clOrdId);
        return { value: events, text: storyText(events, columns) };
      }),
    );
};

const addActions = (ctl: Command, act: Act): void => {
  ctl
    .command("halt")
    .description("end entries, and cancel resting ones first; stops, targets and exits of what is held stay in force")
    .option("--strategy <name>", "of this strategy only")
    .option("--full", "cancel exits as well and suspend stops and targets; the answer names what is left without")
    .option("--reason <text>", "why, for the journal")
    .action((given: { readonly strategy?: string; readonly full?: true; readonly reason?: string }) =>
      act({ type: "halt", ...given }),
    );
  ctl
    .command("resume")
    .description("end a halt")
    .option("--strategy <name>", "of this strategy only")
    .option("--reason <text>", "why, for the journal")
    .action((given: { readonly strategy?: string; readonly reason?: string }) => act({ type: "resume", ...given }));
  ctl
    .command("cancel")
    .description("cancel orders that match every option given")
    .option("--strategy <name>", "of this strategy")
    .option("--inst, --inst-id <id>", "of this instrument")
    .option("--side <side>", "buy or sell")
    .option("--slot <slot>", "of this slot")
    .option("--order <clOrdId>", "this order")
    .option("--all", "every order of the engine")
    .action((given: Where) => act({ type: "cancel", where: conditionsOf(given) }));
  ctl
    .command("close")
    .description(
      "halt, and close positions at the market: all of the account, including those of other clients, or a given one",
    )
    .option("--strategy <name>", "close this strategy's positions, and halt it alone")
    .option("--inst, --inst-id <id>", "of this instrument; without --strategy the account's position")
    .option("--yes", "confirm: this cannot be undone")
    .option("--reason <text>", "why, for the journal")
    .action(({ yes, ...given }: ToClose & { readonly yes?: true }) =>
      act(async (client) => {
        if (yes === true) return { type: "close", ...given };
        throw new SluiceError("USAGE", `${closingText(await client.snapshot(), given)} Add --yes when you mean it.`);
      }),
    );
  ctl
    .command("options")
    .description("restart a strategy with some options replaced")
    .argument("<strategy>", "name of the strategy")
    .argument("<changes...>", "name=value, such as levels=3; a value that is no JSON is text")
    .action((strategy: string, changes: readonly string[]) =>
      act(async (client) => ({
        type: "options",
        strategy,
        changes: changesOf(changes, textOptionsOf(await client.snapshot(), strategy)),
      })),
    );
};

const conditionsOf = ({
  all,
  order,
  ...given
}: Where): Extract<ControlAction, { readonly type: "cancel" }>["where"] => {
  const where = { ...given, ...(order !== undefined && { clOrdId: order }) };
  if (all === true && Object.keys(where).length > 0)
    throw new SluiceError("USAGE", "ctl cancel: --all goes with no other condition.");
  if (all === undefined && Object.keys(where).length === 0)
    throw new SluiceError("USAGE", "ctl cancel: name the orders, or write --all.");
  return where as Extract<ControlAction, { readonly type: "cancel" }>["where"];
};

/** Options that are text, decimals among them: what looks like a number stays as it was typed. */
const textOptionsOf = (snapshot: ControlUpdate, strategy: string): readonly string[] => {
  const { schema } = rowsOf(snapshot, "strategies").find(({ name }) => name === strategy) ?? {};
  const { properties = {} } = (schema ?? {}) as {
    readonly properties?: Readonly<Record<string, { readonly type?: unknown }>>;
  };
  return Object.keys(properties).filter((name) => properties[name]?.type === "string");
};

const changesOf = (words: readonly string[], texts: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(
    words.map((word) => {
      const equals = word.indexOf("=");
      if (equals < 1) throw new SluiceError("USAGE", `ctl options: "${word}" is no name=value.`);
      const [name, value] = [word.slice(0, equals), word.slice(equals + 1)];
      return [name, texts.includes(name) ? value : parsed(value)];
    }),
  );

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
};

const refused = ({ code, text }: Extract<ControlResult, { readonly ok: false }>): SluiceError =>
  new SluiceError(
    "ORDER_REFUSED",
    code === "UNFINISHED"
      ? "The engine has not finished; look again with sluice ctl status."
      : `The engine refused (${code}): ${text}`,
  );

export default defineCommand("ctl", addCtlCommand);
