/**
 * The service's bookkeeping as its description states it: the second opinion the client is held against.
 *
 * Invariants: nothing of `src` is used; a request passes address, key and user in this order; the call that would carry a user
 * over its weight is refused and blocks that user to the end of the minute; a refused call counts against its address only.
 */

export interface Caller {
  readonly ip: string;
  readonly uid: string | undefined;
  readonly key: string | undefined;
}

export interface Judgement {
  readonly refusedBy: "ip" | "key" | "uid" | undefined;
  readonly ipUsed: number;
  readonly keyUsed: number;
  readonly uidUsed: number;
  /** Weight of the user's minute that this client itself was granted, the present call left out. */
  readonly ownBefore: number;
}

export interface Limits {
  readonly ip: number;
  readonly key: number;
  readonly uid: number;
}

interface Tally {
  window: number;
  used: number;
  own: number;
  blocked: boolean;
}

export interface OracleMeter {
  /** Service instants never fall. `foreign` marks calls of somebody else under the same user. */
  judge(at: number, caller: Caller, weight: number, foreign: boolean): Judgement;
}

export const documentedLimits: Limits = { ip: 1200, key: 10, uid: 1200 };

export const createOracleMeter = (limits: Limits = documentedLimits): OracleMeter => {
  const tallies = new Map<string, Tally>();
  const tallyOf = (name: string, window: number): Tally => {
    const known = tallies.get(name);
    if (known !== undefined && known.window === window) return known;
    const fresh = { window, used: 0, own: 0, blocked: false };
    tallies.set(name, fresh);
    return fresh;
  };
  return {
    judge: (at, { ip, uid, key }, weight, foreign) => {
      const minute = Math.floor(at / 60_000);
      const address = tallyOf(`ip ${ip}`, minute);
      const second = tallyOf(`key ${key ?? `of ${ip}`}`, Math.floor(at / 1_000));
      const user = tallyOf(`uid ${uid ?? `of ${ip}`}`, minute);
      const ownBefore = user.own;
      const judged = (refusedBy: Judgement["refusedBy"]): Judgement => ({
        refusedBy,
        ipUsed: address.used,
        keyUsed: second.used,
        uidUsed: user.used,
        ownBefore,
      });
      address.used += 1;
      if (address.used > limits.ip) return judged("ip");
      if (key !== undefined && second.used + 1 > limits.key) return judged("key");
      if (uid !== undefined && (user.blocked || user.used + weight > limits.uid)) {
        user.blocked = true;
        return judged("uid");
      }
      second.used += 1;
      user.used += weight;
      if (!foreign) user.own += weight;
      return judged(undefined);
    },
  };
};
