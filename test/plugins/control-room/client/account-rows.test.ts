import { expect, it } from "vitest";
import { accountRows, usersOf } from "../../../../plugins/control-room/client/account-rows.ts";
import { SourceState } from "../../../../plugins/control-room/client/source-state.ts";

it("A user's balance and profit stand in one row a currency, and either may be missing", () => {
  const state = new SourceState("a");
  const money = {
    user: "ben",
    currency: "USDT",
    profit: "-2.2604",
    realised: "0",
    unrealised: "-2.02",
    fees: "0.2404",
  };
  const balance = (user: string, currency: string, amount: string) => ({
    user,
    currency,
    balance: amount,
    stale: false,
  });
  state.apply(
    {
      source: "a",
      seq: 1,
      at: 10,
      rows: [
        ["userMoney", "ben|USDT", money],
        ["balances", "ben|USDT", balance("ben", "USDT", "4999.7596")],
        ["balances", "ben|BTC", balance("ben", "BTC", "2")],
        ["userMoney", "ann|USDC", { ...money, user: "ann", currency: "USDC", profit: "1" }],
      ],
    },
    true,
  );
  expect(
    accountRows(state).map(({ user, currency, balance: said, money: made }) => [
      user,
      currency,
      said?.balance,
      made?.profit,
    ]),
  ).toEqual([
    ["ann", "USDC", undefined, "1"],
    ["ben", "BTC", "2", undefined],
    ["ben", "USDT", "4999.7596", "-2.2604"],
  ]);
  expect([...usersOf(state)].toSorted()).toEqual(["ann", "ben"]);
});
