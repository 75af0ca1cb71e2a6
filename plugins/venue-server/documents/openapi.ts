/**
 * The REST side of the contract as an OpenAPI 3.1 document.
 *
 * Invariants: pure; made from the tables alone, so that a changed row of the profile changes the document and nothing
 * is written twice; the same contract gives the same document.
 * Not here: serving it (the venue does), the WebSocket (asyncapi.ts), the words (endpoint-notes.ts).
 */
import { type Contract, type EndpointName, environments, limitedStatus, wire } from "sluice/dialect";
import { assumptionLines, endpointNotes } from "./endpoint-notes.ts";
import { exampleInput, exampleRecords } from "./examples.ts";
import { type FailureGroup, failureExample, failureGroups, failureSchema } from "./failures.ts";
import { type Json, publishedSchema, publishedSchemas, schemaNames } from "./published.ts";

interface OpenApiOptions {
  /** URL of the service; the two environments of the description when left out. */
  readonly serverUrl?: string;
}

/** The endpoints of the service as an OpenAPI 3.1 document. */
export const openApi = (contract: Contract, { serverUrl }: OpenApiOptions = {}): Json => ({
  openapi: "3.1.0",
  info: infoOf(contract),
  servers: serverUrl === undefined ? environmentServers() : [{ url: serverUrl, description: "This service" }],
  tags: [
    { name: "Account", description: "Balances, positions and leverage." },
    { name: "Market", description: "What can be traded." },
    { name: "Trade", description: "Orders." },
  ],
  paths: pathsOf(contract),
  components: {
    securitySchemes: securitySchemesOf(contract),
    headers: headersOf(contract),
    responses: Object.fromEntries(
      failureGroups(contract).map((group) => [group.name, failureResponse(contract, group)]),
    ),
    schemas: { ...publishedSchemas(contract), Failure: failureSchema(contract) },
  },
});

const infoOf = (contract: Contract): Json => {
  const { ip, key, uid } = contract.layers;
  return {
    title: "Trading service",
    version: "v1",
    license: { name: "MIT", identifier: "MIT" },
    description: [
      "Spot instruments and perpetual swaps: orders, instrument ids, limits.",
      `Every request must pass three layers: ${ip.capacity} requests a minute of one address, ${key.capacity} requests a second of one API key, a weight of ${uid.capacity} a minute of one user (UID). Beyond any of them the answer is at once HTTP ${limitedStatus}; a user over the weight is blocked on all keys until the next minute begins.`,
      `A method and path that are not listed here are answered with HTTP ${contract.profile.answers.unknownPathStatus} for every method; OPTIONS lists the methods of a path.`,
      "Assumed for all calls, as the description leaves it open:",
      assumptionLines(contract, [
        "answers.successMsg",
        "answers.dataOnError",
        "answers.unknownPathStatus",
        "limits.anchor",
        "limits.refusedCounts",
        "limits.crossingCall",
        "limits.failedCounts",
        "limits.dateHeader",
        "limits.extraLayers",
        "version.breakingChange",
      ]).join("\n"),
    ].join("\n\n"),
  };
};

const environmentServers = (): readonly Json[] =>
  Object.entries(environments).map(([name, { baseUrl }]) => ({
    url: baseUrl,
    description: name,
    variables: {
      [baseUrl.slice(1, -1)]: {
        default: `https://${name}.invalid`,
        description: `Address of ${name}; the description names none.`,
      },
    },
  }));

const pathsOf = (contract: Contract): Json => {
  const paths: Record<string, Json> = {};
  for (const name of wire.endpointNames(contract)) {
    const { method, path }: wire.Endpoint = contract.endpoints[name];
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationOf(contract, name) };
  }
  return paths;
};

const operationOf = (contract: Contract, name: EndpointName): Json => {
  const endpoint: wire.Endpoint = contract.endpoints[name];
  const { summary, tag } = endpointNotes[name];
  return {
    operationId: name,
    summary,
    description: descriptionOf(contract, name),
    tags: [tag],
    "x-weight": endpoint.weight,
    "x-permission": endpoint.permission,
    "x-repeat": endpoint.repeat,
    security: [
      ...(endpoint.permission === "none" ? [{}] : []),
      Object.fromEntries(authParts.map(({ scheme }) => [scheme, []])),
    ],
    ...(endpoint.method === "GET"
      ? { parameters: parametersOf(contract, name) }
      : { requestBody: bodyOf(contract, name) }),
    responses: responsesOf(contract, name),
  };
};

const descriptionOf = (contract: Contract, name: EndpointName): string => {
  const { weight, permission, repeat }: wire.Endpoint = contract.endpoints[name];
  const { says, assumes } = endpointNotes[name];
  return [
    says,
    `Weight ${weight}. ${permission === "none" ? "Needs no key." : `Permission: ${permission}.`} ${
      repeat === "safe"
        ? "An unanswered call may be sent again."
        : "An unanswered call may have been executed: look before acting again."
    }`,
    "What the description leaves open:",
    assumptionLines(contract, assumes).join("\n"),
  ].join("\n\n");
};

const parametersOf = (contract: Contract, name: EndpointName): readonly Json[] => {
  const { properties = {} } = publishedSchema(contract.profile, contract.endpoints[name].input) as {
    properties?: Json;
  };
  const examples = exampleInput(contract, name) as Json;
  return Object.entries(properties).map(([parameter, schema]) => ({
    name: parameter,
    in: "query",
    required: false,
    description: parameterNotes[parameter] ?? `${parameter}, text.`,
    schema,
    example: examples[parameter],
  }));
};

