/**
 * Sets the leverage of products before anybody trades, as the config says.
 *
 * Invariants: nothing is traded with another leverage than the config names: when the service refuses one, or does not answer, the
 * start fails and says which and why; products that the config does not name are left as they are at the service.
 * Not here: what leverage means to a position; that is the service's.
 */
import { lastValueFrom, takeUntil } from "rxjs";
import { type Outcome, whyNot } from "../client/outcome.ts";
import { after, type Clock } from "../clock/clock.ts";
import type { InputOf } from "../contract/endpoints.ts";
import { SluiceError } from "../errors.ts";
import type { LeverageConfig } from "../host/config-schema.ts";
import type { UserAccount } from "./user-account.ts";

const answerMsMax = 90_000;

export const setLeverage = async (clock: Clock, accounts: readonly UserAccount[], wanted: LeverageConfig): Promise<void> => {
  for (const { user, gateway } of accounts) {
    for (const [instId, told] of Object.entries(wanted)) {
      const input: InputOf<"setLeverage"> = typeof told === "string" ? { instId, lever: told } : { instId, ...told };
      // May be asked again as a read may: setting what is set changes nothing.
      const outcome$ = gateway.read("setLeverage", input, { class: "place", owner: "engine" }).pipe(takeUntil(after(clock, answerMsMax)));
      const outcome = await lastValueFrom<Outcome<unknown>, undefined>(outcome$, { defaultValue: undefined });
      if (outcome?.kind === "done") continue;
      throw new SluiceError(
        "ENGINE_STATE",
        `The engine cannot start: leverage ${input.lever} of ${instId} could not be set for user ${user.uid} (${outcome === undefined ? "no answer" : whyNot(outcome)}). Change config.leverage, or what is open.`,
      );
    }
  }
};
