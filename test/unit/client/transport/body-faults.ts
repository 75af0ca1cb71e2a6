/**
 * What a whole answer can say that it should not, one row each, with the outcome the gateway must make of it.
 *
 * Invariants: bodies are text as it travels, since some of them cannot be written as a value.
 */
import type { EndpointName } from "../../../../src/contract/endpoints.ts";
import { swap } from "../../../support/harness/transport.ts";

export const orderText = (part: Readonly<Record<string, unknown>> = {}): string =>
  JSON.stringify({
    instId: swap,
    ordId: "7",
    clOrdId: "c",
    px: "1",
    sz: "2",
    ordType: "limit",
    side: "buy",
    state: "live",
    avgPx: "",
    accFillSz: "0",
    fee: "0",
    createdAt: "1767323045678",
    updatedAt: "1767323045678",
    ...part,
  });
const positionText = (rest = ""): string => `{"instId":"${swap}","pos":"1","avgPx":"2"${rest}}`;
const told = (...records: readonly string[]): string => `{"code":"0","msg":"","data":[${records.join()}]}`;
const record = `[{"instId":"${swap}","pos":"1","avgPx":"2"}]`;
const noEnvelope = (endpoint: EndpointName): string =>
  `unknown: ${endpoint}: status 200 with a body that is not the service's`;

export type BodyFault = readonly [name: string, endpoint: EndpointName, body: string, outcome: string];

