/**
 * Alerts: messages about events by webhook, Telegram, Discord, Slack, ntfy or mail, and a heartbeat for a dead-man's
 * switch.
 *
 * Invariants: trading never waits for a channel; every queue has a bound; a channel that fails is named in one line,
 * and so is its recovery; at the stop the last message leaves within `lastMessageMs`; a backtest sends nothing and
 * reads no secret unless its options ask for it.
 * Not here: which events count (alerts/rules.ts), queues and repetition (alerts/outbox.ts), what services expect
 * (alerts/channels.ts).
 */
import { definePlugin, type PluginContext, SluiceError } from "sluice";
import { type Alert, levels, rankOf } from "./alert.ts";
import { type ChannelOptions, channelSchema, checkUrl, openChannel } from "./channel-options.ts";
import { call } from "./channels.ts";
import { Outbox, type OutboxLimits } from "./outbox.ts";
import { createFinder, type Finding, Repetitions, type RuleName, rules } from "./rules.ts";
import { type SecretPlace, Secrets, secretSchema } from "./secrets.ts";
import { createLossWatch, createStaleWatch } from "./watches.ts";

const ms = (least: number, preset: number) =>
  ({ type: "integer", minimum: least, maximum: 86_400_000, default: preset }) as const;
const money = { type: "string", pattern: "^\\d+(\\.\\d+)?$" } as const;

const ruleSchema = {
  description: "True, false, or what differs from the default of this rule.",
  anyOf: [
    { type: "boolean" },
    {
      type: "object",
      additionalProperties: false,
      properties: {
        level: { description: "Level of the alert.", enum: [...levels] },
        everyMs: {
          description: "Milliseconds between two alerts of one kind.",
          type: "integer",
          minimum: 0,
          maximum: 86_400_000,
        },
        channels: {
          description: "Names of the channels; all when left out.",
          type: "array",
          items: { type: "string" },
        },
      },
    },
  ],
} as const;

const schema = {
  type: "object",
  additionalProperties: false,
  required: ["channels"],
  properties: {
    title: {
      description: "How the engine is called in messages.",
      type: "string",
      minLength: 1,
      maxLength: 60,
      default: "sluice",
    },
    channels: {
      description: "Channels by a name of your choice.",
      type: "object",
      minProperties: 1,
      maxProperties: 20,
      additionalProperties: channelSchema,
    },
    rules: {
      description: "Rules that differ from their defaults; `false` turns one off.",
      type: "object",
      additionalProperties: false,
      properties: Object.fromEntries(Object.keys(rules).map((name) => [name, ruleSchema])) as Record<
        RuleName,
        typeof ruleSchema
      >,
      default: {},
    },
    losses: {
      description: 'Losses to tell, of each user by settle currency: `{ USDT: ["100", "500"] }`.',
      type: "object",
      additionalProperties: { type: "array", items: money, maxItems: 20 },
      default: {},
    },
    rejects: {
      description: "Rejected orders within a minute that are a burst.",
      type: "integer",
      minimum: 1,
      maximum: 10_000,
      default: 10,
    },
    heldMs: { ...ms(1, 10_000), description: "A wait for quota that is worth an alert." },
    staleMs: { ...ms(1_000, 60_000), description: "Time for which state may be stale." },
    gatherMs: {
      ...ms(0, 2_000),
      description: "Alerts that come together go into one message; a critical one does not wait.",
    },
    perMinute: { description: "Messages of one channel.", type: "integer", minimum: 1, maximum: 600, default: 20 },
    queueMax: {
      description: "Alerts that wait for one channel.",
      type: "integer",
      minimum: 1,
      maximum: 10_000,
      default: 100,
    },
    retryForMs: { ...ms(0, 900_000), description: "How long a message that fails is sent again." },
    answerMs: { ...ms(100, 10_000), description: "How long one attempt may take." },
    lastMessageMs: {
      description: "How long the stop waits for the last messages.",
      type: "integer",
      minimum: 0,
      maximum: 1_800,
      default: 1_500,
    },
    heartbeat: {
      description:
        "A dead-man's switch: `url` is called every `everyMs` (60 s) while the engine runs, `stopUrl` at an orderly stop.",
      type: "object",
      additionalProperties: false,
      required: ["url"],
      properties: {
        url: { ...secretSchema, description: "Called while the engine runs." },
        stopUrl: { ...secretSchema, description: "Called at an orderly stop." },
        everyMs: {
          description: "Milliseconds between two calls; 60000 when left out.",
          type: "integer",
          minimum: 1_000,
          maximum: 86_400_000,
        },
        allowHttp: { description: "Permits http to another machine.", type: "boolean" },
      },
    },
    virtual: {
      description: "What happens where time is virtual, as in a backtest: nothing, or the same as in trading.",
      enum: ["silent", "send"],
      default: "silent",
    },
    trial: {
      description: "Sends a message to every channel at the start and reports the result.",
      type: "boolean",
      default: false,
    },
  },
} as const;

