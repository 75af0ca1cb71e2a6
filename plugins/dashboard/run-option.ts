/**
 * `sluice run --ui [port]`: the control port among the plugins of a run.
 *
 * Invariants: a config that has the plugin itself keeps its own.
 */
import { SluiceError } from "sluice";
import { defineRunOption, pluginsIn } from "sluice/extension";
import dashboard from "./index.ts";

const portMax = 65_535;

/** The option without a value takes a free port. */
const portOf = (value: unknown): number => {
  const port = value === true ? 0 : Number(value);
  if (port <= portMax) return port;
  throw new SluiceError("USAGE", `--ui: ${port} is no port. Write one up to ${portMax}.`);
};

export default defineRunOption({
  configure: (config, value, { uiReadOnly }) => {
    const port = portOf(value);
    const plugins = pluginsIn(config);
    if (plugins.some(({ name }) => name === "dashboard"))
      throw new SluiceError("USAGE", "--ui: the config has the plugin dashboard already. Leave --ui out.");
    return { ...config, plugins: [...plugins, dashboard({ port, readOnly: uiReadOnly === true })] };
  },
});
