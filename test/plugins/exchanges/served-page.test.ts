/** The start page of a served exchange shows the limits that the exchange has. */
import { expect, it } from "vitest";
import { servedDialects } from "../../../plugins/exchanges/served/served-dialects.ts";
import { pagesOf } from "../../../plugins/venue-server/server/pages.ts";
import { servedContract } from "../../../plugins/venue-server/server/served-dialect.ts";

it.each(["okx", "okx-demo", "blofin"] as const)(
  "%s counts each call in its own layers, and no call has a weight",
  (name) => {
    const dialect = servedDialects[name];
    const contract = servedContract(dialect);
    const { text = "" } = pagesOf(contract, dialect.speak({ contract, listing: () => undefined }), {}).get("/") ?? {};
    expect(text).toContain("<th>Counted by</th>");
    expect(text).not.toContain("Weight");
    const layers = new Set(contract.profile.limits.extraLayers.map((layer) => layer.name));
    const cells = [...text.matchAll(/<td>([^<]*)<\/td><\/tr>/g)].map(([, cell = ""]) => cell.split(", "));
    expect(cells.length).toBeGreaterThan(5);
    expect(cells.flat().filter((layer) => !layers.has(layer))).toEqual([]);
  },
);
