/**
 * Redaction of options for display: values with secret-looking names are replaced by `(hidden)`.
 *
 * Invariants: pure; the value itself is never changed; nesting is followed to `depthMax` and hidden below.
 */
const secretName =
  /secret|token|passphrase|passw|api_?key|private_?key|credential|webhook|authori[sz]ation|bearer|mnemonic|seed[-_ ]?phrase|signature|cookie/i;
/**
 * Words that are also parts of other words (`author`, `roundsNeeded`), so they count only as whole words: `sentryDsn`,
 * `basic_auth`.
 */
const secretWord = /(?:^|[^a-z])(?:o?auth|dsn)(?:[^a-z]|$)/;
const hidden = "(hidden)";
const depthMax = 8;

/**
 * Returns true for a value that is secret by its name.
 *
 * @param key - its name
 * @param value - a seed is a secret only if it is text (the words of a wallet), not if it is a number of a simulation
 * @returns true where it is not to be shown
 */
export const isSecret = (key: string, value: unknown): boolean =>
  secretName.test(key) ||
  secretWord.test(key.replace(/([a-z\d])([A-Z])/g, "$1 $2").toLowerCase()) ||
  (key.toLowerCase() === "seed" && typeof value !== "number");

/**
 * Returns a copy of JSON in which values that are secret by their name are `(hidden)`.
 *
 * @param value - JSON
 * @param depth - levels below which nothing is read
 * @returns a copy in which values that are secret by their name are `(hidden)`
 */
export const withoutSecrets = (value: unknown, depth = 0): unknown => {
  if (typeof value !== "object" || value === null) return typeof value === "function" ? hidden : value;
  if (depth >= depthMax) return hidden;
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, isSecret(key, item) ? hidden : withoutSecrets(item, depth + 1)]),
  );
};

/**
 * Returns true if a value in it was hidden: if it were sent back, the words would replace the secret.
 *
 * @param value - JSON
 * @returns true if a value in it was hidden: if it were sent back, the words would replace the secret
 */
export const hasHidden = (value: unknown): boolean => JSON.stringify(value)?.includes(hidden) ?? false;
