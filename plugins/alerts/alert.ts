/**
 * Alerts and messages: the output of rules, and the input of channels.
 *
 * Invariants: an alert is one line of bounded length without control characters; a message fits the limits of its
 * channel.
 */

export const levels = ["info", "warning", "critical"] as const;
export type Level = (typeof levels)[number];

export interface Alert {
  /** Milliseconds on the engine's clock. */
  readonly at: number;
  /** Name of the rule. */
  readonly rule: string;
  readonly level: Level;
  /** Level of the subject, which selects the channels: good news is sent to the channels that got the bad news. */
  readonly concern: Level;
  readonly text: string;
}

export interface Message {
  /** Id of the message, unchanged when it is sent again. */
  readonly id: string;
  /** Name of the engine. */
  readonly title: string;
  /** The highest of its alerts. */
  readonly level: Level;
  readonly alerts: readonly Alert[];
  /** Alerts lost since the message before, for want of room or time. */
  readonly leftOut: number;
  readonly text: string;
}

const lineMax = 600;

export const rankOf = (level: Level): number => levels.indexOf(level);

/** One line from text of any origin. */
export const lineOf = (text: string): string => {
  const line = text.replace(/[\p{Cc}\p{Cf}]+/gu, " ").trim();
  return line.length <= lineMax ? line : `${line.slice(0, lineMax - 1)}…`;
};

const clockOf = (at: number): string => new Date(at).toISOString().slice(11, 19);

const spelled = ({ at, level, text }: Alert): string => `${clockOf(at)} ${level === "info" ? "" : `${level}: `}${text}`;

const noteOf = (leftOut: number): string =>
  leftOut === 0 ? "" : `(${leftOut} ${leftOut === 1 ? "alert was" : "alerts were"} left out)`;

/** Builds a message of as many of the first alerts as fit into `textMax` characters, at least one. */
export const messageOf = (
  id: string,
  title: string,
  waiting: readonly Alert[],
  leftOut: number,
  textMax: number,
): Message => {
  const note = noteOf(leftOut);
  const lines: string[] = [];
  let length = title.length + note.length + 2;
  for (const alert of waiting) {
    const line = spelled(alert);
    if (lines.length > 0 && length + line.length + 1 > textMax) break;
    lines.push(line);
    length += line.length + 1;
  }
  const alerts = waiting.slice(0, lines.length);
  const level = alerts.reduce<Level>((most, one) => (rankOf(one.level) > rankOf(most) ? one.level : most), "info");
  return { id, title, level, alerts, leftOut, text: [title, ...lines, note].filter((line) => line !== "").join("\n") };
};
