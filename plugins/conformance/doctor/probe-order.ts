/**
 * Sixth probe: one order far from the market, at the smallest size, placed, read and canceled. For test networks only.
 *
 * Settles: fields and words of a placement (G1, G11), the unit of sz from the reserved money (H3), client ids used
 * twice (H10), states and the record of an order canceled without fills (G4, H11).
 * Not here: clean-up (probe/own-orders.ts), sizes and units (order-size.ts).
 */
import { filter, firstValueFrom, fromEvent, map, merge, take } from "rxjs";
import { type InstrumentRecord, type OrderRecord, type PositionRecord, parseInstId, type Side } from "sluice";
import { type ElementResult, type PlaceBody, wire } from "sluice/dialect";
import { after } from "sluice/extension";
import { OwnOrders } from "../probe/own-orders.ts";
import { type Answer, doneOr } from "./answer.ts";
import { type ExaminationState, noteUnasked, type OrderProbe } from "./examination.ts";
import { judged, type RowPath, remark, unseen } from "./finding.ts";
import { farPrice, sizesFrom, unitOf } from "./order-size.ts";
import { isSwap } from "./probe-cancels.ts";

const rows: readonly RowPath[] = [
  "order.szUnit",
  "order.duplicateClOrdId",
  "answers.duplicateCode",
  "history.unfilledCanceledVanish",
];
const quoteMsMax = 10_000;
const listingsMax = 6;

/** Gives the client ids of orders that may still be open: none, unless the service stopped answering. */
export const probeOrder = async (
  examination: ExaminationState,
  instruments: readonly InstrumentRecord[],
  { instId }: OrderProbe,
): Promise<readonly string[]> => {
  const instrument = instruments.find((candidate) =>
    instId === undefined ? isSwap(candidate) : candidate.instId === instId,
  );
  if (instrument === undefined || !isSwap(instrument)) {
    noteUnasked(examination, rows, instId === undefined ? "no swap is listed" : `${instId} is not a listed swap`);
    return [];
  }
  const bidPx = await bidOf(examination, instrument.instId);
  if (bidPx === undefined) {
    noteUnasked(examination, rows, `no price of ${instrument.instId} within ${quoteMsMax / 1_000} s`);
    return [];
  }
  const { clock, contract, client } = examination;
  const own = new OwnOrders({
    tag: "dr",
    clock,
    elementsMax: contract.profile.cancelBatch.elementsMax,
    ask: async (endpoint, input) => {
      const answer = await client.ask(endpoint, input as never);
      return answer.kind === "answered" ? answer : undefined;
    },
  });
  try {
    const side = await openingSide(examination, instrument.instId);
    await study(examination, { instrument, side, px: farPrice(side, bidPx, instrument.tickSize), own });
  } finally {
    client.insist();
    await own.cancelAll(listingsMax);
  }
  return own.left();
};

const bidOf = ({ service, clock, client }: ExaminationState, instId: string): Promise<string | undefined> => {
  const bid$ = service()
    .market.quotes(instId)
    .pipe(
      map(({ bidPx }) => bidPx),
      filter((text) => /^\d+(\.\d+)?$/.test(text)),
    );
  if (client.stopped) return Promise.resolve(undefined);
  const none$ = merge(after(clock, quoteMsMax), fromEvent(client.stop, "abort")).pipe(map(() => undefined));
  return firstValueFrom(merge(bid$, none$).pipe(take(1)), { defaultValue: undefined });
};

/** Returns the side on which an order increases the position: a reducing order reserves no money. */
const openingSide = async ({ client, contract }: ExaminationState, instId: string): Promise<Side> => {
  const reply = doneOr(await client.ask("positions", { instId }));
  if (typeof reply === "string") return "buy";
  const outcome = wire.parseResponse<PositionRecord>("positions", reply.response, contract, 0);
  const position = outcome.kind === "done" ? outcome.records.find((record) => record.instId === instId) : undefined;
  return position?.pos.startsWith("-") ? "sell" : "buy";
};

interface Scene {
  readonly instrument: InstrumentRecord;
  readonly side: Side;
  readonly px: string;
  readonly own: OwnOrders;
}

