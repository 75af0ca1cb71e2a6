/**
 * Evidence a process has about its placements, read from the answers themselves and not by the engine's own reader.
 *
 * Invariants: only an answer that was delivered to this process counts; an error, a limit, a body that is not the
 * service's or a code that is not one of its rejections is never evidence; a negative answer counts only long enough
 * after the placement left, or after the process knew that it had arrived; requests of an earlier process count as sent
 * just before this one began.
 */
import type { Contract, WireRequest, WireResponse } from "sluice/dialect";

interface Placement {
  sentAt: number;
  /** Since when the process knew that the service had it. */
  arrivedAt: number;
  refused: boolean;
  negatives: number;
}

/** Under what the engine promises, by the way of an answer. */
const settleMs = 29_000;
/** Time after which no message is in transit any more; listings may be this old. */
const lagMs = 10_000;
const negativesLeast = 3;
const sweepsLeast = 2;

const bodyOf = ({ body }: WireResponse): Readonly<Record<string, unknown>> | undefined =>
  body !== null && typeof body === "object" && !Array.isArray(body) && "code" in body
    ? (body as Record<string, unknown>)
    : undefined;

/** Codes and statuses with which this service rejects, spelled out once more. */
const rejectingOf = ({
  answers,
}: Contract["profile"]): readonly (readonly [status: number, codes: readonly string[]])[] => {
  const ofOrders = [
    answers.parameterCode,
    answers.instrumentCode,
    answers.priceCode,
    answers.sizeCode,
    answers.fundsCode,
  ];
  return [
    [answers.orderErrorStatus, [...ofOrders, answers.postOnlyCode, answers.positionCode]],
    [answers.badRequestStatus, [answers.badRequestCode]],
    [answers.authStatus, [answers.authCode]],
    [answers.permissionStatus, [answers.permissionCode]],
  ];
};

const fresh = { arrivedAt: Number.POSITIVE_INFINITY, refused: false, negatives: 0 } as const;

/** Returns the instant from which a negative answer counts. */
const settledAt = ({ sentAt, arrivedAt }: Placement): number => Math.min(sentAt + settleMs, arrivedAt + lagMs);

const since = (times: readonly number[], from: number): number => times.filter((at) => at >= from).length;

export class Evidence {
  readonly #placements = new Map<string, Placement>();
  /** Instants at which complete listings were read. */
  readonly #listedAt = { pendingOrders: [] as number[], orderHistory: [] as number[] };
  readonly #profile: Contract["profile"];
  readonly #rejecting: ReturnType<typeof rejectingOf>;
  readonly #bornAt: number;

  constructor({ profile }: Contract, bornAt: number) {
    this.#profile = profile;
    this.#rejecting = rejectingOf(profile);
    this.#bornAt = bornAt;
  }

  sent(clOrdId: string, at: number): void {
    this.#placements.set(clOrdId, { ...fresh, sentAt: at });
  }

  /** The process knows that the order has reached the service, as it has. */
  arrived(clOrdId: string, at: number): void {
    const placement = this.#placementOf(clOrdId);
    placement.arrivedAt = Math.min(placement.arrivedAt, at);
  }

  /** An answer to one of this process's requests was delivered. */
  heard({ endpoint, query, body }: WireRequest, response: WireResponse, at: number): void {
    const answer = bodyOf(response);
    if (endpoint === "placeOrder") {
      if (this.#isRefusal(response)) this.#placementOf(String((body as { clOrdId?: unknown }).clOrdId)).refused = true;
    } else if (
      endpoint === "getOrder" &&
      query["clOrdId"] !== undefined &&
      answer !== undefined &&
      response.status < 400
    ) {
      const placement = this.#placementOf(query["clOrdId"]);
      const none =
        answer["code"] === this.#profile.answers.notFoundCode ||
        (answer["code"] === "0" && (answer["data"] as unknown[])?.length === 0);
      if (none && at >= settledAt(placement)) placement.negatives++;
    } else if (answer?.["code"] === "0" && Array.isArray(answer["data"])) {
      if (endpoint === "pendingOrders" || endpoint === "orderHistory") this.#listedAt[endpoint].push(at);
    }
  }

  refused(clOrdId: string): boolean {
    return this.#placements.get(clOrdId)?.refused === true;
  }

  /** Returns true if enough complete negative answers were read. */
  absent(clOrdId: string): boolean {
    const placement = this.#placements.get(clOrdId);
    if (placement === undefined || placement.negatives < negativesLeast) return false;
    const from = settledAt(placement);
    return (
      since(this.#listedAt.pendingOrders, from) >= sweepsLeast &&
      since(this.#listedAt.orderHistory, from) >= sweepsLeast
    );
  }

  #placementOf(clOrdId: string): Placement {
    const known = this.#placements.get(clOrdId) ?? { ...fresh, sentAt: this.#bornAt };
    this.#placements.set(clOrdId, known);
    return known;
  }

  #isRefusal(response: WireResponse): boolean {
    const body = bodyOf(response);
    if (typeof body?.["msg"] !== "string") return false;
    const [first] = Array.isArray(body["data"]) ? (body["data"] as Readonly<Record<string, unknown>>[]) : [];
    const code = String(first?.["sCode"] ?? first?.["code"] ?? body["code"]);
    return this.#rejecting.some(([status, codes]) => status === response.status && codes.includes(code));
  }
}
