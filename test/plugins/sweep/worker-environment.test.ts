/** The environment of a worker: what a queue makes it import finds none of its secrets. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { main } from "../../../src/cli/main.ts";
import { capturedIo } from "../../support/captured-io.ts";

let before: NodeJS.ProcessEnv;
beforeEach(() => {
  before = { ...process.env };
  Object.assign(process.env, {
    SLUICE_SECRET_KEY: "a",
    AWS_SECRET_ACCESS_KEY: "b",
    QUEUE: "redis://127.0.0.1:1",
    PGPASSWORD: "c",
    LEVELS: "3",
  });
});
afterEach(() => {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
});

it("A worker keeps what a program needs to run and what it was told to keep", async () => {
  const io = capturedIo();
  expect(await main(["worker", "--queue", "env:QUEUE", "--env", "LEVELS"], io)).not.toBe(0);
  const left = ["PATH", "LEVELS", "SLUICE_SECRET_KEY", "AWS_SECRET_ACCESS_KEY", "QUEUE", "PGPASSWORD"];
  expect(left.filter((name) => process.env[name] !== undefined)).toEqual(["PATH", "LEVELS"]);
});
