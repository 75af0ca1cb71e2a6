import { describe, expect, it } from "vitest";
import readOnly from "../../../plugins/dashboard/read-only-option.ts";
import ui from "../../../plugins/dashboard/run-option.ts";
import { main } from "../../../src/cli/main.ts";
import { capturedIo } from "../../support/captured-io.ts";

const config = { service: "as it was", plugins: [{ name: "kill-switch" }] };

describe("sluice run --ui", () => {
  it("adds the control port after the plugins of the config", () => {
    expect(ui.configure(config, "8787", { uiReadOnly: true })).toMatchObject({
      service: "as it was",
      plugins: [
        { name: "kill-switch" },
        { name: "dashboard", options: { port: 8787, readOnly: true, host: "127.0.0.1" } },
      ],
    });
    expect(ui.configure({}, true, {})).toMatchObject({
      plugins: [{ name: "dashboard", options: { port: 0, readOnly: false } }],
    });
  });

  it("leaves the config to it where no action is allowed", () => {
    expect(readOnly.configure(config, true, { ui: true })).toBe(config);
    expect(() => readOnly.configure(config, true, {})).toThrow("--ui-read-only goes with --ui");
  });

  it.each([[{ plugins: [{ name: "dashboard" }] }], [{ plugins: [null, [{ name: "dashboard" }]] }]])(
    "refuses a config that has the port: %j",
    (given) => {
      expect(() => ui.configure(given, true, {})).toThrow("the config has the plugin dashboard already");
    },
  );

  it("takes ports alone", () => {
    expect(() => ui.configure(config, "70000", {})).toThrow("--ui: 70000 is no port. Write one up to 65535.");
  });

  it.each(["config/paper.ts", "-1", "0x10", "700000", ""])(
    "is not followed by anything but a port: %j",
    async (text) => {
      const io = capturedIo();
      expect(await main(["run", "--ui", text], io)).toBe(2);
      expect(io.errText).toContain("Write a port up to 65535, or --ui after the config.");
    },
  );
});