const study = async (examination: ExaminationState, scene: Scene): Promise<void> => {
  const { client, note } = examination;
  const { instId } = scene.instrument;
  if (client.product !== undefined) client.product = instId;
  const leverage = await client.ask("setLeverage", { instId, lever: "1" });
  const level = leverage.kind === "answered" && leverage.ok;
  note(
    remark("G11", "set leverage", leverage.kind === "unanswered" ? "not asked" : level ? "holds" : "differs", {
      assumed: "instId and lever",
      found: leverage.kind === "unanswered" ? "-" : `status ${leverage.status}, code ${leverage.code}`,
      evidence:
        leverage.kind === "unanswered" ? leverage.why : level ? `${instId} now has leverage 1` : (leverage.msg ?? ""),
    }),
  );
  const before = await frozen(examination, instId);
  const placed = await placeSmallest(examination, scene);
  if (typeof placed === "string") {
    noteUnasked(examination, rows, placed);
    return;
  }
  const afterwards = await frozen(examination, instId);
  noteUnit(examination, scene, placed, level ? before : undefined, afterwards);
  await noteRecord(examination, scene, placed);
  const again = await placeOnce(examination, scene, placed.clOrdId, placed.sz);
  await noteEnd(examination, placed, await scene.own.cancelAll(2));
  await noteDuplicate(examination, scene, placed, again);
};

interface Placed {
  readonly clOrdId: string;
  readonly sz: string;
  readonly ordId: string;
}

interface Refused {
  readonly code: string;
  readonly msg: string;
  /** Set if the code is not known to be that of a rejection. */
  readonly unlisted?: wire.Unlisted;
}

/** The order's ids, why it was refused, or why nothing is known of it. */
const placeOnce = async (
  { client, contract }: ExaminationState,
  { instrument, side, px, own }: Scene,
  clOrdId: string,
  sz: string,
): Promise<Placed | Refused | string> => {
  const body: PlaceBody = { instId: instrument.instId, side, ordType: "post_only", sz, px, clOrdId };
  own.expect(clOrdId, instrument.instId);
  const answer = await client.ask("placeOrder", body);
  if (answer.kind === "unanswered") return answer.why;
  const outcome = wire.parseResponse<ElementResult>("placeOrder", answer.response, contract, 0);
  if (outcome.kind === "rejected") {
    own.refused(clOrdId);
    return { code: outcome.code, msg: outcome.msg };
  }
  const [record] = outcome.kind === "done" ? outcome.records : [];
  const unlisted = wire.unlistedIn("placeOrder", outcome, contract.profile);
  // It proves nothing: the order stays expected until a listing shows that it is not there.
  if (unlisted !== undefined) return { code: unlisted.code, msg: unlisted.msg, unlisted };
  if (record === undefined) return `placeOrder: status ${answer.status} with no result that can be read`;
  if (record.sCode !== "0") {
    own.refused(clOrdId);
    return { code: record.sCode, msg: record.sMsg };
  }
  own.placed(clOrdId, record.ordId);
  return { clOrdId, sz, ordId: record.ordId };
};

/**
 * Places the order with the size that is the smallest number, in any unit: too little is refused, too much could be
 * traded.
 */
const placeSmallest = async (examination: ExaminationState, scene: Scene): Promise<Placed | string> => {
  let why = "no size was tried";
  const warned = new Set<string>();
  for (const sz of sizesFrom(scene.instrument, scene.px)) {
    const result = await placeOnce(examination, scene, scene.own.nextId(), sz);
    if (typeof result === "string") return result;
    if ("ordId" in result) return result;
    if (!warned.has(result.code)) noteUnlisted(examination, result);
    warned.add(result.code);
    why = `placing ${sz} of ${scene.instrument.instId} was refused: ${result.code} ${result.msg}`;
  }
  examination.note(
    remark("G11", "place order", "differs", {
      assumed: "a post-only order at a smallest size is taken",
      found: "refused",
      evidence: why,
    }),
  );
  return why;
};

const noteUnlisted = ({ note, contract }: ExaminationState, { unlisted }: Refused): void => {
  if (unlisted === undefined) return;
  const found = `status ${unlisted.status}, code ${unlisted.code}`;
  const evidence = wire.unlistedText("placeOrder", unlisted, contract.profile);
  note(
    remark("G16", "answers.rejectionCodes", "differs", {
      assumed: "rejections have codes of the profile",
      found,
      evidence,
    }),
  );
};

/** Returns the amount reserved in the settlement currency of the swap. */
const frozen = async ({ client, contract }: ExaminationState, instId: string): Promise<string | undefined> => {
  const reply = doneOr(await client.ask("spotBalance", {}));
  if (typeof reply === "string") return undefined;
  const outcome = wire.parseResponse<{ currency: string; frozen: string }>("spotBalance", reply.response, contract, 0);
  const { quote } = parseInstId(instId, "instrument");
  return outcome.kind === "done" ? outcome.records.find(({ currency }) => currency === quote)?.frozen : undefined;
};

