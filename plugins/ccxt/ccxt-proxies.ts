/**
 * Proxies of an exchange of ccxt, as the environment names them; ccxt itself reads no environment.
 *
 * Invariants: an address of this machine or in `NO_PROXY` has none; ccxt takes one proxy for requests and one for sockets,
 * so that of the first address of each counts.
 */
import { proxyOf } from "sluice/extension";

/** Addresses of an exchange, as ccxt keeps them. */
export interface Addresses {
  /** Addresses with `{hostname}` in place of `hostname`. */
  readonly urls?: unknown;
  readonly hostname?: string | undefined;
}

/** Settings of ccxt for the proxies of an exchange; empty where it is reached directly. */
export const proxiesOf = ({
  hostname = "",
  urls = {},
}: Addresses): { readonly httpsProxy?: string; readonly wssProxy?: string } => {
  const { api = urls } = urls as { readonly api?: unknown };
  const text = JSON.stringify(api).replaceAll("{hostname}", hostname);
  const proxyFor = (scheme: "https" | "wss"): string | undefined => {
    const url = new RegExp(`${scheme}://[^"/]+`).exec(text)?.[0];
    return url !== undefined && URL.canParse(url) ? proxyOf(url) : undefined;
  };
  const [httpsProxy, wssProxy] = [proxyFor("https"), proxyFor("wss")];
  return { ...(httpsProxy !== undefined && { httpsProxy }), ...(wssProxy !== undefined && { wssProxy }) };
};
