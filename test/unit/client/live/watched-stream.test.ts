import { describe, expect, it } from "vitest";
import { WatchedStream } from "../../../../src/client/live/watched-stream.ts";

describe("A watched stream", () => {
  it("tells of the first listener before it hears anything, of the last one gone, and of nothing after the end", () => {
    const story: string[] = [];
    const stream = new WatchedStream<string>({
      latest: () => "latest",
      onListened: (listened) => story.push(listened ? "listened" : "left"),
    });
    const one = stream.subscribe((value) => story.push(`one ${value}`));
    const two = stream.subscribe((value) => story.push(`two ${value}`));
    one.unsubscribe();
    two.unsubscribe();
    stream.subscribe();
    stream.complete();
    stream.subscribe({ complete: () => story.push("late end") });
    expect(story).toEqual(["listened", "one latest", "two latest", "left", "listened", "late end"]);
  });
});
