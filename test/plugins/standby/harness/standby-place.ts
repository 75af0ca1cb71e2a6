/**
 * One of the two processes of a standby group: started, heard, and ended by whoever tries takeovers.
 *
 * Not here: the service and the store that the two share (standby-trial.ts, partition-trial.ts).
 */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../..", import.meta.url));

export interface Report {
  readonly qty: string;
  readonly realised: string;
  readonly fees: string;
  readonly open: readonly { readonly clOrdId: string; readonly phase: string }[];
}

export interface Seen {
  readonly type: string;
  readonly at: number;
}

/** One place of the pair: a process after another, in one folder and with one key. */
export class StandbyPlace {
  readonly key: string;
  readonly events: Seen[] = [];
  report: Report | undefined;
  said = "";
  child: ChildProcess | undefined;
  exit: Promise<void> = Promise.resolve();
  readonly #config: string;
  readonly #env: NodeJS.ProcessEnv;

  constructor(name: string, config: string, env: NodeJS.ProcessEnv, dir: string) {
    this.#config = config;
    this.key = `key-${name}`;
    const credentials = {
      TRIAL_API_KEY: this.key,
      TRIAL_SECRET_KEY: `${this.key} secret`,
      TRIAL_PASSPHRASE: `${this.key} phrase`,
    };
    this.#env = { ...process.env, NO_COLOR: "1", ...env, ...credentials, TRIAL_NAME: name, TRIAL_DIR: join(dir, name) };
  }

  start(): void {
    const argv = [
      join(root, "src/cli/sluice.mjs"),
      "run",
      join("test/plugins/standby/configs", this.#config),
      "--json",
    ];
    const child = spawn(process.execPath, argv, { cwd: root, env: this.#env, stdio: ["ignore", "pipe", "pipe"] });
    this.child = child;
    this.report = undefined;
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (/"type":"(standby|engine)\./.test(line)) this.events.push(JSON.parse(line) as Seen);
    });
    createInterface({ input: child.stderr }).on("line", (line) => {
      const text = /REPORT (.*)$/.exec(line)?.[1];
      if (text === undefined) this.said = `${this.said}\n${line}`.slice(-2_000);
      else this.report = JSON.parse(text) as Report;
    });
    this.exit = new Promise((resolve) => child.once("exit", () => resolve()));
  }

  last(type: string, since = 0): Seen | undefined {
    return this.events.findLast((event) => event.type === type && event.at >= since);
  }
}
