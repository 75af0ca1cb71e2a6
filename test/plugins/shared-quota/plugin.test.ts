/** The shared quota in a config: its options, what it refuses, and what it tells people. */
import { NEVER } from "rxjs";
import { describe, expect, it } from "vitest";
import sharedQuota from "../../../plugins/shared-quota/index.ts";
import { resumeCommand } from "../../../plugins/shared-quota/resume-command.ts";
import { live } from "../../../src/client/live/live-service.ts";
import { createCredentials } from "../../../src/client/transport/secrets.ts";
import { checkConfig } from "../../../src/host/config.ts";
import { strategy } from "../session/harness/session.ts";

const credentials = createCredentials({ apiKey: "a", secretKey: "b", passphrase: "c" });
const config = {
  service: live({ environment: "testnet", baseUrl: "http://127.0.0.1:1", keys: [{ credentials }] }),
  strategies: [strategy("one", { wanted: () => NEVER })],
};
const desk = { store: { env: "STORE" }, group: "desk" };

describe("A shared quota", () => {
  it("is completed with a share, an address and shared reads", () => {
    const { plugins } = checkConfig({ ...config, plugins: [sharedQuota({ ...desk, of: 2 })] });
    expect(plugins[0]?.options).toEqual({ ...desk, of: 2, share: 1, address: "local", reads: true });
  });

  it.each([
    ["without the size of its group", desk, /"of" is missing/],
    ["at an address that is none", { ...desk, of: 2, store: "localhost" }, /options of plugin "shared-quota"\.store/],
  ])("is refused %s", (_, options, message) => {
    expect(() => sharedQuota(options as Parameters<typeof sharedQuota>[0])).toThrow(message);
  });

  it("is given once to a config", () => {
    const plugins = [sharedQuota({ ...desk, of: 2 }), sharedQuota({ ...desk, of: 2 }, { as: "other" })];
    expect(() => checkConfig({ ...config, plugins })).toThrow("sharedQuota is given twice");
  });

  it("is named by the error where a config writes the key of before, and others beside it are listed too", () => {
    const quota = { shared: { ...desk, of: 2 } };
    const moved = (name: string, key = name) =>
      `config.${key}: this is a plugin now. Write plugins: [${name}({ … })] with ${name} from "sluice/plugins/`;
    expect(() => checkConfig({ ...config, quota })).toThrow(moved("sharedQuota", "quota.shared"));
    expect(() => checkConfig({ ...config, quota, standby: desk })).toThrow(moved("standby"));
    expect(() => checkConfig({ ...config, quota: undefined })).not.toThrow("quota.shared");
  });
});

describe("The command that resumes a group", () => {
  it("is written as a shell takes it, without the password of the store", () => {
    expect(resumeCommand(desk)).toBe("sluice halt --everywhere env:STORE --group desk --resume");
    expect(resumeCommand({ store: "redis://:secret@10.0.0.5:6379", group: "my desk" })).toBe(
      "sluice halt --everywhere redis://10.0.0.5:6379 --group 'my desk' --resume",
    );
  });
});
