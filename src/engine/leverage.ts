/**
 * Leverage set-up: sets the config's leverage of products before strategies start.
 *
 * Invariants: no product is traded with a leverage other than the config's: if the service rejects a leverage or does
 * not answer, the start fails with the product and the reason; products that the config does not name keep their
 * leverage at the service.
 * Not here: the effect of leverage on a position, which the service decides.
 */
import { lastValueFrom, takeUntil } from "rxjs";
import { type Outcome, whyNot } from "../client/outcome.ts";
import { after, type Clock } from "../clock/clock.ts";
import type { InputOf } from "../contract/endpoints.ts";
import { SluiceError } from "../errors.ts";
import type { LeverageConfig } from "../host/config-schema.ts";
import type { UserAccount } from "./user-account.ts";

const answerMsMax = 90_000;

export const setLeverage = async (
  clock: Clock,
  accounts: readonly UserAccount[],
  wanted: LeverageConfig,
): Promise<void> => {
  for (const { user, gateway } of accounts) {
    for (const [instId, setting] of Object.entries(wanted)) {
      const input: InputOf<"setLeverage"> =
        typeof setting === "string" ? { instId, lever: setting } : { instId, ...setting };
      // The call may be repeated like a read, because it is idempotent.
      const outcome$ = gateway
        .read("setLeverage", input, { class: "place", owner: "engine" })
        .pipe(takeUntil(after(clock, answerMsMax)));
      const outcome = await lastValueFrom<Outcome<unknown>, undefined>(outcome$, { defaultValue: undefined });
      if (outcome?.kind === "done") continue;
      throw new SluiceError(
        "ENGINE_STATE",
        `The engine cannot start: leverage ${input.lever} of ${instId} could not be set for user ${user.uid} (${outcome === undefined ? "no answer" : whyNot(outcome)}). Change config.leverage, or what is open.`,
      );
    }
  }
};
