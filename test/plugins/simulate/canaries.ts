/**
 * Deliberate bugs, each one edit of a source file: what the simulation must be able to see.
 *
 * Invariants: the text an edit replaces occurs exactly once; every one is caught within 200 seeds of one config.
 */
export interface Canary {
  readonly name: string;
  readonly file: string;
  readonly find: string;
  readonly put: string;
  /** A seed that caught it: tried first. */
  readonly seed?: number;
  /** The strategies that meet it, where those that keep the quota busy leave too much of it for their exits. */
  readonly config?: "brimful" | "protected";
  /** Part of the suite. */
  readonly quick?: true;
}

const protection = "src/orders/protection/protection.ts";
const protections = "src/orders/protection/protections.ts";
const heldProtection = "src/orders/protection/held-protection.ts";
const gateway = "src/client/parse-response.ts";
const rejections = "src/contract/rejections.ts";
const placements = "src/orders/placement.ts";
const resolve = "src/orders/order-search.ts";
const withdrawals = "src/orders/cancellation.ts";
const durable = "src/engine/placement-journal.ts";
const store = "src/journal/write-ahead-log.ts";
const orderStore = "src/orders/state/order-store.ts";
const lists = "src/orders/state/order-lists.ts";
const arrivals = "src/orders/reconciliation.ts";
const managerState = "src/orders/manager-state.ts";
const changes = "src/orders/changes.ts";
const idGeneration = "src/orders/client-order-id.ts";

/** Takes an order for canceled, whatever the service says. */
const believedCanceled = `{ type: "recorded", record: { px: order.spec.px, sz: order.spec.sz, ordId: order.ordId, accFillSz: "0", fee: "", ...order.record, state: "canceled" } as never }`;

/** A placement without an answer is in doubt. */
const unanswered = `return doubt(order, message, unlisted === undefined ? "" : wordsOf(unlisted.code, unlisted.msg));`;

/** Waits until a placement is written down. */
const written = `await log.commit(reduceOnly ? clOrdId : undefined).catch((error: unknown) => {
      this.#write({ type: "unsent", uid, clOrdId });
      throw error;
    });`;

