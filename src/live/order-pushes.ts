/**
 * What the service pushes of one user's orders, and whether that is everything.
 *
 * Invariants: a record that is not an order record is never passed on; `pushing$` is true only while the private channel is
 * logged in, subscribed and in sequence, false from the moment it is not, and emits on changes only; neither stream errors; both
 * end at the stop.
 * Not here: reading the state anew after a turn (resources/).
 */
import { BehaviorSubject, type Observable } from "rxjs";
import type { Contract } from "../contract/contract.ts";
import type { OrderRecord } from "../contract/schemas.ts";
import { readAnswer } from "../gateway/read-answer.ts";
import { HotStream } from "../market/hot-stream.ts";
import type { ChannelHandle, OnAnomaly } from "../transport/socket-channel.ts";
import type { Push } from "../transport/socket-message.ts";
import type { Login, SocketPool } from "../transport/socket-pool.ts";

export interface OrderPushes {
  readonly pushes$: Observable<OrderRecord>;
  readonly pushing$: Observable<boolean>;
  /** Subscribes; without a login the orders are polled. */
  start(pool: SocketPool): void;
  stop(): void;
}

export interface OrderPushesOptions {
  readonly contract: Contract;
  readonly login: Login | undefined;
  readonly onAnomaly: OnAnomaly;
  readonly onError: (error: unknown) => void;
}

const channel = "orders";

export const createOrderPushes = ({ contract, login, onAnomaly, onError }: OrderPushesOptions): OrderPushes => {
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
    // A change was told and not understood: it has to be read.
    if (problems.length > 0) handle?.repair("a record is unreadable");
  };
  return {
    pushes$,
    pushing$: pushing$.asObservable(),
    start: (pool) => {
      if (login === undefined) return;
      if (!contract.profile.websocket.privateChannels.includes(channel)) {
        onAnomaly("channel.refused", `${channel}: the service does not offer this channel; orders are polled`);
        return;
      }
      const state = (now: ChannelHandle["state"]): void => {
        turn(now === "live");
      };
      handle = pool.subscribe({ channel }, { message: take, state }, login);
    },
    stop: () => {
      handle?.close();
      pushes$.complete();
      pushing$.complete();
    },
  };
};

/** Read as the listing that holds the same records. */
const readOrders = (
  { data }: Push,
  contract: Contract,
): { readonly records: readonly OrderRecord[]; readonly problems: readonly string[] } => {
  const response = { status: 200, headers: {}, body: { code: "0", msg: "", data } };
  const outcome = readAnswer<OrderRecord>("pendingOrders", response, contract, 0);
  return outcome.kind === "done" ? outcome : { records: [], problems: ["the records cannot be read"] };
};
