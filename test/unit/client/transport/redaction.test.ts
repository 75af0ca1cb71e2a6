/** Secrets that a service or a proxy repeats do not pass, in whatever form they are repeated. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { createRedact, redactedJson } from "../../../../src/client/transport/redaction.ts";
import { createCredentials } from "../../../../src/client/transport/secrets.ts";
import { createSigner } from "../../../../src/client/transport/sign.ts";
import { createRig, type FakeSocket, obedient } from "../../../support/harness/fake-sockets.ts";
import { leaksIn, odd } from "../../../support/harness/secret-search.ts";
import { canary, contract, createClient, requestOf } from "../../../support/harness/transport.ts";

const secrets = [...Object.values(odd), ...Object.values(canary)];
const redact = createRedact(() => secrets);
const bytesOf = (text: string): Buffer => Buffer.from(text, "utf8");

describe("A repeated secret is removed", () => {
  it.each<[string, (secret: string) => string]>([
    ["alone", (secret) => secret],
    ["as it is", (secret) => `bad header ${secret}!`],
    ["in other letters", (secret) => `BAD HEADER ${secret.toUpperCase()}!`],
    ["in JSON", (secret) => JSON.stringify({ header: secret })],
    ["in JSON in JSON", (secret) => JSON.stringify(JSON.stringify({ header: secret }))],
    ["in a URL", (secret) => `/path?key=${encodeURIComponent(secret)}&x=1`],
    ["in a URL in a URL", (secret) => `/path?to=${encodeURIComponent(encodeURIComponent(secret))}`],
    ["in a form", (secret) => new URLSearchParams({ key: secret, x: "1" }).toString()],
    ["in percent encoding", (secret) => bytesOf(secret).toString("hex").replace(/../g, "%$&").toUpperCase()],
    ["in hexadecimal", (secret) => `0x${bytesOf(secret).toString("hex").toUpperCase()}`],
    ["in base64", (secret) => `Basic ${bytesOf(`user:${secret}`).toString("base64")}`],
    ["in base64url", (secret) => `${bytesOf(`u:${secret};`).toString("base64url")}`],
  ])("%s", (_, repeated) => {
    for (const secret of secrets) {
      const text = repeated(secret);
      const shown = redact({ code: "50000", msg: text, data: [{ [text]: "x", sMsg: text, other: [text, 7] }] });
      const said = redactedJson(JSON.stringify({ event: "error", msg: text }), redact, []);
      const plain = redactedJson(`not JSON: ${text}`, redact, []);
      const written = new Map([
        ["answer", JSON.stringify(shown)],
        ["message", said],
        ["text", plain],
      ]);
      expect(leaksIn([secret], written).filter(({ as }) => as !== "plain text" || text.includes(secret))).toEqual([]);
      expect(JSON.stringify(shown)).toContain("[redacted]");
    }
  });

  it("what holds none is the same value, and a short one is removed from error texts alone", () => {
    const value = { code: "0", msg: "", data: [{ instId: "BTC-USDT", px: "1" }] };
    expect(redact(value)).toBe(value);
    const short = createRedact(() => ["BTC"]);
    expect(short({ msg: "BTC is wrong", data: [{ instId: "BTC-USDT", sMsg: "no BTC" }] })).toEqual({
      msg: "[redacted] is wrong",
      data: [{ instId: "BTC-USDT", sMsg: "no [redacted]" }],
    });
    expect(createRedact(() => ["redacted"])("redacted, redacted")).toBe("[redacted], [redacted]");
  });
});

const escapes = (text: string): string =>
  Array.from(text, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`).join("");

/** The part of a longer text in base64 that its other bytes do not change. */
const withinBase64 = (secret: string, before: number): string => {
  const bytes = bytesOf(`${"?".repeat(before)}${secret}`);
  return bytes.toString("base64").slice(Math.ceil((before * 4) / 3), Math.floor((bytes.length * 4) / 3));
};

