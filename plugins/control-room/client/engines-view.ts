/**
 * All engines of this address: one card each, with a link to it.
 *
 * Invariants: an engine that is halted, failed or not connected is marked as such on its card, in words.
 */
import { element } from "../../ui-kit/client/elements.ts";
import { countOf, figure } from "../../ui-kit/client/texts.ts";
import { openOrders } from "./overview-view.ts";
import { unitOf } from "./quota-gauges.ts";
import { put } from "./table-cells.ts";
import type { WatchedEngine } from "./watched-engine.ts";
import { gainText, modeText, placeOfTrading, toneOf } from "./wording.ts";

type Card = { node: HTMLElement; head: HTMLElement; chip: HTMLElement; profit: HTMLElement; lines: HTMLElement };

export class EnginesView {
  name = "All engines";
  node = element("ul", { class: "cards" });
  #choose;
  #cards: Map<string, Card> = new Map();

  constructor(choose: (id: string) => void) {
    this.#choose = choose;
  }

  draw(engines: readonly WatchedEngine[]) {
    for (const watched of engines) this.#drawCard(watched, this.#cards.get(watched.id) ?? this.#add(watched.id));
    for (const [id, { node }] of this.#cards) {
      if (engines.some((watched) => watched.id === id)) continue;
      node.remove();
      this.#cards.delete(id);
    }
  }

  #add(id: string) {
    const [head, chip, profit, lines] = [
      element("strong", {}),
      element("span", { class: "chip" }),
      element("p", { class: "big" }),
      element("p", { class: "soft" }),
    ];
    const open = element(
      "button",
      { type: "button", class: "card" },
      element("span", { class: "cardhead" }, head, chip),
      profit,
      lines,
    );
    open.addEventListener("click", () => this.#choose(id));
    const card = { node: element("li", {}, open), head, chip, profit, lines };
    this.#cards.set(id, card);
    this.node.append(card.node);
    return card;
  }

  #drawCard({ state, engine, isFresh, name, feed }: WatchedEngine, { node, head, chip, profit, lines }: Card) {
    put(head, name);
    const words = feed.state.state !== "open" ? "not connected" : engine === undefined ? "" : modeText(engine);
    put(chip, words);
    chip.className = `chip ${!isFresh || engine?.mode === "halted" ? "bad" : engine?.mode === "active" && engine.state === "running" ? "good" : "amber"}`;
    const money = state.list("money");
    put(profit, money.map((row) => `${gainText(row.profit)} ${row.currency}`).join(", ") || "nothing traded yet");
    profit.className = `big ${money.length === 1 ? toneOf(money[0]?.profit) : ""}`;
    const { resting, waiting } = openOrders(state);
    const failed = state.list("strategies").filter((row) => row.state === "failed").length;
    const minute = state.list("quota").find(({ layer }) => layer === "uid");
    const told = [
      engine === undefined ? "" : placeOfTrading(engine).text,
      countOf(resting + waiting, "open order"),
      countOf(state.rows("strategies").size, "strategy", "strategies") +
        (failed > 0 ? `, ${figure(failed)} failed` : ""),
      minute === undefined ? "" : `${figure(minute.used)} of ${figure(minute.capacity)} ${unitOf(minute)} used`,
    ];
    put(lines, told.filter((text) => text !== "").join(" · "));
    node.classList.toggle("old", !isFresh);
  }
}