// biome-ignore format: one row a line
export const bodyFaults: readonly BodyFault[] = [
  ["a number for a price", "getOrder", told(orderText({ px: 1 })), 'done [] but data[0].px: must be string (got 1).'],
  ["an id that is a number", "getOrder", told(orderText({ ordId: 7 })), "done [] but data[0].ordId: must be string (got 7)."],
  ["NaN as text", "getOrder", told(orderText({ sz: "NaN" })), 'done [] but data[0].sz: "NaN" is not a decimal; write plain digits in a string, such as "0.001".'],
  ["Infinity as text", "positions", told(positionText().replace('"pos":"1"', '"pos":"Infinity"')), 'done [] but data[0].pos: "Infinity" is not a decimal; write plain digits in a string, such as "0.001".'],
  ["an exponent", "positions", told(positionText().replace('"pos":"1"', '"pos":"1e5"')), 'done [] but data[0].pos: "1e5" is not a decimal; write plain digits in a string, such as "0.001".'],
  ["a comma in a number", "positions", told(positionText().replace('"pos":"1"', '"pos":"1,5"')), 'done [] but data[0].pos: "1,5" is not a decimal; write plain digits in a string, such as "0.001".'],
  ["no price", "getOrder", told(orderText({ px: undefined })), 'done [] but data[0]: "px" is missing.'],
  ["a price of null", "getOrder", told(orderText({ px: null })), "done [] but data[0].px: must be string (got null)."],
  ["a price that is a list", "getOrder", told(orderText({ px: ["1"] })), 'done [] but data[0].px: must be string (got ["1"]).'],
  ["a state nobody has named", "getOrder", told(orderText({ state: "frozen" })), 'done [] but data[0].state: "frozen" is not one of live, partially_filled, filled, canceled.'],
  ["a state every object has", "getOrder", told(orderText({ state: "constructor" })), 'done [] but data[0].state: "constructor" is not one of live, partially_filled, filled, canceled.'],
  ["a time that is a date", "getOrder", told(orderText({ createdAt: "2026-01-02" })), 'done [] but data[0].createdAt: must match pattern "^\\d{1,20}$" (got "2026-01-02").'],
  ["an instrument that is none", "positions", told(positionText().replace(swap, "../../etc")), 'done [] but data[0].instId: "../../etc" is neither BASE-QUOTE nor BASE-QUOTE-SWAP.'],
  ["another order", "getOrder", told(orderText({ ordId: "8", clOrdId: "d" })), `done [${orderText({ ordId: "8", clOrdId: "d" })}]`],
  ["fields nobody asked for", "positions", told(positionText(',"extra":{"deep":[1]},"toString":"x"')), `done ${record}`],
  ["a field with the name of every object's prototype", "positions", told(positionText(',"__proto__":{"polluted":"yes"}')), `done ${record}`],
  ["an envelope with that name", "positions", `{"__proto__":{"code":"0","data":[]},"constructor":{"prototype":{"polluted":"yes"}}}`, noEnvelope("positions")],
  ["a record that is only that name", "positions", told(`{"__proto__":${positionText()}}`), 'done [] but data[0]: "instId" is missing.'],
  ["a field twice, the last wins", "positions", told(positionText(',"pos":"9"')), `done [{"instId":"${swap}","pos":"9","avgPx":"2"}]`],
  ["a code twice, the last wins", "positions", `{"code":"0","code":"51000","msg":"no","data":[]}`, "rejected 200 51000: no"],
  ["a code that is a number", "positions", `{"code":0,"data":[${positionText()}]}`, `done ${record}`],
  ["a code of zeroes", "positions", `{"code":"00","msg":"odd","data":[]}`, "rejected 200 00: odd"],
  ["a code that is true", "positions", `{"code":true,"data":[]}`, noEnvelope("positions")],
  ["a code of null", "positions", `{"code":null,"data":[]}`, noEnvelope("positions")],
  ["no code", "positions", `{"data":[]}`, noEnvelope("positions")],
  ["data of {} in a failure", "positions", `{"code":"51000","msg":"no","data":{}}`, "rejected 200 51000: no"],
  ["data of null in a failure", "placeOrder", `{"code":"51008","msg":"funds","data":null}`, "rejected 200 51008: funds"],
  ["data of null in a success", "positions", `{"code":"0","msg":"","data":null}`, "unknown: positions: success without a data array"],
  ["data that is a text", "positions", `{"code":"0","msg":"","data":"[]"}`, "unknown: positions: success without a data array"],
  ["no data in a success", "pendingOrders", `{"code":"0","msg":""}`, "unknown: pendingOrders: success without a data array"],
  ["nothing, where one order was asked for", "getOrder", told(), "done []"],
  ["nothing, where an order was placed", "placeOrder", told(), "unknown: placeOrder: success without a result"],
  ["two results, where one order was placed", "placeOrder", told('{"ordId":"7","sCode":"0"}', '{"ordId":"8","sCode":"0"}'), "unknown: placeOrder: 2 results for one order"],
  ["nothing, where orders were cancelled", "cancelBatch", told(), "unknown: cancelBatch: success without a result"],
  ["fewer results than cancels", "cancelBatch", told('{"ordId":"7","clOrdId":"","sCode":"0","sMsg":""}'), 'done [{"ordId":"7","clOrdId":"","sCode":"0","sMsg":""}]'],
  ["a result that is null", "cancelBatch", told("null", '{"ordId":"8","sCode":"0"}'), 'done [{"ordId":"8","sCode":"0","sMsg":"","clOrdId":""}] but data[0] is not an object'],
  ["a result whose code is a list", "placeOrder", told('{"ordId":"7","sCode":["0"]}'), 'done [] but data[0].sCode: must be string (got ["0"]).'],
  ["a result whose code is an object", "placeOrder", told('{"ordId":"7","sCode":{"toString":"0"}}'), 'done [] but data[0].sCode: must be string (got {"toString":"0"}).'],
  ["a result whose code is false", "placeOrder", told('{"ordId":"7","sCode":false}'), "done [] but data[0].sCode: must be string (got false)."],
  ["a placement without an id", "placeOrder", told('{"sCode":"0"}'), 'done [{"sCode":"0","sMsg":"","ordId":"","clOrdId":""}]'],
  ["a message that is a number", "positions", `{"code":"51000","msg":5}`, "rejected 200 51000: "],
  ["a code as long as a book", "positions", `{"code":"${"a".repeat(100_000)}","msg":""}`, `rejected 200 ${"a".repeat(40)}: `],
  ["a message as long as a book", "positions", `{"code":"51000","msg":"${"a".repeat(100_000)}"}`, `rejected 200 51000: ${"a".repeat(500)}`],
];
