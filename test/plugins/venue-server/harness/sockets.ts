/** A service with sockets on the loopback, on a clock that moves when told, and clients that write down what they hear. */
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { type ClientOptions, WebSocket } from "ws";
import { createFaults, type FaultPlan } from "../../../../plugins/venue-server/server/faults.ts";
import { Keyring, type ServerKey } from "../../../../plugins/venue-server/server/keyring.ts";
import { PublicChannels } from "../../../../plugins/venue-server/server/public-channels.ts";
import { describedService } from "../../../../plugins/venue-server/server/served-dialect.ts";
import { attachSockets } from "../../../../plugins/venue-server/server/sockets.ts";
import { createVirtualClock } from "../../../../src/clock/virtual-clock.ts";
import { createContract } from "../../../../src/contract/contract.ts";
import type { ProfileOverrides } from "../../../../src/contract/profile.ts";
import { createRandom } from "../../../../src/random.ts";
import type { Venue, VenueOptions } from "../../../../src/venue/venue.ts";
import { setting } from "../../../support/harness/venue.ts";

export const startAt = 1_700_000_000_000;

const keyOf = (apiKey: string, uid: string, permissions: readonly string[]): ServerKey => ({
  apiKey,
  secretKey: `secret of ${apiKey}`,
  passphrase: `phrase of ${apiKey}`,
  uid,
  permissions,
});

export const keys = {
  ann: keyOf("ann-1", "ann", ["read", "trade_futures", "trade_spot"]),
  bob: keyOf("bob-1", "bob", ["read", "trade_futures", "trade_spot"]),
  blind: keyOf("ann-blind", "ann", ["trade_futures"]),
} as const;

/** What a client would send to log in at `at`. */
export const loginArg = (key: ServerKey, at: number) => {
  const timestamp = new Date(at).toISOString();
  const sign = createHmac("sha256", key.secretKey).update(`${timestamp}GET/users/ws/auth`).digest("base64");
  return { apiKey: key.apiKey, passphrase: key.passphrase, timestamp, sign };
};

// biome-ignore lint/suspicious/noExplicitAny: what a service says is not known before it is looked at.
export type Heard = any;

export interface Client {
  readonly socket: WebSocket;
  /** Everything heard so far, parsed where it is JSON. */
  readonly heard: Heard[];
  say(message: unknown): void;
  /** Resolves with the first message not yet taken that fits; those before it are skipped. */
  take(fits?: (message: Heard) => boolean): Promise<Heard>;
  takeEvent(event: string): Promise<Heard>;
  /** What came before the answer to a text ping: nothing more is on its way. */
  rest(): Promise<Heard[]>;
  readonly closed: Promise<{ code: number; reason: string }>;
}

const waitMsMax = 10_000;

export const clientOf = (socket: WebSocket): Client => {
  const heard: Heard[] = [];
  let taken = 0;
  let wake = (): void => undefined;
  socket.on("message", (data: Buffer) => {
    const text = data.toString();
    try {
      heard.push(JSON.parse(text));
    } catch {
      heard.push(text);
    }
    wake();
  });
  socket.on("error", () => undefined);
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on("close", (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  const take: Client["take"] = (fits = () => true) =>
    new Promise((resolve, reject) => {
      const late = setTimeout(
        () => reject(new Error(`nothing fits; heard ${JSON.stringify(heard).slice(0, 2_000)}`)),
        waitMsMax,
      );
      const look = (): void => {
        while (taken < heard.length) {
          const message = heard[taken++];
          if (!fits(message)) continue;
          clearTimeout(late);
          wake = () => undefined;
          resolve(message);
          return;
        }
      };
      wake = look;
      look();
    });
  return {
    socket,
    heard,
    say: (message) => socket.send(typeof message === "string" ? message : JSON.stringify(message)),
    take,
    takeEvent: (event) => take((message) => message.event === event),
    rest: async () => {
      const from = taken;
      socket.send("ping");
      await take((message) => message === "pong");
      return heard.slice(from, taken - 1);
    },
    closed,
  };
};

export interface RigOptions {
  readonly profile?: ProfileOverrides;
  readonly venue?: Partial<VenueOptions>;
  readonly faults?: FaultPlan;
  readonly backlogBytesMax?: number;
}

export const rig = async ({
  profile = {},
  venue: venueOptions = {},
  faults: plan,
  backlogBytesMax,
}: RigOptions = {}) => {
  const contract = createContract(profile);
  const clock = createVirtualClock(startAt);
  const service = setting(profile, venueOptions);
  const board = new PublicChannels(contract);
  const faults = createFaults(plan, clock, createRandom("rig"));
  const keyring = new Keyring(contract.profile, Object.values(keys));
  const server = createServer((_, response) => response.end());
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  let orderListeners = 0;
  const venue: Venue = {
    ...service.venue,
    onOrder: (listener) => {
      orderListeners++;
      const leave = service.venue.onOrder(listener);
      return () => {
        orderListeners--;
        leave();
      };
    },
  };
  const sockets = attachSockets(server, {
    venue,
    contract,
    clock,
    keyring,
    speech: describedService.speak({ contract, listing: venue.listing }),
    faults,
    board,
    ...(backlogBytesMax === undefined ? {} : { backlogBytesMax }),
  });
  const clients: WebSocket[] = [];
  onTestFinished(async () => {
    await sockets.close();
    for (const client of clients) client.terminate();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  const url = `ws://127.0.0.1:${port}${contract.profile.websocket.path}`;
  const open = (at = url, clientOptions: ClientOptions = { perMessageDeflate: false }): Client => {
    const socket = new WebSocket(at, clientOptions);
    clients.push(socket);
    return clientOf(socket);
  };
  const connect = async (): Promise<Client> => {
    const client = open();
    await new Promise((resolve, reject) => {
      client.socket.on("open", resolve);
      client.socket.on("error", reject);
    });
    return client;
  };
  return {
    ...service,
    venue,
    orderListeners: () => orderListeners,
    contract,
    clock,
    board,
    faults,
    sockets,
    server,
    port,
    url,
    open,
    connect,
    /** A client that is logged in. */
    member: async (key: ServerKey): Promise<Client> => {
      const client = await connect();
      client.say({ op: "login", args: [loginArg(key, clock.wallNow())] });
      await client.takeEvent("login");
      return client;
    },
    /** Why an upgrade was refused. */
    refusal: (at = url): Promise<{ status: number | undefined; body: string }> =>
      new Promise((resolve, reject) => {
        const { socket } = open(at);
        socket.on("open", () => reject(new Error("it was not refused")));
        socket.on("unexpected-response", (_, response) => {
          let body = "";
          response.on("data", (chunk) => {
            body += String(chunk);
          });
          response.on("end", () => resolve({ status: response.statusCode, body }));
        });
      }),
  };
};

/** One subscription, acknowledged. */
export const subscribed = async (
  client: Client,
  ...args: readonly { channel: string; instId?: string }[]
): Promise<void> => {
  client.say({ op: "subscribe", args });
  for (const _ of args) await client.takeEvent("subscribe");
};