const noteUnit = (
  { note, contract }: ExaminationState,
  { instrument, px }: Scene,
  { sz }: Placed,
  before: string | undefined,
  afterwards: string | undefined,
): void => {
  const { profile } = contract;
  const row = "order.szUnit";
  if (before === undefined || afterwards === undefined) {
    note(unseen(profile, row, "what is set aside, or the leverage, could not be read"));
    return;
  }
  const { unit, evidence } = unitOf({ instrument, px, sz, before, afterwards, assumed: profile.order.szUnit.SWAP });
  if (unit === undefined) note(unseen(profile, row, evidence));
  else note(judged(profile, row, { ...profile.order.szUnit, SWAP: unit }, `${evidence}; for spot nothing was placed`));
};

const noteRecord = async (
  examination: ExaminationState,
  { side }: Scene,
  { ordId, clOrdId }: Placed,
): Promise<void> => {
  const { client, note } = examination;
  const record = recordIn(examination, await client.ask("getOrder", { ordId }));
  const assumed = { assumed: `${side}, post_only, with the client id given` };
  if (record === undefined)
    note(
      remark("G11", "place order", "not asked", { ...assumed, found: "-", evidence: "the order could not be read" }),
    );
  else {
    const holds =
      record.side === side && record.ordType === "post_only" && record.clOrdId === clOrdId && record.state === "live";
    const found = `${record.side}, ${record.ordType}, ${record.state}, client id ${record.clOrdId}`;
    note(remark("G11", "place order", holds ? "holds" : "differs", { ...assumed, found, evidence: `order ${ordId}` }));
  }
};

const recordIn = ({ contract }: ExaminationState, answer: Answer): OrderRecord | undefined => {
  const outcome =
    answer.kind === "answered" ? wire.parseResponse<OrderRecord>("getOrder", answer.response, contract, 0) : undefined;
  return outcome?.kind === "done" ? outcome.records[0] : undefined;
};

const noteEnd = async (examination: ExaminationState, { ordId }: Placed, gone: boolean): Promise<void> => {
  const { client, note, contract } = examination;
  const row = "history.unfilledCanceledVanish";
  const answer = await client.ask("getOrder", { ordId });
  const outcome =
    answer.kind === "answered" ? wire.parseResponse<OrderRecord>("getOrder", answer.response, contract, 0) : undefined;
  if (outcome?.kind !== "done" || outcome.problems.length > 0 || !gone) {
    noteUnasked(
      examination,
      [row],
      answer.kind === "unanswered" ? answer.why : "the cancelled order could not be read",
    );
    return;
  }
  const [record] = outcome.records;
  note(
    judged(
      contract.profile,
      row,
      record === undefined,
      record === undefined ? "not found after its cancel" : `state ${record.state}`,
    ),
  );
  if (record === undefined) return;
  const verdict = record.state === "canceled" ? "holds" : "differs";
  note(
    remark("G4", "live to canceled", verdict, {
      assumed: "canceled",
      found: record.state,
      evidence: `order ${ordId} after its cancel`,
    }),
  );
};

const noteDuplicate = async (
  examination: ExaminationState,
  scene: Scene,
  placed: Placed,
  again: Placed | Refused | string,
): Promise<void> => {
  const { note, contract } = examination;
  const row = "order.duplicateClOrdId";
  if (typeof again === "string") {
    noteUnasked(examination, [row, "answers.duplicateCode"], again);
    return;
  }
  if ("ordId" in again) {
    note(judged(contract.profile, row, "accepted", "the id of an open order was taken again"));
    note(unseen(contract.profile, "answers.duplicateCode", "an id used twice is no error here"));
    return;
  }
  note(judged(contract.profile, "answers.duplicateCode", again.code, `"${again.msg}"`));
  const later = await placeOnce(examination, scene, placed.clOrdId, placed.sz);
  if (typeof later === "string") noteUnasked(examination, [row], later);
  else if ("ordId" in later)
    note(
      judged(contract.profile, row, "refused_while_open", "refused while the order was open, taken after its cancel"),
    );
  else
    note(
      judged(
        contract.profile,
        row,
        "refused",
        `refused while the order was open, and after its cancel: ${later.code} ${later.msg}`,
      ),
    );
};
