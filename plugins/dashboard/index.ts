/**
 * Control port of the engine: a page in the browser and an API that watch and steer it. The link is printed when it listens, with a token
 * that is new at each start. What it may be asked and who may ask: docs/guides/control.md.
 */
import { definePlugin } from "sluice";
import { controlOptions, openControlRoom } from "sluice/control";

export default definePlugin({
  name: "dashboard",
  options: controlOptions,
  setup: (context) => openControlRoom(context),
});
