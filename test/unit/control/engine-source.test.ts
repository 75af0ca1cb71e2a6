import { NEVER, type Observable, of } from "rxjs";
import { describe, expect, it } from "vitest";
import { withoutSecrets } from "../../../src/control/hidden-values.ts";
import { type EngineRow, EngineSource, type SteeredRun } from "../../../src/control.ts";

const facts: EngineRow = {
  name: "main",
  kind: "paper",
  environment: "",
  version: "0.0.0",
  startedAt: 0,
  mode: "active",
  reason: "",
  state: "running",
};

/** A source of a run that does nothing but what is given. */
const sourceOf = (run: Partial<SteeredRun>) =>
  new EngineSource("main", facts, {
    events$: NEVER,
    now: () => 0,
    every: () => undefined,
    operatorActed: () => undefined,
    ...run,
  } as SteeredRun);
const never = () => NEVER as Observable<never>;

describe("Actions of an engine", () => {
  it("end at eight at a time, but for a halt", async () => {
    const source = sourceOf({ cancel: never, halt: () => of() });
    for (let count = 0; count < 8; count++) void source.act({ type: "cancel", where: {} }, "me");
    expect(await source.act({ type: "resume" }, "me")).toMatchObject({ ok: false, code: "ENGINE_BUSY" });
    expect(await source.act({ type: "halt" }, "me")).toMatchObject({ ok: true });
  });

  it("change no option to the words that stand for a secret", async () => {
    const changed: object[] = [];
    const source = sourceOf({ changeOptions: (_, changes) => changed.push(changes) });
    const shown = withoutSecrets({ feed: { apiKey: "cnry-secret", levels: 2 } }) as object;
    expect(await source.act({ type: "options", strategy: "a", changes: { ...shown } }, "me")).toMatchObject({ code: "OPTION_HIDDEN" });
    expect(changed).toEqual([]);
    await source.act({ type: "options", strategy: "a", changes: { levels: 3 } }, "me");
    expect(changed).toEqual([{ levels: 3 }]);
  });
});
