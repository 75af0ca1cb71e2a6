/** Thread that seals one segment, so that its process continues to receive in the meantime. */
import { parentPort, workerData } from "node:worker_threads";
import { sealSegment } from "./segment-seal.ts";

const { path, endedAt } = workerData as { readonly path: string; readonly endedAt: number | undefined };
parentPort?.postMessage(sealSegment(path, endedAt));
