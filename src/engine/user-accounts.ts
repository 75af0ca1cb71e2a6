/**
 * The branches of an engine: one for each user of its service.
 *
 * Invariants: at least one; a strategy that names a user the service does not have is refused before anything is asked.
 */

import type { OpenService } from "../client/service-port.ts";
import { didYouMean, SluiceError } from "../errors.ts";
import { createUserAccount, type UserAccount, type UserAccountParts } from "./user-account.ts";

export interface UserAccounts {
  readonly first: UserAccount;
  readonly all: readonly UserAccount[];
  /** The user's branch, the first one's where none is named. */
  readonly of: (uid: string | undefined, asker: string) => UserAccount;
}

/** One for each user, the first of them reading the products for all. */
export const createUserAccounts = (parts: UserAccountParts, { users }: OpenService): UserAccounts => {
  const [user, ...others] = users;
  if (user === undefined) throw new SluiceError("CONFIG_INVALID", "config.service opened without a user. Give it at least one.");
  const first = createUserAccount(parts, user);
  const all = [first, ...others.map((other) => createUserAccount(parts, other, first.resources.instruments))];
  const byUid = new Map(all.map((account) => [account.user.uid, account]));
  const of = (uid: string | undefined, asker: string): UserAccount => {
    const account = uid === undefined ? first : byUid.get(uid);
    if (account !== undefined) return account;
    const uids = [...byUid.keys()];
    throw new SluiceError(
      "CONFIG_INVALID",
      `${asker}: the service has no user "${uid}"; it has ${uids.join(", ")}.${didYouMean(uid ?? "", uids)}`,
    );
  };
  for (const { name, user: uid } of parts.config.strategies) of(uid, `strategy "${name}"`);
  return { first, all, of };
};
