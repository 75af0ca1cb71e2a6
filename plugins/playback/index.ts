/**
 * Recorded runs in the page of the control room, and what plugins make to have theirs played.
 *
 * @module sluice/plugins/playback
 */
export { definePlayableRuns, type PlayableRun, type PlayableRuns } from "./playable-run.ts";
