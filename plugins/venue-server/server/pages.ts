/**
 * Pages of the server in addition to the service: an index for browsers, and documents for programs.
 *
 * Invariants: pages are made once and never change; they run no script and load nothing; they cost no quota, as they
 * are no part of the service.
 */
import { type Contract, type EndpointName, websocketLimits } from "sluice/dialect";
import type { Speech } from "./served-dialect.ts";

export interface Page {
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** By path; `documents` are shown as JSON. */
export const pagesOf = (
  contract: Contract,
  speech: Pick<Speech, "routes" | "socketPaths">,
  documents: Readonly<Record<string, unknown>>,
): ReadonlyMap<string, Page> => {
  const pages = Object.entries(documents).map(
    ([path, document]) => [path, pageOf("application/json", JSON.stringify(document, undefined, 2))] as const,
  );
  return new Map([
    ["/", pageOf("text/html; charset=utf-8", indexText(contract, speech, Object.keys(documents)))],
    ...pages,
  ]);
};

const pageOf = (type: string, text: string): Page => ({
  headers: {
    "content-type": type,
    "content-length": String(Buffer.byteLength(text)),
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
    "x-content-type-options": "nosniff",
  },
  text,
});

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

const rowOf = (cells: readonly (string | number)[], tag: "td" | "th" = "td"): string =>
  `<tr>${cells.map((cell) => `<${tag}>${escaped(String(cell))}</${tag}>`).join("")}</tr>`;

/** True where calls have a weight: an exchange with layers of its own counts calls in those. */
const hasWeights = ({ layers: { uid } }: Contract): boolean => Number.isFinite(uid.capacity);

/** Names of the layers that count calls of an endpoint. */
const layersText = ({ profile }: Contract, name: EndpointName): string =>
  profile.limits.extraLayers
    .filter(({ endpoints }) => endpoints === undefined || endpoints.includes(name))
    .map((layer) => layer.name)
    .join(", ");

/** The three layers where they bound anything, else those of the profile. */
const limitsText = (contract: Contract): string => {
  const { ip, key, uid } = contract.layers;
  return hasWeights(contract)
    ? `${ip.capacity} requests in ${ip.windowMs / 1_000} s for an address, ${key.capacity} in ${key.windowMs / 1_000} s for a key,
weight ${uid.capacity} in ${uid.windowMs / 1_000} s for a user`
    : contract.profile.limits.extraLayers
        .map(({ name, capacity, unit, windowMs }) => `${name} ${capacity} ${unit} in ${windowMs / 1_000} s`)
        .join(", ");
};

const indexText = (
  contract: Contract,
  { routes, socketPaths }: Pick<Speech, "routes" | "socketPaths">,
  documents: readonly string[],
): string => {
  const { endpoints, profile } = contract;
  const { permissions, websocket } = profile;
  const rows = [...routes].map(([route, name]) => {
    const { permission, weight } = endpoints[name];
    return rowOf([
      ...route.split(" "),
      name === "placeOrder" ? `${permissions.placeSwap}, spot: ${permissions.placeSpot}` : permission,
      hasWeights(contract) ? weight : layersText(contract, name),
    ]);
  });
  const channels = [...websocket.publicChannels, ...websocket.privateChannels].join(", ");
  return `<!doctype html>
<html lang="en"><head><title>Sluice venue</title>
<style>body{font:16px/1.5 sans-serif;margin:2em}td,th{text-align:left;padding:.1em 1.5em .1em 0}</style></head><body>
<h1>Sluice venue</h1>
<p>A service on this machine. No real money, no other network.</p>
<table>
${rowOf(["Method", "Path", "Permission", hasWeights(contract) ? "Weight" : "Counted by"], "th")}
${rows.join("\n")}
</table>
<p>Limits: ${escaped(limitsText(contract))}. Sockets: ${websocketLimits.connectionsPerIp} for an address,
${websocketLimits.subscriptionsPerConnection} subscriptions each.</p>
<p>WebSocket at ${escaped(socketPaths.join(", "))}: ${escaped(channels)}.</p>
${documents.map((path) => `<p><a href="${escaped(path)}">${escaped(path)}</a></p>`).join("\n")}
</body></html>
`;
};
