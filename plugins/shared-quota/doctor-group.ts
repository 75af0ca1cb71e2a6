/**
 * Examination of the shared quota of a config: its store, and the engines that have joined. The service is not asked.
 *
 * Not here: what is wrong (group-findings.ts), tables and exit codes (plugins/conformance).
 */

import { SluiceError } from "sluice";
import { exchangeContract } from "sluice/dialect";
import {
  type Clock,
  checkConfig,
  createSystemClock,
  layersOf,
  loadConfigFile,
  messageOf,
  placeOf,
} from "sluice/extension";
import { addressIn, shownAddress } from "sluice/plugins/redis";
import { sharedQuotaIn } from "./configured.ts";
import { type GroupFinding, groupFindings } from "./group-findings.ts";
import { surveyStore } from "./store-survey.ts";

/** Findings about a shared quota. */
export interface GroupReport {
  readonly group: string;
  /** The store, without user and password. */
  readonly store: string;
  readonly findings: readonly GroupFinding[];
}

/** USAGE without a shared quota in the config, PORT_UNAVAILABLE where the store cannot be asked. */
export const doctorGroup = async (path: string, clock: Clock = createSystemClock()): Promise<GroupReport> => {
  const config = checkConfig(await loadConfigFile(path, { command: "doctor", clock }));
  const { quota, service, profile, instance } = config;
  const shared = sharedQuotaIn(config);
  if (shared === undefined)
    throw new SluiceError(
      "USAGE",
      `--shared: ${path} does not share its quota. Add sharedQuota to its plugins, or leave the option out.`,
    );
  const { group, name = instance, share, of } = shared;
  const address = addressIn(shared.store, "sharedQuota.store");
  const contract = exchangeContract({ layers: placeOf(service)?.dialect?.layers }, profile);
  const settings = { member: name, share, of, layers: quota.layers ?? layersOf(contract) };
  const survey = await surveyStore(address, group, clock).catch((error: unknown) => {
    throw new SluiceError(
      "PORT_UNAVAILABLE",
      `The store at ${shownAddress(address)} cannot be asked: ${messageOf(error)}. Is it running, and may this machine reach it?`,
    );
  });
  return { group, store: shownAddress(address), findings: groupFindings(survey, settings) };
};
