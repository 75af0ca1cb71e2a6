/**
 * Startup check of a watchdog: whether an engine with the same config sends heartbeats to the address at which this
 * watchdog listens.
 *
 * Invariants: both addresses are derived by the code that the processes use; where the engine's config cannot be read,
 * as its keys are not available here, only the watchdog's own side is checked.
 * Not here: whether an engine runs at all (heartbeat-monitor.ts).
 */
import { SluiceError } from "sluice";
import { createContract } from "sluice/dialect";
import { type CheckedConfig, checkConfig, createRandom } from "sluice/extension";
import { watchdogIn } from "./configured.ts";
import { type IpcAddress, ipcAddressOf } from "./ipc-address.ts";

interface HeartbeatCheck {
  /** The config file, as people type it. */
  readonly path: string;
  /** The config as the watchdog reads it. */
  readonly config: unknown;
  /** As `sluice run` reads it; undefined where it cannot be read here. */
  readonly engine: unknown;
}

export const checkHeartbeat = ({ path, config: own, engine: theirs }: HeartbeatCheck): void => {
  const config = checkConfig(own);
  const engine = theirs === undefined ? config : checkConfig(theirs);
  if (watchdogIn(engine) === undefined) {
    const which = watchdogIn(config) === undefined ? "" : " as `sluice run` reads it";
    throw new SluiceError(
      "CONFIG_INVALID",
      `${path}${which} has no plugin "watchdog", so its engine sends no heartbeat and nothing would be protected. Add watchdog({}) of sluice/plugins/watchdog to its plugins and restart the engine, or start the engine with \`sluice run ${path} --watchdog\`.`,
    );
  }
  if (engine === config) return;
  const differences = differencesOf(meetingIn(engine), meetingIn(config));
  if (differences.length === 0) return;
  throw new SluiceError(
    "CONFIG_INVALID",
    `${path}: the watchdog would not receive the heartbeat of its engine: ${differences.join("; ")}. Make them the same for both commands.`,
  );
};

/** Opens the service for its list of users; no request is sent. */
const meetingIn = (config: CheckedConfig): IpcAddress => {
  const ignore = (): undefined => undefined;
  const contract = createContract(config.profile);
  const env = { contract, random: createRandom(config.seed), onError: ignore, onAnomaly: ignore, leave: ignore };
  return ipcAddressOf(config, watchdogIn(config) ?? {}, config.service.open(env).users);
};

const differencesOf = (engine: IpcAddress, watchdog: IpcAddress): readonly string[] =>
  (
    [
      ["service", engine.service, watchdog.service],
      ["the list of users", engine.users.join(", "), watchdog.users.join(", ")],
      ["instance", engine.instance, watchdog.instance],
      ["dir of the watchdog", engine.dir ?? "", watchdog.dir ?? ""],
    ] as const
  )
    .filter(([, there, here]) => there !== here)
    .map(([name, there, here]) => `${name} is "${there}" for \`sluice run\` and "${here}" for \`sluice watchdog\``);