describe("A text that is no longer than the form of a secret is removed", () => {
  it.each<[string, (secret: string) => string]>([
    ["as it is", (secret) => secret],
    ["in base64", (secret) => bytesOf(secret).toString("base64")],
    ["in base64url", (secret) => bytesOf(secret).toString("base64url")],
    ["in base64 at the start of a longer text", (secret) => withinBase64(secret, 0)],
    ["in base64 after one byte", (secret) => withinBase64(secret, 1)],
    ["in base64 after two bytes", (secret) => withinBase64(secret, 2)],
    ["in hexadecimal", (secret) => bytesOf(secret).toString("hex")],
    ["in percent encoding", (secret) => bytesOf(secret).toString("hex").replace(/../g, "%$&")],
    ["in escapes", escapes],
  ])("%s", (_, formOf) => {
    const alphabet = "aZ9-_.*/+ ~!'()\"\\%&=üİ€";
    for (let length = 8; length <= 100; length++) {
      for (const secret of ["k".repeat(length), alphabet.repeat(5).slice(0, length)]) {
        const value = { data: [{ other: "x", text: formOf(secret) }] };
        expect(createRedact(() => [secret])(value).data[0]?.text, secret).toContain("[redacted]");
      }
    }
  });

  it.each<[string, (secret: string) => string]>([
    ["in JSON", (secret) => JSON.stringify(secret).slice(1, -1)],
    ["in JSON in JSON", (secret) => JSON.stringify(JSON.stringify(secret)).slice(3, -3)],
    ["in a URL", encodeURIComponent],
    ["in a URL in a URL", (secret) => encodeURIComponent(encodeURIComponent(secret))],
    ["in a form", (secret) => new URLSearchParams({ "": secret }).toString().slice(1)],
  ])("%s, with any character in it", (_, formOf) => {
    for (let code = 0x20; code < 0x180; code++) {
      const secret = `key${String.fromCharCode(code)}0123`;
      expect(createRedact(() => [secret])([formOf(secret)]), secret).toEqual(["[redacted]"]);
    }
  });
});

it.each([
  ["within a longer word", "key-ΑΒΓ-ΟΔΟΣ", "x key-ΑΒΓ-ΟΔΟΣα", "x [redacted]α"],
  ["in lower case", "key-ΑΒΓ-ΟΔΟΣ", "key-αβγ-οδος.", "[redacted]."],
  ["with another form of sigma", "key-αβγ-οδος", "key-ΑΒΓ-ΟΔΟΣ", "[redacted]"],
])("A secret that ends with a sigma is removed %s", (_, secret, text, clean) => {
  expect(createRedact(() => [secret])([text])).toEqual([clean]);
});

it("An answer that repeats the headers of its request does not show key, passphrase and signature", async () => {
  const sent: string[] = [];
  const server = createServer(({ headers }, response) => {
    sent.push(
      ...Object.values(headers)
        .filter((value) => typeof value === "string" && value.length >= 20)
        .map(String),
    );
    response.writeHead(400, { "content-type": "application/json", sunset: canary.passphrase });
    response.end(JSON.stringify({ code: "50000", msg: `bad: ${JSON.stringify(headers)}`, data: [headers] }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = createClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const text = await client.send(requestOf("placeOrder"));
  expect(text).toContain("[redacted]");
  const signature = sent.find((value) => value.endsWith("="));
  expect(signature).toBeDefined();
  expect(leaksIn([...Object.values(canary), signature ?? ""], new Map([["answer", text]]))).toEqual([]);
  await client.close();
  server.close();
});

it("A socket that repeats a login does not show it, in a refusal, in what is no JSON, and at its end", () => {
  const signer = createSigner(contract.profile, createCredentials(canary));
  const proofs: string[] = [];
  const repeat = (socket: FakeSocket): void => {
    socket.answer = (request) => {
      if (typeof request === "string" || request.op !== "login") return;
      const [arg = {}] = request.args ?? [];
      proofs.push(arg["sign"] ?? "");
      const text = Object.values(arg).join(" ");
      socket.say(`what is ${text}`);
      socket.say(JSON.stringify({ event: "error", code: "60009", msg: text }).replaceAll("/", "\\/"));
    };
  };
  const rig = createRig({ prepare: repeat, redact: signer.redact });
  rig.pool.start();
  rig.subscribe("orders", undefined, { name: "one", arg: () => signer.login(1_700_000_000_000) });
  rig.network.last.open();
  rig.clock.advanceTo(rig.clock.now() + 60_000);
  rig.network.last.end(`closed for ${canary.passphrase}`);
  expect(rig.anomalies.join()).toContain("[redacted]");
  expect(leaksIn([...Object.values(canary), ...proofs], new Map([["anomalies", rig.anomalies.join("\n")]]))).toEqual(
    [],
  );
});

it("A record that a private channel pushes does not show secrets, and a public channel's record is not searched", () => {
  const signer = createSigner(contract.profile, createCredentials(canary));
  const rig = createRig({ prepare: (socket) => (socket.answer = obedient), redact: signer.redact });
  rig.pool.start();
  const login = { name: "one", arg: () => signer.login(1_700_000_000_000) };
  const orders = rig.subscribe("orders", undefined, login);
  rig.network.last.open();
  rig.network.last.push("orders", [{ tag: `${canary.secretKey}!`, sMsg: [canary.passphrase] }, { sz: "1" }]);
  const trades = rig.subscribe("trades", "BTC-USDT");
  rig.network.last.open();
  rig.network.last.push("trades", [{ px: canary.passphrase }], { instId: "BTC-USDT" });
  expect(orders.pushes.map(({ data }) => data)).toEqual([[{ tag: "[redacted]!", sMsg: ["[redacted]"] }, { sz: "1" }]]);
  expect(trades.pushes.map(({ data }) => data)).toEqual([[{ px: canary.passphrase }]]);
});
