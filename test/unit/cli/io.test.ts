import { EventEmitter } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { colourOf, inkOf, processIo } from "../../../src/cli/io.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { capturedIo } from "../../support/captured-io.ts";

describe("Captured output streams", () => {
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

describe("The command line's process", () => {
  const stream = (given: object = {}) => {
    const written: string[] = [];
    const self = new EventEmitter();
    return Object.assign(self, {
      written,
      writable: true,
      destroyed: false,
      write: (text: string) => written.push(text),
      ...given,
    });
  };
  const stage = (out: object = {}, err: object = {}, env: Readonly<Record<string, string>> = {}) => {
    const [stdout, stderr, signals] = [stream(out), stream(err), new EventEmitter()];
    const killed: unknown[] = [];
    const clock = createVirtualClock(0);
    const methods = {
      on: signals.on.bind(signals),
      off: signals.off.bind(signals),
      kill: (...given: unknown[]) => killed.push(given),
    };
    const host = { stdout, stderr, env, pid: 7, ...methods } as unknown as Parameters<typeof processIo>[0];
    return { io: processIo(host, clock), stdout, stderr, signals, clock, killed };
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

  it("drops text beyond its bound where it never waits, and reports how much once the stream takes text again", () => {
    const full = { writableLength: 8 * 1024 * 1024 - 2 };
    const { io, stdout, stderr } = stage(full, { writableLength: 0 });
    io.out("as before\n");
    io.neverWait();
    for (const text of ["ab", "cde", "f"]) io.out(text);
    expect([stdout.written, stderr.written]).toEqual([["as before\n", "ab"], []]);
    Object.assign(stdout, { writableLength: 0 }).emit("drain");
    io.out("g");
    expect([stdout.written.at(-1), stderr.written]).toEqual([
      "g",
      ["4 characters of output were dropped, because nothing read the output for a while.\n"],
    ]);
  });

  it("takes a closed pipe for a reason to stop, and any other failure where nothing can be stopped for one to fail", () => {
    const { io, stdout } = stage();
    const heard: string[] = [];
    const fail = (code: string): boolean => stdout.emit("error", Object.assign(new Error(`write ${code}`), { code }));
    const leave = io.onStop((reason) => heard.push(reason));
    fail("EPIPE");
    fail("ENOSPC");
    expect(heard).toEqual(["unread", "unread"]);
    leave();
    expect(() => fail("ENOSPC")).toThrow("write ENOSPC");
  });

  it("is not ended by a closed terminal, nor by a stream that fails at once", () => {
    const broken = {
      write: () => {
        throw Object.assign(new Error("write EIO"), { code: "EIO" });
      },
    };
    const { io, stderr } = stage(broken);
    const heard: string[] = [];
    io.onStop((reason) => heard.push(reason));
    io.out("a");
    io.err("to a file");
    expect(stderr.written).toEqual(["to a file"]);
    stderr.emit("error", Object.assign(new Error("write EIO"), { code: "EIO" }));
    expect(heard).toEqual([]);
  });

  it.each<[string, readonly (readonly [at: number, signal: string])[], readonly string[]]>([
    ["each signal begins a stop: SIGHUP", [[0, "SIGHUP"]], ["SIGHUP"]],
    ["each signal begins a stop: SIGQUIT", [[0, "SIGQUIT"]], ["SIGQUIT"]],
    [
      "a Ctrl-C that comes on two ways is one",
      [
        [0, "SIGINT"],
        [50, "SIGINT"],
      ],
      ["SIGINT"],
    ],
    [
      "SIGINT and SIGTERM together are one",
      [
        [0, "SIGINT"],
        [1, "SIGTERM"],
      ],
      ["SIGINT"],
    ],
    [
      "typed again it is a second",
      [
        [0, "SIGINT"],
        [50, "SIGINT"],
        [1_000, "SIGINT"],
      ],
      ["SIGINT", "SIGINT"],
    ],
    [
      "SIGTERM after a while is a second",
      [
        [0, "SIGHUP"],
        [5_000, "SIGTERM"],
      ],
      ["SIGHUP", "SIGTERM"],
    ],
    [
      "a terminal that closes later is none",
      [
        [0, "SIGINT"],
        [5_000, "SIGHUP"],
        [6_000, "SIGQUIT"],
      ],
      ["SIGINT"],
    ],
    [
      "nor is a reader who leaves",
      [
        [0, "SIGHUP"],
        [1, "EPIPE"],
        [5_000, "EPIPE"],
      ],
      ["SIGHUP"],
    ],
  ])("%s", (_, story, expected) => {
    const { io, signals, stdout, clock } = stage();
    const heard: string[] = [];
    io.onStop((reason) => heard.push(reason));
    for (const [at, what] of story) {
      clock.advanceTo(at);
      if (what === "EPIPE") stdout.emit("error", Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
      else signals.emit(what, what);
    }
    expect(heard).toEqual(expected);
  });

  it("once asked to stop, is not ended by a signal between two steps; left behind, it is by one that is typed again", () => {
    const { io, signals, clock, killed } = stage();
    io.onStop(() => undefined)();
    expect(signals.listenerCount("SIGTERM")).toBe(0);
    const leave = io.onStop(() => undefined);
    signals.emit("SIGINT", "SIGINT");
    leave();
    signals.emit("SIGTERM", "SIGTERM");
    signals.emit("SIGHUP", "SIGHUP");
    expect([signals.listenerCount("SIGTERM"), killed]).toEqual([1, []]);
    clock.advanceTo(1_500);
    signals.emit("SIGTERM", "SIGTERM");
    expect([signals.listenerCount("SIGTERM"), killed]).toEqual([0, [[7, "SIGTERM"]]]);
  });

  it("hears signals only while something can be stopped", () => {
    const { io, signals } = stage();
    const heard: string[] = [];
    expect(signals.listenerCount("SIGINT")).toBe(0);
    const leave = [
      io.onStop((reason) => heard.push(`first ${reason}`)),
      io.onStop((reason) => heard.push(`second ${reason}`)),
    ];
    leave[0]?.();
    signals.emit("SIGTERM", "SIGTERM");
    expect(heard).toEqual(["second SIGTERM"]);
  });

  it("is the one place that listens to signals, and commands that run an engine ask for it in one way", () => {
    const root = new URL("../../../", import.meta.url);
    const texts = ["src/cli", "plugins"].flatMap((folder) =>
      readdirSync(new URL(folder, root), { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".ts"))
        .map((name) => [`${folder}/${name}`, readFileSync(new URL(`${folder}/${name}`, root), "utf8")] as const),
    );
    const using = (words: RegExp): readonly string[] =>
      texts
        .filter(([, text]) => words.test(text))
        .map(([name]) => name)
        .sort();
    // A plugin whose folder was removed is left out.
    const present = (...paths: readonly string[]): readonly string[] =>
      paths.filter((path) => texts.some(([name]) => name === path));
    // The plugin that rotates files of logs opens them again on a signal; it stops nothing.
    expect(using(/\.(on|once|addListener)\(\s*("SIG|signal)/)).toEqual(
      present("plugins/log/index.ts", "src/cli/io.ts"),
    );
    expect(using(/listenForStop\(io/)).toEqual(
      present("plugins/watchdog/command.ts", "src/cli/close.ts", "src/cli/run-engine.ts", "src/cli/run.ts"),
    );
    expect(using(/onStop\(/)).toEqual(
      present(
        "plugins/ccxt/command.ts",
        "plugins/conformance/check-command.ts",
        "plugins/conformance/doctor-command.ts",
        "plugins/import/command.ts",
        "plugins/playback/command.ts",
        "plugins/playback/ui-engines.ts",
        "plugins/simulate/command.ts",
        "plugins/sweep/sweep-command.ts",
        "plugins/sweep/worker-command.ts",
        "plugins/venue-server/command.ts",
        "src/cli/io.ts",
        "src/cli/shutdown-signals.ts",
      ),
    );
  });

  it.each([
    ["both streams are terminals", { isTTY: true }, { isTTY: true }, true],
    ["results go into a pipe", {}, { isTTY: true }, false],
    ["messages go into a file", { isTTY: true }, {}, false],
  ])("a person watches where %s", (_, out, err, expected) => expect(stage(out, err).io.isTty).toBe(expected));

  it.each([
    ["the terminal's", { columns: 132 }, { COLUMNS: "90" }, 132],
    ["of a terminal that knows none, COLUMNS", { columns: 0 }, { COLUMNS: "90" }, 90],
    ["the variable's", {}, { COLUMNS: "90" }, 90],
    ["a default", {}, {}, 100],
    ["a default for none at all", {}, { COLUMNS: "0" }, 100],
    ["a default for nonsense", {}, { COLUMNS: "wide" }, 100],
  ])("columns are %s", (_, out, env, expected) => expect(stage(out, {}, env).io.columns).toBe(expected));
});

describe("Colour on the command line:", () => {
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
