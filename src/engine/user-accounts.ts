/**
 * The branches of an engine: one for each user of its service.
 *
 * Invariants: at least one; a strategy that names a user the service does not have is refused before anything is asked.
 */

import type { OpenService } from "../client/service-port.ts";
import { didYouMean, SluiceError } from "../errors.ts";
import { type Branch, type BranchParts, createBranch } from "./user-account.ts";

export interface Branches {
  readonly first: Branch;
  readonly all: readonly Branch[];
  /** The user's branch, the first one's where none is named. */
  readonly of: (uid: string | undefined, asker: string) => Branch;
}

/** One for each user, the first of them reading the products for all. */
export const createBranches = (parts: BranchParts, { users }: OpenService): Branches => {
  const [user, ...others] = users;
  if (user === undefined) throw new SluiceError("CONFIG_INVALID", "config.service opened without a user. Give it at least one.");
  const first = createBranch(parts, user);
  const all = [first, ...others.map((other) => createBranch(parts, other, first.resources.instruments))];
  const byUid = new Map(all.map((branch) => [branch.user.uid, branch]));
  const of = (uid: string | undefined, asker: string): Branch => {
    const branch = uid === undefined ? first : byUid.get(uid);
    if (branch !== undefined) return branch;
    const uids = [...byUid.keys()];
    throw new SluiceError(
      "CONFIG_INVALID",
      `${asker}: the service has no user "${uid}"; it has ${uids.join(", ")}.${didYouMean(uid ?? "", uids)}`,
    );
  };
  for (const { name, user: uid } of parts.config.strategies) of(uid, `strategy "${name}"`);
  return { first, all, of };
};
