import { describe, expect, it } from "vitest";
import { GroupHalt } from "../../../plugins/shared-quota/group-halt.ts";

const stage = () => {
  const told: (string | undefined)[] = [];
  const heard: (string | undefined)[] = [];
  const store = { away: false };
  const halt = new GroupHalt(
    {
      halt: async (reason) => {
        if (store.away) throw new Error("away");
        told.push(reason);
      },
    },
    (reason) => heard.push(reason),
  );
  return { halt, told, heard, store };
};

describe("Halt of a group", () => {
  it("reaches this engine at once, and the store with its next answer where it was away", async () => {
    const { halt, told, heard, store } = stage();
    store.away = true;
    await expect(halt.all("enough")).rejects.toThrow("away");
    expect([heard, told]).toEqual([["enough"], []]);
    store.away = false;
    halt.hear("");
    await Promise.resolve();
    expect([heard, told]).toEqual([["enough"], ["enough"]]);
  });

  it("is told again to a store that has lost its memory, and ends by a word of it only", async () => {
    const { halt, told, heard } = stage();
    halt.hear("enough");
    halt.hear(undefined);
    await Promise.resolve();
    expect([heard, told]).toEqual([["enough"], ["enough"]]);
    halt.hear("");
    expect(heard).toEqual(["enough", undefined]);
  });

  it("has a reason even where none was given", async () => {
    const { halt, told } = stage();
    await halt.all("");
    expect([halt.reason, told]).toEqual(["no reason given", ["no reason given"]]);
    await halt.all(undefined);
    expect([halt.reason, told]).toEqual([undefined, ["no reason given", undefined]]);
  });
});
