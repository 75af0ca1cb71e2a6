/**
 * Configuration of a run: its type, its schema, and the checks that span several of its parts.
 *
 * Invariants: a config is checked whole before anything is opened, and every problem is listed at once with its place
 * and remedy.
 * Not here: options of strategies and plugins, which are checked where they are called (define.ts).
 */

import type { ServiceSpec } from "../client/service-port.ts";
import type { LayerSpec } from "../contract/layer-spec.ts";
import type { ProfileOverrides } from "../contract/profile.ts";
import { parseHuman } from "../contract/validate.ts";
import { didYouMean, isSluiceError, SluiceError } from "../errors.ts";
import type { CandleHistory, HistorySource } from "../market/history.ts";
import type { PostOnlyRules } from "../orders/post-only.ts";
import type { RuleSet } from "../orders/risk/pre-trade-checks.ts";
import type { Freshness } from "../orders/state/resources.ts";
import type { ReservePolicy } from "../scheduler/quota/reserve.ts";
import type { LeverageConfig } from "./config-schema.ts";
import { configSchema, moneyLimits } from "./config-schema.ts";
import { historySourceOf } from "./history-reader.ts";
import { checkRequirements } from "./plugin-requirements.ts";
import type { RestartPolicy } from "./restart-policy.ts";
import type { Plugin, Strategy } from "./strategy.ts";

/**
 * Settings of the rate limiter, all optional: the reserve for exits, the shares of strategies, and the layers of other
 * services.
 */
interface QuotaConfig extends Partial<Omit<ReservePolicy, "elementWeight">> {
  /** Shares by strategy name when several compete; 1 where none is given. */
  readonly shares?: Readonly<Record<string, number>>;
  /**
   * The service's layers, if they are not the three of its description: limits by endpoint, counted by element, other
   * windows, bans.
   */
  readonly layers?: readonly LayerSpec[];
  /** Maximum weight per minute by strategy name; exits do not count. */
  readonly budgets?: Readonly<Record<string, number>>;
}

/** Write-ahead journal of placements, from which the next run recovers. */
export interface JournalConfig {
  /** Folder, relative to the working folder; one for each engine. */
  readonly dir: string;
  /** Set a damaged journal aside and start from the service's state. Check the service's open orders first. */
  readonly rebuild?: boolean;
  /** Resume what a previous run halted, all trading or single strategies. `sluice run --resume` sets it. */
  readonly resume?: boolean;
  /** Accepts risk limits wider than the previous run's: the mark that the refusal names. `--accept-limits` sets it. */
  readonly acceptLimits?: string;
  /**
   * Count positions and losses from now on, without previous runs: of all instruments, or of the named ones (instrument
   * ids). Then no strategy holds anything of them. `--reset-risk-counters` and `--reset-risk-counters-of` set it for
   * one start.
   */
  readonly resetRiskCounters?: boolean | readonly string[];
}

/** A plugin, a list of plugins, or nothing: `isLive && watchdog({})`. */
type PluginEntry = Plugin | readonly PluginEntry[] | false | null | undefined;

/** Everything a run needs. */
export interface Config {
  /** The service to trade on: `paper(…)`, `backtest(…)` or another service. */
  readonly service: ServiceSpec;
  /** The strategies to run, at least one, each called with its options. */
  readonly strategies: readonly Strategy[];
  /** Plugins, each called with its options. Lists may be nested, and entries that are false or missing are left out. */
  readonly plugins?: readonly PluginEntry[];
  /** Values for gaps of the service description that are known better than the default. */
  readonly profile?: ProfileOverrides;
  /** Limits on what may be sent: on money, on open orders, and on pace. */
  readonly orders?: Partial<RuleSet> & PostOnlyRules;
  /** Settings of the rate limiter. */
  readonly quota?: QuotaConfig;
  /** Leverage and margin mode by instrument; an instrument that is not named stays as it is at the service. */
  readonly leverage?: LeverageConfig;
  /** Greatest age of the account's state while it is subscribed. */
  readonly freshness?: Partial<Freshness>;
  /**
   * Placements are written here before they are sent; without it, orders sent before a crash are known only from the
   * service's lists.
   */
  readonly journal?: JournalConfig;
  /** Restarts of a strategy that fails; without it, the strategy is stopped. */
  readonly supervision?: RestartPolicy;
  /** Name of this engine in client order ids; two engines of one user need two. Default `main`. */
  readonly instance?: string;
  /**
   * Source of the values that `{ history: n }` begins with, over a network and on paper, and before a backtest's
   * recording: `fromFolder(…)` or a function.
   */
  readonly history?: HistorySource | CandleHistory;
  /** Seed of all chance; text or number. */
  readonly seed?: string | number;
}

