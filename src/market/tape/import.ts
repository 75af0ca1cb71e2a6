/**
 * Turns a recording made elsewhere into a fixture.
 *
 * Invariants: a folder that must not be overwritten is refused before anything is read; the same file and options give the same
 * contentHash.
 * Not here: reading (read-recording.ts), the format written (fixture.ts).
 */
import { checkWritable, type FixtureManifest, type WriteOptions, writeFixture } from "./fixture.ts";
import { type RecordingOptions, readRecording } from "./read-recording.ts";

interface ImportOptions extends RecordingOptions, WriteOptions {
  /** The fixture's folder. */
  readonly out: string;
}

export const importRecording = async (options: ImportOptions): Promise<FixtureManifest> => {
  const { out, force = false } = options;
  checkWritable(out, { force });
  const { tape, meta } = await readRecording(options);
  return writeFixture(out, tape, meta, { force });
};
