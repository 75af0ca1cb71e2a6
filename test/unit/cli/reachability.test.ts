import { describe, expect, it } from "vitest";
import { Reachability } from "../../../src/cli/reachability.ts";
import type { Event, EventBody } from "../../../src/journal/events.ts";

const answered = (status: number): EventBody => ({
  type: "action.answered",
  endpoint: "positions",
  outcome: status === 0 ? "unknown" : "done",
  status,
  code: "",
  elapsedMs: 1,
});
const lost: EventBody = { type: "anomaly", what: "socket.lost", detail: "code 1006" };
const at = (ms: number, body: EventBody): Event => ({ ...body, seq: 1, at: ms });
const goneSince = (time: string): string =>
  `UNREACHABLE: http://there has not answered since ${time} UTC. Orders that rest there may execute meanwhile; requests are retried.`;
const gone = goneSince("00:00:00");

describe("A service", () => {
  it.each<[string, readonly Event[], readonly (string | undefined)[]]>([
    ["with one request unanswered", [at(1, answered(0)), at(1, answered(200))], [undefined, undefined]],
    [
      "with two in a row, once",
      [at(1, answered(0)), at(1, answered(0)), at(2, answered(0))],
      [undefined, gone, undefined],
    ],
    ["with one and its socket lost before", [at(0, lost), at(1, answered(0))], [undefined, gone]],
    ["with one and its socket lost after", [at(1, answered(0)), at(1, lost)], [undefined, gone]],
    [
      "with a socket lost, and requests answered",
      [at(0, lost), at(1, answered(500)), at(2, answered(0))],
      [undefined, undefined, undefined],
    ],
    [
      "that answers again",
      [at(1, answered(0)), at(1_000, answered(0)), at(62_000, answered(429)), at(63_000, answered(200))],
      [undefined, gone, "http://there answers again at 00:01:02 UTC, after 0:01:02.", undefined],
    ],
    [
      "that had answered before: the outage began with that answer, not with the first time-out",
      [at(8_000, answered(200)), at(27_000, answered(0)), at(30_000, answered(0)), at(30_500, answered(200))],
      [undefined, undefined, goneSince("00:00:08"), "http://there answers again at 00:00:30 UTC, after 0:00:22."],
    ],
  ])("%s", (_, events, said) => {
    const reach = new Reachability("http://there");
    expect(events.map((event) => reach.take(event))).toEqual(said);
  });

  it("is shown as unreachable while it is", () => {
    const reach = new Reachability("x");
    reach.take(at(1_000, answered(0)));
    expect(reach.words(2_000)).toBeUndefined();
    reach.take(at(2_000, answered(0)));
    expect(reach.words(30_999)).toEqual({
      short: "UNREACHABLE for 0:00:30",
      long: "UNREACHABLE for 0:00:30, since 00:00:00 UTC",
    });
    reach.take(at(40_000, answered(200)));
    expect(reach.words(41_000)).toBeUndefined();
  });
});
