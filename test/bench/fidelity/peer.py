"""
The maker of run.ts on hftbacktest: python3 peer.py ROWS.bin SETTINGS.json

ROWS.bin holds Float64 rows [kind, microseconds, a, b, c, d] in the order in which Sluice plays them: 0 a quote (bid, its lots, ask, its
lots), 1 a trade (aggressor's sign, price, lots), 2 a level (sign, price, lots, 1 where a snapshot begins). Prices are ticks. Prints
JSON on stdout: every order by its arrival, every fill, and hftbacktest's own account.
"""
import json
import sys
from heapq import heappop, heappush

import numpy as np
from hftbacktest import (
    BUY_EVENT, DEPTH_EVENT, EXCH_EVENT, GTX, LIMIT, LOCAL_EVENT, SELL_EVENT, TRADE_EVENT, BacktestAsset, HashMapMarketDepthBacktest,
)
from hftbacktest.types import event_dtype
from numba import njit

QUOTE, TRADE, LEVEL = 0, 1, 2
NEW, EXPIRED, FILLED, CANCELED = 1, 2, 3, 4


class Side:
    """The levels of one side, so that a quote can take away what is better than it, and a snapshot what it does not show."""

    def __init__(self, sign):
        self.sign, self.levels, self.ranks = sign, {}, []

    def set(self, px, qty):
        if qty == 0:
            self.levels.pop(px, None)
        else:
            if px not in self.levels:
                heappush(self.ranks, -self.sign * px)
            self.levels[px] = qty

    def better_than(self, px):
        found = []
        while self.ranks and self.ranks[0] * -self.sign * self.sign > px * self.sign:
            one = -self.sign * heappop(self.ranks)
            if one in self.levels:
                found.append(one)
                del self.levels[one]
        return found


def events_of(rows, feed_ns, other_side):
    """
    hftbacktest's events. Every row has an instant of its own, so that a strategy wakes at each, as it does in Sluice. With `other_side`
    a buyer's print also fills what rests to buy at its price or above, and the reverse: a print of nothing, one tick further, says so.
    """
    sides = {1: Side(1), -1: Side(-1)}
    out, quotes, last = [], [], 0

    def depth(sign, px, qty, at):
        flag = BUY_EVENT if sign > 0 else SELL_EVENT
        out.append((DEPTH_EVENT | EXCH_EVENT | LOCAL_EVENT | flag, at, at + feed_ns, px, qty, 0, 0, 0.0))

    index = 0
    while index < len(rows):
        kind, us, a, b, c, d = rows[index]
        at = max(int(us) * 1000, last + 1)
        last = at
        if kind == QUOTE:
            for sign, px, qty in ((1, a, b), (-1, c, d)):
                for one in sides[sign].better_than(px):
                    depth(sign, one, 0, at)
                sides[sign].set(px, qty)
                depth(sign, px, qty, at)
            quotes.append((at + feed_ns, a, c))
            index += 1
        elif kind == TRADE:
            flag = BUY_EVENT if a > 0 else SELL_EVENT
            out.append((TRADE_EVENT | EXCH_EVENT | LOCAL_EVENT | flag, at, at + feed_ns, b, c, 0, 0, 0.0))
            if other_side:
                out.append((TRADE_EVENT | EXCH_EVENT | (SELL_EVENT if a > 0 else BUY_EVENT), at, at + feed_ns, b - a, 0, 0, 0, 0.0))
            index += 1
        else:
            # The rows of one message are one change of the book.
            end = index + 1
            while end < len(rows) and rows[end][0] == LEVEL and rows[end][1] == us and rows[end][5] == 0:
                end += 1
            if d == 1:
                shown = {(int(row[2]), row[3]) for row in rows[index:end]}
                for sign, side in sides.items():
                    for px in [px for px in side.levels if (sign, px) not in shown]:
                        side.set(px, 0)
                        depth(sign, px, 0, at)
            for row in rows[index:end]:
                sides[int(row[2])].set(row[3], row[4])
                depth(int(row[2]), row[3], row[4], at)
            index = end
    return out, quotes


