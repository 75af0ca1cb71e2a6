/**
 * Backtests the strategies of a session on the market that the session saw, to compare the expected result with the
 * real one.
 *
 * Invariants: seed, name, profile and limits are the session's; nothing reaches a service; the market is that of the
 * session, for any market in the config; a journal file named in the config is not written, because it may be the one
 * that is compared.
 */

import { definePlugin, SluiceError } from "sluice";
import { type BacktestSpec, backtest, lognormal, type RunReport, runBacktest } from "sluice/backtest";
import { createContract } from "sluice/dialect";
import { type CheckedConfig, checkConfig } from "sluice/extension";
import { comparableFacts, configFacts, ensureMarket, latencyOf, type Session } from "sluice/plugins/session";
import { medianAck } from "./cause.ts";
import { factsOfReport, noteSent } from "./read-run.ts";
import { RunReader } from "./run-reader.ts";
import type { RunRecord } from "./run-record.ts";

/** The backtest of `input` on the market of `session`, which as a run is `happened`. */
export const backtestOfSession = async (session: Session, happened: RunRecord, input: unknown): Promise<RunRecord> => {
  const { header, name } = session;
  const config = checkConfig(input);
  if (ensureMarket(session) === undefined) {
    throw new SluiceError(
      "USAGE",
      `${name}: no market data was recorded in this session, so there is nothing to backtest on.`,
    );
  }
  const { seed, instance, profile, limits } = header;
  const reader = new RunReader();
  const [service, notes] = serviceFor(config, session, happened);
  const report: RunReport = await runBacktest(
    {
      ...config,
      seed,
      instance,
      profile,
      service: overheard(service, reader),
      plugins: [...config.plugins.filter((plugin) => plugin.name !== "journal-file"), listener(reader)],
    },
    { fixture: name, limits },
  );
  const run = reader.finish({
    name: `backtest of ${name}`,
    kind: "backtest",
    notes,
    feeSign: createContract(profile).profile.order.feeSign,
    facts: {
      ...factsOfReport(report),
      config: comparableFacts({ ...configFacts(config, header.config, limits), profile }, "profile"),
    },
  });
  return { ...run, totals: { ...run.totals, pnl: report.pnl } };
};

/** Returns the config's own embedded service, or one with the facts of the session. */
const serviceFor = (
  config: CheckedConfig,
  session: Session,
  happened: RunRecord,
): readonly [BacktestSpec, readonly string[]] => {
  const given = config.service as BacktestSpec;
  if (given.kind === "backtest" && typeof given.openWith === "function") return [given, []];
  const { header } = session;
  const { drawn } = latencyOf(session);
  const medianMs = Math.max(1, Math.round((medianAck(happened.orders ?? []) ?? 50) / 2));
  const users = Object.fromEntries(header.users.map(({ uid, keys }) => [uid, { keys: Math.max(1, keys.length) }]));
  const words =
    drawn === undefined
      ? `a latency of ${medianMs} ms each way, half of the session's median,`
      : "the latency of the session";
  const note = `The config is of ${given.kind}(…): the backtest has ${words} and the default fees and balances.`;
  return [backtest({ latency: drawn ?? lognormal({ medianMs }), users }), [note]];
};

const overheard = (spec: BacktestSpec, reader: RunReader): BacktestSpec => ({
  ...spec,
  openWith: (env, overrides) => {
    const opened = spec.openWith(env, overrides);
    return {
      ...opened,
      transport: (request, sink) => {
        if (request.endpoint === "placeOrder") noteSent(reader, request.body);
        opened.transport(request, sink);
      },
    };
  },
});

const listener = (reader: RunReader) =>
  definePlugin({
    name: "comparison",
    options: { type: "object", additionalProperties: false, properties: {} },
    setup: ({ events$ }) => {
      const listening = events$.subscribe((event) => {
        reader.event(event, event.seq);
      });
      return () => {
        listening.unsubscribe();
      };
    },
  })({});
