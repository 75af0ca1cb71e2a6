import { EventEmitter } from "node:events";
import { describe, expect, it } from "vitest";
import { capturedIo, colourOf, type Host, inkOf, processIo } from "../../src/cli/io.ts";

describe("the captured streams", () => {
  it("keep results and messages apart, in order", () => {
    const io = capturedIo();
    io.out("a");
    io.err("x");
    io.out("b\n");
    expect([io.outText, io.errText]).toEqual(["ab\n", "x"]);
  });

  it("pass a request to stop to whoever listens, and to nobody who left", () => {
    const io = capturedIo();
    const heard: string[] = [];
    const leave = io.onStop(() => heard.push("first"));
    io.onStop(() => heard.push("second"));
    io.stop();
    leave();
    io.stop();
    expect(heard).toEqual(["first", "second", "second"]);
  });
});

describe("the process behind the command line", () => {
  const stream = (given: object = {}) => {
    const written: string[] = [];
    const self = new EventEmitter();
    return Object.assign(self, { written, writable: true, destroyed: false, write: (text: string) => written.push(text), ...given });
  };
  const stage = (out: object = {}, err: object = {}, env: Readonly<Record<string, string>> = {}) => {
    const [stdout, stderr, signals] = [stream(out), stream(err), new EventEmitter()];
    const host = { stdout, stderr, env, on: signals.on.bind(signals), off: signals.off.bind(signals) } as unknown as Host;
    return { io: processIo(host), stdout, stderr, signals };
  };

  it("writes results and messages to their streams", () => {
    const { io, stdout, stderr } = stage();
    io.out("a");
    io.err("b");
    expect([stdout.written, stderr.written]).toEqual([["a"], ["b"]]);
  });

  it("writes nothing to a stream that is gone", () => {
    const { io, stdout } = stage({ destroyed: true });
    io.out("a");
    expect(stdout.written).toEqual([]);
  });

  it("takes a closed pipe for a reason to stop, and any other failure for one", () => {
    const { io, stdout } = stage();
    const heard: string[] = [];
    io.onStop((reason) => heard.push(reason));
    stdout.emit("error", Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
    expect(heard).toEqual(["unread"]);
    expect(() => stdout.emit("error", Object.assign(new Error("disk full"), { code: "ENOSPC" }))).toThrow("disk full");
  });

  it("hears signals only while something can be stopped", () => {
    const { io, signals } = stage();
    const heard: string[] = [];
    expect(signals.listenerCount("SIGINT")).toBe(0);
    const leave = [io.onStop((reason) => heard.push(`first ${reason}`)), io.onStop((reason) => heard.push(`second ${reason}`))];
    signals.emit("SIGINT");
    leave[0]?.();
    signals.emit("SIGTERM");
    leave[1]?.();
    expect(heard).toEqual(["first asked", "second asked", "second asked"]);
    expect([signals.listenerCount("SIGINT"), signals.listenerCount("SIGTERM")]).toEqual([0, 0]);
  });

  it.each([
    ["both streams are terminals", { isTTY: true }, { isTTY: true }, true],
    ["results go into a pipe", {}, { isTTY: true }, false],
    ["messages go into a file", { isTTY: true }, {}, false],
  ])("a person watches where %s", (_, out, err, expected) => expect(stage(out, err).io.isTty).toBe(expected));

  it.each([
    ["the terminal's", { columns: 132 }, { COLUMNS: "90" }, 132],
    ["the variable's", {}, { COLUMNS: "90" }, 90],
    ["a default", {}, {}, 100],
    ["a default for none at all", {}, { COLUMNS: "0" }, 100],
    ["a default for nonsense", {}, { COLUMNS: "wide" }, 100],
  ])("columns are %s", (_, out, env, expected) => expect(stage(out, {}, env).io.columns).toBe(expected));
});

describe("colour", () => {
  it.each([
    ["is used where a person is watching", true, {}, true],
    ["is not used in a pipe", false, {}, false],
    ["is not used against NO_COLOR", true, { NO_COLOR: "1" }, false],
    ["is used when NO_COLOR is empty", true, { NO_COLOR: "" }, true],
    ["is not used on a terminal that knows none", true, { TERM: "dumb" }, false],
    ["is used anywhere when forced", false, { FORCE_COLOR: "1" }, true],
    ["is not used when forced off", true, { FORCE_COLOR: "0" }, false],
    ["obeys NO_COLOR above all", false, { FORCE_COLOR: "1", NO_COLOR: "1" }, false],
  ])("%s", (_, isTty, env, expected) => expect(colourOf(capturedIo({ isTty, env }))).toBe(expected));

  it("reaches the words", () => {
    expect(inkOf(capturedIo({ isTty: true })).red("x")).not.toBe("x");
    expect(inkOf(capturedIo()).red("x")).toBe("x");
  });
});
