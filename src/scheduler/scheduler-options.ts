/**
 * Options of a scheduler.
 *
 * Not here: what it does with them (scheduler.ts).
 */
import type { Clock } from "../clock/clock.ts";
import type { EndpointName } from "../contract/endpoints.ts";
import type { Transport } from "../contract/transport.ts";
import type { EventLog } from "../journal/event-log.ts";
import type { Ledger } from "./quota/ledger.ts";
import type { QuotaPort } from "./quota/port.ts";

export interface SchedulerOptions {
  readonly clock: Clock;
  readonly ledger: Ledger;
  /** Source of leases; by default the ledger of this process. */
  readonly port?: QuotaPort;
  readonly transport: Transport;
  readonly journal: EventLog;
  readonly queueMax?: number;
  /** Parts of the quota by owner when several compete; by default 1 for each. */
  readonly shares?: Readonly<Record<string, number>>;
  /** Weight per minute that an owner may spend on ordinary actions. Exits are not counted. */
  readonly budgets?: Readonly<Record<string, number>>;
  /** Returns true if some layer counts calls of the endpoint by product. By default none does. */
  readonly byProduct?: ((endpoint: EndpointName) => boolean) | undefined;
}
