/**
 * Output of a run: a terminal with a status line at the bottom, plain text with a line now and then, or events as JSON.
 *
 * Invariants: with JSON the results hold one event a line and nothing else; on a terminal events scroll above the line
 * of status.
 * Not here: the texts of lines (run-progress.ts, status-line.ts).
 */
import type { Event, EventText } from "../journal/events.ts";
import { type CliIo, inkOf, jsonText } from "./io.ts";
import { eventLine } from "./run-progress.ts";
import { type Status, statusLine } from "./status-line.ts";

const plainStatusTicks = 10;

export interface Screen {
  /** `text`: that of a plugin's event. */
  event(event: Event, text?: EventText): void;
  /** The status is made where it is shown. */
  status(status: () => Status, tick: number): void;
  note(text: string): void;
  close(text: string): void;
}

export const screenOf = (io: CliIo, json: boolean): Screen =>
  json ? jsonScreen(io) : io.isTty ? liveScreen(io) : plainScreen(io);

const jsonScreen = (io: CliIo): Screen => ({
  event: ({ seq, at, type, ...rest }) => {
    io.out(`${jsonText({ seq, at, type, ...rest })}\n`);
  },
  status: () => {},
  note: (text) => {
    io.err(`${text}\n`);
  },
  close: (text) => {
    io.err(text);
  },
});

const plainScreen = (io: CliIo): Screen => ({
  event: (event, text) => {
    const line = eventLine(event, inkOf(io), text);
    if (line !== undefined) io.out(`${line}\n`);
  },
  status: (status, tick) => {
    if (tick % plainStatusTicks === plainStatusTicks - 1) io.out(`${statusLine(status(), Number.POSITIVE_INFINITY)}\n`);
  },
  note: (text) => {
    io.err(`${text}\n`);
  },
  close: (text) => {
    io.out(text);
  },
});

/** One line at the bottom that is rewritten, and events scrolling above it. */
const liveScreen = (io: CliIo): Screen => {
  const plain = plainScreen(io);
  const clear = "\r\u001b[K";
  let bottom = "";
  const above = (print: () => void): void => {
    if (bottom !== "") io.err(clear);
    print();
    if (bottom !== "") io.err(bottom);
  };
  return {
    event: (event, text) => {
      const line = eventLine(event, inkOf(io), text);
      // Most events are not written; redrawing for them would flicker.
      if (line === undefined) return;
      above(() => {
        io.out(`${line}\n`);
      });
    },
    status: (status) => {
      // One column short: a line that fills the last one would wrap.
      bottom = statusLine(status(), io.columns - 1);
      io.err(`${clear}${bottom}`);
    },
    note: (text) => {
      above(() => {
        plain.note(text);
      });
    },
    close: (text) => {
      if (bottom !== "") io.err(clear);
      plain.close(text);
    },
  };
};