interface RuleOptions {
  readonly level?: (typeof levels)[number];
  readonly everyMs?: number;
  readonly channels?: readonly string[];
}

interface Options extends OutboxLimits {
  readonly title: string;
  readonly channels: Readonly<Record<string, ChannelOptions>>;
  readonly rules: Readonly<Partial<Record<RuleName, boolean | RuleOptions>>>;
  readonly losses: Readonly<Record<string, readonly string[]>>;
  readonly rejects: number;
  readonly heldMs: number;
  readonly staleMs: number;
  readonly lastMessageMs: number;
  readonly heartbeat?: {
    readonly url: SecretPlace;
    readonly stopUrl?: SecretPlace;
    readonly everyMs?: number;
    readonly allowHttp?: boolean;
  };
  readonly virtual: "silent" | "send";
  readonly trial: boolean;
}

type Context = PluginContext<Options>;

const tickMs = 250;

/** One way to people: an outbox, or the screen. */
interface Way {
  readonly name: string;
  readonly least: number;
  put(alert: Alert): void;
  readonly outbox?: Outbox;
}

const openWays = (context: Context, secrets: Secrets, print: (line: string) => void): readonly Way[] => {
  const { options, now, requirePackage } = context;
  return Object.entries(options.channels).map(([name, given]): Way => {
    const least = rankOf(given.level ?? "info");
    const channel = openChannel(name, given, { secrets, now, answerMs: options.answerMs, requirePackage });
    if (channel === undefined) return { name, least, put: ({ level, text }) => print(`${level}: ${text}`) };
    const outbox = new Outbox({ name, title: options.title, channel, limits: options, print, now });
    if (options.trial) void tryOut(name, options.title, channel, options.answerMs, now, print);
    return { name, least, put: (alert) => outbox.put(alert), outbox };
  });
};

const tryOut = async (
  name: string,
  title: string,
  channel: NonNullable<ReturnType<typeof openChannel>>,
  answerMs: number,
  now: () => number,
  print: (line: string) => void,
): Promise<void> => {
  const alert: Alert = {
    at: now(),
    rule: "trial",
    level: "info",
    concern: "critical",
    text: "trial message: this channel works",
  };
  const delivery = await channel.send(
    {
      id: `trial-${now().toString(36)}`,
      title,
      level: "info",
      alerts: [alert],
      leftOut: 0,
      text: `${title}\n${alert.text}`,
    },
    AbortSignal.timeout(answerMs),
  );
  print(
    delivery.kind === "taken"
      ? `${name} took the trial message`
      : `${name} did not take the trial message (${delivery.why})`,
  );
};

