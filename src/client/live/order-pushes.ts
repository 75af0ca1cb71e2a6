/**
 * Pushed order updates of one user, and whether they are complete.
 *
 * Invariants: an invalid record is never passed on; `pushing$` is true only while the private channel is logged in,
 * subscribed and in sequence, and emits on changes only; records are passed on after everything else that has arrived,
 * so that a fill does not overtake the market data that caused it because its socket was read first; neither stream
 * errors; both complete at the stop.
 * Not here: reading the state again when `pushing$` changes (orders/state/).
 */
import { BehaviorSubject, type Observable } from "rxjs";
import type { Contract } from "../../contract/contract.ts";
import type { OrderRecord } from "../../contract/schemas.ts";
import { HotStream } from "../../market/hot-stream.ts";
import { parseResponse } from "../parse-response.ts";
import type { OnAnomaly } from "../transport/socket-channel.ts";
import type { Push } from "../transport/socket-message.ts";
import type { ChannelHandle, Login, SocketPool } from "../transport/socket-pool.ts";

export interface OrderPushes {
  readonly pushes$: Observable<OrderRecord>;
  readonly pushing$: Observable<boolean>;
  /** Subscribes. Until it is called, the orders are polled. */
  start(pool: SocketPool, login: Login): void;
  stop(): void;
}

interface OrderPushesOptions {
  readonly contract: Contract;
  readonly onAnomaly: OnAnomaly;
  readonly onError: (error: unknown) => void;
  /** Calls back when everything that has arrived was read; at once when left out. */
  readonly afterArrivals?: (run: () => void) => void;
}

const atOnce = (run: () => void): void => run();

const channel = "orders";

export const createOrderPushes = (options: OrderPushesOptions): OrderPushes => {
  const { contract, onAnomaly, onError, afterArrivals = atOnce } = options;
  let arrived: Push[] = [];
  const pushes$ = new HotStream<OrderRecord>({ onError });
  const pushing$ = new BehaviorSubject(false);
  let handle: ChannelHandle | undefined;
  const turn = (pushing: boolean): void => {
    if (pushing$.value !== pushing) pushing$.next(pushing);
  };
  const take = (push: Push): void => {
    const { records, problems } = readOrders(push, contract);
    for (const problem of problems) onAnomaly("record.unreadable", `${channel} ${problem}`);
    for (const record of records) pushes$.next(record);
    // A change could not be parsed, so the state has to be read.
    if (problems.length > 0) handle?.repair("a record is unreadable");
  };
  const takeArrived = (): void => {
    const pushes = arrived;
    arrived = [];
    for (const push of pushes) take(push);
  };
  const message = (push: Push): void => {
    if (arrived.push(push) === 1) afterArrivals(takeArrived);
  };
  return {
    pushes$,
    pushing$: pushing$.asObservable(),
    start: (pool, login) => {
      if (!contract.profile.websocket.privateChannels.includes(channel)) {
        onAnomaly("channel.refused", `${channel}: the service does not offer this channel; orders are polled`);
        return;
      }
      const state = (now: ChannelHandle["state"]): void => {
        takeArrived();
        turn(now === "live");
      };
      handle = pool.subscribe({ channel }, { message, state }, login);
    },
    stop: () => {
      handle?.close();
      takeArrived();
      pushes$.complete();
      pushing$.complete();
    },
  };
};

/** Reads a push like the listing that contains the same records. */
const readOrders = (
  { data }: Push,
  contract: Contract,
): { readonly records: readonly OrderRecord[]; readonly problems: readonly string[] } => {
  const response = { status: 200, headers: {}, body: { code: "0", msg: "", data } };
  const outcome = parseResponse<OrderRecord>("pendingOrders", response, contract, 0);
  return outcome.kind === "done" ? outcome : { records: [], problems: ["the records cannot be read"] };
};