@njit
def trade(hbt, quote_at, quote_px, tick, qty, most, within, entry_ns, orders, fills):
    """A slot a side: cancel, then place; what was filled or rejected is not placed again before something else was wanted."""
    wish = np.zeros(2, np.int64)
    settled = np.zeros(2, np.int64)
    mark = np.zeros(2, np.int64)
    px = np.zeros(2, np.int64)
    order = np.zeros(2, np.int64)
    canceling = np.zeros(2, np.bool_)
    ahead, seen, number, order_count, fill_count = 0, 0, 0, 0, 0
    while hbt.wait_next_feed(True, 3_600_000_000_000) != 1:
        now = hbt.current_timestamp
        while seen < len(quote_at) and quote_at[seen] <= now:
            seen += 1
        if seen == 0:
            continue
        for turn in range(2):
            # First what is wanted by the market of this instant, then once more with the fills it brought.
            for side in range(2):
                sign = 1 - 2 * side
                want = quote_px[seen - 1, side] if sign * ahead < most else 0
                if want != wish[side]:
                    if wish[side] != 0:
                        settled[side] = 0
                    wish[side] = want
            if turn == 1:
                break
            known = hbt.orders(0)
            for side in range(2):
                if order[side] == 0:
                    continue
                one = known.get(order[side])
                if one is None or one.status == 0 or (one.status == NEW):
                    continue
                if one.status == FILLED:
                    fills[fill_count] = (one.exch_timestamp, side, one.price_tick)
                    fill_count += 1
                    ahead += 1 - 2 * side
                    near = wish[side] != 0 and abs(wish[side] - px[side]) <= within
                    settled[side] = wish[side] if near else mark[side]
                elif one.status == EXPIRED:
                    settled[side] = mark[side]
                order[side] = 0
                if wish[side] == 0:
                    settled[side] = 0
        for side in range(2):
            if order[side] == 0:
                if wish[side] == 0 or wish[side] == settled[side]:
                    continue
                number += 1
                order[side], px[side], mark[side], canceling[side] = number, wish[side], wish[side], False
                orders[order_count] = (now + entry_ns, side, wish[side])
                order_count += 1
                if side == 0:
                    hbt.submit_buy_order(0, number, wish[side] * tick, qty, GTX, LIMIT, False)
                else:
                    hbt.submit_sell_order(0, number, wish[side] * tick, qty, GTX, LIMIT, False)
                continue
            one = hbt.orders(0).get(order[side])
            if canceling[side] or one is None or one.status != NEW or one.req != 0:
                continue
            if wish[side] != 0 and abs(wish[side] - px[side]) <= within:
                mark[side] = wish[side]
            else:
                canceling[side] = True
                hbt.cancel(0, order[side], False)
        hbt.clear_inactive_orders(0)
    return order_count, fill_count


def main():
    settings = json.load(open(sys.argv[2]))
    rows = np.fromfile(sys.argv[1]).reshape(-1, 6)
    tick, lot, way_ns = settings["tick"], settings["lot"], settings["wayNs"]
    listed, quotes = events_of(rows.tolist(), way_ns, settings["otherSide"])
    events = np.array(listed, event_dtype)
    events["px"] *= tick
    events["qty"] *= lot
    asset = (
        BacktestAsset().data(events).linear_asset(1.0).constant_order_latency(way_ns, way_ns).risk_adverse_queue_model()
        .no_partial_fill_exchange().trading_value_fee_model(settings["makerRate"], settings["takerRate"]).tick_size(tick).lot_size(lot)
    )
    hbt = HashMapMarketDepthBacktest([asset])
    quote_at = np.array([at for at, _, _ in quotes], np.int64)
    quote_px = np.array([(bid, ask) for _, bid, ask in quotes], np.int64)
    orders, fills = np.zeros((200_000, 3), np.int64), np.zeros((200_000, 3), np.int64)
    placed, filled = trade(
        hbt, quote_at, quote_px, tick, settings["lots"] * lot, settings["most"], settings["withinTicks"], way_ns, orders, fills
    )
    state = hbt.state_values(0)
    account = {"position": state.position, "balance": state.balance, "fee": state.fee}
    # Nanoseconds of the epoch are beyond what a reader of JSON can tell apart.
    for deals in (orders, fills):
        deals[:, 0] //= 1000
    print(json.dumps({"orders": orders[:placed].tolist(), "fills": fills[:filled].tolist(), "account": account}))


main()
