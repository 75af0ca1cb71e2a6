/**
 * Examines a service: tests the assumptions of the profile and reports which of them hold.
 *
 * Invariants: nothing is concluded, and no row is offered, unless the service distinguished right credentials from
 * wrong ones; a code with which it answers wrong credentials is offered for nothing else; read only unless orders are
 * asked for; at most `weightMax` weight is used for reading; every row that belongs to a probe ends as a finding, also
 * when the probe could not ask; everything that was opened is closed.
 * Not here: tables and texts (cli/), writing down a confirmation (live/).
 */
import {
  type Contract,
  createContract,
  type Dialect,
  type EndpointName,
  exchangeContract,
  type ProfileOverrides,
} from "sluice/dialect";
import type { Reply } from "../probe/reply.ts";
import type { Answer } from "./answer.ts";
import { probeCredentials } from "./credentials.ts";
import { inDialect } from "./dialect-findings.ts";
import { DoctorClient } from "./doctor-client.ts";
import { type ExaminationState, type ExaminedService, noteUnasked, type OrderProbe } from "./examination.ts";
import { type Finding, type Override, type RowPath, unasked, unseen } from "./finding.ts";
import { overridesOf, withOverrides } from "./override-lines.ts";
import { probeCancels } from "./probe-cancels.ts";
import {
  type Listed,
  listRows,
  probeInstruments,
  probeKeyedInstruments,
  probeUnsignedCharge,
} from "./probe-instruments.ts";
import { probeListings } from "./probe-listings.ts";
import { probeOrder } from "./probe-order.ts";
import { plainRows, probeSignature } from "./probe-signature.ts";
import { probeWindow } from "./probe-window.ts";

export interface ExamineOptions {
  /** Rows that the config already overrides. */
  readonly profile: ProfileOverrides;
  /** Dialect of the service, if it is not the described service: the examination stays within its rate limit layers. */
  readonly dialect?: Pick<Dialect, "name" | "layers" | "split"> | undefined;
  readonly open: (contract: Contract) => ExaminedService;
  /** Aborted to end the examination: orders are canceled first. */
  readonly stop: AbortSignal;
  /** Requests to this service carry a signature; an embedded service receives the key's name instead. */
  readonly signs: boolean;
  /** Leaves out tests that have to wait for the edge of a minute. */
  readonly quick?: boolean;
  /** Places orders far from the market and cancels them; only where no money is at stake. */
  readonly orders?: OrderProbe;
  /** Called with the progress of the examination, one line per call. */
  readonly progress?: (line: string) => void;
}

export interface Examination {
  readonly findings: readonly Finding[];
  readonly overrides: readonly Override[];
  /** Reason for which nothing can be concluded; then there are no overrides. */
  readonly inconclusive?: string;
  /** The whole `profile` a config should have. */
  readonly profile: ProfileOverrides;
  readonly weight: number;
  readonly requests: number;
  /** Orders of the examination that may still be open, by client order id. */
  readonly left: readonly string[];
  readonly stopped: boolean;
}

/** Nine ways to sign, ten requests with wrong credentials, and some dozen reads, each counted as if it was charged. */
const readWeightMax = 150;
/** Two batches, three placements at most for the unit, two more for the id, three cancels, and looks in between. */
const orderWeightMax = 200;

const open = async (options: ExamineOptions, overrides: readonly Override[]): Promise<ExaminedService> => {
  const service = options.open(createContract(withOverrides(options.profile, overrides)));
  await service.load?.();
  service.start();
  return service;
};

const visitOf = async (
  options: ExamineOptions,
): Promise<{ examination: ExaminationState; close: () => Promise<void> }> => {
  const contract = exchangeContract({ layers: options.dialect?.layers }, options.profile);
  const findings: Finding[] = [];
  let service = await open(options, []);
  const keyFor = (endpoint: EndpointName): string | undefined => {
    const { permission } = contract.endpoints[endpoint];
    const keys = service.users[0]?.keys ?? [];
    return keys.find(({ permissions }) => permission === "none" || permissions.includes(permission))?.name;
  };
  const weightMax = readWeightMax + (options.orders === undefined ? 0 : orderWeightMax);
  const { clock, transport } = service;
  const client = new DoctorClient({
    clock,
    contract,
    transport,
    keyFor,
    weightMax,
    stop: options.stop,
    split: options.dialect?.split,
  });
  const examination: ExaminationState = {
    contract,
    clock,
    client,
    service: () => service,
    findings,
    door: { success: undefined, codes: new Set() },
    note: (...more) => {
      findings.push(...more);
    },
    reopen: async (overrides) => {
      await service.stop();
      const accepted = overridesOf(findings).filter(({ path }) => path.startsWith("auth."));
      service = await open(options, [...accepted, ...overrides]);
      client.through(service.transport);
    },
  };
  return { examination, close: async () => service.stop() };
};

