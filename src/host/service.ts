/**
 * The port to a service: everything an engine needs from the world outside, in one value.
 *
 * Invariants: live, paper, backtest and simulation differ only in what they put here; nothing above asks which one it is.
 */
import type { Observable } from "rxjs";
import type { Clock } from "../clock/clock.ts";
import type { Contract } from "../contract/contract.ts";
import type { OrderRecord } from "../contract/schemas.ts";
import type { User } from "../gateway/gateway.ts";
import type { Market } from "../market/market-data.ts";
import type { Random } from "../random.ts";
import type { Transport } from "../transport/transport.ts";

export interface ServiceEnv {
  readonly contract: Contract;
  readonly random: Random;
  /** What a stranger's callback threw, for reporting. */
  readonly onError: (error: unknown) => void;
}

export interface OpenService {
  readonly clock: Clock;
  readonly transport: Transport;
  readonly market: Market;
  /** Order records pushed by the service; never errors. Empty where nothing can be subscribed: polling serves then. */
  readonly pushes$: Observable<OrderRecord>;
  /** True while order records are pushed, so that listings need reading only now and then. */
  readonly pushing: boolean;
  readonly user: User;
  /** What the run assumes about the world, in sentences, for reports. */
  readonly assumptions: readonly string[];
  start(): void;
  stop(): void;
}

export interface ServiceSpec {
  readonly kind: string;
  open(env: ServiceEnv): OpenService;
}
