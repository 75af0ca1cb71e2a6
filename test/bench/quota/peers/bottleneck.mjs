/**
 * bottleneck: limiters with weights and priorities, nested by hand as user > address > key.
 */
import Bottleneck from "bottleneck";
import { gated, repeating, sleep } from "./retry.mjs";

const refilled = (amount, everyMs) =>
  new Bottleneck({ reservoir: amount, reservoirRefreshAmount: amount, reservoirRefreshInterval: everyMs });
const paced = () => new Bottleneck({ minTime: 112, maxConcurrent: 4 });
const rankOf = (task) => (task.urgent ? 0 : 5);

const nested = (uidOf, ip, key) => (task, send) => {
  const priority = rankOf(task);
  return uidOf(task).schedule({ weight: task.weight, priority }, () =>
    ip.schedule({ priority }, () => key.schedule({ priority }, send)),
  );
};

export const nominalTurn = (weight, calls) => {
  const uid = refilled(weight, 60_000);
  return nested(() => uid, refilled(Math.max(weight, 1200), 60_000), refilled(calls, 1_000));
};
const nominal = () => repeating(nominalTurn(1200, 10));

const careful = () => {
  const uid = refilled(1080, 60_000);
  return gated(nested(() => uid, refilled(1080, 60_000), paced()));
};

/**
 * The reservoir is overwritten from every answer: what the header leaves of 1170, less what is under way. It is filled again
 * 0.6 s into the local minute.
 */
const headers = () => {
  const ceiling = 1170;
  const uid = new Bottleneck({ reservoir: ceiling });
  const ip = refilled(1080, 60_000);
  const key = paced();
  let underWay = 0;
  const leave = (used) => {
    uid.updateSettings({ reservoir: Math.max(0, ceiling - used - underWay) });
  };
  const refill = async () => {
    for (;;) {
      await sleep(60_000 - ((Date.now() - 600) % 60_000));
      leave(0);
    }
  };
  void refill();
  return gated((task, send) => {
    const priority = rankOf(task);
    return uid.schedule({ weight: task.weight, priority }, async () => {
      underWay += task.weight;
      const answer = await ip.schedule({ priority }, () => key.schedule({ priority }, send));
      underWay -= task.weight;
      const used = answer.headers["x-ratelimit-uid-weight-used"];
      if (used !== undefined) leave(Number(used));
      return answer;
    });
  });
};

/** Two users where there is one: 900 of the weight for normal calls, 180 for urgent ones. */
const split = () => {
  const usual = refilled(900, 60_000);
  const urgent = refilled(180, 60_000);
  return gated(nested((task) => (task.urgent ? urgent : usual), refilled(1080, 60_000), paced()));
};

/** The documented way to combine limiters. It hands the weight on, so a weight of 15 never fits the ten calls of the key. */
const chained = () => {
  const uid = refilled(1200, 60_000);
  uid.chain(refilled(10, 1_000));
  return repeating((task, send) => uid.schedule({ weight: task.weight, priority: rankOf(task) }, send));
};

export const configurations = {
  nominal,
  careful,
  headers,
  split,
  "chain() / nominal": chained,
};
