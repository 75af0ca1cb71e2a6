/**
 * The suite's own small client: asks one thing at a time, within the limits, and remembers stories that several rules judge.
 *
 * Invariants: every request of the suite goes through `ask`; a paced request that was limited all the same is repeated once, after
 * the windows have passed, as somebody else may use the quota; a story that was played to its end is not played again.
 * Not here: verdicts (the files of rules), how bytes travel (the transport given).
 */
import { firstValueFrom, map, merge, NEVER, type Observable } from "rxjs";
import type { OpenSocket } from "../../client/transport/socket.ts";
import { after, type Clock } from "../../clock/clock.ts";
import type { Contract } from "../../contract/contract.ts";
import type { Endpoint, EndpointName } from "../../contract/endpoints.ts";
import type { LayerName } from "../../contract/limits.ts";
import type { Transport, WireRequest } from "../../contract/transport.ts";
import { createOwnOrders, type OwnOrders } from "./own-orders.ts";
import { createPacing, type Pacing } from "./pacing.ts";
import { Unable } from "./rule.ts";
import { type CheckKey, type Parts, partsOf } from "./test-keys.ts";
import { type Reply, replyOf } from "./test-reply.ts";

export interface OrderHints {
  /** A perpetual swap to trade; the first one listed when left out. */
  readonly instId?: string;
  /** A price far below the market. */
  readonly px?: string;
  readonly sz?: string;
}

export interface TestClientOptions {
  readonly contract: Contract;
  readonly transport: Transport;
  readonly clock: Clock;
  /** The service's calendar, milliseconds since the Unix epoch. */
  readonly serviceNow: () => number;
  readonly keys: readonly CheckKey[];
  readonly quick: boolean;
  /** Emits when somebody wants the walk to end; waiting ends at once. */
  readonly stop$?: Observable<unknown>;
  readonly order?: OrderHints;
  readonly socket?: { readonly url: string; readonly open: OpenSocket };
}

export interface How {
  /** Whose key signs; the main one when left out. */
  readonly as?: CheckKey | "nobody";
  /** Layers to keep within; all of them when left out. */
  readonly within?: readonly LayerName[];
  /** Another address than the endpoint's own. */
  readonly path?: string;
}

/** Everything but the orders, which are made on top of it. */
export interface TestClientCore extends Omit<TestClientOptions, "keys"> {
  readonly parts: Parts;
  readonly pace: Pacing;
  ask(endpoint: EndpointName, input?: unknown, how?: How): Promise<Reply>;
  wait(ms: number): Promise<void>;
  /** Waits until so much of the main user's weight may be used at once. */
  room(weight: number): Promise<void>;
  /** Makes sure that no layer of the profile's own stands in the way of so many such calls within `ms`. */
  open(endpoint: EndpointName, calls: number, ms: number, how?: Pick<How, "as">): void;
  /** Waits for a minute of the service in which nothing of ours counts yet. */
  freshMinute(): Promise<void>;
  /** From now on nothing cuts a wait short: what is left to do is to tidy up. */
  end(): void;
  /** What `play` found out, played once. */
  story<T>(name: string, play: () => Promise<T>): Promise<T>;
}

export interface TestClient extends TestClientCore {
  readonly orders: OwnOrders;
}

export const minuteMs = 60_000;
/** How far the service's minute may be from where we think it is. */
export const edgeMs = 1_500;
const everyLayer: readonly LayerName[] = ["ip", "key", "uid"];
/** All requests of one run come from one address. */
export const here = "here";

export const createTestClient = (options: TestClientOptions): TestClient => {
  const { contract, clock, serviceNow } = options;
  const parts = partsOf(options.keys, contract.profile);
  const pace = createPacing(contract.layers, contract.profile.limits.extraLayers);
  const stories = new Map<string, Promise<unknown>>();

  let ending = false;
  const stopped$ = (options.stop$ ?? NEVER).pipe(
    map(() => {
      throw new Unable("stopped");
    }),
  );
  const wait = async (ms: number): Promise<void> => {
    if (ms > 0) await firstValueFrom(ending ? after(clock, ms) : merge(after(clock, ms), stopped$));
  };
  const send = async (request: WireRequest, key: CheckKey | undefined, weight: number, within: readonly LayerName[]): Promise<Reply> => {
    const elements = Array.isArray(request.body) ? request.body.length : 1;
    const charge = { ip: here, key: key?.name, uid: key?.uid, weight, endpoint: request.endpoint, elements };
    for (let at = pace.fitsAt(charge, within, clock.now()); at > clock.now(); at = pace.fitsAt(charge, within, clock.now())) {
      await wait(at - clock.now());
    }
    const sentAt = clock.now();
    const answered = pace.count(charge, sentAt);
    try {
      const response = await firstValueFrom(options.transport(request));
      return replyOf(request, response, clock.now() - sentAt);
    } finally {
      answered(clock.now());
    }
  };
  const core: TestClientCore = {
    ...options,
    parts,
    pace,
    wait,
    end: () => {
      ending = true;
    },
    ask: async (name, input = {}, { as, within = everyLayer, path } = {}) => {
      const endpoint: Endpoint = contract.endpoints[name];
      const key = as === "nobody" ? undefined : (as ?? parts.main);
      const request: WireRequest = {
        endpoint: name,
        method: endpoint.method,
        path: path ?? endpoint.path,
        query: endpoint.method === "GET" ? (input as Readonly<Record<string, string>>) : {},
        body: endpoint.method === "GET" ? undefined : input,
        key: key?.name,
      };
      const elements = name === "cancelBatch" && Array.isArray(input) ? input.length : 0;
      const weight = endpoint.weight + elements * contract.profile.weights.perCancelElement;
      const reply = await send(request, key, weight, within);
      if (!reply.limited || within.length < everyLayer.length) return reply;
      await wait(minuteMs + edgeMs);
      return send(request, key, weight, within);
    },
    room: async (weight) => {
      const charge = { ip: here, key: undefined, uid: parts.main?.uid, weight };
      await wait(pace.fitsAt(charge, ["uid"], clock.now()) - clock.now());
    },
    open: (endpoint, calls, ms, { as = parts.main } = {}) => {
      const key = as === "nobody" ? undefined : as;
      const { weight } = contract.endpoints[endpoint];
      const layer = pace.tooNarrow({ ip: here, key: key?.name, uid: key?.uid, weight, endpoint }, calls, ms);
      if (layer !== undefined) throw new Unable(`the profile's layer "${layer}" does not let ${calls} calls through so quickly`);
    },
    freshMinute: async () => {
      if (contract.profile.limits.anchor !== "wall_clock") await wait(pace.lastAt + minuteMs + edgeMs - clock.now());
      await wait(minuteMs - (serviceNow() % minuteMs) + edgeMs);
    },
    story: <T>(name: string, play: () => Promise<T>): Promise<T> => {
      const known = stories.get(name);
      if (known !== undefined) return known as Promise<T>;
      const played = play();
      stories.set(name, played);
      // A lost answer is the matter of one rule: the next one has the story told again.
      played.catch((error: unknown) => {
        if (!(error instanceof Unable)) stories.delete(name);
      });
      return played;
    },
  };
  return { ...core, orders: createOwnOrders(core) };
};

/** The part, which the runner has made sure of. */
export const need = <T>(part: T | undefined): T => {
  if (part === undefined) throw new Unable("a key is missing");
  return part;
};
