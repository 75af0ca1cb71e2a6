/** Orders that the service had and does not know any more: how they ended is not known, whatever their placement was answered. */
import { expect, it } from "vitest";
import { bid, type Fault, garbled, ready, reply } from "../../support/harness/orders.ts";

const nothing = { code: "0", msg: "", data: [] };
const unlisted = { code: "0", msg: "", data: [{ ordId: "", clOrdId: "", sCode: "59999", sMsg: "Try again." }] };
const exit = bid({ slot: "out", side: "sell", px: "61000", reduceOnly: true });

it.each([
  ["an entry", [], bid({ slot: "out" }), 1],
  ["an exit", [bid({ slot: "in" })], exit, 2],
] as const)(
  "%s that was seen live is never proved not to exist by an answer with an unlisted code",
  (_, held, wanted, placed) => {
    let isForgetful = false;
    const fault = ({ endpoint }: { readonly endpoint: string }): Fault | undefined =>
      isForgetful && ["getOrder", "pendingOrders", "orderHistory"].includes(endpoint) ? reply(200, nothing) : undefined;
    const rig = ready({ fault });
    rig.resources.pending.value$.subscribe();
    rig.want(...held);
    rig.run();
    rig.trade("sell", 60_000, 1);
    rig.run();
    rig.next("placeOrder", { ...garbled(200, unlisted), backMs: 100 });
    rig.want(...held, wanted);
    rig.run(1_000);
    isForgetful = true;
    rig.run(400_000);
    expect(rig.phases("out")).toEqual(["sent", "live", "absent"]);
    expect(rig.updates.at(-1)?.reason).toContain("seen at the service, and not known to the service any more");
    expect(rig.places()).toHaveLength(placed);
  },
);
