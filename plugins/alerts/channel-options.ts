/**
 * Channels as a config writes them: the schema of their options, and channels made of them.
 *
 * Invariants: every mistake names the option and what to write; a URL is https unless it leads to this machine or
 * `allowHttp` is set; secrets are read here, once, at the start.
 */
import { SluiceError } from "sluice";
import type { RequirePackage } from "sluice/extension";
import { levels } from "./alert.ts";
import { discord, ntfy, overHttp, slack, telegram, webhook } from "./channels.ts";
import { mail } from "./mail.ts";
import type { Channel } from "./outbox.ts";
import { type SecretPlace, type Secrets, secretSchema } from "./secrets.ts";

const text = { type: "string", minLength: 1 } as const;

export const channelSchema = {
  type: "object",
  additionalProperties: false,
  required: ["kind"],
  properties: {
    kind: {
      description: "Service that takes the messages.",
      enum: ["webhook", "telegram", "discord", "slack", "ntfy", "email", "print"],
    },
    level: { description: "Only alerts of this level and above; all when left out.", enum: [...levels] },
    url: { ...secretSchema, description: "webhook, discord, slack: where to post to; the URL is a secret." },
    secret: { ...secretSchema, description: "webhook: what signs. email: the password. telegram, ntfy: the token." },
    chatId: { ...text, description: "telegram: the chat." },
    topic: { ...text, description: "ntfy: the topic." },
    server: { ...text, description: "ntfy, telegram: another server than the public one." },
    host: { ...text, description: "email: the server." },
    port: {
      description: "email: port of the server; 465, 587 or 25 when left out, by `tls`.",
      type: "integer",
      minimum: 1,
      maximum: 65_535,
    },
    tls: { description: "email: encryption; `starttls` when left out.", enum: ["implicit", "starttls", "none"] },
    user: { ...text, description: "email: name at the server." },
    from: { ...text, description: "email: sender." },
    to: { description: "email: recipients.", type: "array", minItems: 1, maxItems: 20, items: text },
    allowHttp: { description: "Permits http to another machine, such as one in a private network.", type: "boolean" },
  },
} as const;

export interface ChannelOptions {
  readonly kind: "webhook" | "telegram" | "discord" | "slack" | "ntfy" | "email" | "print";
  readonly level?: (typeof levels)[number];
  readonly url?: SecretPlace;
  readonly secret?: SecretPlace;
  readonly chatId?: string;
  readonly topic?: string;
  readonly server?: string;
  readonly host?: string;
  readonly port?: number;
  readonly tls?: "implicit" | "starttls" | "none";
  readonly user?: string;
  readonly from?: string;
  readonly to?: readonly string[];
  readonly allowHttp?: boolean;
}

type Field = Exclude<keyof ChannelOptions, "kind" | "level" | "allowHttp">;

/** Required and optional fields of each kind. */
const fields: Readonly<Record<ChannelOptions["kind"], readonly [needs: readonly Field[], may: readonly Field[]]>> = {
  webhook: [["url"], ["secret"]],
  telegram: [["secret", "chatId"], ["server"]],
  discord: [["url"], []],
  slack: [["url"], []],
  ntfy: [["topic"], ["server", "secret"]],
  email: [
    ["host", "from", "to"],
    ["port", "tls", "user", "secret"],
  ],
  print: [[], []],
};

const invalid = (place: string, problem: string): SluiceError =>
  new SluiceError("CONFIG_INVALID", `plugin alerts: ${place} ${problem}`);

const checkFields = (place: string, options: ChannelOptions): void => {
  const [needs, may] = fields[options.kind];
  const missing = needs.filter((name) => options[name] === undefined);
  if (missing.length > 0) throw invalid(place, `of kind ${options.kind} needs ${missing.join(" and ")}.`);
  const given = Object.keys(options).filter((name) => !["kind", "level", "allowHttp"].includes(name)) as Field[];
  const idle = given.filter((name) => options[name] !== undefined && !needs.includes(name) && !may.includes(name));
  if (idle.length > 0)
    throw invalid(place, `of kind ${options.kind} does not know ${idle.join(" and ")}. Take it away.`);
};

const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** Names the place and never the URL, which may be the secret. */
export const checkUrl = (place: string, url: string, allowHttp: boolean): string => {
  if (!URL.canParse(url)) throw invalid(place, "is not a URL. Write https://…");
  const { protocol, hostname, username } = new URL(url);
  if (protocol !== "https:" && protocol !== "http:") throw invalid(place, "is not a URL of https.");
  if (username !== "") throw invalid(place, "has a user in it. Leave it out: such a URL is not sent.");
  if (protocol === "http:" && !allowHttp && !loopback.test(hostname)) {
    throw invalid(
      place,
      "would be sent over http, for all on the way to read. Write https, or allowHttp: true for a network of your own.",
    );
  }
  return url;
};

interface ChannelParts {
  readonly secrets: Secrets;
  readonly now: () => number;
  /** Time that a service may take to answer. */
  readonly answerMs: number;
  readonly requirePackage: RequirePackage;
}

/** A channel from its options; `print` has none. */
export const openChannel = (name: string, options: ChannelOptions, parts: ChannelParts): Channel | undefined => {
  const { secrets, now } = parts;
  const place = `channels.${name}`;
  checkFields(place, options);
  const { kind, allowHttp = false, chatId = "", topic = "", server } = options;
  const hide = (said: string): string => secrets.hide(said);
  const secret = options.secret && secrets.read(`${place}.secret`, options.secret);
  const url = (): string =>
    checkUrl(`${place}.url`, secrets.read(`${place}.url`, options.url as SecretPlace), allowHttp);
  const ofServer = (): string | undefined =>
    server === undefined ? undefined : checkUrl(`${place}.server`, server, allowHttp);
  switch (kind) {
    case "print":
      return undefined;
    case "webhook":
      return overHttp(webhook(url(), secret, now), hide);
    case "telegram":
      return overHttp(telegram(secret ?? "", chatId, ofServer()), hide);
    case "discord":
      return overHttp(discord(url()), hide);
    case "slack":
      return overHttp(slack(url()), hide);
    case "ntfy":
      return overHttp(ntfy(ofServer() ?? "https://ntfy.sh", topic, secret), hide);
    case "email":
      return openMail(place, options, secret, hide, parts);
  }
};

const defaultPorts = { implicit: 465, starttls: 587, none: 25 } as const;

const openMail = (
  place: string,
  options: ChannelOptions,
  password: string | undefined,
  hide: (said: string) => string,
  { answerMs, requirePackage }: ChannelParts,
): Channel => {
  const {
    host = "",
    tls = "starttls",
    port = defaultPorts[tls],
    user,
    from = "",
    to = [],
    allowHttp = false,
  } = options;
  if (tls === "none" && !allowHttp && !loopback.test(host)) {
    throw invalid(place, `would send mail to ${host} unencrypted. Write tls: "starttls" or "implicit".`);
  }
  if ((user === undefined) !== (password === undefined))
    throw invalid(place, "needs user and secret together, or neither.");
  return mail({ host, port, tls, user, password, from, to }, answerMs, hide, requirePackage);
};
