/**
 * File of recorded events: one JSON object a line, as the plugin `journal-file` and `sluice run --json` write them.
 *
 * Invariants: a line that is no event is refused with its number, a torn last line is left out; instants that go back
 * are refused, as what would be played then is not what happened.
 */
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { type Event, SluiceError } from "sluice";

/** More than these do not fit the memory of a process that plays them. */
const eventsMax = 2_000_000;

const refuse = (path: string, line: number, why: string): never => {
  throw new SluiceError(
    "FIXTURE_INVALID",
    `${path}:${line}: ${why} Events are written by the plugin journal-file, or by sluice run --json.`,
  );
};

export const readEvents = async (path: string): Promise<readonly Event[]> => {
  const events: Event[] = [];
  let number = 0;
  let torn = 0;
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    number++;
    if (line.trim() === "") continue;
    if (torn > 0) refuse(path, torn, "this is not JSON.");
    const event = parsed(line);
    if (event === undefined) torn = number;
    else if (typeof event.type !== "string" || typeof event.at !== "number" || typeof event.seq !== "number") {
      refuse(path, number, `${line.slice(0, 60)} is no event with seq, at and type.`);
    } else {
      if (event.at < (events.at(-1)?.at ?? event.at))
        refuse(path, number, `its instant ${event.at} lies before that of the event above.`);
      events.push(event);
      if (events.length > eventsMax) refuse(path, number, `there are more than ${eventsMax} events; split the file.`);
    }
  }
  if (events.length === 0) refuse(path, 1, "there is no event in it.");
  return events;
};

const parsed = (line: string): Event | undefined => {
  try {
    return JSON.parse(line) as Event;
  } catch {
    return undefined;
  }
};
