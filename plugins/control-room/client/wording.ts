/**
 * Texts of the page: figures, instants in local time, states and environments in plain words.
 *
 * Invariants: an exact figure is never replaced: where a shorter one is shown, the exact one is in its title; a sign is shown by a
 * character as well as by a colour; the date is shown for every instant that is not of today.
 */

import { lasting } from "../../ui-kit/client/texts.ts";
import { decimalFigure } from "./decimal-texts.ts";

const minute = 60_000;

/** Returns the milliseconds to add to an instant so that its UTC text is the local time. */
export const localOffset = (at: number) => -new Date(at).getTimezoneOffset() * minute;

const localText = (at: number) => new Date(at + localOffset(at)).toISOString();

/** Time of day, after the date where it is not that of `today`. */
export const clockText = (at: number, today: number) => {
  const [text, now] = [localText(at), localText(today)];
  return text.slice(0, 10) === now.slice(0, 10) ? text.slice(11, 19) : `${text.slice(0, 10)} ${text.slice(11, 19)}`;
};

export const exactInstant = (at: number) => localText(at).slice(0, 23).replace("T", " ");

/**
 * Formats a decimal as received, with grouped digits; en dash where there is none.
 *
 * @param text - decimal
 * @param places - at most: what is longer is rounded
 */
export const shortFigure = (text: string | undefined, places?: number) =>
  text === undefined || text === "" ? "–" : decimalFigure(text, places);

/**
 * Formats an average, which has more digits than a price: seven significant ones, and no fewer than before the point.
 *
 * @param text - decimal
 */
export const averageText = (text: string) => {
  const [whole = "", fraction = ""] = text.replace(/^-/, "").split(".");
  const leading = whole.replace(/^0+/, "") === "" ? (/^0*/.exec(fraction)?.[0].length ?? 0) : -whole.length;
  return shortFigure(text, Math.max(0, 7 + leading));
};

/** Digits after the point that money of this size is read with. */
const moneyPlaces = (value: number) => (Math.abs(value) >= 0.1 || value === 0 ? 2 : Math.abs(value) >= 0.001 ? 4 : 8);

/** Money without a sign unless it is negative. */
export const moneyText = (text: string | undefined) => {
  if (text === undefined || text === "") return "–";
  const places = moneyPlaces(Number(text));
  return decimalFigure(places > 2 ? text.replace(/(\.\d*?)0+$/, "$1") : text, places, Math.min(places, 2));
};

/** Money with its sign. */
export const gainText = (text: string | undefined) =>
  text !== undefined && Number(text) > 0 ? `+${moneyText(text)}` : moneyText(text);

/** Class of a colour. */
export const toneOf = (text: string | undefined) =>
  text === undefined || text === "" || Number(text) === 0 ? "" : Number(text) > 0 ? "gain" : "loss";

/** Formats an age as short text. */
export const ageText = (ms: number) =>
  ms < 950 ? "now" : ms < 10_000 ? `${Math.round(ms / 1_000)} s ago` : `${lasting(Math.round(ms / 1_000) * 1_000)} ago`;

/** Time that is left, in whole seconds below a minute. */
export const leftText = (ms: number) =>
  ms <= 0 ? "now" : ms <= minute - 1_000 ? `${Math.ceil(ms / 1_000)} s` : lasting(Math.ceil(ms / 1_000) * 1_000);

const kinds: Readonly<Record<string, string>> = {
  live: "live",
  paper: "paper: no real orders",
  backtest: "backtest, played back",
  session: "recorded session, played back",
  simulation: "simulated scenario, played back",
};

/** Describes the service and environment, with a tone that marks real money. */
export const placeOfTrading = ({ kind, environment }: { kind: string; environment: string }) => {
  if (kind !== "live") return { text: kinds[kind] ?? kind, tone: kind === "paper" ? "paper" : "played" };
  if (/^(main|prod|live)/i.test(environment)) return { text: `${environment}: real money`, tone: "real" };
  return { text: environment === "" ? "live" : environment, tone: environment === "" ? "real" : "test" };
};

const modes: Readonly<Record<string, string>> = {
  active: "trading",
  reducing: "reducing: exits only",
  halted: "halted",
};

export const modeText = ({
  mode,
  full = false,
  state = "running",
}: {
  mode: string;
  full?: boolean | undefined;
  state?: string;
}) => {
  if (state === "starting") return "starting";
  if (state === "stopped") return "stopped";
  if (state === "gone") return "gone";
  return full ? "stopped (full)" : (modes[mode] ?? mode);
};

export const phaseText = (phase: string) => phase.replaceAll("_", " ");

export const sideText = (side: string) => (side === "buy" ? "▲ buy" : "▼ sell");

/** Texts as they are, all else as JSON. */
export const plainText = (value: unknown) => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""));

/** Short enough for a legend. */
export const shortName = (name: string) => (name.length > 24 ? `${name.slice(0, 23)}…` : name);

/** One, two and three; more are counted. */
export const namesText = (names: readonly string[]) =>
  names.length <= 3 ? names.join(", ") : `${names.slice(0, 2).join(", ")} and ${names.length - 2} more`;

const unrecordedTexts: Readonly<Record<string, string>> = {
  account: "balances and positions of the account",
  prices: "prices",
  book: "the book",
  queue: "what waits for quota",
  limits: "the limits of address and key",
  options: "options of strategies",
  health: "the engine's health",
};

/** Describes the parts that a recording does not contain; empty if it is complete. */
export const unrecordedText = (parts: readonly string[] | undefined = []) =>
  parts.length === 0 ? "" : `Not in this recording: ${parts.map((part) => unrecordedTexts[part] ?? part).join(", ")}.`;