export const examine = async (options: ExamineOptions): Promise<Examination> => {
  const { examination, close } = await visitOf(options);
  const left: string[] = [];
  let inconclusive: string | undefined;
  try {
    inconclusive = await probeAll(examination, options, left);
  } finally {
    await close();
  }
  const { client } = examination;
  const concluded = inconclusive === undefined ? withoutDoorCodes(examination) : examination.findings.map(withoutRow);
  const findings =
    options.dialect === undefined
      ? concluded
      : concluded.map((one) => inDialect(one, examination.contract.profile, options.dialect?.name));
  const overrides = [...new Map(overridesOf(findings).map((override) => [override.path, override])).values()];
  return {
    findings,
    overrides,
    profile: withOverrides(options.profile, overrides),
    weight: client.spent,
    requests: client.calls.length,
    left,
    stopped: options.stop.aborted,
    ...(inconclusive !== undefined && { inconclusive }),
  };
};

const withoutRow = ({ gap, row, assumed, found, verdict, evidence }: Finding): Finding => ({
  gap,
  row,
  assumed,
  found,
  verdict,
  evidence,
});

/**
 * Marks findings about the code of a refused key as not tested: under another name this code would change the meaning
 * of refusals.
 */
const withoutDoorCodes = ({ findings, door, contract }: ExaminationState): readonly Finding[] =>
  findings.map((finding) => {
    const { path, value } = finding.override ?? {};
    if (path === undefined || !/^answers\..+Code$/.test(path) || path === "answers.authCode") return finding;
    return door.codes.has(String(value))
      ? unasked(contract.profile, path, `${finding.evidence}: wrong credentials are answered so`)
      : finding;
  });

/** Rows that can be tested only with credentials that the service was seen to check. */
const keyRows: readonly RowPath[] = [
  "instruments.needsKey",
  "instruments.chargesUserWithoutKey",
  "auth.prehash",
  "answers.authStatus",
  "answers.authCode",
  "answers.successMsg",
  "paging.newestFirst",
  "order.timeUnit",
  "order.feeSign",
  "order.emptyDecimal",
  "paging.cursorIncluded",
  "paging.afterAndBefore",
  "paging.limitAboveMax",
  "answers.badRequestStatus",
  "answers.badRequestCode",
  "answers.notFound",
  "answers.notFoundCode",
  "answers.orderErrorStatus",
  "answers.dataOnError",
  "limits.headersOnError",
  "weights.getOrder",
  "weights.pendingOrders",
  "weights.orderHistory",
  "limits.failedCounts",
  "limits.anchor",
];

/** Gives why nothing can be concluded, if so. */
const probeAll = async (
  examination: ExaminationState,
  options: ExamineOptions,
  left: string[],
): Promise<string | undefined> => {
  const { progress = () => undefined, quick = false, orders, signs } = options;
  const { note, contract } = examination;
  progress("Asking for the list of instruments, without a key.");
  const listed = await probeInstruments(examination);
  progress("Asking for balances: signed, with wrong credentials, and without any.");
  const keys = typeof listed === "string" ? listed : await probeKeys(examination, signs);
  if (typeof keys === "string") return giveUp(examination, keys);
  const instruments = isReply(listed) ? await probeKeyedInstruments(examination, listed) : listed;
  if (typeof instruments === "string") return giveUp(examination, instruments);
  // Exchanges may ask for the product of an order.
  if (options.dialect !== undefined) examination.client.product = instruments[0]?.instId;
  await probeUnsignedCharge(examination);
  progress("Asking for orders, open and past.");
  await probeListings(examination, signs, keys.unsigned);
  if (orders !== undefined) {
    progress("Cancelling two orders that do not exist.");
    await probeCancels(examination, instruments);
    progress("Placing an order far from the market.");
    left.push(...(await probeOrder(examination, instruments, orders)));
  }
  if (quick) note(unseen(contract.profile, "limits.anchor", "left out by --quick"));
  else {
    progress("Waiting for the edge of a minute, 65 s at most.");
    await probeWindow(examination);
  }
  note(unseen(contract.profile, "limits.refusedCounts", "a rate limit is never provoked"));
  note(unseen(contract.profile, "answers.limitedCode", "a rate limit is never provoked"));
  return undefined;
};

const isReply = (listed: Listed): listed is Reply => typeof listed === "object" && "kind" in listed;

const giveUp = (examination: ExaminationState, why: string): string => {
  const noted = new Set(examination.findings.map(({ row }) => row));
  noteUnasked(
    examination,
    [...listRows, ...plainRows, ...keyRows].filter((row) => !noted.has(row)),
    why,
  );
  return why;
};

/**
 * Checks that the service accepts our credentials and no others. Returns the answer to a request without credentials,
 * or the reason why it is not known.
 */
const probeKeys = async (
  examination: ExaminationState,
  signs: boolean,
): Promise<{ readonly unsigned: Answer } | string> => {
  const unsigned = await examination.client.ask("spotBalance", {}, { signed: false });
  const accepted = await probeSignature(examination, signs);
  if (typeof accepted === "string") return accepted;
  const why = await probeCredentials(examination, signs, accepted, unsigned);
  return why ?? { unsigned };
};
