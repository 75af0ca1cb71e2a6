/**
 * What people write by hand: counters for the current minute and second of the local clock, urgent calls first.
 */
import { gated, repeating } from "./retry.mjs";

export const windowsTurn = (weightMax, callsMax) => {
  const urgent = [];
  const usual = [];
  let minute = -1;
  let second = -1;
  let weight = 0;
  let calls = 0;
  let armed = false;
  const roll = () => {
    const now = Date.now();
    if (Math.floor(now / 60_000) !== minute) {
      minute = Math.floor(now / 60_000);
      weight = 0;
    }
    if (Math.floor(now / 1_000) !== second) {
      second = Math.floor(now / 1_000);
      calls = 0;
    }
  };
  const pump = () => {
    roll();
    for (;;) {
      const queue = urgent.length > 0 ? urgent : usual;
      const head = queue[0];
      if (head === undefined) return;
      if (calls >= callsMax || weight + head.weight > weightMax) break;
      queue.shift();
      calls += 1;
      weight += head.weight;
      head.go();
    }
    if (armed) return;
    armed = true;
    setTimeout(
      () => {
        armed = false;
        pump();
      },
      1_000 - (Date.now() % 1_000),
    );
  };
  return async (task, send) => {
    await new Promise((go) => {
      (task.urgent ? urgent : usual).push({ weight: task.weight, go });
      pump();
    });
    return send();
  };
};

export const configurations = {
  nominal: () => repeating(windowsTurn(1200, 10)),
  careful: () => gated(windowsTurn(1080, 9)),
};
