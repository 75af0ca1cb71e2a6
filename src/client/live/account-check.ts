/**
 * Check of a user's account settings at an exchange: settings that the dialect cannot trade with block orders, with a
 * message.
 *
 * Invariants: the settings are read once for a user, together with the first signed request, and after a failure again
 * with the next one, at most three times; cancels and reads are never delayed; an account whose settings are unknown
 * may trade.
 * Not here: which settings those are (the dialect).
 */
import type { Interceptor } from "../../contract/transport.ts";
import type { AccountSetup } from "../transport/dialect.ts";
import { HttpTransport } from "../transport/http.ts";

interface AccountCheckOptions {
  /** The dialect's question; without one no account is checked. */
  readonly setup: AccountSetup | undefined;
  /** Options of the connection that signs and sends; nothing is translated. */
  readonly http: Omit<ConstructorParameters<typeof HttpTransport>[0], "dialect">;
  /** Users by the names of their keys. */
  readonly uidOf: ReadonlyMap<string, string>;
  readonly onAnomaly: (what: string, detail: string) => void;
}

const triesMax = 3;

export class AccountCheck {
  readonly #options: AccountCheckOptions;
  readonly #problems = new Map<string, string>();
  /** Number of questions so far by user; infinite once one was answered or while it is under way. */
  readonly #tries = new Map<string, number>();
  #wire: HttpTransport | undefined;

  constructor(options: AccountCheckOptions) {
    this.#options = options;
  }

  /** Reason why no order may be sent; undefined while none is known. */
  get problem(): string | undefined {
    return [...this.#problems.values()][0];
  }

  readonly interceptor: Interceptor = (next) => (request, sink) => {
    const uid = this.#options.uidOf.get(request.key ?? "");
    const { setup } = this.#options;
    if (setup !== undefined && uid !== undefined && request.key !== undefined && (this.#tries.get(uid) ?? 0) < triesMax)
      this.#ask(setup, uid, request.key);
    next(request, sink);
  };

  async close(): Promise<void> {
    await this.#wire?.close();
  }

  #ask({ path, query = {}, problem }: AccountSetup, uid: string, key: string): void {
    const tries = this.#tries.get(uid) ?? 0;
    this.#tries.set(uid, Number.POSITIVE_INFINITY);
    const call = { method: "GET", path, query, body: undefined } as const;
    this.#wire ??= new HttpTransport({
      ...this.#options.http,
      dialect: { call: () => call, answer: (_, response) => response },
    });
    this.#wire.transport(
      { endpoint: "positions", ...call, key },
      {
        response: ({ status, body }) => {
          if (status !== 200) {
            this.#tries.set(uid, tries + 1);
            return;
          }
          const found = problem(body);
          if (found === undefined) return;
          this.#problems.set(uid, `${uid}: ${found}`);
          this.#options.onAnomaly("account.setup", `${uid}: ${found}`);
        },
        failed: () => {
          this.#tries.set(uid, tries + 1);
        },
        closed: false,
      },
    );
  }
}
