/**
 * OKX as an exchange to trade at: addresses, abilities, and how they were verified.
 *
 * Source of the addresses: public documentation of OKX v5, "Production Trading Services" and "Demo Trading Services".
 * Not here: the dialect (okx-dialect.ts).
 */
import type { Dialect } from "sluice/dialect";
import type { Exchange } from "./exchange-service.ts";
import { okxDialect } from "./okx-dialect.ts";

export const okxExchange: Exchange = {
  name: "okx",
  title: "OKX v5",
  addresses: {
    mainnet: { baseUrl: "https://www.okx.com", wsUrl: "wss://ws.okx.com:8443" },
    testnet: { baseUrl: "https://www.okx.com", wsUrl: "wss://wspap.okx.com:8443" },
  },
  dialect: (environment) => okxDialect({ demo: environment !== "mainnet" }),
  abilities: [
    "spot, and perpetual swaps settled in their quote currency",
    "limit, market, post_only, ioc, fok; reduce-only on swaps; spot orders can be canceled",
    "account mode of one side (net); sizes of swaps are contracts on the wire",
    "fees of spot that are taken in base currency are valued at the order's average price",
    "a resting order is changed in one call where its wanted order changed",
    "not: futures, options, margin, swaps settled in coin, orders over the socket, batches of placements, two-sided positions",
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

/** OKX itself, by the name that `--dialect` takes. */
const dialect: Dialect = okxExchange.dialect("mainnet");
export default dialect;
