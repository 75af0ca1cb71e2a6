/**
 * The quota: its windows, the actions that wait for it, and its use.
 *
 * Invariants: waiting actions are listed by class in the order of its priority, and by strategy.
 */
import { element } from "../../ui-kit/client/elements.ts";
import { figure } from "../../ui-kit/client/texts.ts";
import type { StrategyRow } from "../control-rows.ts";
import { QuotaGauges } from "./quota-gauges.ts";
import { VirtualTable } from "./virtual-table.ts";
import type { WatchedEngine } from "./watched-engine.ts";

type Waiting = { key: string; kind: string; owner: string; queued: number; inFlight: number };

/** The most urgent first. */
const classes: Readonly<Record<string, string>> = {
  emergency: "emergency",
  cancel: "cancel",
  close: "close a position",
  resolve: "find out the outcome of an order",
  place: "place",
  read: "read for a strategy",
  backfill: "read ahead",
};
const order = Object.keys(classes);

const rankOf = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length);

export class QuotaView {
  name = "Quota";
  node;
  #gauges = new QuotaGauges();
  #queue;
  #spent;
  #version = "";

  constructor() {
    this.#queue = new VirtualTable<Waiting>({
      label: "Actions that wait or are in flight",
      columns: [
        {
          name: "action",
          text: ({ kind }) => classes[kind] ?? kind,
          value: ({ kind }) => rankOf(kind),
          isText: true,
          width: 150,
          narrow: 110,
          grow: true,
        },
        { name: "of", text: ({ owner }) => owner, value: ({ owner }) => owner, isText: true, width: 150, narrow: 84 },
        {
          name: "waiting",
          text: ({ queued }) => figure(queued),
          value: ({ queued }) => queued,
          tone: ({ queued }) => (queued > 0 ? "amber" : ""),
          width: 80,
          narrow: 70,
        },
        { name: "in flight", text: ({ inFlight }) => figure(inFlight), value: ({ inFlight }) => inFlight, width: 80 },
      ],
      keyOf: ({ key }) => key,
      empty: () => "Nothing waits, and nothing is in flight.",
      sort: { column: 0, down: false },
      most: 14,
    });
    this.#spent = new VirtualTable<StrategyRow>({
      label: "Weight spent by strategy since the start",
      columns: [
        { name: "strategy", text: ({ name }) => name, value: ({ name }) => name, isText: true, width: 150, grow: true },
        { name: "weight", text: ({ weight }) => figure(weight), value: ({ weight }) => weight, width: 100 },
        {
          name: "a fill",
          label: "weight for each fill",
          text: ({ weight, fills }) => (fills === 0 ? "–" : figure(weight / fills, 1)),
          value: ({ weight, fills }) => (fills === 0 ? 0 : weight / fills),
          width: 80,
        },
      ],
      keyOf: ({ name }) => name,
      empty: () => "No strategy has spent anything yet.",
      sort: { column: 1, down: true },
      most: 14,
    });
    this.node = element(
      "div",
      {},
      element("section", {}, element("h2", {}, "Windows of the quota"), this.#gauges.node),
      element(
        "div",
        { class: "split even" },
        element("section", {}, element("h2", {}, "Waiting and in flight"), this.#queue.node),
        element("section", {}, element("h2", {}, "Weight spent since the start"), this.#spent.node),
      ),
    );
  }

  draw(watched: WatchedEngine) {
    this.#gauges.draw(watched);
    const { state } = watched;
    const version = `${watched.id} ${state.version(["queue", "strategies"])}`;
    if (version === this.#version) return;
    this.#version = version;
    const waiting = [...state.rows("queue")].flatMap(([key, { queued, inFlight }]) => {
      const [kind = "", owner = ""] = key.split("|");
      return key === "all" || queued + inFlight === 0 ? [] : [{ key, kind, owner, queued, inFlight }];
    });
    this.#queue.set(waiting);
    this.#spent.set(state.list("strategies"));
  }

  shown() {
    this.#queue.draw();
    this.#spent.draw();
  }

  forget() {
    this.#version = "";
  }
}
