/**
 * Header of the page, always visible: the engine, its mode, its service, the connection of the page, and the halt.
 *
 * Invariants: the halt button is there whenever the token may act and the engine can receive it; a lost connection and a halt are announced
 * in a live region, once each time they begin and end.
 */
import { button, element } from "../../ui-kit/client/elements.ts";
import type { EngineRow } from "../control-rows.ts";
import type { Actions } from "./actions.ts";
import { put } from "./table-cells.ts";
import type { WatchedEngine } from "./watched-engine.ts";
import { ageText, modeText, placeOfTrading } from "./wording.ts";

export class PageHeader {
  node;
  #name = element("h1", {});
  #place = element("span", { class: "chip" });
  #mode = element("span", { class: "chip" });
  #link = element("span", { class: "link" }, element("i", { "aria-hidden": "true" }), element("span", {}));
  #halt;
  #close;
  #banner = element("p", { class: "banner", hidden: true });
  #live = element("div", { class: "unseen", role: "alert", "aria-live": "assertive" });
  #isHalted = false;
  #actions;
  #told = { trouble: "", mode: "" };

  constructor(actions: Actions, help: () => void, themeButton: Node) {
    this.#actions = actions;
    this.#halt = button("Halt", "halt all strategies", () => this.halt());
    this.#halt.classList.add("halt", "acts");
    this.#close = button("Close positions …", "halt, and close all positions of the account", () => actions.close());
    this.#close.classList.add("acts", "quiet");
    this.node = element(
      "header",
      { class: "top" },
      element(
        "div",
        { class: "topline" },
        this.#name,
        element("div", { class: "chips" }, this.#place, this.#mode, this.#link),
        element("div", { class: "tools" }, this.#close, themeButton, button("?", "keys and help", help), this.#halt),
      ),
      this.#banner,
      this.#live,
    );
  }

  halt() {
    if (this.#halt.hidden || this.#halt.disabled) return;
    if (this.#isHalted) this.#actions.resume();
    else this.#actions.halt();
  }

  /** @param fallback - shown before any engine is known */
  draw(watched: WatchedEngine | undefined, mayAct: boolean, fallback: string) {
    const engine = watched?.engine;
    put(this.#name, watched === undefined ? "Sluice" : watched.name);
    this.#name.title = watched?.name ?? "";
    for (const chip of [this.#place, this.#mode]) chip.hidden = engine === undefined;
    if (engine !== undefined) {
      const place = placeOfTrading(engine);
      put(this.#place, place.text);
      setClass(this.#place, `chip ${place.tone}`);
      this.#drawMode(engine, watched?.isOld !== true || engine.state === "stopped");
    }
    this.#drawLink(watched, fallback);
    const isPlayed = engine?.playback !== undefined;
    this.#halt.hidden = !mayAct || isPlayed;
    this.#close.hidden = !mayAct || isPlayed;
    const canHear = watched?.isFresh === true && engine?.state !== "stopped";
    this.#close.disabled = !canHear;
    this.#showHalt(canHear, engine?.mode === "halted");
    this.#drawBanner(watched);
  }

  /** Draws the mode; an engine that is not connected has its last known one. */
  #drawMode(engine: EngineRow, isFresh: boolean) {
    const isBad = engine.mode === "halted" || engine.state === "gone";
    const tone = isBad ? "bad" : engine.mode === "reducing" || engine.state !== "running" ? "amber" : "good";
    put(this.#mode, isFresh ? modeText(engine) : `last seen: ${modeText(engine)}`);
    setClass(this.#mode, `chip ${isFresh ? tone : ""}`);
  }

  /** All engines at once: the halt is for each of them. */
  drawAll(engines: readonly WatchedEngine[], mayAct: boolean, canAct: boolean) {
    const gone = engines.filter(
      ({ feed, engine }) => ["lost", "refused"].includes(feed.state.state) || engine?.state === "gone",
    );
    const lost = gone.length;
    const readOnly = engines.filter(({ engine }) => engine?.access === "read" && engine.state === "running");
    const running = engines.filter(({ engine }) => engine?.state === "running" && engine.playback === undefined);
    const halted = running.filter(({ engine }) => engine?.mode === "halted").length;
    put(this.#name, `${engines.length} engines`);
    this.#place.hidden = true;
    this.#mode.hidden = false;
    put(this.#mode, halted === 0 ? `${running.length} trading` : `${halted} of ${running.length} halted`);
    setClass(this.#mode, `chip ${halted > 0 ? "bad" : "good"}`);
    const text = this.#link.lastElementChild;
    if (text) put(text, lost === 0 ? "connected" : `${lost} not connected`);
    setClass(this.#link, `link ${lost === 0 ? "good" : "bad"}`);
    const trouble =
      lost === 0
        ? ""
        : `Not connected: ${gone.map(({ name }) => name).join(", ")}. What is shown of them is old. Trying again …`;
    const reading =
      readOnly.length === 0
        ? ""
        : `Only read, and not halted from here: ${readOnly.map(({ name }) => name).join(", ")}.`;
    put(this.#banner, [trouble, reading].filter((text) => text !== "").join(" "));
    this.#banner.hidden = trouble === "" && reading === "";
    setClass(this.#banner, `banner ${trouble === "" ? "amber" : "bad"}`);
    if (trouble !== this.#told.trouble) put(this.#live, trouble === "" ? "Connected again." : trouble);
    this.#told = { trouble, mode: "" };
    this.#halt.hidden = !mayAct;
    this.#showHalt(canAct, running.length > 0 && halted === running.length);
    this.#close.hidden = true;
  }

  #showHalt(can: boolean, isHalted: boolean) {
    this.#isHalted = isHalted;
    this.#halt.disabled = !can;
    put(this.#halt, isHalted ? "Resume" : "Halt");
    this.#halt.classList.toggle("resume", isHalted);
    this.#halt.title = isHalted ? "resume trading" : "halt all strategies";
  }

  #drawLink(watched: WatchedEngine | undefined, fallback: string) {
    const text = this.#link.lastElementChild;
    const isOpen = watched?.feed.state.state === "open";
    const words =
      watched === undefined
        ? fallback
        : isOpen
          ? `connected · ${ageText(watched.feed.ageMs)}`
          : watched.feed.state.state === "connecting"
            ? "connecting …"
            : watched.feed.state.state === "refused"
              ? "not allowed"
              : `not connected · last update ${ageText(watched.feed.ageMs)}`;
    if (text) put(text, words);
    setClass(this.#link, `link ${isOpen && watched.isFresh ? "good" : "bad"}`);
  }

  #drawBanner(watched: WatchedEngine | undefined) {
    const engine = watched?.engine;
    const trouble = watched?.trouble ?? "";
    const mode =
      engine === undefined || engine.mode === "active"
        ? ""
        : `${engine.name} is ${modeText({ mode: engine.mode, full: engine.full })}: ${engine.reason}`;
    const stopped =
      engine?.state === "stopped" && engine.playback === undefined
        ? `${engine.name} has stopped. What is shown is how it ended.`
        : "";
    const text = trouble === "" ? (stopped === "" ? mode : stopped) : `${trouble} What is shown is old. Trying again …`;
    this.#banner.hidden = text === "";
    put(this.#banner, text);
    setClass(this.#banner, `banner ${trouble !== "" || engine?.mode === "halted" ? "bad" : "amber"}`);
    if (trouble !== this.#told.trouble) put(this.#live, trouble === "" ? "Connected again." : trouble);
    else if (mode !== this.#told.mode) put(this.#live, mode === "" ? "Trading is active again." : mode);
    this.#told = { trouble, mode };
  }
}

const setClass = (node: Element, name: string) => {
  if (node.className !== name) node.className = name;
};
