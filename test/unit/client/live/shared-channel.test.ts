import { describe, expect, it } from "vitest";
import { SharedChannel } from "../../../../src/client/live/shared-channel.ts";
import { createVirtualClock } from "../../../../src/clock/virtual-clock.ts";

const setUp = (channels: readonly string[] = ["trades"]) => {
  const clock = createVirtualClock();
  const story: string[] = [];
  const channel = new SharedChannel("trades", "A-USDT", {
    clock,
    subscribe: () => {
      story.push("subscribed");
      return {
        state: "waiting",
        repair: (reason) => story.push(`repair ${reason}`),
        close: () => story.push("closed"),
      };
    },
    channels,
    onAnomaly: (what) => story.push(what),
  });
  const join = (): ((needed: boolean) => void) =>
    channel.join({ take: () => undefined, state: (state) => story.push(state) });
  return { clock, channel, join, story };
};

describe("A shared channel", () => {
  it("is kept while one reader needs it, however often another lets go", () => {
    const { clock, join, story } = setUp();
    const [one, other] = [join(), join()];
    one(true);
    other(true);
    one(false);
    one(false);
    clock.advanceTo(60_000);
    expect(story).toEqual(["subscribed"]);
  });

  it("ends for all readers a while after the last one let go", () => {
    const { clock, join, story } = setUp();
    const [one] = [join(), join()];
    one?.(true);
    one?.(false);
    clock.advanceTo(4_999);
    expect(story).toEqual(["subscribed"]);
    clock.advanceTo(5_000);
    expect(story).toEqual(["subscribed", "closed", "ended", "ended"]);
  });

  it("leaves nothing when a reader lets go or needs it after the stop", () => {
    const { clock, channel, join, story } = setUp();
    const need = join();
    need(true);
    channel.stop();
    need(false);
    need(true);
    join()(true);
    channel.repair("late");
    expect(clock.pending).toBe(0);
    expect(story).toEqual(["subscribed", "closed"]);
  });

  it("is refused without a request where the service does not offer it", () => {
    const { channel, join, story } = setUp([]);
    join()(true);
    channel.repair("nothing");
    expect(story).toEqual(["refused"]);
    expect(channel.refused).toBe(true);
  });
});
