#!/usr/bin/env node
/** `npm run bench:ablation`: exit code 1 when a mechanism of the limiter changes no figure of the row that is said to need it. */
import { register } from "tsx/esm/api";

register();
const { runAblations } = await import("./ablation.ts");
process.exitCode = (await runAblations()) ? 0 : 1;