const parameterNotes: Readonly<Record<string, string>> = {
  ordId: "Order id given by the service.",
  clOrdId: "Order id given by the client.",
  instId: "Product id.",
  instType: "Kind of instrument.",
  state: "State of completed orders.",
  limit: "Number of results: at most 100, 20 when left out.",
  after: "Only orders older than this ordId.",
  before: "Only orders newer than this ordId.",
  currency: "Only this currency.",
};

const refTo = (schema: object): Json => ({ $ref: `#/components/schemas/${schemaNames.get(schema) ?? "Failure"}` });

const bodyOf = (contract: Contract, name: EndpointName): Json => ({
  required: true,
  content: {
    "application/json": { schema: refTo(contract.endpoints[name].input), example: exampleInput(contract, name) },
  },
});

const successCodes = ({ profile }: Contract, name: EndpointName): readonly string[] => {
  const { envelopeCodeWhenMixed, envelopeCodeWhenAllFailed } = profile.cancelBatch;
  return name === "cancelBatch" ? [...new Set(["0", envelopeCodeWhenMixed, envelopeCodeWhenAllFailed])] : ["0"];
};

/** Calls that may be refused by the rules of trading, as opposed to form. */
const refusable: readonly EndpointName[] = ["getOrder", "placeOrder", "closePosition", "setLeverage"];

const responsesOf = (contract: Contract, name: EndpointName): Json => {
  const { profile } = contract;
  const success = {
    type: "object",
    required: ["code", "msg", "data"],
    properties: {
      code: { type: "string", enum: successCodes(contract, name), description: 'The value "0" marks success.' },
      msg: { type: "string", description: "Empty text on success." },
      data: { type: "array", items: refTo(contract.endpoints[name].record) },
    },
  };
  const mayRefuse = refusable.includes(name) && profile.answers.orderErrorStatus === 200;
  const ok = {
    description: mayRefuse ? "Done, or refused by the rules of trading: see the code." : "Done.",
    headers: limitHeaderRefs(),
    content: {
      "application/json": {
        schema: mayRefuse ? { anyOf: [success, { $ref: "#/components/schemas/Failure" }] } : success,
        example: { code: "0", msg: profile.answers.successMsg, data: exampleRecords(contract, name) },
      },
    },
  };
  const answers: Record<string, Json> = { "200": ok };
  for (const { name: response, status, kinds } of failureGroups(contract)) {
    if (kinds.every((kind) => kind === "Refused") && !refusable.includes(name)) continue;
    if (kinds.every((kind) => kind === "TooLarge") && contract.endpoints[name].method === "GET") continue;
    answers[String(status)] = { $ref: `#/components/responses/${response}` };
  }
  return answers;
};

const failureResponse = ({ profile }: Contract, { says, code }: FailureGroup): Json => ({
  description: says,
  ...(profile.limits.headersOnError && { headers: limitHeaderRefs() }),
  content: {
    "application/json": {
      schema: { $ref: "#/components/schemas/Failure" },
      example: failureExample(profile, code, says),
    },
  },
});

const headerNames = Object.fromEntries(
  Object.entries(wire.limitHeaders).map(([part, name]) => [part, name.toUpperCase()]),
);

const limitHeaderRefs = (): Json =>
  Object.fromEntries(Object.values(headerNames).map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const headersOf = ({ layers }: Contract): Json => {
  const whole = (description: string, example: string): Json => ({
    description,
    schema: { type: "string", pattern: "^\\d+$" },
    example,
  });
  const { ipRemaining = "", keyRemaining = "", uidUsed = "" } = headerNames;
  return {
    [ipRemaining]: whole("Requests remaining for the address in the current minute.", String(layers.ip.capacity - 1)),
    [keyRemaining]: whole(
      "Requests remaining for the API key in the current second; only on signed calls.",
      String(layers.key.capacity - 1),
    ),
    [uidUsed]: whole("Weight consumed by the user in the current minute; only on signed calls.", "5"),
  };
};

const authParts = [
  { scheme: "apiKey", suffix: "Key", says: "The API key." },
  { scheme: "signature", suffix: "Sign", says: "" },
  { scheme: "timestamp", suffix: "Timestamp", says: "" },
  { scheme: "passphrase", suffix: "Passphrase", says: "The passphrase chosen with the key." },
] as const;

const securitySchemesOf = (contract: Contract): Json => {
  const { auth } = contract.profile;
  const says: Readonly<Record<string, string>> = {
    signature: `HMAC-SHA256 of ${auth.prehash.join(" + ")} under the secret key, as ${auth.digest}.\n\n${assumptionLines(contract, ["auth.prehash", "auth.digest"]).join("\n")}`,
    timestamp: `When the request was made (${auth.timestamp}), at most ${auth.toleranceMs} ms off.\n\n${assumptionLines(contract, ["auth.timestamp", "auth.toleranceMs"]).join("\n")}`,
  };
  const schemes = authParts.map(({ scheme, suffix, says: words }) => [
    scheme,
    { type: "apiKey", in: "header", name: `${auth.headerPrefix}${suffix}`, description: says[scheme] ?? words },
  ]);
  return Object.fromEntries(schemes) as Json;
};
