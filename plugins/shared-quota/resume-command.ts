/**
 * Command that ends the halt of a group, for people.
 *
 * Invariants: it holds no password of the store's address.
 */
import { shownAddress } from "sluice/plugins/redis";
import type { SharedQuotaSettings } from "./options.ts";

/** Writes `sluice halt … --resume` for the group of an engine, as a shell takes it. */
export const resumeCommand = ({ store, group }: Pick<SharedQuotaSettings, "store" | "group">): string => {
  const address = typeof store === "string" ? shownAddress(store) : `env:${store.env}`;
  return `sluice halt --everywhere ${quoted(address)} --group ${quoted(group)} --resume`;
};

const quoted = (word: string): string => (/^[\w.:/,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
