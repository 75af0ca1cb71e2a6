/**
 * Start of the page: polls the list of engines, and shows the problem if there is no answer.
 *
 * Invariants: an engine that appears later gets its tab without a reload.
 */
import { render } from "preact";
import { ask, Refused } from "./api.ts";
import { App } from "./app.tsx";
import { afterMs } from "./browser-clock.ts";
import { Room } from "./room.ts";

const againMs = 2_000;
const room = new Room();
const place = document.getElementById("page") as HTMLElement;
place.replaceChildren();
render(<App room={room} />, place);

const follow = async () => {
  for (;;) {
    try {
      const { sources, access } = await (await ask("sources")).json();
      room.offer(
        (sources as { id: string }[]).map(({ id }) => id),
        access === "act",
      );
    } catch (error) {
      room.problem.value =
        error instanceof Refused
          ? `Not allowed: ${error.message} Open the link that the engine printed when it started; tokens of your own go behind it: #token=…`
          : "The engine's process cannot be reached. Reconnecting …";
    }
    await afterMs(againMs);
  }
};

void follow();
