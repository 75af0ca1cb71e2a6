/**
 * An engine as a service: the start command of the container and of the unit without either, what supervisors ask it, and the files
 * that describe containers and units.
 */
import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv } from "ajv";
import { afterEach, describe, expect, it } from "vitest";
import { usageProblem } from "../support/doc-commands.ts";
import { freePort } from "../support/harness/free-port.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = temporaryFolder("service");

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

/** Nobody's rights where there are more: a service needs none. */
const rights = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const sluice = join(root, "src/cli/sluice.mjs");

describe("The start command of a service", () => {
  it("runs without rights in a folder that it cannot write, answers its supervisors, and ends in order at SIGTERM", {
    timeout: 120_000,
  }, async () => {
    const [app, state, run] = ["app", "state", "run"].map((name) => join(folder, name)) as [string, string, string];
    for (const path of [app, state, run]) mkdirSync(path, { recursive: true, mode: 0o777 });
    for (const path of [folder, state, run]) chmodSync(path, 0o777);
    // Where a container has its config mounted, an import of the package leads to node_modules.
    mkdirSync(join(app, "config"));
    // As it is, but for its name: engines of other tests run on this machine, too.
    const config = readFileSync(join(root, "docker/config/service.ts"), "utf8");
    writeFileSync(
      join(app, "config/service.ts"),
      config.replace("  journal:", `  instance: "test${process.pid}",\n  journal:`),
    );
    for (const path of [join(app, "config"), app]) chmodSync(path, 0o555);
    const port = await freePort();
    const env = {
      PATH: process.env["PATH"],
      TMPDIR: run,
      NO_COLOR: "1",
      SLUICE_STATE: state,
      SLUICE_RUN: run,
      SLUICE_METRICS_PORT: `${port}`,
    };
    const child = spawn(process.execPath, [sluice, "run", "config/service.ts"], { cwd: app, env, ...rights });
    children.push(child);
    let said = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => (said += text));
    const ended = new Promise<readonly unknown[]>((resolve) => child.once("exit", (...how) => resolve(how)));
    const sign = join(run, "health.json");
    const ask = (): Promise<readonly unknown[]> =>
      new Promise((resolve) => {
        execFile(process.execPath, [sluice, "health", sign], { cwd: app, env, ...rights }, (error, out, err) =>
          resolve([error?.code ?? 0, out + err]),
        );
      });
    await expect.poll(() => existsSync(sign) || said.includes("error"), { timeout: 60_000, interval: 100 }).toBe(true);
    expect(existsSync(sign), said).toBe(true);
    expect(await ask()).toEqual([0, "The engine does well.\n"]);
    const page = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    expect(page).toContain('sluice_strategy_up{strategy="join-best"} 1');
    expect(page).toContain("sluice_journal_up 1");
    child.kill("SIGTERM");
    const [code, signal] = await ended;
    expect([code, signal], said).toEqual([0, null]);
    expect(said).toContain("Stopping: SIGTERM");
    expect(readdirSync(join(state, "journal")).length).toBeGreaterThan(0);
    expect(readdirSync(app)).toEqual(["config"]);
    expect((await ask())[0]).toBe(1);
    for (const path of [app, join(app, "config")]) chmodSync(path, 0o755);
  });
});

/** Instructions of a Dockerfile, continued lines joined. */
const instructions = readFileSync(join(root, "docker/Dockerfile"), "utf8")
  .replaceAll(/\\\n/g, " ")
  .split("\n")
  .filter((line) => line.trim() !== "" && !line.startsWith("#"))
  .map((line) => /^([A-Z]+) (.*)$/.exec(line)?.slice(1) as [string, string]);

