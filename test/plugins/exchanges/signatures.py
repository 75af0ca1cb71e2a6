"""Signatures of OKX v5 and BloFin v1 by another implementation: `python3 signatures.py > signatures.json`.

Written from the published rules alone, and independent of the code that it checks. The credentials are made up.
"""
import base64
import hashlib
import hmac
import json
from datetime import datetime, timezone

SECRET = "secret/0002+x"
AT_MS = 1700000000123
NONCE = "1700000000123-1"


def digest(text):
    return hmac.new(SECRET.encode(), text.encode(), hashlib.sha256)


def okx(method, path, query, body):
    at = datetime.fromtimestamp(AT_MS // 1000, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.") + f"{AT_MS % 1000:03d}Z"
    target = path + ("?" + query if query else "")
    return base64.b64encode(digest(at + method + target + body).digest()).decode()


def okx_login():
    return base64.b64encode(digest(f"{AT_MS // 1000}GET/users/self/verify").digest()).decode()


def blofin(method, path, query, body):
    target = path + ("?" + query if query else "")
    return base64.b64encode(digest(f"{target}{method}{AT_MS}{NONCE}{body}").hexdigest().encode()).decode()


def blofin_login():
    return blofin("GET", "/users/self/verify", "", "")


OKX = [
    ("GET", "/api/v5/account/balance", "", ""),
    ("GET", "/api/v5/trade/order", "instId=BTC-USDT-SWAP&ordId=7", ""),
    ("GET", "/api/v5/trade/orders-pending", "instType=SPOT&limit=100&after=123", ""),
    ("POST", "/api/v5/trade/order", "", '{"instId":"BTC-USDT","side":"buy","sz":"0.01","text":"é"}'),
    ("POST", "/api/v5/trade/cancel-batch-orders", "", '[{"instId":"BTC-USDT-SWAP","ordId":"1"}]'),
]
BLOFIN = [
    ("GET", "/api/v1/asset/balances", "accountType=futures", ""),
    ("GET", "/api/v1/trade/order-detail", "instId=BTC-USDT&orderId=7", ""),
    ("GET", "/api/v1/trade/orders-pending", "", ""),
    ("POST", "/api/v1/trade/order", "", '{"instId":"BTC-USDT","side":"buy","size":"0.1","text":"é"}'),
    ("POST", "/api/v1/trade/cancel-batch-orders", "", '[{"instId":"BTC-USDT","orderId":"1"}]'),
]


def table(rows, sign):
    return [dict(method=m, path=p, query=q, body=b, sign=sign(m, p, q, b)) for m, p, q, b in rows]


print(
    json.dumps(
        dict(
            okx=dict(login=okx_login(), requests=table(OKX, okx)),
            blofin=dict(login=blofin_login(), requests=table(BLOFIN, blofin)),
        ),
        ensure_ascii=False,
        indent=2,
    )
)
