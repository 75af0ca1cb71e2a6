/**
 * Examination of the shared quota of a config: its store, and the engines that have joined. The service is not asked.
 *
 * Not here: what is wrong (group-findings.ts), tables and exit codes (cli/).
 */
import { placeOf } from "../../client/live/live-place.ts";
import type { Clock } from "../../clock/clock.ts";
import { createSystemClock } from "../../clock/system-clock.ts";
import { exchangeContract } from "../../contract/contract.ts";
import { messageOf, SluiceError } from "../../errors.ts";
import { checkConfig } from "../../host/config.ts";
import { loadConfigFile } from "../../host/load.ts";
import { layersOf } from "../../scheduler/quota/layers.ts";
import { addressIn, shownAddress } from "../../scheduler/shared/store-address.ts";
import { surveyStore } from "../../scheduler/shared/store-survey.ts";
import { type GroupFinding, groupFindings } from "./group-findings.ts";

/** Findings about a shared quota. */
export interface GroupReport {
  readonly group: string;
  /** The store, without user and password. */
  readonly store: string;
  readonly findings: readonly GroupFinding[];
}

/** USAGE without a shared quota in the config, PORT_UNAVAILABLE where the store cannot be asked. */
export const doctorGroup = async (path: string, clock: Clock = createSystemClock()): Promise<GroupReport> => {
  const { quota, service, profile, instance } = checkConfig(await loadConfigFile(path, { command: "doctor", clock }));
  const { shared } = quota;
  if (shared === undefined)
    throw new SluiceError(
      "USAGE",
      `--shared: ${path} shares its quota with nobody. Set config.quota.shared, or leave the option out.`,
    );
  const { group, name = instance, share = 1, of } = shared;
  const address = addressIn(shared.store);
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
