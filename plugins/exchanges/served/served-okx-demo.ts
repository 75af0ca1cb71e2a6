/** Demo environment of OKX, by the name that `--dialect` takes. */
import { servedOkx } from "./served-okx.ts";

export default servedOkx(true);
