/**
 * Positions of an account in base currency, for every unit of the service.
 *
 * Invariants: amounts are exact; records of a service that counts base currency are passed on unchanged; a contract
 * value that was once listed stays known, because a position may outlive the trading of its instrument; a contract
 * value that was never listed is reported once for each instrument.
 */
import { instTypeOf } from "../../contract/inst-id.ts";
import type { Profile } from "../../contract/profile.ts";
import type { InstrumentRecord, PositionRecord } from "../../contract/schemas.ts";
import { mul } from "../../decimal.ts";
import type { EventLog } from "../../journal/event-log.ts";

/**
 * A position of the account: the service's record, with `pos` in base currency, positive when long and negative when
 * short.
 */
export interface AccountPosition extends PositionRecord {
  /** The position in contracts, as the service lists it. Left out if the service lists base currency. */
  readonly contracts?: string;
}

export class ContractValues {
  readonly #profile: Profile;
  readonly #journal: EventLog;
  readonly #values = new Map<string, string>();
  readonly #reported = new Set<string>();

  constructor(profile: Profile, journal: EventLog) {
    this.#profile = profile;
    this.#journal = journal;
  }

  /** Takes the contract values from a list of instruments, including instruments that cannot be traded now. */
  learn(instruments: readonly InstrumentRecord[]): void {
    for (const { instId, contractValue = "1" } of instruments) this.#values.set(instId, contractValue);
  }

  /**
   * True once positions can be converted: at the latest when a service that counts contracts has listed its
   * instruments.
   */
  get isKnown(): boolean {
    return this.#profile.order.szUnit.SWAP !== "contracts" || this.#values.size > 0;
  }

  positionsOf(records: readonly PositionRecord[]): readonly AccountPosition[] {
    return this.#profile.order.szUnit.SWAP === "contracts" ? records.map((record) => this.#inBase(record)) : records;
  }

  #inBase(record: PositionRecord): AccountPosition {
    const { instId, pos } = record;
    if (instTypeOf(instId) !== "SWAP") return record;
    const value = this.#values.get(instId);
    if (value === undefined) this.#report(instId);
    // All readers share the record, so none may change it.
    return Object.freeze({ ...record, pos: mul(pos, value ?? "1"), contracts: pos });
  }

  #report(instId: string): void {
    if (this.#reported.has(instId)) return;
    this.#reported.add(instId);
    const detail = `${instId}: the service has listed no contract value, so the account's position of it is shown in contracts`;
    this.#journal.append({ type: "anomaly", what: "position.unit", detail });
  }
}
