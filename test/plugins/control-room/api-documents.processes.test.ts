import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { readAction } from "../../../plugins/control-room/index.ts";
import { apiDocuments } from "../../../plugins/control-room/server/api-documents.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

interface Node {
  readonly [key: string]: Node;
}
const folder = temporaryFolder("control-api");
const documents = apiDocuments("1.2.3");
const openapi = documents.openapi as unknown as Node;

describe("The documents of the control port", () => {
  it("name every address of the API, and every action by the schema that checks it", () => {
    expect(Object.keys(openapi["paths"] ?? {})).toEqual([
      "/api/v1/sources",
      "/api/v1/sources/{id}",
      "/api/v1/sources/{id}/stream",
      "/api/v1/sources/{id}/orders/{clOrdId}",
      "/api/v1/sources/{id}/actions",
      "/api/v1/openapi.json",
      "/api/v1/asyncapi.json",
    ]);
    const mapping = openapi["components"]?.["schemas"]?.["Action"]?.["discriminator"]?.["mapping"] ?? {};
    const read = readAction({ type: "" });
    const named = "problems" in read ? /one of (.*) is wanted/.exec(read.problems.join())?.[1]?.split(", ") : [];
    expect(Object.keys(mapping)).toEqual(named);
    const halt = openapi["components"]?.["schemas"]?.["HaltAction"];
    expect(halt).toMatchObject({ additionalProperties: false, required: ["type"] });
    expect(Object.keys(halt?.["properties"] ?? {})).toEqual(["type", "strategy", "full", "reason"]);
  });

  it("have no mistake that a linter finds", async () => {
    const files = Object.entries(documents).map(([name, document]) => {
      const file = join(folder, `${name}.json`);
      writeFileSync(file, JSON.stringify(document));
      return file;
    });
    const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
    const command = [
      path("../../../node_modules/@redocly/cli/bin/cli.js"),
      "lint",
      "--format=json",
      "--config",
      path("../../support/redocly.yaml"),
      ...files,
    ];
    const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
    const { stdout } = await promisify(execFile)(process.execPath, command, { env, cwd: folder }).catch(
      (error: { stdout: string }) => error,
    );
    const reports = JSON.parse(`[${stdout.replaceAll("}{", "},{")}]`) as readonly {
      readonly problems: readonly { readonly message: string }[];
    }[];
    expect(reports.flatMap(({ problems }) => problems.map(({ message }) => message))).toEqual([]);
    expect(reports).toHaveLength(2);
  });
});