/**
 * Value that a config file may export: a config, or a function that returns one. It receives the name of the command,
 * such as `backtest`.
 */
export type ConfigInput = Config | ((env: { readonly command: string }) => Config | Promise<Config>);

type Optional = "history" | "journal" | "supervision";
/** A config with every default filled in. */
export type CheckedConfig = Required<Omit<Config, Optional | "plugins">> &
  Pick<Config, Optional> & { readonly plugins: readonly Plugin[] };

/**
 * Checks a config as loaded.
 *
 * @param config - anything
 * @returns the config with its defaults
 * @throws CONFIG_INVALID with every problem
 */
export const checkConfig = (config: unknown): CheckedConfig => {
  checkMoved(config);
  const flat = withFlatPlugins(config);
  checkCalled(flat);
  const parsed = withRemedies(() => parseHuman<CheckedConfig>(configSchema, flat, "config"));
  for (const list of [parsed.strategies, parsed.plugins]) {
    const names = list.map(({ name }) => name);
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    if (twice === undefined) continue;
    throw new SluiceError(
      "CONFIG_INVALID",
      `config: two ${list[0]?.kind === "plugin" ? "plugins" : "strategies"} are named "${twice}". Name one of them with a second argument: { as: "another name" }.`,
    );
  }
  historySourceOf(parsed.history);
  checkRequirements(parsed.plugins, parsed.service.kind);
  for (const plugin of parsed.plugins) plugin.check?.(parsed);
  const named = parsed.strategies.map(({ name }) => name);
  for (const list of ["shares", "budgets"] as const) {
    const lost = Object.keys(parsed.quota[list] ?? {}).find((name) => !named.includes(name));
    if (lost === undefined) continue;
    const known = named.join(", ");
    throw new SluiceError(
      "CONFIG_INVALID",
      `config.quota.${list}: no strategy is named "${lost}"; there is ${known}.${didYouMean(lost, named)}`,
    );
  }
  return withService(parsed);
};

/** Keys of configs before plugins could extend an engine, and what to write instead. */
const movedKeys: Readonly<Record<string, string>> = {
  watchdog: 'plugins: [watchdog({ … })] with watchdog from "sluice/plugins/watchdog"',
  standby: 'plugins: [standby({ … })] with standby from "sluice/plugins/standby"',
  "quota.shared": 'plugins: [sharedQuota({ … })] with sharedQuota from "sluice/plugins/shared-quota"',
};

const checkMoved = (config: unknown): void => {
  const given = Object.keys(movedKeys).filter((place) => hasKey(config, place.split(".")));
  if (given.length === 0) return;
  throw new SluiceError(
    "CONFIG_INVALID",
    given.map((place) => `config.${place}: this is a plugin now. Write ${movedKeys[place]}.`).join("\n"),
  );
};

const hasKey = (value: unknown, [key = "", ...rest]: readonly string[]): boolean => {
  const given = Object(value) as Readonly<Record<string, unknown>>;
  return Object.hasOwn(given, key) && (rest.length === 0 || hasKey(given[key], rest));
};

