/**
 * Pages the server shows beside the service: an index for browsers, and documents for programs.
 *
 * Invariants: pages are made once and never change; they run no script and load nothing; they cost no quota, as they are no part
 * of the service.
 */
import type { Contract } from "../../contract/contract.ts";
import { websocketLimits } from "../../contract/limits.ts";

export interface Page {
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** By path; `documents` are shown as JSON. */
export const pagesOf = (contract: Contract, documents: Readonly<Record<string, unknown>>): ReadonlyMap<string, Page> => {
  const pages = Object.entries(documents).map(
    ([path, document]) => [path, pageOf("application/json", JSON.stringify(document, undefined, 2))] as const,
  );
  return new Map([["/", pageOf("text/html; charset=utf-8", indexText(contract, Object.keys(documents)))], ...pages]);
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

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

const rowOf = (cells: readonly (string | number)[], tag: "td" | "th" = "td"): string =>
  `<tr>${cells.map((cell) => `<${tag}>${escaped(String(cell))}</${tag}>`).join("")}</tr>`;

const indexText = ({ endpoints, layers, profile }: Contract, documents: readonly string[]): string => {
  const { permissions, websocket } = profile;
  const rows = Object.entries(endpoints).map(([name, { method, path, permission, weight }]) =>
    rowOf([method, path, name === "placeOrder" ? `${permissions.placeSwap}, spot: ${permissions.placeSpot}` : permission, weight]),
  );
  const { ip, key, uid } = layers;
  const channels = [...websocket.publicChannels, ...websocket.privateChannels].join(", ");
  return `<!doctype html>
<html lang="en"><head><title>Sluice venue</title>
<style>body{font:16px/1.5 sans-serif;margin:2em}td,th{text-align:left;padding:.1em 1.5em .1em 0}</style></head><body>
<h1>Sluice venue</h1>
<p>A service on this machine. No real money, no other network.</p>
<table>
${rowOf(["Method", "Path", "Permission", "Weight"], "th")}
${rows.join("\n")}
</table>
<p>Limits: ${ip.capacity} requests in ${ip.windowMs / 1_000} s for an address, ${key.capacity} in ${key.windowMs / 1_000} s for a key,
weight ${uid.capacity} in ${uid.windowMs / 1_000} s for a user. Sockets: ${websocketLimits.connectionsPerIp} for an address,
${websocketLimits.subscriptionsPerConnection} subscriptions each.</p>
<p>WebSocket at ${escaped(websocket.path)}: ${escaped(channels)}.</p>
${documents.map((path) => `<p><a href="${escaped(path)}">${escaped(path)}</a></p>`).join("\n")}
</body></html>
`;
};
