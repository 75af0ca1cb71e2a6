/**
 * Lease of leadership in virtual time: who may send when, and that no two ever may.
 */
import { describe, expect, it } from "vitest";
import { createRandom } from "../../../src/random.ts";
import { type LeaseProcess, leaseMs, leaseWorld, toleranceMs } from "./harness/lease.ts";

const world = (seed = "lease") => leaseWorld(createRandom(seed));
/** A first start: nobody is known, and somebody may have been forgotten. */
const firstMs = leaseMs + toleranceMs + 1_000;

const led = async () => {
  const made = world();
  const first = made.join("first");
  await made.pass(firstMs);
  const second = made.join("second");
  await made.pass(3_000);
  return { ...made, first, second };
};

describe("A lease", () => {
  it("is taken where nobody is known only after a whole lease, and leads when nothing signed before can be executed", async () => {
    const { join, pass, clock } = world();
    const only = join("only");
    const from = clock.now();
    let settlesAt = 0;
    let leadsAt = 0;
    await pass(firstMs, () => {
      if (only.standing === "settling") settlesAt ||= clock.now();
      if (only.standing === "leading") leadsAt ||= clock.now();
    });
    expect(settlesAt - from).toBeGreaterThanOrEqual(leaseMs);
    expect(settlesAt - from).toBeLessThan(leaseMs + 600);
    expect(leadsAt - settlesAt).toBeGreaterThanOrEqual(toleranceMs);
    expect(leadsAt - settlesAt).toBeLessThan(toleranceMs + 600);
  });

  it("stays with its holder while that lives, and tells each of the other", async () => {
    const { first, second, pass } = await led();
    await pass(300_000, () => expect([first.standing, second.standing]).toEqual(["leading", "waiting"]));
    expect(second.lease.leader).toMatchObject({ name: "first", released: false });
    expect(second.lease.leader?.ms).toBeLessThan(600);
    expect(first.lease.standbys.map(({ name }) => name)).toEqual(["second"]);
    expect(first.lease.standbys[0]?.ms).toBeLessThan(600);
  });

  it("goes to the next at once when it is given back", async () => {
    const { first, second, pass, clock } = await led();
    const from = clock.now();
    void first.lease.end();
    let leadsAt = 0;
    await pass(2_000, () => {
      if (second.standing === "leading") leadsAt ||= clock.now();
    });
    expect(first.standing).toBe("over");
    expect(leadsAt - from).toBeGreaterThan(0);
    expect(leadsAt - from).toBeLessThan(600);
  });

  it("goes to the next within lease, tolerance and two looks when its holder dies", async () => {
    const { first, second, pass, clock } = await led();
    first.isDead = true;
    const from = clock.now();
    let leadsAt = 0;
    await pass(20_000, () => {
      if (second.standing === "leading") leadsAt ||= clock.now();
    });
    expect(leadsAt - from).toBeGreaterThanOrEqual(leaseMs + toleranceMs - 600);
    expect(leadsAt - from).toBeLessThan(leaseMs + toleranceMs + 1_100);
  });

  it("leaves one that was stopped mute from its first instant on, and deposed by its first answer", async () => {
    const { first, second, pass } = await led();
    first.isStopped = true;
    await pass(20_000);
    expect(second.standing).toBe("leading");
    // Before any timer or answer of it has run.
    first.isStopped = false;
    expect(first.standing).toBe("mute");
    first.isStopped = true;
    first.continue();
    await pass(100, () => expect(["mute", "over"]).toContain(first.standing));
    expect([first.standing, first.deposedBy]).toEqual(["over", ["second"]]);
  });

  it("is not prolonged by an answer that waited for one that was stopped", async () => {
    const { first, second, pass, clock, store } = await led();
    const renew = store.renew.bind(store);
    store.renew = async (holder) => {
      const reply = await renew(holder);
      if (holder.name === "first") clock.setTimer(clock.now(), () => Object.assign(first, { isStopped: true }));
      return reply;
    };
    await pass(20_000);
    expect(second.standing).toBe("leading");
    first.continue();
    await pass(0, () => expect(["mute", "over"]).toContain(first.standing));
  });

  it("is kept by one that was stopped for longer than the lease, if nobody has taken it", async () => {
    const { join, pass } = world();
    const only = join("only");
    await pass(firstMs);
    only.isStopped = true;
    await pass(60_000);
    only.isStopped = false;
    expect(only.standing).toBe("mute");
    only.isStopped = true;
    only.continue();
    await pass(100);
    expect(only.standing).toBe("leading");
  });

  it("runs out with the calendar as well, which goes on while a machine is suspended", async () => {
    const { first, pass } = await led();
    first.wallOffset = 9_000;
    expect(first.standing).toBe("mute");
    await pass(1_100);
    expect(first.standing).toBe("leading");
  });

  it("leaves exits to a leader whose store is away, and everything again when it is back", async () => {
    const { first, second, pass, network, clock } = await led();
    network.isDown = true;
    const from = clock.now();
    let aloneAt = 0;
    await pass(30_000, () => {
      expect(["leading", "alone"]).toContain(first.standing);
      if (first.standing === "alone") aloneAt ||= clock.now();
    });
    expect(aloneAt - from).toBeGreaterThan(0.8 * leaseMs - 600);
    expect(aloneAt - from).toBeLessThanOrEqual(0.8 * leaseMs);
    expect(second.standing).toBe("waiting");
    network.isDown = false;
    await pass(1_100);
    expect([first.standing, second.standing]).toEqual(["leading", "waiting"]);
  });

  it("goes to the next when its holder hears no answer, although what it asks reaches the store", async () => {
    const { first, second, pass, clock } = await led();
    first.isDeaf = true;
    const from = clock.now();
    let leadsAt = 0;
    await pass(60_000, () => {
      if (second.standing === "leading") leadsAt ||= clock.now();
      expect(second.standing === "leading" && first.standing === "leading").toBe(false);
    });
    expect(leadsAt - from).toBeGreaterThanOrEqual(0.8 * leaseMs + leaseMs + toleranceMs - 1_100);
    expect(leadsAt - from).toBeLessThan(0.8 * leaseMs + leaseMs + toleranceMs + 1_100);
    first.isDeaf = false;
    await pass(1_100);
    expect([first.standing, first.deposedBy]).toEqual(["over", ["second"]]);
  });

  it("stays with its holder after the store was away for longer than it, whoever asks first then", async () => {
    for (const waitMs of [0, 100, 200, 300, 400]) {
      const { first, second, pass, network } = await led();
      await pass(waitMs);
      network.isDown = true;
      await pass(30_000);
      network.isDown = false;
      await pass(2_000);
      expect([first.standing, second.standing]).toEqual(["leading", "waiting"]);
    }
  });

  it("leaves nothing to one that was stopped while the store is away, until it has asked in vain for a while", async () => {
    const { first, pass, network } = await led();
    network.isDown = true;
    await pass(20_000);
    expect(first.standing).toBe("alone");
    first.isStopped = true;
    await pass(20_000);
    first.isStopped = false;
    expect(first.standing).toBe("mute");
    first.isStopped = true;
    first.continue();
    await pass(1_500, () => expect(first.standing).toBe("mute"));
    await pass(2_500);
    expect(first.standing).toBe("alone");
  });

  it("survives a store that forgets everything: its holder tells it anew", async () => {
    const { first, second, pass, store } = await led();
    store.forget();
    await pass(60_000, () => expect([first.standing, second.standing]).toEqual(["leading", "waiting"]));
    expect(store.record?.epoch).toBe(first.lease.epoch);
  });

  it("is not confirmed by another memory once it has run out: exits go on, and it is taken anew when nobody else shows himself", async () => {
    const { first, second, pass, store, clock } = await led();
    first.isCutOff = true;
    second.isDead = true;
    await pass(9_000);
    expect(first.standing).toBe("alone");
    store.forget();
    first.isCutOff = false;
    const from = clock.now();
    let leadsAt = 0;
    await pass(20_000, () => {
      expect(["alone", "leading"]).toContain(first.standing);
      if (first.standing === "leading") leadsAt ||= clock.now();
    });
    expect(leadsAt - from).toBeGreaterThanOrEqual(leaseMs + toleranceMs);
    expect(leadsAt - from).toBeLessThan(leaseMs + toleranceMs + 1_600);
    expect([first.standing, first.deposedBy, store.record?.epoch]).toEqual(["leading", [], first.lease.epoch]);
  });

  it("that has run out goes to a process that stands by when the store has forgotten both", async () => {
    const { first, second, pass, store, network } = await led();
    network.isDown = true;
    await pass(12_000);
    store.forget();
    network.isDown = false;
    await pass(9_000, () => expect([first.standing, second.standing]).toEqual(["alone", "waiting"]));
    await pass(8_000, () => expect(first.standing === "leading").toBe(false));
    expect([second.standing, first.standing, first.deposedBy]).toEqual(["leading", "over", ["second"]]);
  });

  it("knows its own claim again when the answer to it was lost", async () => {
    const { join, pass, store, network, clock } = world();
    const only = join("only");
    await pass(leaseMs - 200);
    const take = store.take.bind(store);
    let takes = 0;
    store.take = async (...args) => {
      takes++;
      const epoch = await take(...args);
      network.isDown = true;
      clock.setTimer(clock.now() + 2_000, () => {
        network.isDown = false;
      });
      return epoch;
    };
    await pass(toleranceMs + 4_500);
    expect([takes, only.standing]).toEqual([1, "leading"]);
  });

  it("is never taken from another engine of the same name", async () => {
    const { pass, join, store } = world();
    await store.take({ name: "other", session: "x", owner: "service / another user / main" }, undefined);
    const mine = join("mine");
    await pass(60_000);
    expect(mine.standing).toBe("over");
    expect(store.record?.name).toBe("other");
    expect(mine.refusal).toMatch(/belongs to another engine .*held by other\), .* Give each engine its own `instance`/);
  });

  it("says what to do where another engine of the same name has ended in order", async () => {
    const { pass, join, store } = world();
    const epoch = await store.take({ name: "other", session: "x", owner: "old address / user / main" }, undefined);
    await store.release({ epoch: epoch ?? 0, session: "x" });
    const mine = join("mine");
    await pass(1_000);
    expect(mine.standing).toBe("over");
    expect(mine.refusal).toMatch(
      /^standby: other, which ended in order, .* `instance` of its own, or another standby\.group and an empty journal\.dir/,
    );
    expect(mine.refusal).not.toContain("held by");
  });
});