describe("The Dockerfile", () => {
  const last = instructions.slice(instructions.findLastIndex(([word]) => word === "FROM"));
  const of = (word: string): string => last.find(([name]) => name === word)?.[1] ?? "";

  it("has instructions that there are, in stages that copy from each other only what came before", () => {
    expect(
      instructions.every(([word]) =>
        /^(FROM|WORKDIR|COPY|RUN|ENV|USER|VOLUME|EXPOSE|STOPSIGNAL|HEALTHCHECK|ENTRYPOINT|CMD)$/.test(word),
      ),
    ).toBe(true);
    const stages: string[] = [];
    for (const [word, text] of instructions) {
      if (word === "FROM") stages.push(/ AS (\w+)$/.exec(text)?.[1] ?? "last");
      const from = /--from=(\w+)/.exec(text)?.[1];
      if (word === "COPY" && from !== undefined) expect(stages.slice(0, -1)).toContain(from);
    }
    expect(stages).toEqual(["build", "install", "last"]);
    const scripts = (
      JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
        readonly scripts: Readonly<Record<string, string>>;
      }
    ).scripts;
    for (const [, text] of instructions)
      for (const [, name = ""] of text.matchAll(/npm run (\S+)/g)) expect(scripts).toHaveProperty([name]);
  });

  it("installs what the configs and commands of both compose files need, in the versions that they ask for", () => {
    const peers = (
      JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
        readonly peerDependencies: Readonly<Record<string, string>>;
      }
    ).peerDependencies;
    const installed = [
      ...(instructions.find(([, text]) => text.startsWith("npm install"))?.[1] ?? "").matchAll(/ ([\w-]+)@(\d+)/g),
    ];
    expect(installed.map(([, name]) => name)).toEqual(["rxjs", "prom-client", "pino", "ioredis", "bullmq"]);
    for (const [, name = "", version] of installed) expect(peers[name]?.replace(/^\^/, "").split(".")[0]).toBe(version);
  });

  it("makes its folder one of modules, as configs are", () => {
    expect(instructions.some(([word, text]) => word === "RUN" && text.includes("npm pkg set type=module"))).toBe(true);
  });

  it("runs without rights, stops by a signal, and is asked by a command that there is", async () => {
    expect(of("USER")).toBe("node");
    expect(of("STOPSIGNAL")).toBe("SIGTERM");
    expect(last.findIndex(([word]) => word === "USER")).toBeGreaterThan(last.findLastIndex(([word]) => word === "RUN"));
    const [probe, entry, command] = [/CMD (\[.*\])$/.exec(of("HEALTHCHECK"))?.[1], of("ENTRYPOINT"), of("CMD")].map(
      (text) => JSON.parse(text ?? "") as string[],
    ) as [string[], string[], string[]];
    expect(probe.slice(0, 2)).toEqual(entry);
    expect(existsSync(join(root, (entry[1] as string).replace("node_modules/sluice/", "")))).toBe(true);
    expect(await usageProblem(probe.slice(2))).toBeUndefined();
    expect(await usageProblem(command)).toBeUndefined();
    expect(existsSync(join(root, "docker", command[1] as string))).toBe(true);
  });
});

type Yaml = string | readonly Yaml[] | { readonly [key: string]: Yaml };

