/**
 * The stream of one engine's updates, and whether it is alive.
 *
 * Invariants: the engine's process sends something each second; when nothing came for `silenceMs`, or the connection ended, the feed
 * changes its state at once, and connects again until it is answered, without a reload; each new stream begins with a snapshot, so that no
 * change is lost; what reads its state is drawn again when it changes; browsers open six connections to one address, so that with many engines only some are streamed and the others asked again
 * and again, or no action would find a way to its engine.
 * Not here: rows (source-state.ts), its display on the page (page-header.tsx).
 */

import { signal } from "@preact/signals";
import type { ControlUpdate } from "../control-document.ts";
import { ask, Refused } from "./api.ts";
import { afterMs, nowMs } from "./browser-clock.ts";

type FeedState = { state: "connecting" | "open" | "lost" | "refused"; text: string };

/** A beat may come a little late: its thread shares a machine. */
const silenceMs = 1_900;
const pauses = [250, 500, 1_000, 2_000];
const pollMs = 2_000;

export class Feed {
  #source;
  #take;
  #stream: AbortController | undefined;
  #heardAt = nowMs();
  #updatedAt = nowMs();
  #failures = 0;
  #isOver = false;
  #isOpening = false;
  #isStreamed = true;
  /** Silence of the engine's thread at the last beat of its process, in milliseconds. */
  #engineSilentMs = signal(0);
  #state = signal<FeedState>({ state: "connecting", text: "" });

  constructor(source: string, take: (update: ControlUpdate, isWhole: boolean) => void) {
    this.#source = source;
    this.#take = take;
    void this.#follow();
  }

  get state() {
    return this.#state.value;
  }

  /** Milliseconds since the last row arrived. */
  get ageMs() {
    return nowMs() - this.#updatedAt;
  }

  get engineSilentMs() {
    return this.#engineSilentMs.value;
  }

  /** Selects streaming of updates, or a request every two seconds. */
  stream(on: boolean) {
    if (on === this.#isStreamed) return;
    this.#isStreamed = on;
    this.#stream?.abort();
  }

  /** To be called several times a second. */
  watch() {
    if (this.#isOpening) this.#tell("open", "");
    this.#isOpening = false;
    if (this.#isStreamed && this.state.state === "open" && nowMs() - this.#heardAt > silenceMs) {
      this.#tell("lost", "Nothing was received from the engine's process for two seconds.");
      this.#stream?.abort();
    }
  }

  end() {
    this.#isOver = true;
    this.#stream?.abort();
  }

  async #follow() {
    while (!this.#isOver) {
      const wasStreamed = this.#isStreamed;
      try {
        if (!wasStreamed) {
          await this.#poll();
          continue;
        }
        await this.#read();
        this.#tell("lost", "The engine's process has closed the connection.");
      } catch (error) {
        // Cut off to be followed the other way.
        if (wasStreamed !== this.#isStreamed) continue;
        if (error instanceof Refused && (error.status === 401 || error.status === 403))
          this.#tell("refused", error.message);
        else if (error instanceof Refused) this.#tell("lost", error.message);
        else if (this.state.state !== "lost") this.#tell("lost", "The engine's process cannot be reached.");
      }
      this.#isOpening = false;
      await afterMs(pauses[Math.min(this.#failures++, pauses.length - 1)] ?? 2_000);
    }
  }

  async #poll() {
    const response = await ask(`sources/${encodeURIComponent(this.#source)}`);
    this.#take(await response.json(), true);
    this.#heardAt = nowMs();
    this.#updatedAt = this.#heardAt;
    this.#failures = 0;
    this.#tell("open", "");
    await afterMs(pollMs);
  }

  async #read() {
    const stream = new AbortController();
    this.#stream = stream;
    // A hung process accepts connections and answers nothing.
    void afterMs(4_000).then(() => {
      if (this.#stream === stream && this.state.state !== "open") stream.abort();
    });
    const response = await ask(`sources/${encodeURIComponent(this.#source)}/stream`, { signal: stream.signal });
    this.#heardAt = nowMs();
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const decoder = new TextDecoder();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      this.#heardAt = nowMs();
      const parts = (rest + decoder.decode(value, { stream: true })).split("\n\n");
      rest = parts.pop() ?? "";
      for (const part of parts) this.#message(part);
    }
  }

  /** @param text - one server-sent event */
  #message(text: string) {
    let [name, data] = ["message", ""];
    for (const line of text.split("\n")) {
      if (line.startsWith("event:")) name = line.slice(6).trim();
      else if (line.startsWith("data:")) data += line.slice(5).trimStart();
    }
    if (name === "heartbeat") this.#beat(JSON.parse(data));
    if (name !== "snapshot" && name !== "update") return;
    this.#updatedAt = this.#heardAt;
    if (name === "update") this.#engineSilentMs.value = 0;
    this.#take(JSON.parse(data), name === "snapshot");
    // Of an engine that has ended a stream holds nothing else.
    this.#isOpening ||= name === "snapshot";
  }

  #beat({ silentMs = 0 }: { silentMs?: number }) {
    this.#failures = 0;
    this.#engineSilentMs.value = silentMs;
  }

  #tell(state: FeedState["state"], text: string) {
    const { state: before, text: told } = this.state;
    if (before !== state || told !== text) this.#state.value = { state, text };
  }
}
