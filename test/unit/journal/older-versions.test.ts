import { describe, expect, it } from "vitest";
import { createDecisions, type DecisionRecord } from "../../../src/journal/decisions.ts";
import { createHoldings, type HeldRecord } from "../../../src/journal/holdings.ts";
import { createIntents, type IntentRecord } from "../../../src/journal/intents.ts";
import { openWriteAheadLog } from "../../../src/journal/write-ahead-log.ts";
import { memoryDisk } from "../../support/harness/memory-disk.ts";

/** A segment as earlier versions wrote it, byte for byte: every type of record. */
const written = `
d801b6bd5c7682e91eb27f25 {"format":"sluice-journal/1","owner":{"service":"live test","user":"main","instance":"main"}}
d22f78231e39927377c479a8 {"type":"life","number":3,"at":1700000000000}
b4e706e032fe430425c3de25 {"type":"limits","limits":{"openPerStrategy":20}}
eb582c7981b10dfbd671be80 {"type":"sent","uid":"main","strategy":"maker","clOrdId":"maina0001","instId":"BTC-USDT-SWAP","side":"buy","ordType":"limit","px":"30000","sz":"1","reduceOnly":false,"sentAt":1700000001000}
ef0449f64ee3f4e0af9bf5c3 {"type":"sent","uid":"main","strategy":"maker","clOrdId":"maina0002","instId":"BTC-USDT-SWAP","side":"buy","ordType":"limit","px":"29000","sz":"1","reduceOnly":false,"sentAt":1700000002000}
352c19b3cdaa847dff3ece68 {"type":"sent","uid":"main","strategy":"maker","clOrdId":"maina0003","instId":"BTC-USDT-SWAP","side":"buy","ordType":"limit","px":"28000","sz":"1","reduceOnly":false,"sentAt":1700000003000}
ea49ad78ec7daeaf2d015255 {"type":"unsent","uid":"main","clOrdId":"maina0002"}
be2c5b623cd5e967e3a2a495 {"type":"over","uid":"main","clOrdId":"maina0003","phase":"filled","held":{"uid":"main","strategy":"maker","instId":"BTC-USDT-SWAP","position":"0.01","cash":"-280.14"}}
7f0c5d1f5fda710951f342c3 {"type":"mode","strategy":"","mode":"halted","reason":"sluice close"}
c0ce55cc51a28e37de5b447a {"type":"held","uid":"main","strategy":"maker","instId":"BTC-USDT-SWAP","position":"0.01","cash":"-280.14"}
`.trimStart();

const owner = { service: "live test", user: "main", instance: "main" };

describe("A journal of an older version", () => {
  it("is read: open orders, halts, limits and holdings", async () => {
    const disk = memoryDisk();
    await disk.create("00000001.journal", Buffer.from(written));
    const log = await openWriteAheadLog({ disk, owner, snapshot: () => [] });
    const [intents, decisions, holdings] = [createIntents(), createDecisions(), createHoldings()];
    for (const record of log.past as readonly (IntentRecord | DecisionRecord | HeldRecord)[]) {
      if (record.type === "mode" || record.type === "limits") decisions.take(record);
      else if (record.type === "held") holdings.take(record);
      else intents.take(record);
    }
    await log.close();
    expect(log.repaired).toBeUndefined();
    expect(intents.life).toBe(3);
    expect(intents.open().map(({ clOrdId }) => clOrdId)).toEqual(["maina0001"]);
    expect(decisions.held()).toEqual([{ strategy: "", mode: "halted", reason: "sluice close" }]);
    expect(decisions.limits).toEqual({ openPerStrategy: 20 });
    expect(holdings.all()).toEqual([
      { uid: "main", strategy: "maker", instId: "BTC-USDT-SWAP", position: "0.01", cash: "-280.14" },
    ]);
  });
});
