/**
 * Body of a request to act: read whole, within a size and a time, and parsed.
 *
 * Invariants: nothing past the bound is kept; a body that does not come is given up; text that is not UTF-8, or that
 * names a field twice, is no JSON.
 */
import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { type Clock, strictJson } from "sluice/extension";
import { bodyBytesMax } from "./request-guard.ts";

const bodyMsMax = 5_000;

type Body =
  | { readonly kind: "json"; readonly value: unknown }
  | { readonly kind: "large" }
  | { readonly kind: "slow" }
  | { readonly kind: "broken"; readonly problem: string };

export const readBody = (incoming: IncomingMessage, clock: Clock): Promise<Body> =>
  new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const end = (body: Body): void => {
      timer.cancel();
      incoming.off("data", take);
      // What still comes is let by, for the answer to get out.
      incoming.on("error", () => undefined);
      if (body.kind !== "json") incoming.resume();
      resolve(body);
    };
    const take = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > bodyBytesMax) end({ kind: "large" });
      else chunks.push(chunk);
    };
    const timer = clock.setTimer(clock.now() + bodyMsMax, () => end({ kind: "slow" }));
    incoming.on("data", take);
    incoming.once("end", () => end(parsed(Buffer.concat(chunks))));
    incoming.once("error", () => end({ kind: "broken", problem: "did not come." }));
    incoming.once("close", () => end({ kind: "broken", problem: "did not come." }));
  });

const parsed = (bytes: Buffer): Body => {
  if (!isUtf8(bytes)) return { kind: "broken", problem: "is not UTF-8." };
  const read = strictJson(bytes.toString("utf8"));
  return "problem" in read ? { kind: "broken", ...read } : { kind: "json", value: read.value };
};
