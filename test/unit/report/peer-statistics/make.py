"""
Figures of return series by QuantStats and empyrical, for peer-statistics.test.ts:

    python3 -m venv /tmp/stats && /tmp/stats/bin/pip install quantstats==0.0.86 empyrical-reloaded==0.7.1
    /tmp/stats/bin/python test/unit/report/peer-statistics/make.py > test/unit/report/peer-statistics/figures.json

A series is the equity at the start and at the end of each day from 2024-01-01 on. A return is the change over the equity before, cut
at the 18th place, and 0 where nothing was left. Of rolling figures every tenth is kept. What a library cannot say is null.
"""
import json
import math
import random
import warnings
from decimal import ROUND_DOWN, Decimal

import empyrical
import pandas as pd
import quantstats.stats as qs

warnings.simplefilter("ignore")
DAYS = 365
WINDOW = 30


def walk(seed, days, mean, spread, pick=lambda day, change: change):
    rng = random.Random(seed)
    equity = [Decimal("10000.00")]
    for day in range(days):
        change = Decimal(repr(round(pick(day, rng.gauss(mean, spread)), 6)))
        equity.append((equity[-1] * (1 + change)).quantize(Decimal("0.01"), ROUND_DOWN))
    return equity


def series():
    yield "a year of days", walk(1, 365, 0.001, 0.02)
    yield "a falling year", walk(2, 250, -0.004, 0.03)
    yield "days on which nothing changed", walk(3, 90, 0.002, 0.01, lambda day, change: 0 if day % 3 else change)
    yield "ten days", walk(4, 10, 0.003, 0.02)
    yield "a total loss", walk(5, 45, 0.001, 0.02, lambda day, change: -1 if day == 39 else change)
    yield "never a loss", walk(6, 40, 0.002, 0.001, lambda day, change: abs(change))
    yield "nothing at all", [Decimal("10000.00")] * 13
    yield "fat tails over two years", walk(7, 731, 0.0005, 0.01, lambda day, change: change * 6 if day % 41 == 0 else change)


def returns_of(equity):
    changes = [
        float(((after - before) / before).quantize(Decimal(1).scaleb(-18), ROUND_DOWN)) if before > 0 else 0.0
        for before, after in zip(equity, equity[1:])
    ]
    return pd.Series(changes, index=pd.date_range("2024-01-01", periods=len(changes), freq="D"))


def known(value):
    value = float(value)
    return value if math.isfinite(value) else None


def by_quantstats(r):
    table = qs.drawdown_details(qs.to_drawdown_series(r)).sort_values("max drawdown", kind="stable").head(5)
    months = qs.monthly_returns(r, eoy=False, compounded=True)
    names = months.columns
    return {
        "mean": known(r.mean()),
        "volatility": known(qs.volatility(r, periods=DAYS)),
        "sharpe": known(qs.sharpe(r, periods=DAYS)),
        "sortino": known(qs.sortino(r, periods=DAYS)),
        "omega": known(qs.omega(r, periods=DAYS)),
        "cagr": known(qs.cagr(r, periods=DAYS)),
        "calmar": known(qs.calmar(r, periods=DAYS)) if qs.max_drawdown(r) < 0 else None,
        "maxDrawdown": known(qs.max_drawdown(r)),
        "valueAtRisk": known(qs.value_at_risk(r)),
        "shortfall": known(qs.conditional_value_at_risk(r)),
        "skew": known(qs.skew(r)),
        "kurtosis": known(qs.kurtosis(r)),
        "best": known(qs.best(r)),
        "worst": known(qs.worst(r)),
        "winRate": known(qs.win_rate(r)),
        "drawdowns": [
            {"first": row["start"], "bottom": row["valley"], "last": row["end"], "days": int(row["days"]), "percent": known(row["max drawdown"])}
            for _, row in table.iterrows()
        ],
        "months": {
            f"{year}-{month + 1:02}": known(months.loc[year, names[month]])
            for year in months.index
            for month in range(12)
            if ((r.index.year == int(year)) & (r.index.month == month + 1)).any()
        },
        "rollingSharpe": [known(value) for value in qs.rolling_sharpe(r, rolling_period=WINDOW, periods_per_year=DAYS)[WINDOW - 1 :: 10]],
        "rollingVolatility": [known(value) for value in qs.rolling_volatility(r, rolling_period=WINDOW, periods_per_year=DAYS)[WINDOW - 1 :: 10]],
    }


def by_empyrical(r):
    return {
        "volatility": known(empyrical.annual_volatility(r, annualization=DAYS)),
        "sharpe": known(empyrical.sharpe_ratio(r, annualization=DAYS)),
        "sortino": known(empyrical.sortino_ratio(r, annualization=DAYS)),
        "omega": known(empyrical.omega_ratio(r, annualization=DAYS)),
        "cagr": known(empyrical.cagr(r, annualization=DAYS)),
        "calmar": known(empyrical.calmar_ratio(r, annualization=DAYS)),
        "maxDrawdown": known(empyrical.max_drawdown(r)),
        "historicalValueAtRisk": known(empyrical.value_at_risk(r)),
        "historicalShortfall": known(empyrical.conditional_value_at_risk(r)),
    }


print(
    json.dumps(
        [
            {"name": name, "equity": " ".join(map(str, equity)), "quantstats": by_quantstats(returns_of(equity)), "empyrical": by_empyrical(returns_of(equity))}
            for name, equity in series()
        ],
        indent=1,
    )
)
