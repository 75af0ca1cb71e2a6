/**
 * TCP link between a client and a server on loopback that can be cut in several ways.
 *
 * Invariants: a link that is healed forwards everything from then on, over new connections where the old ones were closed; what a silent
 * link swallowed is lost.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

export const cuts = ["reset", "silent", "no-answers", "no-requests", "slow"] as const;
/**
 * `reset`: connections are reset and new ones refused. `silent`: nothing passes, nothing is closed. `no-answers` and `no-requests`: one
 * direction is silent. `slow`: everything passes `slowMs` later.
 */
export type Cut = (typeof cuts)[number];

const slowMs = 400;

export class CutLink {
  readonly #server: Server;
  readonly #to: number;
  readonly #sockets = new Set<Socket>();
  #cut: Cut | undefined;

  private constructor(to: number) {
    this.#to = to;
    this.#server = createServer((socket) => this.#join(socket));
  }

  static async open(to: number): Promise<CutLink> {
    const link = new CutLink(to);
    link.#server.listen(0, "127.0.0.1");
    await once(link.#server, "listening");
    return link;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  cut(how: Cut): void {
    this.#cut = how;
    if (how === "reset") for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  heal(): void {
    const isLossy = this.#cut !== "slow";
    this.#cut = undefined;
    // A stream that lacks bytes is of no use.
    if (isLossy) for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }

  #join(client: Socket): void {
    if (this.#cut === "reset") {
      client.resetAndDestroy();
      return;
    }
    const server = connect(this.#to, "127.0.0.1");
    this.#forward(client, server, "no-requests");
    this.#forward(server, client, "no-answers");
  }

  #forward(from: Socket, to: Socket, oneWay: Cut): void {
    this.#sockets.add(from);
    from.on("data", (bytes) => {
      if (this.#cut === "silent" || this.#cut === oneWay) return;
      if (this.#cut === "slow") setTimeout(() => to.write(bytes), slowMs);
      else to.write(bytes);
    });
    from.on("error", () => undefined);
    from.on("close", () => {
      this.#sockets.delete(from);
      to.destroy();
    });
  }
}