/** Returns the enabled rules with their channels. */
const routesOf = ({ options }: Context, ways: readonly Way[]) => {
  const routes = new Map<
    string,
    { readonly level: (typeof levels)[number]; readonly everyMs: number; readonly to: readonly Way[] }
  >();
  for (const name of Object.keys(rules) as RuleName[]) {
    const given = options.rules[name] ?? true;
    if (given === false) continue;
    const { level, everyMs, channels } = { ...rules[name], ...(given === true ? {} : given) } as RuleOptions &
      (typeof rules)[RuleName];
    const strange = channels?.find((one) => !ways.some((way) => way.name === one));
    if (strange !== undefined) {
      const known = ways.map((way) => way.name).join(", ");
      throw new SluiceError(
        "CONFIG_INVALID",
        `plugin alerts: rules.${name}.channels names "${strange}"; there is ${known}.`,
      );
    }
    const to = ways.filter((way) =>
      channels === undefined ? rankOf(level) >= way.least : channels.includes(way.name),
    );
    routes.set(name, { level, everyMs, to });
  }
  return routes;
};

/** Calls the dead-man's switch; a change of its answer is reported. Returns the last call of an orderly stop. */
const beat = (
  { options: { heartbeat, answerMs }, every }: Context,
  secrets: Secrets,
  print: (line: string) => void,
) => {
  if (heartbeat === undefined) return undefined;
  const read = (name: "url" | "stopUrl"): string | undefined =>
    heartbeat[name] &&
    checkUrl(`heartbeat.${name}`, secrets.read(`heartbeat.${name}`, heartbeat[name]), heartbeat.allowHttp ?? false);
  const url = read("url") as string;
  const stopUrl = read("stopUrl");
  let isCalling = false;
  let isFailing = false;
  const ring = async (): Promise<void> => {
    if (isCalling) return;
    isCalling = true;
    const problem = await call(url, AbortSignal.timeout(answerMs));
    isCalling = false;
    if (problem === undefined && isFailing) print("the heartbeat is taken again");
    if (problem !== undefined && !isFailing) print(`the heartbeat is not taken (${problem})`);
    isFailing = problem !== undefined;
  };
  void ring();
  every(heartbeat.everyMs ?? 60_000, () => void ring());
  return async (signal: AbortSignal): Promise<void> => {
    if (stopUrl === undefined) return;
    const problem = await call(stopUrl, signal);
    if (problem !== undefined) print(`heartbeat.stopUrl did not take the end (${problem})`);
  };
};

export default definePlugin<typeof schema, Options>({
  name: "alerts",
  options: schema,
  setup: (context) => {
    const { events$, eventText, every, health, now, accountOf, options, users } = context;
    const print = (line: string): void => context.print(`alerts: ${line}`);
    // Only where time is the machine's can the event loop be late.
    if (options.virtual === "silent" && health().eventLoop === undefined) {
      print("time is virtual: nothing is sent");
      return undefined;
    }
    const secrets = new Secrets();
    const ways = openWays(context, secrets, print);
    const routes = routesOf(context, ways);
    const lastBeat = beat(context, secrets, print);
    const repetitions = new Repetitions((alert) => {
      for (const way of routes.get(alert.rule)?.to ?? []) way.put(alert);
    });
    const take = (finding: Finding): void => {
      const route = routes.get(finding.rule);
      if (route !== undefined) repetitions.take(finding, route, now());
    };
    const find = createFinder({ ...options, users, eventText });
    events$.subscribe((event) => {
      const finding = find(event);
      if (finding !== undefined) take(finding);
    });
    if (Object.keys(options.losses).length > 0) {
      for (const user of users) {
        const watchLoss = createLossWatch(options.losses, users.length > 1 ? user : "");
        accountOf(user).equity$.subscribe((profits) => watchLoss(profits).forEach(take));
      }
    }
    const watchStale = createStaleWatch(options.staleMs);
    every(1_000, () => watchStale(health().resources, now()).forEach(take));
    // The event of the start came before any plugin.
    take({ rule: "started", subject: "", text: "the engine has started", isOver: true });
    every(tickMs, () => {
      repetitions.tick(now());
      for (const { outbox } of ways) outbox?.tick();
    });
    return async () => {
      repetitions.end(now());
      const signal = AbortSignal.timeout(options.lastMessageMs);
      await Promise.all([lastBeat?.(signal), ...ways.map(({ outbox }) => outbox?.flush(signal))]);
    };
  },
});
