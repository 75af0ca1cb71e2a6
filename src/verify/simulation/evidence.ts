/**
 * What a process has been told about its placements, read from the answers themselves and not by the engine's own reader.
 *
 * Invariants: only an answer that was delivered to this process counts; an error, a limit, a body that is not the service's or a
 * code that is not one of its rejections is never evidence; a negative answer counts only long enough after the placement left, and what an earlier process may have sent left
 * just before this one began.
 */
import type { Contract } from "../../contract/contract.ts";
import type { WireRequest, WireResponse } from "../../contract/transport.ts";

export interface Evidence {
  sent(clOrdId: string, at: number): void;
  /** An answer to one of this process's requests was delivered. */
  heard(request: WireRequest, response: WireResponse, at: number): void;
  readonly refused: (clOrdId: string) => boolean;
  /** Whether enough complete negative answers were heard. */
  readonly absent: (clOrdId: string) => boolean;
}

interface File {
  sentAt: number;
  refused: boolean;
  negatives: number;
  /** Listings heard when the placement was as old as it has to be. */
  readonly before: { pending: number; history: number };
}

/** Under what the engine promises, by the way of an answer. */
const settleMs = 29_000;
const negativesLeast = 3;
const sweepsLeast = 2;

const bodyOf = ({ body }: WireResponse): Readonly<Record<string, unknown>> | undefined =>
  body !== null && typeof body === "object" && !Array.isArray(body) && "code" in body ? (body as Record<string, unknown>) : undefined;

export const createEvidence = ({ profile }: Contract, bornAt: number): Evidence => {
  const files = new Map<string, File>();
  const heardAt = { pending: [] as number[], history: [] as number[] };
  const fileOf = (clOrdId: string): File => {
    let file = files.get(clOrdId);
    if (file === undefined) {
      file = { sentAt: bornAt, refused: false, negatives: 0, before: { pending: 0, history: 0 } };
      files.set(clOrdId, file);
    }
    return file;
  };
  /** Codes and statuses with which this service rejects, spelled out once more. */
  const { answers } = profile;
  const ofOrders = [answers.parameterCode, answers.instrumentCode, answers.priceCode, answers.sizeCode, answers.fundsCode];
  const rejecting: readonly (readonly [status: number, codes: readonly string[]])[] = [
    [answers.orderErrorStatus, [...ofOrders, answers.postOnlyCode, answers.positionCode]],
    [answers.badRequestStatus, [answers.badRequestCode]],
    [answers.authStatus, [answers.authCode]],
    [answers.permissionStatus, [answers.permissionCode]],
  ];
  const isRefusal = (response: WireResponse): boolean => {
    const body = bodyOf(response);
    if (typeof body?.["msg"] !== "string") return false;
    const [first] = Array.isArray(body["data"]) ? (body["data"] as Readonly<Record<string, unknown>>[]) : [];
    const code = String(first?.["sCode"] ?? first?.["code"] ?? body["code"]);
    return rejecting.some(([status, codes]) => status === response.status && codes.includes(code));
  };
  const since = (times: readonly number[], from: number): number => times.filter((at) => at >= from).length;

  return {
    sent: (clOrdId, at) => {
      files.set(clOrdId, { sentAt: at, refused: false, negatives: 0, before: { pending: 0, history: 0 } });
    },
    heard: ({ endpoint, query, body }, response, at) => {
      const answer = bodyOf(response);
      if (endpoint === "placeOrder") {
        if (isRefusal(response)) fileOf(String((body as { clOrdId?: unknown }).clOrdId)).refused = true;
      } else if (endpoint === "getOrder" && query["clOrdId"] !== undefined && answer !== undefined && response.status < 400) {
        const file = fileOf(query["clOrdId"]);
        const none =
          answer["code"] === profile.answers.notFoundCode || (answer["code"] === "0" && (answer["data"] as unknown[])?.length === 0);
        if (none && at - file.sentAt >= settleMs) file.negatives++;
      } else if (answer?.["code"] === "0" && Array.isArray(answer["data"])) {
        if (endpoint === "pendingOrders") heardAt.pending.push(at);
        if (endpoint === "orderHistory") heardAt.history.push(at);
      }
    },
    refused: (clOrdId) => files.get(clOrdId)?.refused === true,
    absent: (clOrdId) => {
      const file = files.get(clOrdId);
      if (file === undefined || file.negatives < negativesLeast) return false;
      const from = file.sentAt + settleMs;
      return since(heardAt.pending, from) >= sweepsLeast && since(heardAt.history, from) >= sweepsLeast;
    },
  };
};
