/**
 * Places on the network that hold fixtures: addresses of their files, and what authorises a request for one.
 *
 * Invariants: an address has the hash and the file's name below its path; user and password leave it for a header.
 * Not here: buckets (fixture-bucket.ts), requests (fixture-download.ts).
 */

/** Where the files of a fixture are, and what a request for one has to bring. */
export interface FixtureOrigin {
  readonly urlOf: (contentHash: string, file: string) => URL;
  readonly headersFor: (url: URL) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
  /** What to do about an answer of this status. */
  readonly advice: (status: number) => string;
}

/** A static host: files are below the path of the address, and its query, such as a token, stays at the end. */
export const hostOf = (base: string): FixtureOrigin => ({
  urlOf: (contentHash, file) => {
    const url = new URL(base);
    url.pathname = `${url.pathname.replace(/\/+$/, "")}/${contentHash}/${file}`;
    return url;
  },
  headersFor: () => credentialsOf(new URL(base)),
  advice: () => "Is the fixture there? Put it there with `sluice data push`.",
});

/** The header that the user and password of an address stand for. */
export const credentialsOf = ({ username, password }: URL): { readonly authorization?: string } => {
  if (username === "" && password === "") return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(pair).toString("base64")}` };
};
