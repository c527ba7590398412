"""Every door with hostile values."""

import sys, json, itertools, base64
import httpx
from pathlib import Path
from app.settings import load_settings
from support.service import running
from support.keys import ROOT_KEY
import pytest


@pytest.mark.timeout(3000)
def test_it(database_url):
    url = database_url
    DEEP = "[" * 100_000
    DIG = "9" * 4400
    VALUES = {
        "deep": "[" * 50000,
        "deepobj": '{"a":' * 5000,
        "digits": DIG,
        "neg": "-" + DIG,
        "float": "1e" + "9" * 400,
        "y9999": "9999-12-31",
        "y9999t": "9999-12-31T23:59:59.999999Z",
        "y9999off": "9999-12-31T23:59:59-12:00",
        "y1": "0001-01-01T00:00:00+14:00",
        "epoch": "253402300799",
        "epoch2": "99999999999999999999",
        "surr": "\ud800",
        "nul": "\x00",
        "inf": "inf",
        "nan": "nan",
        "uni": "٣" * 30,
        "sup": "²",
        "empty": "",
        "deepjson": "[" * 2000 + "]" * 2000,
    }
    doc = json.loads(Path("openapi/openapi.json").read_text())
    bad = []

    def note(label, r):
        if r.status_code >= 500:
            bad.append(label)
            print(
                "!!", r.status_code, label[:150].encode("ascii", "backslashreplace"), r.text[:150]
            )

    with (
        running(load_settings(database_url=url, api_key=ROOT_KEY)) as a,
        httpx.Client(base_url=a, headers={"X-API-Key": ROOT_KEY}, timeout=60) as c,
    ):
        n = 0

        def send(label, method, path, **kw):
            nonlocal n
            n += 1
            try:
                r = c.request(method, path, **kw)
            except (UnicodeError, httpx.InvalidURL, httpx.LocalProtocolError) as e:
                return
            except httpx.TransportError as e:
                print("??", label[:120].encode("ascii", "backslashreplace"), type(e).__name__, e)
                return
            note(label, r)
            return r

        U = "00000000-0000-0000-0000-000000000000"
        for path, methods in doc["paths"].items():
            for method, op in methods.items():
                concrete = path
                for p in op.get("parameters", []):
                    if p["in"] == "path":
                        concrete = concrete.replace("{%s}" % p["name"], U)
                for p in op.get("parameters", []):
                    for k, v in VALUES.items():
                        vv = v[:6000]
                        try:
                            q = vv.encode("utf-8", "surrogatepass")
                        except Exception:
                            continue
                        from urllib.parse import quote

                        enc = quote(q, safe="")
                        if p["in"] == "query":
                            send(
                                f"{method} {path} ?{p['name']}={k}",
                                method,
                                f"{concrete}?{p['name']}={enc}"
                                + ("&wait=0" if "events" in path and p["name"] != "wait" else ""),
                            )
                        if p["in"] == "path":
                            cc = path.replace("{%s}" % p["name"], enc)
                            for o in op["parameters"]:
                                if o["in"] == "path":
                                    cc = cc.replace("{%s}" % o["name"], U)
                            send(f"{method} {path} path {p['name']}={k}", method, cc)
                        if p["in"] == "header":
                            try:
                                send(
                                    f"{method} {path} header {p['name']}={k}",
                                    method,
                                    concrete,
                                    headers={p["name"].encode(): q},
                                )
                            except Exception as e:
                                pass
                body = op.get("requestBody")
                if body:
                    media = list(body["content"])
                    for m in media:
                        schema = (
                            body["content"][m]["schema"] if "schema" in body["content"][m] else {}
                        )

                        def resolve(s):
                            while "$ref" in s:
                                s = doc["components"]["schemas"][s["$ref"].split("/")[-1]]
                            return s

                        props = list(resolve(schema).get("properties", {})) or ["x"]
                        raws = [
                            DEEP.encode(),
                            ('{"a":' * 20000).encode(),
                            b'{"content":' + DEEP.encode(),
                            b"[" * 900 + b"]" * 900,
                            DIG.encode(),
                        ]
                        for f in props:
                            F = json.dumps(f).encode()
                            for k, v in {
                                "dig": DIG.encode(),
                                "negdig": b"-" + DIG.encode(),
                                "surr": b'"\\ud800"',
                                "surrkey": b'{"\\ud800":1}',
                                "y9999": b'"9999-12-31T23:59:59.999999Z"',
                                "y9999d": b'"9999-12-31"',
                                "y9999o": b'"9999-12-31T23:59:59-12:00"',
                                "y1": b'"0001-01-01T00:00:00+14:00"',
                                "nest": b"[" * 900 + b"]" * 900,
                                "nesto": b'{"a":' * 900 + b"1" + b"}" * 900,
                                "nest200": b'{"a":' * 200 + b"1" + b"}" * 200,
                                "lsurr": b'["\\ud800"]',
                                "ldig": b"[" + DIG.encode() + b"]",
                                "lo": b"[{}]",
                                "big": b"1e400",
                                "nul": b'"\\u0000"',
                            }.items():
                                required = resolve(schema).get("required", [])
                                extra = b"".join(
                                    b',"' + r.encode() + b'":"x"' for r in required if r != f
                                )
                                raws.append(b"{" + F + b":" + v + extra + b"}")
                        if "ndjson" in m:
                            raws = [r.replace(b"\n", b" ") + b"\n" for r in raws] + [
                                b'{"palimpsest_export": ' + DIG.encode() + b"}\n",
                                b'{"content":"a"}\n' + DEEP.encode(),
                            ]
                        for raw in raws:
                            send(
                                f"{method} {path} body {raw[:60]}",
                                method,
                                concrete,
                                content=raw,
                                headers={"Content-Type": m},
                            )
        print("v1 calls", n, "bad", len(bad))

        # MCP
        def mcp(method, params, label):
            r = send(
                "mcp " + label,
                "post",
                "/mcp",
                content=json.dumps(
                    {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
                ).encode(),
                headers={
                    "Content-Type": "application/json",
                    "Accept": "application/json, text/event-stream",
                },
            )
            return r

        r = mcp("tools/list", {}, "list")
        text = r.text
        tools = json.loads(text.split("data: ")[-1] if "data: " in text else text)
        tools = tools["result"]["tools"] if "result" in tools else print(tools)
        for t in tools or []:
            for p in t["inputSchema"]["properties"]:
                for k, v in {
                    **VALUES,
                    "list": [["x"]],
                    "lsurr": ["\ud800"],
                    "obj": {"\ud800": 1},
                    "i": 10**400,
                    "recall": "a " * 50000,
                }.items():
                    args = {r: "x" for r in t["inputSchema"].get("required", [])}
                    args[p] = v
                    r = mcp(
                        "tools/call", {"name": t["name"], "arguments": args}, f"{t['name']}.{p}={k}"
                    )
                    if r is not None:
                        tx = r.text
                        if any(
                            w in tx
                            for w in (
                                "recursion",
                                '"code":0',
                                '"code": 0',
                                "Traceback",
                                "too long",
                                "-32603",
                                "Exceeds",
                                "could not",
                                "OverflowError",
                                "codec",
                            )
                        ):
                            print(
                                "mcp??",
                                t["name"],
                                p,
                                k,
                                tx[:200].encode("ascii", "backslashreplace"),
                            )
        for u in ["x" * 10000, "palimpsest://" + "a" * 5000, "\ud800"]:
            mcp("resources/read", {"uri": u}, "resource")
            mcp("prompts/get", {"name": u}, "prompt")
        for raw in [
            DEEP,
            '{"jsonrpc":"2.0","id":' + DIG + ',"method":"ping"}',
            '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":' + "[" * 900 + "]" * 900 + "}",
            '{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}',
        ]:
            r = send(
                "mcp raw " + raw[:40],
                "post",
                "/mcp",
                content=raw.encode(),
                headers={
                    "Content-Type": "application/json",
                    "Accept": "application/json, text/event-stream",
                },
            )
        print("mcp done", n, len(bad))
        # console
        for path in [
            "/ui",
            "/ui/log",
            "/ui/reviews",
            "/ui/captures",
            "/ui/sweeps",
            "/ui/insights",
            "/ui/undo",
            "/ui/ask",
            "/ui/agent",
            "/ui/agents",
            "/ui/facts/" + U,
            "/ui/log/" + U,
            "/ui/reviews/" + U,
        ]:
            pass
        lr = c.post("/ui/login", data={"key": ROOT_KEY})
        import re
        from app.console.routes import _PAGES

        src = "".join(
            Path(p).read_text() for p in itertools.chain(Path("app/console").rglob("*.py"))
        )
        names = sorted(set(re.findall(r'"([a-z_]{1,20})"', src)))
        for path, method, _ in _PAGES:
            for name in names if method == "GET" else names:
                for k in ("digits", "y9999t", "y9999", "surr", "nul", "sup", "y1", "epoch2"):
                    v = VALUES[k].encode("utf-8", "surrogatepass")
                    from urllib.parse import quote

                    p = "/ui" + re.sub(r"\{\w+\}", U, path)
                    if method == "GET":
                        send(f"ui {path}?{name}={k}", "get", f"{p}?{name}={quote(v)}")
                    else:
                        send(
                            f"ui post {path} {name}={k}",
                            "post",
                            p,
                            content=f"{name}={quote(v)}".encode(),
                            headers={
                                "Content-Type": "application/x-www-form-urlencoded",
                                "Origin": a,
                            },
                        )
        for k, v in VALUES.items():
            send(
                "ui path " + k,
                "get",
                "/ui/facts/"
                + __import__("urllib.parse").parse.quote(
                    v[:3000].encode("utf-8", "surrogatepass"), safe=""
                ),
            )
            send(
                "ui form " + k,
                "post",
                "/ui/login",
                content=("key=" + v[:3000]).encode("utf-8", "surrogatepass"),
                headers={"Content-Type": "application/x-www-form-urlencoded"},
            )
        print("ui done", n, len(bad))
