/**
 * Lines that plugins print during a backtest: the first ones are shown, the others counted.
 *
 * Invariants: a plugin that prints much hides neither another plugin's lines nor the report; the number of hidden lines
 * is printed at the end, with the last one; with `all` nothing is hidden.
 * Not here: what plugins print (plugins/), the line of progress (io.ts).
 */
import { counted } from "../report/number-format.ts";
import { type CliIo, printable } from "./io.ts";

/** An hour in ten-minute steps is shown whole. */
const shownMax = 10;

export const pluginLines = (io: CliIo, all: boolean, above: () => void) => {
  const printed = new Map<string, { count: number; last: string }>();
  const write = (line: string): void => {
    above();
    io.err(`${printable(line)}\n`);
  };
  return {
    print: (line: string, plugin = ""): void => {
      const count = (printed.get(plugin)?.count ?? 0) + 1;
      printed.set(plugin, { count, last: line });
      if (all || count <= shownMax) write(line);
    },
    end: (): void => {
      for (const [plugin, { count, last }] of printed) {
        if (all || count <= shownMax) continue;
        if (count > shownMax + 1)
          write(`${plugin}: ${counted(count - shownMax - 1, "line")} left out; --verbose shows them`);
        write(last);
      }
      printed.clear();
    },
  };
};
