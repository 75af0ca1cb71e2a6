/**
 * Walks all rules against one service and gives a verdict on each.
 *
 * Invariants: one rule at a time, in the order of the description, those that use up a layer last; a rule that cannot
 * be tested is skipped with a reason; any order of ours that is left behind is named.
 * Not here: the printed text (findings.ts), keys and addresses from the command line (cli/check.ts).
 */
import { isSluiceError, SluiceError } from "sluice";
import { batchRules } from "./batch-rules.ts";
import { dialectRules, notOfDialects } from "./dialect-rules.ts";
import { envelopeRules } from "./envelope-rules.ts";
import { headerRules } from "./header-rules.ts";
import { limitRules } from "./limit-rules.ts";
import { listingRules } from "./listing-rules.ts";
import { orderRules } from "./order-rules.ts";
import { permissionRules } from "./permission-rules.ts";
import { productRules } from "./product-rules.ts";
import { type Rule, skipped, type Verdict } from "./rule.ts";
import { socketRules } from "./socket-rules.ts";
import { TestClient, type TestClientOptions } from "./test-client.ts";
import { missing } from "./test-keys.ts";
import { Unable } from "./unable.ts";
import { weightRules } from "./used-weight.ts";

/** Rules that end in a blocked user or address come after all others. */
const lastly: readonly RegExp[] = [/^(7\.2|8\.1-key)/, /^(8\.1-uid|8\.4-(ip|uid)-fresh)/, /^8\.1-ip/];

const place = (id: string): number => lastly.findIndex((pattern) => pattern.test(id));

const rules: readonly Rule[] = [
  ...envelopeRules,
  ...productRules,
  ...orderRules,
  ...listingRules,
  ...batchRules,
  ...permissionRules,
  ...limitRules,
  ...weightRules,
  ...socketRules,
  ...headerRules,
];

/** The rules of the description, and of a service in a dialect those of dialects. */
export const rulesFor = (dialect: object | undefined): readonly Rule[] =>
  dialect === undefined ? rules : [...rules, ...dialectRules];

export interface Finding {
  readonly rule: Rule;
  readonly verdict: Verdict;
}

export interface SuiteOptions extends TestClientOptions {
  /** Only rules whose id begins with one of these. */
  readonly only?: readonly string[];
  readonly onRule?: (rule: Rule) => void;
}

export interface SuiteResult {
  /** Findings in the order of the description. */
  readonly findings: readonly Finding[];
  /** Orders of ours that could not be canceled. */
  readonly leftBehind: readonly string[];
}

export const checkService = async (options: SuiteOptions): Promise<SuiteResult> => {
  const testClient = new TestClient(options);
  await checkReachable(testClient);
  const asked = rulesFor(options.dialect).filter(
    ({ id }) => options.only?.some((start) => id.startsWith(start)) ?? true,
  );
  const order = [...asked].sort((a, b) => place(a.id) - place(b.id));
  const verdicts = new Map<Rule, Verdict>();
  let leftBehind: readonly string[] = [];
  try {
    for (const rule of order) {
      if (options.stop.aborted) break;
      options.onRule?.(rule);
      const verdict = await ask(rule, testClient);
      verdicts.set(rule, verdict);
    }
  } finally {
    testClient.insist();
    leftBehind = await testClient.orders.cleanUp();
  }
  const findings = asked.flatMap((rule) => {
    const verdict = verdicts.get(rule);
    return verdict === undefined ? [] : [{ rule, verdict }];
  });
  return { findings, leftBehind };
};

/**
 * Throws if the service does not answer, which no rule is about, or if a key is refused, which would fail every rule
 * about orders.
 */
const checkReachable = async (testClient: TestClient): Promise<void> => {
  const { main } = testClient.roles;
  if (main === undefined) {
    await testClient.ask("instruments", {}, { as: "no key" });
    return;
  }
  const reply = await testClient.ask("pendingOrders", { limit: "1" });
  if (reply.status === 200) return;
  throw new SluiceError(
    "USAGE",
    `The service refuses the key ${main.name}: ${reply.asked} gave ${reply.shown}. Check the key, its permissions and the profile's auth rows.`,
  );
};

const ask = async (rule: Rule, testClient: TestClient): Promise<Verdict> => {
  const elsewhere = testClient.dialect === undefined ? undefined : notOfDialects(rule.id);
  if (elsewhere !== undefined) return skipped(`does not apply to ${testClient.dialect?.name}: ${elsewhere}`);
  const lacking = missing(rule.needs, testClient.roles, testClient.socket !== undefined);
  if (lacking !== undefined) return skipped(lacking);
  if (rule.slow && testClient.quick) return skipped("uses up a minute; left out of a quick run");
  try {
    return await rule.check(testClient);
  } catch (error) {
    if (error instanceof Unable) return skipped(error.message);
    if (!isSluiceError(error) || error.code !== "OUTCOME_UNKNOWN") throw error;
    return { kind: "fail", expected: "an answer to every request", got: error.message, request: "see the message" };
  }
};