/**
 * Plugins of a config as it was written, out of nested lists, without entries that are false or missing. Not checked.
 *
 * @param config - as it was written; it is not checked
 * @returns plugins out of nested lists, without entries that are false or missing
 */
export const pluginsIn = (config: unknown): readonly Partial<Plugin>[] => {
  const { plugins } = Object(config) as { readonly plugins?: unknown };
  if (!Array.isArray(plugins)) return [];
  const flat = plugins.flat(Number.POSITIVE_INFINITY) as readonly unknown[];
  return flat.filter(
    (plugin): plugin is Partial<Plugin> => plugin !== false && plugin !== null && plugin !== undefined,
  );
};

const withFlatPlugins = (config: unknown): unknown =>
  Array.isArray((Object(config) as { readonly plugins?: unknown }).plugins)
    ? { ...(config as object), plugins: pluginsIn(config) }
    : config;

/** Completes the config with the defaults of its service; the config's own values take precedence. */
const withService = (config: CheckedConfig): CheckedConfig => {
  const { layers } = config.service;
  return { ...config, profile: profileIn(config), quota: { ...(layers && { layers }), ...config.quota } };
};

interface WithProfiles {
  readonly profile?: ProfileOverrides;
  readonly service?: Pick<ServiceSpec, "profile"> | undefined;
}

/** Rows of the profile that hold for a config: those of its service, and over them its own. */
export const profileIn = ({ profile = {}, service }: WithProfiles): ProfileOverrides => {
  const own = profile as Readonly<Record<string, object>>;
  const brought = (service?.profile ?? {}) as Readonly<Record<string, object>>;
  const groups = [...new Set([...Object.keys(brought), ...Object.keys(own)])];
  return Object.fromEntries(groups.map((group) => [group, { ...brought[group], ...own[group] }]));
};

/** Detects the most common mistake: the definition of a strategy instead of the result of calling it with options. */
const checkCalled = (config: unknown): void => {
  const given = config as Partial<Record<"service" | "strategies" | "plugins", unknown>> | undefined;
  if (typeof given?.service === "function") throw uncalled("config.service", "backtest({ fixture: … })");
  for (const [list, example] of [
    ["strategies", "ladder({ … })"],
    ["plugins", "journalFile({ … })"],
  ] as const) {
    const values: unknown = given?.[list];
    const index = Array.isArray(values) ? values.findIndex((value) => typeof value === "function") : -1;
    if (index >= 0) throw uncalled(`config.${list}.${index}`, example);
  }
};

const uncalled = (place: string, example: string): SluiceError =>
  new SluiceError(
    "CONFIG_INVALID",
    `${place} is a function, not what it returns. Call it with its options, such as ${example}.`,
  );

const remedies: readonly (readonly [problem: string, remedy: string])[] = [
  ['config: "service" is missing.', 'Write service: backtest({ fixture: "…" }) or service: paper({ … }).'],
  ['config: "strategies" is missing.', "Write strategies: [ladder({ … })]."],
  ["config.strategies: must NOT have fewer than 1 items", "Write strategies: [ladder({ … })]."],
  [
    "config.leverage",
    'Write swaps with decimal text from 1 up, such as leverage: { "BTC-USDT-SWAP": "5" }, or { lever: "5", mgnMode: "isolated" }.',
  ],
  ...moneyLimits.map(
    (name) => [`config.orders.${name}: must`, 'Write plain digits in a string, such as "1000.50".'] as const,
  ),
];

const withRemedies = <T>(check: () => T): T => {
  try {
    return check();
  } catch (error) {
    if (!isSluiceError(error)) throw error;
    const issues = error.issues.map((issue) => {
      const remedy = remedies.find(([problem]) => issue.startsWith(problem))?.[1];
      return remedy === undefined || issue.includes(" write ") ? issue : `${issue} ${remedy}`;
    });
    throw new SluiceError(error.code, "config is not valid:", issues);
  }
};
