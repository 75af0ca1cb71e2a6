/**
 * All events of one order, from the strategy's request to the last record, in a panel next to the list.
 *
 * Invariants: every event that the engine sends about it is shown, in order, with the time since the one before; it is requested again
 * while the order is open and the panel is shown; the newest answer wins.
 */
import { button, element } from "../../ui-kit/client/elements.ts";
import { lasting } from "../../ui-kit/client/texts.ts";
import type { OrderRow } from "../control-rows.ts";
import type { Actions } from "./actions.ts";
import { type StoryEvent, storyOfOrder } from "./api.ts";
import { nowMs } from "./browser-clock.ts";
import { put } from "./table-cells.ts";
import type { WatchedEngine } from "./watched-engine.ts";
import { averageText, exactInstant, phaseText, plainText, shortFigure, sideText } from "./wording.ts";

const againMs = 1_000;

export class OrderStory {
  node = element("aside", { class: "story", "aria-label": "Story of an order", hidden: true, tabindex: "-1" });
  #title = element("h2", {});
  #facts = element("dl", { class: "facts" });
  #steps = element("ol", { class: "steps" });
  #said = element("p", { class: "soft", role: "status" });
  #cancel;
  #clOrdId = "";
  #changedAt = -1;
  #askedAt = 0;
  #isAsking = false;
  #closed;

  constructor(actions: Actions, closed: () => void) {
    this.#closed = closed;
    this.#cancel = button("Cancel this order …", "Cancel this order …", () =>
      actions.cancel({ clOrdId: this.#clOrdId }, "one order"),
    );
    this.#cancel.classList.add("acts");
    const head = element(
      "div",
      { class: "storyhead" },
      this.#title,
      button("×", "close the story", () => this.close()),
    );
    this.node.append(head, this.#facts, this.#cancel, element("h3", {}, "What happened"), this.#steps, this.#said);
  }

  get clOrdId() {
    return this.#clOrdId;
  }

  open(clOrdId: string) {
    this.#clOrdId = clOrdId;
    this.#changedAt = -1;
    this.#askedAt = Number.NEGATIVE_INFINITY;
    this.#steps.replaceChildren();
    put(this.#said, "Asking the engine …");
    this.node.hidden = false;
  }

  /** True where it was open. */
  close() {
    if (this.node.hidden) return false;
    this.node.hidden = true;
    this.#clOrdId = "";
    this.#closed();
    return true;
  }

  draw(watched: WatchedEngine) {
    if (this.#clOrdId === "") return;
    const order = watched.state.row("orders", this.#clOrdId);
    if (order !== undefined) this.#drawFacts(order);
    this.#cancel.hidden = order === undefined || order.isFinal;
    const isNew = order?.changedAt !== this.#changedAt;
    if (!isNew || this.#isAsking || nowMs() - this.#askedAt < againMs) return;
    this.#changedAt = order?.changedAt ?? this.#changedAt;
    void this.#ask(watched.id);
  }

  #drawFacts(order: OrderRow) {
    put(this.#title, `${sideText(order.side)} ${order.instId}`);
    const facts = [
      ["state", phaseText(order.phase)],
      ["strategy", `${order.strategy}, slot ${order.slot}`],
      [
        "order",
        `${order.ordType}${order.px === "" ? "" : ` at ${shortFigure(order.px)}`}, size ${shortFigure(order.qty || order.sz)}`,
      ],
      [
        "filled",
        order.filledQty === "" || Number(order.filledQty) === 0
          ? "nothing"
          : `${shortFigure(order.filledQty)} at ${averageText(order.avgPx)}`,
      ],
      ...(order.reason === "" ? [] : [["why", order.reason]]),
      ["id", order.clOrdId],
    ];
    const text = facts.flat().join("\n");
    if (this.#facts.dataset["text"] === text) return;
    this.#facts.dataset["text"] = text;
    this.#facts.replaceChildren(
      ...facts.flatMap(([label = "", value = ""]) => [element("dt", {}, label), element("dd", {}, value)]),
    );
  }

  async #ask(source: string) {
    const asked = this.#clOrdId;
    this.#isAsking = true;
    this.#askedAt = nowMs();
    try {
      const events = await storyOfOrder(source, asked);
      if (asked !== this.#clOrdId) return;
      this.#steps.replaceChildren(...events.map((event, index) => stepOf(event, events[index - 1])));
      put(this.#said, events.length === 0 ? "The engine no longer keeps the events of this order." : "");
    } catch (error) {
      if (asked === this.#clOrdId) put(this.#said, error instanceof Error ? error.message : String(error));
    } finally {
      this.#isAsking = false;
    }
  }
}

const stepOf = (event: StoryEvent, before: StoryEvent | undefined) =>
  element(
    "li",
    {},
    element("span", {}, titleOf(event)),
    element(
      "time",
      { title: exactInstant(event.at) },
      before === undefined ? exactInstant(event.at).slice(11) : `+${lasting(Math.max(0, event.at - before.at))}`,
    ),
    element("small", {}, detailOf(event)),
  );

const titleOf = ({ type, phase }: StoryEvent) =>
  type === "order.changed" ? phaseText(plainText(phase)) : type === "fill" ? "fill" : type.replace(".", ": ");

const apart = ["seq", "at", "type", "phase", "strategy", "slot", "instId", "clOrdId", "side", "record"];

/** Returns the other fields of the event, with its own names. */
const detailOf = (event: StoryEvent) => {
  const record = (event["record"] ?? {}) as Record<string, unknown>;
  const told = Object.entries(event).filter(
    ([name, value]) => !apart.includes(name) && value !== "" && value !== undefined && value !== null,
  );
  const seen = ["state", "accFillSz", "avgPx", "fee"]
    .filter((name) => record[name] !== undefined && record[name] !== "")
    .map((name) => `${name} ${plainText(record[name])}`);
  return [
    ...told.map(([name, value]) => (name === "reason" ? plainText(value) : `${name} ${plainText(value)}`)),
    ...seen,
  ].join(" · ");
};
