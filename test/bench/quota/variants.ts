/**
 * Scenarios of the comparison with one thing changed.
 *
 * Invariants: a title says the load and what is changed; a name that ends in `-key` is B, one that ends in `-light` F.
 */
import { comparison, keyBound, type Scenario, weightBound } from "./scenarios.ts";
import { asDescribed, type ServiceFaults } from "./service-faults.ts";

export type Change = Partial<Omit<Scenario, "faults">> & { readonly faults?: Partial<ServiceFaults> };

const changed = (scenario: Scenario, title: string, { faults, ...rest }: Change): Scenario => ({
  ...scenario,
  ...rest,
  title,
  faults: { ...asDescribed, ...faults },
});

export const weight = (title: string, change: Change): Scenario => changed(weightBound, `A and ${title}`, change);

export const key = (title: string, change: Change): Scenario => changed(keyBound, `B and ${title}`, change);

export const light = (title: string, change: Change): Scenario =>
  changed(comparison["F"] as Scenario, `F and ${title}`, change);

/** The same for the load that the minute binds and for the one that the second binds. */
export const both = (name: string, title: string, change: Change): Record<string, Scenario> => ({
  [name]: weight(title, change),
  [`${name}-key`]: key(title, change),
});