// biome-ignore format: one canary a line
export const canaries: readonly Canary[] = [
  { name: "an error page of the service is a refusal", file: gateway, find: "status >= 400 && !isFault(status) && !changes", put: "status >= 400", seed: 2, quick: true },
  { name: "a page of somebody on the way is a rejection", file: gateway, find: "!isFault(status) && !changes", put: "!isFault(status)", seed: 24, quick: true },
  { name: "a time-out on the way is a refusal", file: gateway, find: "!isFault(status) && !changes\n", put: "status < 500\n", seed: 45 },
  { name: "an unreadable success is a refusal", file: gateway, find: "status >= 400 && !isFault(status) && !changes", put: "status >= 200", seed: 2 },
  { name: "whatever the envelope says is a rejection", file: gateway, find: `const verdict = verdictOn(profile, status, code);`, put: `const verdict = "rejected" as ReturnType<typeof verdictOn>;`, seed: 4 },
  { name: "a code on no list is a rejection", file: rejections, find: `? "rejected" : "unlisted";\n};`, put: `? "rejected" : "rejected";\n};`, seed: 42 },
  { name: "whatever the result of an element says is a rejection", file: placements, find: `if (verdict === "rejected") return reject(`, put: `if (sCode !== "0") return reject(`, seed: 42 },
  { name: "the code for unavailable is a rejection", file: rejections, find: `if (never.has(code)) return "unproven";`, put: `if (never.has(code)) return "rejected";`, seed: 4 },
  { name: "success without data is an empty list", file: gateway, find: `: { kind: "unknown", message: \`\${endpoint}: success without a data array\` };`, put: `: { kind: "done", records: [], problems: [], at };`, seed: 61 },
  { name: "an unanswered placement is taken for absent", file: placements, find: unanswered, put: `advance(order, { type: "doubted", reason: message, verdict: "" });\n        return advance(order, { type: "provedAbsent" }) ? [publish(order)] : noEffects;`, seed: 2 },
  { name: "an unanswered placement is sent again", file: placements, find: unanswered, put: "return this.#state.notExecuted(order, message);", seed: 15, quick: true },
  { name: "an unanswered placement is forgotten", file: placements, find: unanswered, put: "return noEffects;", seed: 4 },
  { name: "a refusal by a limit is a refusal of the order", file: placements, find: `return this.#state.notExecuted(order, "refused by a rate limit");`, put: `return reject(order, "limited");`, seed: 3 },
  { name: "not found once is gone", file: resolve, find: "if (!this.#learn(search, answer) && counts) search.negatives++;", put: "if (!this.#learn(search, answer)) search.sweeps = search.negatives = 9;", seed: 2 },
  { name: "not found counts at once", file: resolve, find: "settleMs = 30_000", put: "settleMs = 0", seed: 2 },
  { name: "one sweep proves absence", file: resolve, find: "{ negatives: 3, sweeps: 2 }", put: "{ negatives: 3, sweeps: 1 }", seed: 2 },
  { name: "no sweep is needed to prove absence", file: resolve, find: "{ negatives: 3, sweeps: 2 }", put: "{ negatives: 3, sweeps: 0 }", seed: 2 },
  { name: "an error counts as not found", file: resolve, find: `if (outcome.kind !== "done") return { kind: "void"`, put: `if (outcome.kind !== "done") return { kind: "none"`, seed: 10 },
  { name: "a record that cannot be read may be any order", file: "src/client/outcome.ts", find: "return !isOther(named?.ordId, ordId) && ", put: "return named !== null || ", seed: 15 },
  { name: "a cancel that left is a cancel", file: withdrawals, find: `if (advance(order, { type: "cancel", move: "sent" })) run([publish(order, now)]);`, put: `if (advance(order, ${believedCanceled})) run([publish(order, now)]);`, seed: 1, quick: true },
  { name: "an unanswered cancel is a cancel", file: withdrawals, find: "        // It may have been executed, and it does no harm twice.", put: `        if (advance(order, ${believedCanceled})) return [publish(order)];`, seed: 2 },
  { name: "a cancel that was denied is a cancel", file: withdrawals, find: `return [...this.#fail(order, end.reason), { kind: "query", order, how: "look" }, this.#again(order)];`, put: `return advance(order, ${believedCanceled}) ? [publish(order)] : noEffects;`, seed: 4 },
  { name: "a cancel that did nothing is not tried again", file: withdrawals, find: "(isClosed(order) ? noEffects : send(order));", put: "noEffects;", seed: 8 },
  { name: "a placement does not wait for its record", file: durable, find: written, put: "void log.commit().catch(() => undefined);", seed: 1 },
  { name: "placements do not pass the journal", file: durable, find: `endpoint === "placeOrder" ? (request.body as PlaceBody) : this.#closeOf(request)`, put: "this.#closeOf(request)", seed: 1, quick: true },
  { name: "a failed journal is no reason to stop", file: durable, find: `${written}\n    const reason = orderManager.leaves(clOrdId);`, put: "await log.commit(clOrdId);\n    const reason = log.refused(false) === undefined ? orderManager.leaves(clOrdId) : undefined;", seed: 2 },
  { name: "what was missed is not written when the disk works again", file: store, find: "    try {\n      await this.#rotate();", put: "    try {", seed: 2 },
  { name: "nothing is flushed", file: store, find: "const synced = this.#file.sync();", put: "const synced = Promise.resolve();", seed: 1 },
  { name: "a torn end stays where it is", file: store, find: "await disk.truncate(name, bytes);", put: "", seed: 191 },
  { name: "whoever comes during a flush shares it", file: store, find: "return this.#next;\n", put: "return this.#flushing;\n", seed: 5 },
  { name: "what an earlier life sent is not looked for", file: "src/engine/engine-lifecycle.ts", find: "if (durable !== undefined && recovered !== undefined) await this.#recall(durable, recovered);", put: "", seed: 90 },
  { name: "what a life found at the service is not taken over", file: arrivals, find: "return isActive(record.state) ? this.#adopt(record) : this", put: "return isActive(record.state) ? noEffects : this", seed: 12 },
  { name: "orders of others are cancelled", file: arrivals, find: "if (own === undefined) return this.#foreign.take(record, previous);", put: `if (own === undefined) {\n      const told = this.#foreign.take(record, previous);\n      if (previous !== undefined) return told;\n      return [...told, ...this.#cancellation.ask(foundOrder(record, this.#state.options.clock, this.#state.options.contract.profile), "cancel", "")];\n    }`, seed: 8 },
  { name: "the last record wins", file: orderStore, find: "const state = standing[next.state] > standing[known.state] ? next : known;", put: "if (next.ordId !== '') return isSame(next, known) ? known : next;\n  const state = standing[next.state] > standing[known.state] ? next : known;", seed: 24 },
  { name: "fills are added instead of merged", file: orderStore, find: "const { avgPx, accFillSz, fee, feeCcy } = fills;", put: "const { avgPx, fee, feeCcy } = fills;\n  const accFillSz = String(Number(filledOf(known)) + Number(filledOf(next)));", seed: 23 },
  { name: "a partial fill is a fill", file: "src/orders/order-state.ts", find: "const { state } = record;", put: `const state = record.state === "partially_filled" ? "filled" : record.state;`, seed: 8 },
  { name: "what is missing from the lists is not asked for", file: lists, find: "from(missing.filter(isUntold).slice(0, lookupsMax))", put: "from(missing.slice(0, 0))", seed: 10 },
  { name: "nothing is missing from the lists", file: lists, find: "!listed.has(ordId) && (this.#isSettled(", put: "listed.has('') && (this.#isSettled(", seed: 10 },
  { name: "a halted desk goes on placing", file: "src/orders/risk/trading-mode.ts", find: `mode === "active" || (!isFull(mode)`, put: `mode === "active" || mode === "halted" || (!isFull(mode)`, seed: 6 },
  { name: "a port that refuses is not asked", file: managerState, find: "refused: refused?.(wanted.reduceOnly === true),", put: "refused: undefined,", seed: 2 },
  { name: "ids begin anew in every life", file: idGeneration, find: "this.#first = firstGeneration(clock.wallNow())", put: "this.#first = 0", seed: 1 },
  { name: "an order we cut short settles its wanted order", file: changes, find: "if (!isLeftToUs(order) && slot.followUp === undefined) slot.settled = order.serves;", put: "if (slot.followUp === undefined) slot.settled = order.serves;", seed: 37 },
  { name: "a free slot is not looked at", file: "src/orders/perform.ts", find: "if (change.freed !== undefined) this.evaluate(change.freed);", put: "", seed: 3 },
  { name: "a slot does not wait for its order's end", file: "src/orders/plan.ts", find: "return slot.mayAmend === true ? amend : replace;", put: "return place;", seed: 1 },
  { name: "a surplus order stays", file: arrivals, find: "if (slot.order !== order) return this.#cancelOlder(order);", put: "if (slot.order !== order && slot.order === undefined) return this.#cancelOlder(order);", seed: 65 },
  { name: "generations seen in use are used again", file: idGeneration, find: "this.#after = Math.max(used, this.#after ?? used);", put: "", seed: 4 },
  { name: "the minute holds twice as much", file: "src/scheduler/quota/layers.ts", find: `{ scope: "uid", ...uid,`, put: `{ scope: "uid", ...uid, capacity: uid.capacity * 2,`, seed: 1 },
  { name: "the key's second is not counted", file: "src/scheduler/quota/layers.ts", find: `{ scope: "key", ...key, anchor,`, put: `{ scope: "key", ...key, capacity: key.capacity * 10, anchor,`, seed: 21 },
  { name: "a lost request is not counted", file: "src/scheduler/quota/fixed-window.ts", find: "this.#usage.lose(first, Math.max(first, this.#phase.last(now)), units);", put: "this.#usage.undo(first, units);", seed: 25 },
  { name: "a lost request hides in what was told before it", file: "src/scheduler/quota/window-usage.ts", find: "slot.reported + unheard", put: "slot.reported", config: "brimful", seed: 25 },
  { name: "the service's clock is ours", file: "src/scheduler/quota/server-clock.ts", find: "bounds.lo = stamps.lo - drifted - this.#dateSlackMs;", put: "bounds.lo = 0;", seed: 1 },
  { name: "nothing is kept for exits", file: "src/scheduler/quota/reserve.ts", find: "if (remMs <= policy.lendMs) return 0;\n  const expected = ratePerMs * remMs;\n  const more = expected + policy.confidence * Math.sqrt(expected);\n  // Usual", put: "if (remMs >= 0) return 0;\n  const expected = ratePerMs * remMs;\n  const more = expected + policy.confidence * Math.sqrt(expected);\n  // Usual", seed: 2 },
  { name: "a refusal by a limit shuts nothing", file: "src/scheduler/quota/ledger.ts", find: "if (status === limited)\n      return this.#hold(", put: "if (status === limited && holdMs === -1)\n      return this.#hold(", seed: 3 },
  { name: "a halt ends with its process", file: "src/engine/recovery.ts", find: `if (strategy === "") setMode(accounts, mode, reason);`, put: `if (strategy === "") continue;`, seed: 4 },
  { name: "what waits for the disk leaves after a halt", file: durable, find: "if (reason === undefined) return;", put: `if (reason !== "") return;`, seed: 6 },
  { name: "a calendar tells what may still be on its way", file: resolve, find: "Math.max(order.sentAt, this.#bornAt)", put: "order.sentAt", seed: 2 },
  { name: "protections are not restored after a crash", file: "src/engine/recovery.ts", find: "if (kept.length > 0) orderManager.restore(kept, own);", put: "", config: "protected", seed: 2 },
  { name: "fills of a previous run are booked twice", file: "src/orders/positions.ts", find: "book.open.set(clOrdId, { filled: read(filled), value: read(value), cost: read(cost), feeQty: fee });", put: "void [clOrdId, filled, value, cost, fee];", config: "protected", seed: 33 },
  { name: "partial fills are not protected", file: protections, find: "else if (isPositive(filled)) this.#entryOf", put: "else if (isPositive(filled) && isClosed(order)) this.#entryOf", config: "protected", seed: 13 },
  { name: "a trailing stop begins anew after a crash", file: protection, find: "this.#extreme = extreme === undefined ? undefined : read(extreme);", put: "void extreme;", config: "protected", seed: 2 },
  { name: "what was triggered is forgotten by a crash", file: protection, find: "    this.hit = hit;\n    this.inherited = true;", put: "    void hit;\n    this.inherited = true;", config: "protected", seed: 20 },
  { name: "what protects an entry is not written down with it", file: durable, find: "...(planned !== undefined && { planned })", put: "", config: "protected", seed: 7 },
  { name: "a stop leaves before the last run's orders are known", file: protections, find: "if (this.#changed.size === 0 || this.#isRecovering) return noEffects;", put: "if (this.#changed.size === 0) return noEffects;", config: "protected", seed: 36 },
  { name: "a refused stop is settled", file: "src/orders/refusals.ts", find: "slot.reserved ? [...lookAgain(state, slot)] : [];", put: "[];", config: "protected", seed: 20 },
  { name: "a halt suspends stops", file: "src/orders/risk/trading-mode.ts", find: `mode === "closing" || mode === "stopped";`, put: `mode !== "active" && mode !== "reducing";`, config: "protected", seed: 2 },
  { name: "a stop that was triggered is not sent", file: heldProtection, find: `closing.want("market")`, put: `closing.want("none")`, config: "protected", seed: 2 },
  { name: "a stop closes what others hold", file: "src/orders/exit-size.ts", find: "const free = freeOf(limit, steps);", put: "const free = { units: Number(held.units) + 10 ** held.places, places: held.places };", config: "protected", seed: 3 },
  { name: "a stop leaves everything running", file: "src/engine/engine-lifecycle.ts", find: "parts.lifetime.end();", put: "", seed: 25 },
];
