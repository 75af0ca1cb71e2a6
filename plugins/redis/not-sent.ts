/**
 * Failure of a question to a store that did not leave this process, so that the store cannot have received it.
 */
export class NotSent extends Error {}
