/**
 * Checks positions of strategies after quiet: by the engine, by the fills of their orders at the service, and by the
 * account.
 *
 * Invariants: checked only if strategies protect positions and no journal was lost; the account's positions are
 * compared only if no other orders were executed.
 */
import { add } from "sluice";
import type { Environment } from "./environment.ts";
import type { Finding } from "./invariants.ts";
import type { SimulatedProcess } from "./simulated-process.ts";

const isNear = (a: number, b: number): boolean => Math.abs(a - b) < 1e-9;

export const checkHoldings = (environment: Environment, process: SimulatedProcess): readonly Finding[] => {
  const { protections, amnesia, users, venue } = environment;
  if (amnesia) return [];
  const findings: Finding[] = [];
  const held = new Map<string, number>();
  for (const { strategy, instId, net } of protections.books) {
    held.set(instId, (held.get(instId) ?? 0) + net);
    const own = process.positions.get(strategy)?.(instId).qty ?? "0";
    if (isNear(Number(own), net)) continue;
    const text = `${strategy} holds ${net} of ${instId} by its fills at the service and ${own} by the engine`;
    findings.push({ invariant: "I18", subject: `${strategy} ${instId}`, text });
  }
  for (const [instId, net] of held) {
    const positions = users.flatMap(({ uid }) =>
      venue.holdings(uid).positions.filter((position) => position.instId === instId),
    );
    const pos = positions.reduce((sum, position) => add(sum, position.pos), "0");
    if (isNear(Number(pos), net)) continue;
    const text = `strategies hold ${net} of ${instId} by their fills and the account ${pos}`;
    findings.push({ invariant: "I18", subject: instId, text });
  }
  return findings;
};
