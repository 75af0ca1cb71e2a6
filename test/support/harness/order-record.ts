/** An order record of the service as tests need it: a live order of ten that has not traded. */
import type { OrderRecord } from "../../../src/contract/schemas.ts";

export const orderRecord = (over: Partial<OrderRecord> = {}): OrderRecord => ({
  instId: "BTC-USDT-SWAP",
  ordId: "5",
  clOrdId: "c",
  px: "1",
  sz: "10",
  ordType: "limit",
  side: "buy",
  state: "live",
  avgPx: "",
  accFillSz: "0",
  fee: "0",
  createdAt: "1000",
  updatedAt: "1000",
  ...over,
});
