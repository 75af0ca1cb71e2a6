/**
 * Start of the page: polls the list of engines, and shows the problem if there is no answer.
 *
 * Invariants: an engine that appears later gets its tab without a reload.
 */
import { ask, Refused } from "./api.ts";
import { afterMs } from "./browser-clock.ts";
import { ControlRoom } from "./control-room.ts";

const againMs = 2_000;
const room = new ControlRoom(document.getElementById("page") as HTMLElement);

const follow = async () => {
  for (;;) {
    try {
      const { sources, access } = await (await ask("sources")).json();
      room.offer(
        (sources as { id: string }[]).map(({ id }) => id),
        access === "act",
      );
    } catch (error) {
      room.tell(
        error instanceof Refused
          ? `Not allowed: ${error.message} Open the link that the engine printed when it started; tokens of your own go behind it: #token=…`
          : "The engine's process cannot be reached. Trying again …",
      );
    }
    await afterMs(againMs);
  }
};

void follow();
