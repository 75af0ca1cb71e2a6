/**
 * Secrets of channels: read from the environment or from a file of one's own, and removed from every line.
 *
 * Invariants: a config names the place of a secret and never contains it; errors contain the place, never the value;
 * printed text has passed `hide`.
 */
import { readFileSync, statSync } from "node:fs";
import { SluiceError } from "sluice";

/** `{ env: "NAME" }` or `{ file: "path" }`; the file may be read by its owner only. */
export const secretSchema = {
  type: "object",
  additionalProperties: false,
  minProperties: 1,
  maxProperties: 1,
  properties: {
    env: { description: "Environment variable that holds it.", type: "string", minLength: 1 },
    file: { description: "File that holds it.", type: "string", minLength: 1 },
  },
} as const;

export interface SecretPlace {
  readonly env?: string;
  readonly file?: string;
}

const invalid = (place: string, text: string): SluiceError =>
  new SluiceError("CONFIG_INVALID", `plugin alerts: ${place}: ${text}`);

export class Secrets {
  readonly #known: string[] = [];

  /** The secret at a place; `place` is the option, for errors. */
  read(place: string, from: SecretPlace): string {
    const text = (from.env === undefined ? this.#ofFile(place, from.file ?? "") : this.#ofEnv(place, from.env)).trim();
    if (text === "") throw invalid(place, "the secret is empty.");
    if (/[\r\n]/.test(text)) throw invalid(place, "the secret has more than one line.");
    this.#known.push(text);
    // A URL may come back in parts: its path is the secret of most services.
    if (/^https?:/.test(text) && URL.canParse(text)) {
      const { pathname, search, password } = new URL(text);
      this.#known.push(...[pathname, search, password].filter((part) => part.length > 4));
    }
    return text;
  }

  /** Text of others, fit to be printed: one short line without control characters and without any secret. */
  hide(text: string): string {
    let hidden = text;
    for (const secret of this.#known) hidden = hidden.replaceAll(secret, "***");
    return hidden
      .replace(/[\p{Cc}\p{Cf}]+/gu, " ")
      .trim()
      .slice(0, 160);
  }

  #ofEnv(place: string, name: string): string {
    const value = process.env[name];
    if (value === undefined)
      throw invalid(place, `the environment has no ${name}. Set it where the engine is started.`);
    return value;
  }

  #ofFile(place: string, path: string): string {
    let mode: number;
    let text: string;
    try {
      mode = statSync(path).mode;
      text = readFileSync(path, "utf8");
    } catch (error) {
      throw invalid(place, `${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? "no reason given"}).`);
    }
    if (process.platform !== "win32" && (mode & 0o077) !== 0) {
      throw invalid(place, `${path} can be read by others. Write: chmod 600 ${path}`);
    }
    return text;
  }
}
