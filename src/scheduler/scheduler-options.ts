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
  /** Source of leases; the ledger of this process when left out. */
  readonly port?: QuotaPort;
  readonly transport: Transport;
  readonly journal: EventLog;
  readonly queueMax?: number;
  /** Parts of the quota by owner when several compete; 1 where none is named. */
  readonly shares?: Readonly<Record<string, number>>;
  /** Weight a minute an owner may spend on ordinary actions; exits are never counted. */
  readonly budgets?: Readonly<Record<string, number>>;
  /** True if some layer counts calls of the endpoint product by product; none does when left out. */
  readonly byProduct?: ((endpoint: EndpointName) => boolean) | undefined;
}
