/** What a control port leaves for other programs of the user. */
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { portText, startedWith } from "../../../plugins/control-room/port-file.ts";

describe("A control port is listed", () => {
  it.each([
    ["a config", ["node", "sluice.mjs", "run", "config/paper.ts", "--ui"], "config/paper.ts"],
    ["a config after options", ["node", "sluice.mjs", "run", "--ui", "8787", "config/live.mts"], "config/live.mts"],
    ["a program of one's own", ["node", "bot.mjs", "--fast"], "bot.mjs"],
  ])("with what its process was started with: %s", (_, argv, file) => {
    expect(startedWith(argv)).toBe(resolve(file));
    const record = {
      url: "http://127.0.0.1:1",
      pid: 1,
      engines: ["a", "b"],
      read: "r",
      startedWith: startedWith(argv),
    };
    expect(portText(record)).toBe(`http://127.0.0.1:1 (a, b, started with ${resolve(file)})`);
  });

  it("without it where an earlier version left the file", () => {
    expect(portText({ url: "http://127.0.0.1:1", pid: 1, engines: ["a"], read: "r" })).toBe("http://127.0.0.1:1 (a)");
  });
});
