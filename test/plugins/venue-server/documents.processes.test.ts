/**
 * The API documents against the tables they are made from: nothing missing, nothing made up, nothing a linter minds.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { asyncApi } from "../../../plugins/venue-server/documents/asyncapi.ts";
import { endpointNotes } from "../../../plugins/venue-server/documents/endpoint-notes.ts";
import { exampleInput } from "../../../plugins/venue-server/documents/examples.ts";
import { openApi } from "../../../plugins/venue-server/documents/openapi.ts";
import { createContract, endpointNames } from "../../../src/contract/contract.ts";
import type { Endpoint } from "../../../src/contract/endpoints.ts";
import { profileRows } from "../../../src/contract/overrides.ts";
import type { ProfileOverrides } from "../../../src/contract/profile.ts";
import { authHeaderNames } from "../../../src/contract/signing.ts";
import { requestProblems } from "../../../src/contract/validate.ts";
import { type Node, operations, resolved } from "../../support/harness/document-reader.ts";

const profiles: Readonly<Record<string, ProfileOverrides>> = {
  default: {},
  "short names": { instruments: { fieldNames: "short", needsKey: true }, cancelBatch: { resultFields: "code" } },
  "other units": {
    order: {
      szUnit: { SPOT: "base", SWAP: "contracts" },
      timeUnit: "us",
      feeSign: "positive_is_cost",
      emptyDecimal: "0",
    },
    websocket: { szUnit: "contracts", sequenced: false, publicChannels: ["trades", "funding"] },
  },
  "other endings": {
    answers: { orderErrorStatus: 422, dataOnError: "absent", authStatus: 403, successMsg: "success" },
    limits: { headersOnError: false },
  },
};

const documentOf = (profile: ProfileOverrides = {}): Node => openApi(createContract(profile)) as Node;
const socketOf = (profile: ProfileOverrides = {}): Node => asyncApi(createContract(profile)) as Node;
const textOf = (value: unknown): string => JSON.stringify(value);

const operationOf = (document: Node, name: string): Node => {
  const found = operations(document).find(([, , operation]) => textOf(operation["operationId"]) === textOf(name));
  if (found === undefined) throw new Error(`no operation ${name}`);
  return found[2];
};

describe("The REST document", () => {
  const contract = createContract();
  const document = documentOf();

  it.each(endpointNames(contract))("%s stands at its method and path with weight, permission and schemas", (name) => {
    const endpoint: Endpoint = contract.endpoints[name];
    const [method, path, operation] =
      operations(document).find(([, , { operationId }]) => textOf(operationId) === textOf(name)) ?? [];
    expect([method?.toUpperCase(), path]).toEqual([endpoint.method, endpoint.path]);
    expect(operation).toMatchObject({
      "x-weight": endpoint.weight,
      "x-permission": endpoint.permission,
      "x-repeat": endpoint.repeat,
    });
    expect(textOf(operation?.["description"])).toContain(`Weight ${endpoint.weight}.`);
    if (endpoint.permission !== "none")
      expect(textOf(operation?.["description"])).toContain(`Permission: ${endpoint.permission}.`);
    const statuses = ["200", "400", "401", "403", ...(endpoint.method === "POST" ? ["413"] : []), "429"];
    expect(Object.keys(operation?.["responses"] ?? {})).toEqual(statuses);
    expect(Object.keys(operation?.["responses"]?.["200"]?.["headers"] ?? {})).toEqual([
      "X-RATELIMIT-IP-REMAINING",
      "X-RATELIMIT-KEY-REMAINING",
      "X-RATELIMIT-UID-WEIGHT-USED",
    ]);
  });

  it("has these operations and no others", () => {
    expect(operations(document)).toHaveLength(endpointNames(contract).length);
  });

  it.each(endpointNames(contract))("%s takes the parameters or the body of its schema", (name) => {
    const operation = operationOf(document, name);
    const input = contract.endpoints[name].input as unknown as Node;
    if (contract.endpoints[name].method === "GET") {
      const parameters = operation["parameters"] as unknown as readonly Node[];
      expect(parameters.map((parameter) => parameter["name"])).toEqual(Object.keys(input["properties"] ?? {}));
    } else {
      const body = resolved(document, operation["requestBody"]?.["content"]?.["application/json"]?.["schema"]) as Node;
      const [schema = body] = (body["anyOf"] ?? []) as unknown as readonly Node[];
      expect(schema["type"]).toBe(input["type"]);
      expect(Object.keys(schema["properties"] ?? {})).toEqual(Object.keys(input["properties"] ?? {}));
    }
  });

  it("names the four headers of a signed request, and asks for all of them", () => {
    const schemes = Object.values(document["components"]?.["securitySchemes"] ?? {});
    expect(schemes.map(({ name }) => textOf(name).toLowerCase())).toEqual(
      Object.values(authHeaderNames(contract.profile)).map(textOf),
    );
    expect(operationOf(document, "getOrder")["security"]).toEqual([
      { apiKey: [], signature: [], timestamp: [], passphrase: [] },
    ]);
    expect((operationOf(document, "instruments")["security"] as unknown as readonly Node[])[0]).toEqual({});
  });

  it.each(endpointNames(contract))("%s names the gap of everything it assumes", (name) => {
    const known = new Map(profileRows().map(({ path, gap }) => [path, gap]));
    const description = textOf(operationOf(document, name)["description"]);
    for (const path of endpointNotes[name].assumes) {
      expect(known.has(path), `${path} is a row`).toBe(true);
      expect(description).toContain(`\`${path}\``);
      expect(description).toContain(`(${known.get(path)}, assumed)`);
    }
  });

  it("changes with the profile", () => {
    expect(operationOf(documentOf({ weights: { getOrder: 3 } }), "getOrder")).toMatchObject({ "x-weight": 3 });
    expect(textOf(documentOf({ weights: { getOrder: 3 } }))).toContain("(G17, stated by the profile)");
    expect(textOf(documentOf({ auth: { headerPrefix: "ACCESS-" } }))).toContain('"ACCESS-Passphrase"');
    expect(textOf(document)).not.toContain("ACCESS-Passphrase");
    expect(operationOf(documentOf({ permissions: { account: "view" } }), "positions")).toMatchObject({
      "x-permission": "view",
    });
    const short = documentOf({ instruments: { fieldNames: "short" } })["components"]?.["schemas"]?.["InstrumentRecord"];
    expect(Object.keys(short?.["properties"] ?? {})).toContain("tickSz");
    expect(short?.["required"]).toEqual(["instId", "tickSz", "lotSz"]);
    const plain = documentOf({ cancelBatch: { resultFields: "code" } })["components"]?.["schemas"]?.["ElementResult"];
    expect(plain?.["required"]).toEqual(["ordId", "clOrdId", "code", "msg"]);
    const other = operationOf(documentOf(profiles["other endings"]), "placeOrder")["responses"];
    expect(Object.keys(other ?? {})).toEqual(["200", "400", "403", "413", "422", "429"]);
    const refused = operationOf(documentOf({ answers: { orderErrorStatus: 400 } }), "placeOrder")["responses"];
    expect(Object.keys(refused ?? {})).toEqual(["200", "400", "401", "403", "413", "429"]);
  });

  it("is the same at every call and names the server it was given", () => {
    expect(textOf(documentOf())).toBe(textOf(document));
    expect(openApi(contract, { serverUrl: "http://127.0.0.1:9" })["servers"]).toMatchObject([
      { url: "http://127.0.0.1:9" },
    ]);
    expect(textOf(document["servers"])).toContain("{testnet_base_url}");
  });

  it("explains its formats", () => {
    expect(document["components"]?.["schemas"]?.["OrderRecord"]?.["properties"]?.["sz"]).toMatchObject({
      format: "decimal",
      description: expect.stringContaining("Decimal text"),
    });
  });
});

describe.each(Object.entries(profiles))("Examples under the profile: %s", (_, profile) => {
  const contract = createContract(profile);
  const document = documentOf(profile);

  it.each(endpointNames(contract))("of %s fit their schemas", (name) => {
    const operation = operationOf(document, name);
    expect(requestProblems(contract.endpoints[name].input, exampleInput(contract, name))).toEqual([]);
    for (const response of Object.values(resolved(document, operation["responses"]) as Node)) {
      const { schema, example } = (response["content"] as Node)["application/json"] as Node;
      expect(requestProblems(schema as object, example)).toEqual([]);
      for (const header of Object.values(response["headers"] ?? {})) {
        expect(requestProblems(header["schema"] as object, header["example"])).toEqual([]);
      }
    }
    for (const parameter of (operation["parameters"] ?? []) as unknown as readonly Node[]) {
      expect(requestProblems(parameter["schema"] as object, parameter["example"])).toEqual([]);
    }
  });

  it("of the socket's messages fit theirs", () => {
    const messages = Object.values(socketOf(profile)["components"]?.["messages"] ?? {});
    for (const message of messages) {
      const [example] = message["examples"] as unknown as readonly Node[];
      expect(requestProblems(message["payload"] as object, example?.["payload"]), textOf(message["name"])).toEqual([]);
    }
    expect(messages.length).toBeGreaterThan(8);
  });
});

describe("The WebSocket document", () => {
  it("has every channel, the two limits and the path", () => {
    const { publicChannels, privateChannels, path } = createContract().profile.websocket;
    const document = socketOf();
    const messages = document["components"]?.["messages"];
    for (const channel of [...publicChannels, ...privateChannels]) expect(messages).toHaveProperty(`push-${channel}`);
    expect(document["channels"]?.["socket"]?.["address"]).toBe(path);
    expect(textOf(document["info"])).toContain("30 concurrent connections");
    expect(textOf(document["info"])).toContain("100 channel subscriptions");
  });

  it("changes with the profile and with the address", () => {
    expect(socketOf({ websocket: { path: "/stream" } })["channels"]?.["socket"]?.["address"]).toBe("/stream");
    expect(
      Object.keys(socketOf({ websocket: { publicChannels: ["funding"] } })["components"]?.["messages"] ?? {}),
    ).toContain("push-funding");
    expect(textOf(socketOf({ websocket: { sequenced: false } })["components"])).not.toContain("prevSeqId");
    expect(asyncApi(createContract(), { wsUrl: "ws://127.0.0.1:9/ws/v1" })["servers"]).toMatchObject({
      this: { host: "127.0.0.1:9", protocol: "ws" },
    });
  });
});

describe("Linting the API documents", () => {
  it("finds nothing in any document", async () => {
    const folder = mkdtempSync(join(tmpdir(), "documents-"));
    try {
      const files = Object.entries(profiles).flatMap(([name, profile], index) => {
        const contract = createContract(profile);
        const documents = [
          openApi(contract, index === 0 ? {} : { serverUrl: "https://service.invalid" }),
          asyncApi(contract),
        ];
        return documents.map((document, at) => {
          const file = join(folder, `${name.replaceAll(" ", "-")}-${at}.json`);
          writeFileSync(file, JSON.stringify(document));
          return file;
        });
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
      // One JSON document a file, with nothing between them.
      const reports = JSON.parse(`[${stdout.replaceAll("}{", "},{")}]`) as readonly Node[];
      expect(reports.flatMap((report) => report["problems"])).toEqual([]);
      expect(reports).toHaveLength(files.length);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
