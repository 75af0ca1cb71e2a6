/** What is changed, and the tests that must notice: the quick ones of its own room, so that a change is judged in seconds. */
export const floor = 90;

export const parts = {
  plan: { mutate: ["src/orders/plan.ts"], tests: ["test/unit/orders/plan*.test.ts"] },
  decimals: { mutate: ["src/decimal.ts"], tests: ["test/unit/decimal*.test.ts"] },
  merge: {
    mutate: ["src/orders/state/order-store.ts"],
    tests: ["test/unit/orders/record-merging.test.ts", "test/unit/orders/state/order-store.test.ts"],
  },
  reconcile: {
    mutate: ["src/orders/state/order-lists.ts", "src/orders/state/polled-resource.ts"],
    tests: ["test/unit/orders/state/*.test.ts"],
  },
  journal: {
    mutate: [
      "src/journal/record-chain.ts",
      "src/journal/write-ahead-log.ts",
      "src/journal/intents.ts",
      "src/journal/decisions.ts",
      "src/journal/holdings.ts",
    ],
    tests: ["test/unit/journal/*.test.ts"],
  },
  // Last measured file by file: 90 % and more, but for fixed-window (77 %, by its own tests and the quick ones alone).
  ledger: { mutate: ["src/scheduler/quota/*.ts"], tests: ["test/unit/scheduler/quota/*.test.ts"] },
};
