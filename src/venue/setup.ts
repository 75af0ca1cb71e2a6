/**
 * Creates an exchange from options: users with their keys and money, fees, margin rules and products, each checked.
 *
 * Invariants: an invalid option is refused with its place and value before anything is opened; uids, key names and
 * products are
 * unique.
 * Not here: what can be asked of the service (venue.ts).
 */
import type { Contract } from "../contract/contract.ts";
import { SluiceError } from "../errors.ts";
import { type Account, createAccount, type Defaults } from "./account.ts";
import { Exchange } from "./exchange.ts";
import { type Fees, readSchedule } from "./fee-tiers.ts";
import type { VenueInstrument } from "./instrument.ts";
import { leverageDefaultOf, marginRulesOf } from "./margin-rules.ts";
import type { Silence } from "./market-silence.ts";
import { type Amount, readAmount } from "./money.ts";
import type { Matching } from "./queue-model.ts";
import type { KeyHolder } from "./request-handler.ts";

/** Key names are unique over all users. */
interface VenueKey {
  readonly name: string;
  readonly permissions: readonly string[];
}

interface VenueUser {
  readonly uid: string;
  readonly keys: readonly VenueKey[];
  /** Decimal text by currency. */
  readonly balances: Readonly<Record<string, string>>;
}

/** Options of `createVenue`. */
export interface VenueOptions {
  readonly contract: Contract;
  readonly instruments: readonly VenueInstrument[];
  readonly users: readonly VenueUser[];
  readonly fees: { readonly SPOT: Fees; readonly SWAP: Fees };
  /** False counts all requests and refuses none. */
  readonly enforceLimits: boolean;
  /**
   * Fill model of resting orders of a product. Default: by the displayed queue, with no look at
   * volumes.
   */
  readonly matching?: (instId: string) => Matching | undefined;
  /**
   * Spans without a price in the recorded market of a product, in time order: market orders that come then wait for the
   * next one.
   */
  readonly silences?: (instId: string) => readonly Silence[];
  readonly firstOrdId?: string;
}

/** Nineteen digits: more than a float can represent exactly. */
const firstOrdIdDefault = "1000000000000000001";

export const refuse = (message: string): never => {
  throw new SluiceError("CONFIG_INVALID", message);
};

const accountOf = ({ uid, balances }: VenueUser, defaults: Defaults): Account => {
  const amounts: Record<string, Amount> = {};
  for (const [currency, text] of Object.entries(balances)) {
    const amount = readAmount(text);
    if (amount === undefined || amount < 0n) {
      return refuse(
        `user ${uid}, balance ${currency}: ${JSON.stringify(text)} is not an amount. Write a decimal of at least 0 in a string.`,
      );
    }
    amounts[currency] = amount;
  }
  return createAccount(uid, amounts, defaults);
};

export const readUsers = ({
  users,
  contract: { profile },
}: VenueOptions): { accounts: Map<string, Account>; keys: Map<string, KeyHolder> } => {
  const accounts = new Map<string, Account>();
  const keys = new Map<string, KeyHolder>();
  const defaults = { leverageDefault: leverageDefaultOf(profile), modeDefault: profile.margin.modeDefault };
  for (const user of users) {
    if (accounts.has(user.uid)) refuse(`user ${user.uid} is listed twice. Give every user its own uid.`);
    const account = accountOf(user, defaults);
    accounts.set(user.uid, account);
    for (const { name, permissions } of user.keys) {
      if (keys.has(name)) refuse(`key ${name} is listed twice. Key names are unique over all users.`);
      keys.set(name, { account, permissions: new Set(permissions), caller: undefined });
    }
  }
  return { accounts, keys };
};

export const createExchange = (options: VenueOptions, accounts: ReadonlyMap<string, Account>): Exchange => {
  const firstOrdId = options.firstOrdId ?? firstOrdIdDefault;
  if (!/^\d{1,19}$/.test(firstOrdId))
    refuse(`firstOrdId: ${JSON.stringify(firstOrdId)} is not an order id. Write up to 19 digits.`);
  const { contract, fees, matching = () => undefined, silences = () => [] } = options;
  const exchange = new Exchange({
    contract,
    accounts,
    schedules: { SPOT: readSchedule(fees.SPOT, "SPOT"), SWAP: readSchedule(fees.SWAP, "SWAP") },
    margins: marginRulesOf(contract.profile),
    matching,
    silences,
    firstOrdId: BigInt(firstOrdId),
  });
  for (const instrument of options.instruments) {
    if (exchange.markets.has(instrument.instId))
      refuse(`instrument ${instrument.instId} is listed twice. List every product once.`);
    exchange.list(instrument, 0);
  }
  return exchange;
};
