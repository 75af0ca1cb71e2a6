/**
 * Demo trading of OKX, by the name that `--dialect` takes: its calls have a header that the exchange itself refuses.
 */
import type { Dialect } from "sluice/dialect";
import { okxExchange } from "./okx-exchange.ts";

const dialect: Dialect = okxExchange.dialect("testnet");
export default dialect;
