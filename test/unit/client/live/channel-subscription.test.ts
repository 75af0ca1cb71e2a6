import { describe, expect, it } from "vitest";
import { createChannelSubscription } from "../../../../src/client/live/channel-subscription.ts";
import { createVirtualClock } from "../../../../src/clock/virtual-clock.ts";

const setUp = (offered = true) => {
  const clock = createVirtualClock();
  const story: string[] = [];
  const source = createChannelSubscription({
    clock,
    subscribe: () => {
      story.push("subscribed");
      return { state: "waiting", repair: (reason) => story.push(`repair ${reason}`), close: () => story.push("closed") };
    },
    arg: { channel: "trades", instId: "A-USDT" },
    offered,
    message: () => undefined,
    state: (state) => story.push(state),
  });
  return { clock, source, story };
};

describe("A channel subscription:", () => {
  it("letting go twice counts once", () => {
    const { clock, source, story } = setUp();
    const [one] = [source.hold(), source.hold()];
    one();
    one();
    clock.advanceTo(60_000);
    expect(story).toEqual(["subscribed"]);
  });

  it("what is let go after the stop, or held then, leaves nothing", () => {
    const { clock, source, story } = setUp();
    const release = source.hold();
    source.stop();
    release();
    source.hold()();
    source.repair("late");
    expect(clock.pending).toBe(0);
    expect(story).toEqual(["subscribed", "closed"]);
  });

  it("a channel that is not offered is refused without a request", () => {
    const { source, story } = setUp(false);
    source.hold();
    source.repair("nothing");
    expect(story).toEqual(["refused"]);
  });
});
