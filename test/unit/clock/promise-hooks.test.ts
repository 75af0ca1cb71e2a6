import { afterEach, describe, expect, it, vi } from "vitest";
import { hookPromises } from "../../../src/clock/promise-hooks.ts";

describe("Promise hooks", () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it("call back for every promise until they are ended", () => {
    let made = 0;
    const end = hookPromises({
      init: () => {
        made++;
      },
    });
    void Promise.resolve();
    const before = made;
    end();
    void Promise.resolve();
    expect([before > 0, made]).toEqual([true, before]);
  });

  it.each([
    ["has no module node:v8", undefined],
    ["has the module without its hooks", { promiseHooks: {} }],
  ])("are refused by name where the runtime %s", (_, found) => {
    vi.spyOn(process, "getBuiltinModule").mockReturnValue(found as never);
    expect(() => hookPromises({})).toThrow(
      expect.objectContaining({ code: "PLATFORM_UNSUPPORTED", message: expect.stringContaining("Run them with Node") }),
    );
  });
});
