/** Lost, spoiled and doubled placements and cancels, whatever is spoken on the wire: one order is wanted, one order there is. */
import { describe, it } from "vitest";
import { accept } from "../../../plugins/conformance/acceptance/accept.ts";
import type { Dialect } from "../../../src/client/transport/dialect.ts";
import { bothSides, dialectService } from "./harness/dialect-service.ts";

const kinds = [
  ...[
    "drop_response",
    "truncated",
    "html",
    "unavailable",
    "json",
    "not_json",
    "empty_body",
    "redirect",
    "silence",
    "duplicate",
  ],
  "drop_request",
];

interface Altered {
  readonly given?: Dialect;
  readonly faults?: readonly string[];
  readonly times?: number;
}

const run = async (
  name: string,
  onTestFinished: Parameters<typeof dialectService>[1],
  { given, faults, times = 6 }: Altered = {},
) => {
  const { url, keysFile, clock, dialect, quotes, venue } = await dialectService(name, onTestFinished, { times });
  quotes("BTC-USDT-SWAP", "59999", "60001");
  const options = { dialect: given ?? dialect, keys: keysFile, quick: true, only: ["3-live"] };
  const report = await accept(url, { ...options, ...(faults && { faults }) }, { clock });
  const states = venue.truth("ann").orders.map(({ state }) => state);
  return { ...report, open: states.filter((state) => state === "live"), sent: states.length };
};

describe("The run of lost orders", () => {
  // Beside each other, as each waits for answers that do not come.
  it.concurrent.for(Object.keys(bothSides))(
    "finds one order each time, and then none, at %s",
    async (name, { expect, onTestFinished }) => {
      const { rules, passed, open, sent } = await run(name, onTestFinished);
      expect(rules.map(({ id, kind }) => `${id} ${kind}`)).toEqual([
        "3-live pass",
        ...kinds.map((kind) => `L-${kind} pass`),
      ]);
      expect(passed).toBe(true);
      expect(open).toEqual([]);
      // One order of each run, the four of the rule before, and one to find a price.
      expect(sent).toBe(kinds.length + 4);
    },
  );

  it.concurrent("fails a dialect that loses the client's ids", async ({ expect, onTestFinished }) => {
    const { client } = bothSides["okx"] as (typeof bothSides)[string];
    const { answer, hear } = client as Required<Dialect>;
    const nameless: Dialect = {
      ...client,
      answer: (request, response) => {
        const read = answer(request, response);
        const { data, ...rest } = read.body as { readonly data: readonly object[] };
        return request.method === "POST"
          ? read
          : { ...read, body: { ...rest, data: data.map((one) => ({ ...one, clOrdId: "" })) } };
      },
      hear: (text) => (text.includes('"channel":"orders"') ? [] : hear(text)),
    };
    const { rules, passed } = await run("okx", onTestFinished, {
      given: nameless,
      faults: ["drop_response"],
      times: 30,
    });
    expect(rules.at(-1)).toMatchObject({ id: "L-drop_response", kind: "fail", expected: "an order that rests" });
    expect(passed).toBe(false);
  });

  it.concurrent("names a fault that there is not", async ({ expect, onTestFinished }) => {
    await expect(run("okx", onTestFinished, { faults: ["gremlins"] })).rejects.toThrow(
      'there is no "gremlins"; there is drop_response',
    );
  });
});
