import { describe, expect, it } from "vitest";
import { portOf, withDashboard } from "../../../src/cli/dashboard-plugin.ts";

const config = { service: "as it was", plugins: [{ name: "kill-switch" }] };

describe("sluice run --ui", () => {
  it("adds the control port after the plugins of the config, and nothing without the flag", async () => {
    expect(await withDashboard(config, {})).toBe(config);
    expect(await withDashboard(config, { ui: 8787, uiReadOnly: true })).toMatchObject({
      service: "as it was",
      plugins: [
        { name: "kill-switch" },
        { name: "dashboard", options: { port: 8787, readOnly: true, host: "127.0.0.1" } },
      ],
    });
    expect(await withDashboard({}, { ui: true })).toMatchObject({
      plugins: [{ name: "dashboard", options: { port: 0, readOnly: false } }],
    });
  });

  it.each([
    [config, { uiReadOnly: true as const }, "--ui-read-only goes with --ui"],
    [{ plugins: [{ name: "dashboard" }] }, { ui: true as const }, "the config has the plugin dashboard already"],
    [
      { plugins: [null, [{ name: "dashboard" }]] },
      { ui: true as const },
      "the config has the plugin dashboard already",
    ],
  ])("refuses flags that do not go together: %j", async (given, flags, text) => {
    await expect(withDashboard(given, flags)).rejects.toThrow(text);
  });

  it.each(["config/paper.ts", "70000", "-1", "0x10"])("takes ports alone: %s", (text) => {
    expect(() => portOf(text)).toThrow("--ui after the config");
  });
});
