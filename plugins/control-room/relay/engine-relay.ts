/**
 * Relay of several control ports: every engine that is at one of them, as a source of one page on this machine.
 *
 * Invariants: a port that does not answer keeps nothing from the others and is asked again; each engine has one name
 * here, with the address of its port where two have the same; tokens stay in this process.
 * Not here: one engine (relay-source.ts), the page's own port (server/control-room.ts), which ports there are (`sluice
 * ui`).
 */
import type { Subscription } from "rxjs";
import { type Clock, every, messageOf } from "sluice/extension";
import { RelaySource } from "./relay-source.ts";
import { listEngines, type PortLink, type PortList } from "./upstream-port.ts";

/** Connection of one source to the page's port. */
interface Shown {
  beat(): void;
  leave(): Promise<void>;
}

interface RelayParts {
  readonly clock: Clock;
  /** Shows a source on the page. */
  readonly show: (source: RelaySource) => Promise<Shown>;
  /** A line for people. */
  readonly print: (line: string) => void;
}

interface Relayed {
  readonly source: RelaySource;
  readonly shown: Promise<Shown>;
}

const lookMs = 2_000;
const enginesMax = 64;
const nameMax = 90;

/** Shows engines of other processes in one page: follows their control ports, and passes on actions. */
export class EngineRelay {
  readonly #parts: RelayParts;
  readonly #links = new Map<string, PortLink>();
  /** By name here. */
  readonly #relayed = new Map<string, Relayed>();
  readonly #looking: Subscription;
  /** Ports that did not answer, as reported already. */
  readonly #silent = new Set<string>();
  #isFull = false;
  #isOver = false;
  #isLooking: Promise<void> | undefined;

  constructor(parts: RelayParts) {
    this.#parts = parts;
    this.#looking = every(parts.clock, lookMs).subscribe(() => void this.look());
  }

  /** Names of the engines that are shown. */
  get names(): readonly string[] {
    return [...this.#relayed.keys()];
  }

  /** The ports that are asked from now on. Engines that were shown of another one stay, as they were last. */
  replace(links: readonly PortLink[]): void {
    this.#links.clear();
    for (const link of links) this.#links.set(link.origin, link);
  }

  /** Requests the list of engines from every port; resolves when each has answered or timed out. */
  look(): Promise<void> {
    this.#isLooking ??= this.#look().finally(() => {
      this.#isLooking = undefined;
    });
    return this.#isLooking;
  }

  async end(): Promise<void> {
    this.#isOver = true;
    this.#looking.unsubscribe();
    await Promise.all([...this.#relayed.keys()].map((name) => this.#remove(name)));
  }

  async #look(): Promise<void> {
    const lists = await Promise.all(
      [...this.#links.values()].map(async (link) => ({ link, list: await this.#listOf(link) })),
    );
    if (this.#isOver) return;
    const found = lists.flatMap(({ link, list }) =>
      (list?.engines ?? [])
        .filter(({ isGone }) => !isGone)
        .map(({ id }) => ({ link, id, access: list?.access ?? "read" })),
    );
    const isAmbiguous = (id: string): boolean => found.filter((one) => one.id === id).length > 1;
    for (const engine of found) {
      const { link, id } = engine;
      if (this.#of(link, id) !== undefined) continue;
      if (this.#relayed.size >= enginesMax) this.#tellFull();
      else await this.#add(new RelaySource(await this.#nameFor(link, id, isAmbiguous(id)), engine, this.#parts.clock));
    }
  }

  async #listOf(link: PortLink): Promise<PortList | undefined> {
    try {
      const list = await listEngines(link);
      this.#silent.delete(link.origin);
      return list;
    } catch (error) {
      const isNews = !this.#silent.has(link.origin) && !this.#isOver;
      this.#silent.add(link.origin);
      if (isNews) this.#parts.print(`${messageOf(error)} It is asked again.`);
      return undefined;
    }
  }

  #of(link: PortLink, id: string): Relayed | undefined {
    return [...this.#relayed.values()].find(
      ({ source: { engine } }) =>
        engine.link.origin === link.origin && engine.link.token === link.token && engine.id === id,
    );
  }

  /** Returns a name for an engine; its next run takes the name of a run that does not come back. */
  async #nameFor(link: PortLink, id: string, isAmbiguous: boolean): Promise<string> {
    const own = id.slice(0, nameMax);
    const long = `${id} (${new URL(link.origin).host})`.slice(-nameMax);
    const before = this.#relayed.get(own)?.source;
    if (before?.isLost === true && this.#links.get(before.engine.link.origin)?.token !== before.engine.link.token)
      await this.#remove(own);
    if (!isAmbiguous && !this.#relayed.has(own)) return own;
    for (let count = 1; ; count++) {
      const name = count === 1 ? long : `${long} ${count}`;
      if (!this.#relayed.has(name)) return name;
    }
  }

  async #add(source: RelaySource): Promise<void> {
    const shown = this.#parts.show(source);
    this.#relayed.set(source.id, { source, shown });
    const place = await shown;
    source.onBeat = () => place.beat();
    void source.follow();
  }

  async #remove(name: string): Promise<void> {
    const relayed = this.#relayed.get(name);
    this.#relayed.delete(name);
    relayed?.source.end();
    await (await relayed?.shown)?.leave();
  }

  #tellFull(): void {
    if (!this.#isFull) this.#parts.print(`More than ${enginesMax} engines: the others are not shown.`);
    this.#isFull = true;
  }
}
