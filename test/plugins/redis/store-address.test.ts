import { describe, expect, it } from "vitest";
import { dialled, isStoreAddress, shownAddress } from "../../../plugins/redis/store-address.ts";

describe("Address of a store", () => {
  it.each([
    ["redis://10.0.0.5:6379", true],
    ["rediss://ann:secret@store.example:6380", true],
    ["sentinel://10.0.0.5:26379,10.0.0.6/desk", true],
    ["sentinel://10.0.0.5:26379", false],
    ["10.0.0.5:6379", false],
    ["http://10.0.0.5", false],
  ])("%s: %s", (address, is) => {
    expect(isStoreAddress(address)).toBe(is);
  });

  it("of sentinels is dialled by asking them for the primary, with the primary's user and password", () => {
    expect(dialled("redis://10.0.0.5:6379")).toBe("redis://10.0.0.5:6379");
    expect(dialled("sentinel://ann:p%40ss@10.0.0.5:26400,10.0.0.6/desk")).toEqual({
      name: "desk",
      sentinels: [
        { host: "10.0.0.5", port: 26_400 },
        { host: "10.0.0.6", port: 26_379 },
      ],
      username: "ann",
      password: "p@ss",
    });
  });

  it.each([
    ["rediss://ann:secret@store.example:6380/0", "rediss://store.example:6380/0"],
    ["sentinel://ann:secret@10.0.0.5,10.0.0.6/desk", "sentinel://10.0.0.5,10.0.0.6/desk"],
    ["redis://ann:pa:sec@ret/word@store.example", "redis://store.example"],
    ["redis://store.example/0?password=secret", "redis://store.example/0"],
    ["ann:secret@store.example:6379", "store.example:6379"],
  ])("%s is shown without its password", (address, shown) => {
    expect(shownAddress(address)).toBe(shown);
  });
});
