/**
 * The control port as a plugin of a run that asks for one on its command line.
 *
 * Invariants: nothing of it is loaded without `--ui`; a config that has the plugin itself keeps its own.
 */
import { InvalidArgumentError } from "commander";
import { SluiceError } from "../errors.ts";
import { pluginsIn } from "../host/config.ts";

export interface DashboardFlags {
  /** A port, or true for a free one. */
  readonly ui?: number | true;
  readonly uiReadOnly?: true;
}

const portMax = 65_535;

export const portOf = (text: string): number => {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= portMax) return port;
  throw new InvalidArgumentError(`Write a port up to ${portMax}, or --ui after the config.`);
};

/** The config with a control port among its plugins, where the command line asks for one. */
export const withDashboard = async <T extends object>(config: T, { ui, uiReadOnly }: DashboardFlags): Promise<T> => {
  if (ui === undefined && uiReadOnly === undefined) return config;
  if (ui === undefined) throw new SluiceError("USAGE", "--ui-read-only goes with --ui.");
  const plugins = pluginsIn(config);
  if (plugins.some(({ name }) => name === "dashboard")) {
    throw new SluiceError("USAGE", "--ui: the config has the plugin dashboard already. Leave --ui out.");
  }
  const [{ controlOptions, openControlRoom }, { definePlugin }] = await Promise.all([
    import("../control.ts"),
    import("../host/define.ts"),
  ]);
  const dashboard = definePlugin({
    name: "dashboard",
    options: controlOptions,
    setup: (context) => openControlRoom(context),
  });
  return { ...config, plugins: [...plugins, dashboard({ port: ui === true ? 0 : ui, readOnly: uiReadOnly === true })] };
};
