/**
 * Control port of the engine: a page in the browser and an API that watch and steer it. The link is printed when it
 * listens, with a token that is new at each start. What it may be asked and who may ask: docs/guides/control.md.
 *
 * Invariants: a config loads none of the port's code; an engine in real time loads it before anything is opened.
 * Not here: the port, its page and its API (`sluice/plugins/control-room`).
 *
 * @module sluice/plugins/dashboard
 */
import { definePlugin } from "sluice";

const path = { type: "string", minLength: 1 } as const;

/** A definition for each use of the plugin, which holds the port's code once an engine has loaded it. */
const defined = () => {
  let port: typeof import("sluice/plugins/control-room") | undefined;
  return definePlugin({
    name: "dashboard",
    options: {
      type: "object",
      additionalProperties: false,
      properties: {
        port: {
          description: "Port to listen on; 0 takes a free one.",
          type: "integer",
          minimum: 0,
          maximum: 65535,
          default: 0,
        },
        host: {
          description:
            "Address to listen on. Any other than this machine's needs `tls` or `behindProxy`, and `tokenFile`.",
          type: "string",
          default: "127.0.0.1",
        },
        tls: {
          description: "Files of the certificate and its key, PEM.",
          type: "object",
          additionalProperties: false,
          required: ["cert", "key"],
          properties: { cert: { ...path, description: "Certificate." }, key: { ...path, description: "Its key." } },
        },
        names: {
          description: "Names under which browsers reach it, besides localhost.",
          type: "array",
          maxItems: 20,
          items: { type: "string", pattern: "^[A-Za-z0-9.-]{1,253}(:\\d{1,5})?$" },
          default: [],
        },
        behindProxy: {
          description: "A proxy in front of it ends TLS and is reached under `names`.",
          type: "boolean",
          default: false,
        },
        readOnly: {
          description: "No action is allowed: there is a reading token only.",
          type: "boolean",
          default: false,
        },
        tokenFile: {
          ...path,
          description: "A file with tokens of your own: the acting one, and on a second line the reading one.",
        },
        name: {
          description: "Name of the engine, where several are shown at one port.",
          type: "string",
          minLength: 1,
          maxLength: 60,
          pattern: "^[^\\u0000-\\u001f\\u007f/]*$",
        },
        account: {
          description: "Read balances and positions of the account while it runs; own fills are always shown.",
          type: "boolean",
          default: true,
        },
      },
    },
    extend: ({ service }) =>
      service.realTime
        ? {
            load: async () => {
              port = await import("sluice/plugins/control-room");
            },
          }
        : undefined,
    // At once: what happens from now on is shown.
    setup: (context) => {
      if (port !== undefined) return port.openControlRoom(context);
      context.print("dashboard: time is virtual here, so there is nothing to watch; it opens where time is real");
      return undefined;
    },
  });
};

/** Makes the plugin. */
export default Object.assign((...given: Parameters<ReturnType<typeof defined>>) => defined()(...given), {
  definition: defined().definition,
});