/** The part of YAML that these files use: maps and lists by indentation, lists and maps on a line as JSON, plain text. */
const yamlOf = (text: string): Yaml => {
  const lines = text.split("\n").filter((line) => line.trim() !== "" && !line.trim().startsWith("#"));
  const depthOf = (line: string): number => line.length - line.trimStart().length;
  const scalar = (value: string): Yaml => (/^["[{]/.test(value) ? (JSON.parse(value) as Yaml) : value);
  const block = (depth: number): Yaml => {
    const [first = ""] = lines;
    if (first.trimStart().startsWith("- ")) {
      const list: Yaml[] = [];
      while (lines[0] !== undefined && depthOf(lines[0]) === depth && lines[0].trimStart().startsWith("- ")) {
        const item = (lines[0] as string).trimStart().slice(2);
        if (/^[\w.-]+:( |$)/.test(item)) {
          lines[0] = `${" ".repeat(depth + 2)}${item}`;
          list.push(block(depth + 2));
        } else list.push(scalar((lines.shift() as string).trim().slice(2)));
      }
      return list;
    }
    const map: Record<string, Yaml> = {};
    while (lines[0] !== undefined && depthOf(lines[0]) === depth) {
      const [, key = "", value = ""] = /^([\w.-]+):\s*(.*)$/.exec((lines.shift() as string).trim()) ?? [];
      expect(key, `a line that is no part of a map, before ${lines[0] ?? "the end"}`).not.toBe("");
      const deeper = lines[0] !== undefined && depthOf(lines[0]) > depth;
      map[key] = value !== "" ? scalar(value) : deeper ? block(depthOf(lines[0] as string)) : "";
    }
    return map;
  };
  const whole = block(0);
  expect(lines).toEqual([]);
  return whole;
};

interface Service {
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly image: string;
  readonly command?: readonly string[];
  readonly read_only?: string;
  readonly volumes: readonly string[];
  readonly tmpfs?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

const docker = join(root, "docker");
const readCompose = (file: string): Compose => yamlOf(readFileSync(join(docker, file), "utf8")) as unknown as Compose;

describe.each(["compose.yaml", "group.compose.yaml"])("The compose file %s", (file) => {
  const compose = readCompose(file);

  it("mounts files that exist and volumes that it declares", () => {
    for (const [name, { volumes }] of Object.entries(compose.services)) {
      for (const volume of volumes) {
        const [from = "", to] = volume.split(":");
        expect(to, `${name}: ${volume}`).toMatch(/^\//);
        if (from.startsWith(".")) expect(existsSync(join(docker, from)), `${name}: ${volume}`).toBe(true);
        else expect(Object.keys(compose.volumes), `${name}: ${volume}`).toContain(from);
      }
    }
  });

  it("gives each container whose file system is read-only a place for its temporary files and its health", () => {
    const temporary = /TMPDIR=(\S+)/.exec(instructions.map(([, text]) => text).join(" "))?.[1] ?? "none";
    for (const [name, { image, read_only, volumes, tmpfs = [] }] of Object.entries(compose.services)) {
      if (image !== "sluice" || read_only !== "true") continue;
      const writable = [
        ...volumes.filter((volume) => !volume.endsWith(":ro")).map((volume) => volume.split(":")[1]),
        ...tmpfs.map((one) => one.split(":")[0]),
      ];
      expect(writable, name).toContain(temporary);
    }
  });

  it("has no key and no value that the compose specification does not know", () => {
    const texts = { type: "array", items: { type: "string" } };
    const flag = { enum: ["true", "false"] };
    const closed = { type: "object", additionalProperties: false };
    const service = {
      ...{ ...closed, required: ["image", "restart"] },
      properties: {
        build: { ...closed, properties: { context: { type: "string" }, dockerfile: { type: "string" } } },
        image: { type: "string", pattern: "^[a-z0-9/.-]+(:[\\w.-]+)?$" },
        command: texts,
        profiles: texts,
        ports: texts,
        volumes: texts,
        tmpfs: texts,
        cap_drop: texts,
        security_opt: texts,
        env_file: texts,
        environment: { type: "object", additionalProperties: { type: "string" } },
        init: flag,
        read_only: flag,
        restart: { enum: ["no", "always", "on-failure", "unless-stopped"] },
        stop_grace_period: { type: "string", pattern: "^\\d+(s|m)$" },
        mem_limit: { type: "string", pattern: "^\\d+[bkmg]$" },
        healthcheck: { ...closed, properties: { disable: flag } },
      },
    };
    const options = { type: "object", additionalProperties: { type: "string" } };
    const volume = { anyOf: [{ const: "" }, { ...closed, properties: { driver_opts: options } }] };
    const schema = {
      ...{ ...closed, required: ["services", "volumes"] },
      properties: {
        services: { type: "object", additionalProperties: service },
        volumes: { type: "object", additionalProperties: volume },
      },
    };
    const check = new Ajv().compile(schema);
    check(compose);
    expect(check.errors ?? []).toEqual([]);
  });

  it("starts commands that there are, with configs that there are", async () => {
    for (const [name, { image, command = [] }] of Object.entries(compose.services)) {
      if (image !== "sluice") continue;
      expect(await usageProblem(command), name).toBeUndefined();
      const config = command.find((word) => word.startsWith("config/"));
      if (config !== undefined) expect(existsSync(join(docker, config)), `${name}: ${config}`).toBe(true);
    }
  });
});

describe("The compose file", () => {
  const compose = readCompose("compose.yaml");

  it("starts commands that there are, from a Dockerfile that there is", async () => {
    const { engine, watchdog } = compose.services as Readonly<Record<"engine" | "watchdog", Service>>;
    expect(existsSync(join(docker, engine.build?.context ?? "", engine.build?.dockerfile ?? ""))).toBe(true);
    expect(watchdog.image).toBe(engine.image);
    for (const { command = [] } of [engine, watchdog]) {
      expect(await usageProblem(command)).toBeUndefined();
      expect(existsSync(join(docker, command[1] as string))).toBe(true);
    }
  });

  it("lets Prometheus and Grafana find each other, the engine and the dashboard", () => {
    const scraped = readFileSync(join(docker, "prometheus/prometheus.yml"), "utf8");
    const [, host = "", port = ""] = /targets: \["(\w+):(\d+)"\]/.exec(scraped) ?? [];
    expect(Object.keys(compose.services)).toContain(host);
    expect(instructions).toContainEqual(["EXPOSE", port]);
    expect(readFileSync(join(docker, "config/service.ts"), "utf8")).toContain(`SLUICE_METRICS_PORT = "${port}"`);
    const source = yamlOf(readFileSync(join(docker, "grafana/provisioning/datasources/prometheus.yaml"), "utf8")) as {
      readonly datasources: readonly { readonly uid: string; readonly url: string }[];
    };
    expect(Object.keys(compose.services)).toContain(new URL(source.datasources[0]?.url ?? "").hostname);
    expect(readFileSync(join(docker, "grafana/dashboard.json"), "utf8")).toContain(
      `"uid": "${source.datasources[0]?.uid}"`,
    );
    const found = yamlOf(readFileSync(join(docker, "grafana/provisioning/dashboards/sluice.yaml"), "utf8")) as {
      readonly providers: readonly { readonly options: { readonly path: string } }[];
    };
    expect(
      compose.services["grafana"]?.volumes.some((volume) =>
        volume.split(":")[1]?.startsWith(`${found.providers[0]?.options.path}/`),
      ),
    ).toBe(true);
  });
});

describe("The units for systemd", () => {
  const unit = (name: string): ReadonlyMap<string, string> =>
    new Map(
      readFileSync(join(root, "docker/systemd", name), "utf8")
        .split("\n")
        .flatMap((line) =>
          /^[A-Z]\w*=/.test(line)
            ? [[line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)] as const]
            : [],
        ),
    );

  it.each(["sluice.service", "sluice-watchdog.service"])(
    "%s starts a command that there is, without rights",
    async (name) => {
      const settings = unit(name);
      const words = settings.get("ExecStart")?.split(" ") ?? [];
      expect(words.slice(0, 2)).toEqual(["/usr/bin/node", "node_modules/sluice/src/cli/sluice.mjs"]);
      expect(await usageProblem(words.slice(2))).toBeUndefined();
      for (const key of ["User", "ProtectSystem", "NoNewPrivileges", "RuntimeDirectory"])
        expect(settings.has(key), key).toBe(true);
      expect([settings.get("KillSignal"), settings.get("CapabilityBoundingSet")]).toEqual(["SIGTERM", ""]);
    },
  );

  // It looks whether the command of a unit is there.
  it.skipIf(!["/usr/bin/systemd-analyze", "/usr/bin/node"].every(existsSync))(
    "are taken by systemd without a word",
    () => {
      const files = ["sluice.service", "sluice-watchdog.service"].map((name) => join(root, "docker/systemd", name));
      const { status, stdout, stderr } = spawnSync("/usr/bin/systemd-analyze", ["verify", "--man=no", ...files], {
        encoding: "utf8",
      });
      expect([status, stdout, stderr]).toEqual([0, "", ""]);
    },
  );

  it("protect the machine from both alike", () => {
    const guards = (name: string) =>
      [...unit(name)].filter(([key]) => /^(Protect|Private|Restrict|Lock|NoNew|SystemCall|Capability|UMask)/.test(key));
    const [engine, watchdog] = [guards("sluice.service"), guards("sluice-watchdog.service")];
    expect(engine).toEqual(watchdog);
    expect(watchdog.length).toBeGreaterThan(15);
  });

  it("let the engine and its watchdog meet in one folder", () => {
    const [engine, watchdog] = [unit("sluice.service"), unit("sluice-watchdog.service")];
    for (const settings of [engine, watchdog])
      expect(settings.get("Environment")).toContain(`TMPDIR=/run/${settings.get("RuntimeDirectory")}`);
    expect(engine.get("User")).toBe(watchdog.get("User"));
  });
});
