/**
 * `sluice run --ui-read-only`: the control port of `--ui` without actions.
 *
 * Not here: the port (run-option.ts), which reads this option.
 */
import { SluiceError } from "sluice";
import { defineRunOption } from "sluice/extension";

export default defineRunOption({
  configure: (config, _, { ui }) => {
    if (ui === undefined) throw new SluiceError("USAGE", "--ui-read-only goes with --ui.");
    return config;
  },
});
