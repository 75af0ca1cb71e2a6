/** Thread that seals one segment, so that its process goes on receiving meanwhile. */
import { parentPort, workerData } from "node:worker_threads";
import { sealSegment } from "./segment-seal.ts";

const { path, endedAt } = workerData as { readonly path: string; readonly endedAt: number | undefined };
parentPort?.postMessage(sealSegment(path, endedAt));
