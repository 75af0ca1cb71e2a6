/**
 * BloFin as an exchange to trade at: addresses, abilities, and how they were verified.
 *
 * Source of the addresses: public documentation of BloFin v1, "General Info" and "Demo Trading".
 * Not here: the dialect (blofin-dialect.ts).
 */
import type { Dialect } from "sluice/dialect";
import { blofinDialect } from "./blofin-dialect.ts";
import type { Exchange } from "./exchange-service.ts";

export const blofinExchange: Exchange = {
  name: "blofin",
  title: "BloFin v1",
  addresses: {
    mainnet: { baseUrl: "https://openapi.blofin.com" },
    testnet: { baseUrl: "https://demo-trading-openapi.blofin.com" },
  },
  dialect: blofinDialect,
  abilities: [
    "perpetual swaps settled in their quote currency; BTC-USDT there is BTC-USDT-SWAP here",
    "limit, market, post_only, ioc, fok; reduce-only",
    "account mode of one side (net); sizes are contracts on the wire, also tenths of one",
    "balances are those of the futures account",
    "not: spot, swaps settled in coin, copy trading, changes of orders, two-sided positions, a code for an order that does not exist",
  ],
  verified: [
    { what: "signatures", how: "a second implementation, and another client's for the same requests" },
    { what: "records", how: "samples in the published shapes, compared with tables made by hand" },
    {
      what: "a copy on a port",
      how: "one strategy; orders, fills and cash equal to those of the embedded service in the exchange's form",
    },
    {
      what: "lost orders",
      how: "eleven kinds of lost, spoiled and doubled placements and cancels before that copy: one order each",
    },
    { what: "the demo account", how: undefined },
    { what: "real money", how: undefined },
  ],
};

/** BloFin, by the name that `--dialect` takes. */
const dialect: Dialect = blofinExchange.dialect("mainnet");
export default dialect;
