/** The command line with the commands and options of the shipped plugins. */
import { expect, it } from "vitest";
import { main } from "../../src/cli/main.ts";
import { capturedIo } from "../support/captured-io.ts";

const sluice = async (...argv: readonly string[]): Promise<string> => {
  const io = capturedIo({ columns: 80 });
  expect(await main(argv, io)).toBe(0);
  return io.outText;
};

it("The help has the commands of plugins, in the groups of all commands", async () => {
  const out = await sluice("--help");
  for (const name of ["backtest", "run", "import", "generate"]) expect(out).toMatch(new RegExp(`^  ${name} `, "m"));
  const headings = ["Research:", "Trading:", "Market data:", "Services and tests:"];
  expect(
    headings.map((heading) => out.indexOf(`\n${heading}\n`)).every((at, index, all) => at > (all[index - 1] ?? 0)),
  ).toBe(true);
});

it("The list of options has plugins in addition to strategies", async () => {
  const all = JSON.parse(await sluice("options", "--json")) as readonly { readonly name: string }[];
  expect(all.map(({ name }) => name)).toEqual(expect.arrayContaining(["ladder", "kill-switch", "dashboard", "alerts"]));
});
