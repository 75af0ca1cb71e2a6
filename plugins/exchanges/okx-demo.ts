/** Demo trading of OKX, by the name that `--dialect` takes: its calls have a header that the exchange itself refuses. */
import { okxExchange } from "./okx-exchange.ts";

export default okxExchange.dialect("testnet");
