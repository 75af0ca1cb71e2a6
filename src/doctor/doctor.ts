/**
 * Examines a service: asks what the profile assumes, and says which assumptions hold.
 *
 * Invariants: read only unless orders are asked for; at most `weightMax` weight is used for reading; every row that belongs to a
 * probe ends as a finding, also when the probe could not ask; what was opened is closed.
 * Not here: tables and texts (cli/), writing down a confirmation (live/).
 */
import { type Contract, createContract } from "../contract/contract.ts";
import type { EndpointName } from "../contract/endpoints.ts";
import type { ProfileOverrides } from "../contract/profile.ts";
import { createAsker } from "./asker.ts";
import { type Finding, type Override, unasked, unseen } from "./finding.ts";
import { overridesOf, withOverrides } from "./override-lines.ts";
import { probeCancels } from "./probe-cancels.ts";
import { probeInstruments, probeUnsignedCharge } from "./probe-instruments.ts";
import { probeListings } from "./probe-listings.ts";
import { probeOrder } from "./probe-order.ts";
import { probeSignature, probeUnsigned } from "./probe-signature.ts";
import { probeWindow } from "./probe-window.ts";
import type { StopWord } from "./stop-word.ts";
import type { OrderProbe, Patient, Visit } from "./visit.ts";

export interface ExamineOptions {
  /** What the config overrides already. */
  readonly profile: ProfileOverrides;
  readonly open: (contract: Contract) => Patient;
  readonly stop: StopWord;
  /** Whether requests to this service carry a signature; an embedded one is told the key's name. */
  readonly signs: boolean;
  /** Leaves out what has to wait for the edge of a minute. */
  readonly quick?: boolean;
  /** Places orders far from the market and cancels them; only where no money is at stake. */
  readonly orders?: OrderProbe;
  /** Told what is going on, a line at a time. */
  readonly progress?: (line: string) => void;
}

export interface Examination {
  readonly findings: readonly Finding[];
  readonly overrides: readonly Override[];
  /** The whole `profile` a config should have. */
  readonly profile: ProfileOverrides;
  readonly weight: number;
  readonly requests: number;
  /** Orders of the examination that may still be open, by client order id. */
  readonly left: readonly string[];
  readonly stopped: boolean;
}

export const readWeightMax = 60;
/** Two batches, three placements at most for the unit, two more for the id, three cancels, and looks in between. */
const orderWeightMax = 200;

const open = (options: ExamineOptions, overrides: readonly Override[]): Patient => {
  const patient = options.open(createContract(withOverrides(options.profile, overrides)));
  patient.start();
  return patient;
};

const visitOf = (options: ExamineOptions): { visit: Visit; close: () => Promise<void> } => {
  const contract = createContract(options.profile);
  const findings: Finding[] = [];
  let patient = open(options, []);
  const keyFor = (endpoint: EndpointName): string | undefined => {
    const { permission } = contract.endpoints[endpoint];
    const keys = patient.users[0]?.keys ?? [];
    return keys.find(({ permissions }) => permission === "none" || permissions.includes(permission))?.name;
  };
  const weightMax = readWeightMax + (options.orders === undefined ? 0 : orderWeightMax);
  const { clock, transport } = patient;
  const asker = createAsker({ clock, contract, transport, keyFor, weightMax, stop: options.stop });
  const visit: Visit = {
    contract,
    clock,
    asker,
    stop: options.stop,
    patient: () => patient,
    findings,
    note: (...more) => {
      findings.push(...more);
    },
    reopen: async (overrides) => {
      await patient.stop();
      const accepted = overridesOf(findings).filter(({ path }) => path.startsWith("auth."));
      patient = open(options, [...accepted, ...overrides]);
      asker.through(patient.transport);
    },
  };
  return { visit, close: async () => patient.stop() };
};

export const examine = async (options: ExamineOptions): Promise<Examination> => {
  const { visit, close } = visitOf(options);
  const left: string[] = [];
  try {
    await probeAll(visit, options, left);
  } finally {
    await close();
  }
  const { findings, asker } = visit;
  const overrides = [...new Map(overridesOf(findings).map((override) => [override.path, override])).values()];
  return {
    findings,
    overrides,
    profile: withOverrides(options.profile, overrides),
    weight: asker.spent,
    requests: asker.calls.length,
    left,
    stopped: options.stop.said,
  };
};

const probeAll = async (visit: Visit, options: ExamineOptions, left: string[]): Promise<void> => {
  const { progress = () => undefined, quick = false, orders, signs } = options;
  const { note, contract } = visit;
  progress("Asking for the list of instruments, without a key.");
  const instruments = await probeInstruments(visit);
  progress("Asking for balances, signed.");
  const unsigned = await probeUnsigned(visit);
  if (!(await probeSignature(visit, signs))) {
    note(unasked(contract.profile, "weights.getOrder", "nothing can be asked without an accepted signature"));
    return;
  }
  await probeUnsignedCharge(visit);
  progress("Asking for orders, open and past.");
  await probeListings(visit, signs, unsigned);
  if (orders !== undefined) {
    progress("Cancelling two orders that do not exist.");
    await probeCancels(visit, instruments);
    progress("Placing an order far from the market.");
    left.push(...(await probeOrder(visit, instruments, orders)));
  }
  if (quick) note(unseen(contract.profile, "limits.anchor", "left out by --quick"));
  else {
    progress("Waiting for the edge of a minute, 65 s at most.");
    await probeWindow(visit);
  }
  note(unseen(contract.profile, "limits.refusedCounts", "a rate limit is never provoked"));
  note(unseen(contract.profile, "answers.limitedCode", "a rate limit is never provoked"));
};
