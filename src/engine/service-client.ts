/**
 * Client of an opened service without an engine: a gateway for each of its users, which charge one set of limits.
 *
 * Invariants: calls of all users share one queue and one ledger of the quota; nothing is sent before the first call.
 * Not here: strategies and the state of orders (engine.ts), opening the service (client/service-port.ts).
 */
import { createGateway, type Gateway, type User } from "../client/gateway.ts";
import type { OpenService } from "../client/service-port.ts";
import type { Contract } from "../contract/contract.ts";
import type { LayerSpec } from "../contract/layer-spec.ts";
import { EventLog } from "../journal/event-log.ts";
import { layersOf } from "../scheduler/quota/layers.ts";
import { createLedger } from "../scheduler/quota/ledger.ts";
import type { ReservePolicy } from "../scheduler/quota/reserve.ts";
import { createScheduler } from "../scheduler/scheduler.ts";

/** One user of the service, with its calls. */
export interface ClientUser extends Pick<User, "uid"> {
  readonly gateway: Gateway;
}

/** Limits that the calls of a client keep. */
export interface ClientOptions {
  readonly contract: Contract;
  /** Limits that the calls respect; by default those of the contract. */
  readonly layers?: readonly LayerSpec[];
  /** Room that is kept for exits. */
  readonly reserve?: Partial<ReservePolicy>;
}

/**
 * Opens the calls of every user of a service. The state of the quota is new: earlier use is not known.
 *
 * @param service - what a config's service opened
 * @param options - contract, limits, and room that is kept for exits
 * @returns calls by user
 */
export const openClient = (
  { clock, transport, users }: Pick<OpenService, "clock" | "transport" | "users">,
  { contract, layers = layersOf(contract), reserve }: ClientOptions,
): readonly ClientUser[] => {
  const journal = new EventLog(() => clock.now());
  const elementWeight = contract.profile.weights.perCancelElement;
  const ledger = createLedger({ layers, reserve: { elementWeight, ...reserve }, startedAt: clock.now() });
  const scheduler = createScheduler({ clock, ledger, transport, journal });
  return users.map((user) => ({
    uid: user.uid,
    gateway: createGateway({ clock, contract, scheduler, journal, user }),
  }));
};
