import { describe, expect, it } from "vitest";
import { groupFindings } from "../../../plugins/shared-quota/group-findings.ts";
import type { StoreSurvey } from "../../../plugins/shared-quota/store-survey.ts";

const enrolled = (member: string, share: number, of = 4) => ({ member, share, of, heardMs: 300 });
const row = (member: string, settled: number, used: number) => ({ member, settled, used });
const sane: StoreSurvey = {
  version: "7.0.15",
  runId: "0123456789abcdef",
  memoryPolicy: "noeviction",
  denied: [],
  roundTripsMs: [0.2, 0.3, 4.1],
  halted: undefined,
  members: [enrolled("mm-1", 1), enrolled("mm-2", 2)],
  scopes: [
    {
      scope: "uid:ann",
      members: [
        { id: "mm-1#5", floor: 150, lastWindow: 100, heardMs: 200, begins: [1_000, 1_400] },
        { id: "mm-2#7", floor: 300, lastWindow: 100, heardMs: 100, begins: [1_300, 1_700] },
      ],
    },
  ],
  windows: [
    { scope: "ip:egress", window: 99, rows: [row("mm-1", 40, 88), row("mm-2", 50, 90)] },
    { scope: "ip:egress", window: 100, rows: [row("mm-1", 3, 3), row("mm-2", 0, 0)] },
  ],
};
const settings = {
  member: "mm-1",
  share: 1,
  of: 4,
  layers: [{ name: "uid", scope: "uid", windowMs: 60_000 } as const],
};
const about = (survey: Partial<StoreSurvey>, name: string, more: Partial<typeof settings> = {}) =>
  groupFindings({ ...sane, ...survey }, { ...settings, ...more }).find((finding) => finding.about === name);

describe("Findings about a shared quota", () => {
  it("hold where the store and the engines are as the config says", () => {
    expect(groupFindings(sane, settings).filter(({ verdict }) => verdict !== "holds")).toEqual([]);
    expect(about({}, "shares")?.text).toBe("mm-2 2 of 4, mm-1 1 of 4: 1 left");
    expect(about({}, "round trip")?.text).toBe("a round trip takes 0.3 ms, 4.1 ms at most of 3");
  });

  it.each<[string, Partial<StoreSurvey>, string]>([
    [
      "round trip",
      { roundTripsMs: [60, 80, 90] },
      "a round trip takes 80.0 ms, 90.0 ms at most of 3; exits beyond the first wait for it",
    ],
    ["server", { version: "5.0.7" }, "version 5.0.7, run 01234567; 6.2 or later is needed"],
    [
      "memory",
      { memoryPolicy: "allkeys-lru" },
      "maxmemory-policy is allkeys-lru: what engines hold may be evicted. Set it to noeviction",
    ],
    ["permissions", { denied: ["INFO", "EVAL"] }, "the user of the address may not: INFO, EVAL"],
    [
      "shares",
      { members: [enrolled("mm-2", 2), enrolled("mm-3", 2)] },
      "mm-2 2 of 4, mm-3 2 of 4, mm-1 1 of 4: 5 of 4 are given",
    ],
    ["sum of shares", { members: [enrolled("mm-2", 2, 5)] }, "mm-2 counts on 5, this config on 4"],
    ["halt", { halted: "maintenance" }, "the group is halted: maintenance"],
    [
      "windows of uid:ann",
      {
        scopes: [
          {
            scope: "uid:ann",
            members: [
              { id: "mm-1#5", floor: 150, lastWindow: 100, heardMs: 200, begins: [1_000, 1_400] },
              { id: "mm-2#7", floor: 300, lastWindow: 100, heardMs: 100, begins: [41_000, 41_400] },
            ],
          },
        ],
      },
      "mm-1, mm-2 differ by 39600 ms about when they begin",
    ],
    [
      "ip:egress",
      {
        windows: [
          { scope: "ip:egress", window: 99, rows: [row("mm-1", 40, 40), row("mm-2", 50, 50)] },
          ...sane.windows.slice(1),
        ],
      },
      "the engines were answered 90 requests together, and mm-1 saw 40, mm-2 saw 50: they do not share an address",
    ],
  ])("say what differs: %s", (name, survey, text) => {
    const found = about(survey, name);
    expect(found?.verdict).toBe("differs");
    expect(found?.text).toContain(text);
  });

  it("name the layers that are too short to be divided", () => {
    const layers = [
      { name: "orders", scope: "uid", windowMs: 2_000 },
      { name: "key", scope: "key", windowMs: 1_000 },
    ] as const;
    expect(about({}, "layer orders", { layers: layers as never })?.text).toContain(
      "windows of 2 s are too short to be divided: each engine counts on all of it",
    );
    expect(about({}, "layer key", { layers: layers as never })).toBeUndefined();
  });

  it("conclude nothing where too little was heard", () => {
    const quiet = { ...sane, scopes: [{ scope: "uid:ann", members: sane.scopes[0]?.members.slice(0, 1) ?? [] }] };
    expect(about(quiet, "windows of uid:ann")?.verdict).toBe("not seen");
    expect(about({ windows: [] }, "ip:egress")).toBeUndefined();
    expect(about({ memoryPolicy: undefined }, "memory")?.verdict).toBe("not seen");
  });
});