/** A random hour of trouble for three processes; what must hold is asked at every instant at which something happens. */
const trouble = async (seed: string): Promise<{ readonly leads: number; readonly problems: readonly string[] }> => {
  const random = createRandom(seed);
  const { join, pass, store, network, clock } = leaseWorld(random);
  let processes: LeaseProcess[] = ["a", "b", "c"].map(join);
  const problems: string[] = [];
  let leads = 0;
  let last: { readonly process: LeaseProcess; at: number } | undefined;
  const released = new Set<LeaseProcess>();
  const look = (): void => {
    const leading = processes.filter(({ standing }) => standing === "leading");
    if (leading.length > 1) problems.push(`${clock.now()}: ${leading.map(({ name }) => name).join(" and ")} lead`);
    const [one] = leading;
    if (one === undefined) return;
    if (one !== last?.process) {
      leads++;
      const gap = clock.now() - (last?.at ?? Number.NEGATIVE_INFINITY);
      if (last !== undefined && !released.has(last.process) && gap < toleranceMs)
        problems.push(`${clock.now()}: ${one.name} leads ${gap} ms after ${last.process.name}`);
      last = { process: one, at: clock.now() };
    }
    last.at = clock.now();
  };
  const end = clock.now() + 600_000;
  while (clock.now() < end) {
    await pass(random.whole(1, 12_000), look);
    const index = random.whole(0, 2);
    const one = processes[index] as LeaseProcess;
    switch (random.whole(0, 9)) {
      case 0:
        one.isStopped = true;
        break;
      case 1:
      case 2:
        for (const each of processes) if (each.isStopped && random.next() < 0.7) each.continue();
        break;
      case 3:
        one.isDead = true;
        processes = processes.with(index, join(one.name));
        break;
      case 4:
        if (one.isStopped || one.isDead) break;
        released.add(one);
        void one.lease.end();
        processes = processes.with(index, join(one.name));
        break;
      case 5:
        network.isDown = random.next() < 0.3;
        break;
      case 6:
        for (const each of processes) each.isCutOff = random.next() < 0.25;
        break;
      case 7:
        if (random.next() < 0.3) store.forget();
        break;
      case 8:
        Object.assign(network, {
          lossShare: random.next() * 0.3,
          repeatShare: random.next() * 0.3,
          delayMsMax: random.next() * 900,
        });
        break;
      default:
        one.wallOffset += random.whole(-20_000, 20_000);
    }
    look();
    // Deposed processes begin anew, as the command line does.
    processes = processes.map((each) => (each.standing === "over" ? join(each.name) : each));
  }
  return { leads, problems };
};

describe("Of processes under random pauses, deaths, losses, delays, repetitions and stores that forget", () => {
  it("no two ever lead, and none leads before what the one before signed can no longer be executed", async () => {
    let leads = 0;
    const problems: string[] = [];
    for (let seed = 0; seed < 60; seed++) {
      const run = await trouble(`trouble ${seed}`);
      leads += run.leads;
      problems.push(...run.problems.map((text) => `seed ${seed}, ${text}`));
    }
    expect(problems).toEqual([]);
    expect(leads).toBeGreaterThan(300);
  });
});
