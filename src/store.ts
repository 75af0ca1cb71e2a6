/**
 * Database of runs that an engine writes and a report is made from.
 *
 * @module sluice/store
 */
export { type Entry, RunStore } from "./report/store/run-store.ts";
