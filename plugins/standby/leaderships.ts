/**
 * Leaders of a group, read from its store for people.
 */
import { firstValueFrom } from "rxjs";
import { after, createSystemClock } from "sluice/extension";
import type { Leadership } from "./lease-store.ts";
import { RedisLeaseStore } from "./redis-lease-store.ts";

const connectAttempts = 20;
const connectMs = 100;

/** Reads who leads in the group, of each instance; asks for two seconds while the connection is made. */
export const readLeaderships = async (url: string, group: string): Promise<readonly Leadership[]> => {
  const store = await RedisLeaseStore.open(url, group, "");
  try {
    for (let attempt = 1; ; attempt++) {
      try {
        return await store.leaderships();
      } catch (error) {
        if (attempt === connectAttempts) throw error;
      }
      await firstValueFrom(after(createSystemClock(), connectMs));
    }
  } finally {
    store.close();
  }
};
