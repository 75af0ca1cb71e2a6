/**
 * Reason for which a rule cannot be tested: a step before it did not succeed. The runner makes a skipped verdict of it.
 */
export class Unable extends Error {
  constructor(why: string) {
    super(why);
    this.name = "Unable";
  }
}
