#!/usr/bin/env python3
"""A model server that plays a script, so that real agents can be run without a model, a key or an internet connection.

It speaks OpenAI Responses, OpenAI chat completions, Anthropic Messages and Gemini, and lists of models, over HTTP and
TLS. Every request is logged as one line of JSON. Python's standard library only; TLS needs the `openssl` command.

A script is a JSON list of turns. A turn has the text and the calls of one answer (see calls.py for the calls):

    [{"text": "I will read it.", "calls": [{"read": {"path": "cart.py"}}]},
     {"text": "Done.", "calls": []}]

A turn may also have `delay`, the seconds between two parts of the stream, and `status`, an HTTP error to answer once.

Only requests that offer a way to run commands take a turn. Requests for titles, summaries, suggestions and quotas get
a short harmless answer. A request that is sent twice gets the same turn twice.

Use: model_server.py SCRIPT.json --workspace DIR [--port N] [--tls-port N --host NAME ...] [--state DIR] [--address A]
Prints one line of JSON when it listens: {"port": N, "tls_port": N, "ca": "FILE"}.
"""

import argparse
import gzip
import hashlib
import json
import os
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import calls as neutral
import wires

# Requests that look like turns and are not: the agent asks the model to guess what the user types next.
SIDE_WORDS = ["[SUGGESTION MODE", "suggestion mode"]
MODELS = ["gpt-5.1-codex", "gpt-5-mini", "claude-opus-4-5", "claude-sonnet-4-5", "claude-haiku-4-5", "gemini-2.5-pro", "gemini-2.5-flash"]


class Script:
    """The turns, and which one is next. Several agents and threads may ask at once."""

    def __init__(self, turns):
        self.turns, self.next, self.given, self.lock = turns, 0, {}, threading.Lock()

    def take(self, body):
        """The turn for a request. The same bytes again are a retry and get the same turn."""
        key = hashlib.sha256(body).digest()
        with self.lock:
            if key not in self.given:
                self.given[key] = self.next
                self.next += 1
            at = self.given[key]
            if at >= len(self.turns):
                return at, {"text": "The script has no more turns."}
            turn = self.turns[at]
            if "status" in turn and not turn.get("refused"):
                turn["refused"] = True
                return at, {"status": turn["status"]}
            return at, turn

    def rest(self, at):
        """The turns from this one on, which are answered at once."""
        with self.lock:
            self.next = max(self.next, len(self.turns))
            return self.turns[at:] or [{"text": "The script has no more turns."}]


class Log:
    def __init__(self, path):
        self.file, self.lock = open(path, "a", buffering=1), threading.Lock()

    def write(self, **record):
        with self.lock:
            self.file.write(json.dumps({"time": round(time.time(), 3), **record}) + "\n")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 120

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer(b"")

    do_HEAD = do_OPTIONS = do_DELETE = do_GET

    def do_POST(self):
        self.answer(self.body())

    do_PUT = do_PATCH = do_POST

    def body(self):
        if "chunked" in self.headers.get("transfer-encoding", ""):
            data = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            data = self.rfile.read(int(self.headers.get("content-length") or 0))
        return gzip.decompress(data) if self.headers.get("content-encoding") == "gzip" else data

    def do_CONNECT(self):
        """A proxy: the tunnel ends here, with a certificate for the chosen host names."""
        server = self.server.shared
        if server.tls is None:
            return self.json({"error": "no TLS here"}, 502)
        server.log.write(kind="connect", path=self.path)
        self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        try:
            self.connection = server.tls.wrap_socket(self.connection, server_side=True)
        except (ssl.SSLError, OSError) as error:
            server.log.write(kind="tls failed", path=self.path, error=str(error))
            self.close_connection = True
            return
        self.setup()
        self.close_connection = False

    def answer(self, data):
        server, path = self.server.shared, self.path.split("?")[0]
        try:
            body = json.loads(data) if data[:1] in (b"{", b"[") else None
        except ValueError:
            body = None
        kind = "other"
        try:
            if self.headers.get("upgrade", "").lower() == "websocket":
                kind = "websocket"
                return self.json({"error": {"message": "WebSocket is not offered"}}, 426)
            if self.command == "POST" and isinstance(body, dict):
                if not self.has_key():
                    kind = "no key"
                    return self.json({"type": "error", "error": {"type": "authentication_error", "message": "no API key"}}, 401)
                for ending, respond in ROUTES:
                    if path.endswith(ending):
                        kind = respond(self, body, data)
                        return
            kind = "models" if path.rstrip("/").endswith("/models") or "/models/" in path else kind
            self.json(models(path) if kind == "models" else {}, 200)
        except (BrokenPipeError, ConnectionResetError):
            kind += ", the agent hung up"
        finally:
            server.log.write(kind=kind, method=self.command, host=self.headers.get("host"), path=self.path,
                             agent=self.headers.get("user-agent"), body=body)

    def has_key(self):
        """Whether the request has the key, wherever the format puts it. Without this, a masked login would go unseen."""
        key = self.server.shared.key
        return not key or any(key in self.headers.get(name, "") for name in ("authorization", "x-api-key", "x-goog-api-key", "api-key"))

    def json(self, value, status=200):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def stream(self, parts, delay):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("cache-control", "no-cache")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for part in parts:
            data = part.encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()
            time.sleep(delay)
        self.wfile.write(b"0\r\n\r\n")

    def turn(self, request, data):
        """What to answer: (kind for the log, text, calls, delay), or None if an error was sent."""
        server = self.server.shared
        blocks = getattr(request, "blocks", False)
        agent = neutral.is_agent(request.tools) or blocks
        if not agent or any(word in request.last for word in SIDE_WORDS):
            return "side", "{}" if request.schema else "Cart discounts", [], 0
        at, turn = server.script.take(data)
        if "status" in turn:
            self.json({"type": "error", "error": {"type": "api_error", "message": "scripted error", "code": turn["status"]}}, turn["status"])
            return f"turn {at}, status {turn['status']}", None, None, 0
        text, script_calls = turn.get("text", ""), turn.get("calls") or []
        if blocks:  # such an agent asks once: the rest of the script is one answer
            turns = server.script.rest(at)
            calls = [c for t in turns for c in t.get("calls") or []]
            return f"turn {at}", neutral.as_blocks(calls) + "\n" + turns[-1].get("text", ""), [], turn.get("delay", 0)
        translated = [c for call in script_calls for c in neutral.translate(call, request.tools, server.workspace)]
        return f"turn {at}", text, translated, turn.get("delay", 0)


def respond(read, write, whole):
    """A route: reads the request, takes a turn or not, and answers as a stream or whole."""
    def answer(handler, body, data):
        request = read(handler, body)
        kind, text, calls, delay = handler.turn(request, data)
        if calls is not None and request.stream:
            handler.stream(write(request, text, calls), delay)
        elif calls is not None:
            handler.json(whole(request, text, calls))
        return kind
    return answer


def count_tokens(handler, body, data):
    size = len(data) // 4
    handler.json({"totalTokens": size} if "contents" in body or "generateContentRequest" in body else {"input_tokens": size})
    return "count"


def gemini(stream):
    def read(handler, body):
        body.setdefault("model", handler.path.split("/models/")[-1].split(":")[0])
        return wires.read_gemini(body, stream)
    return respond(read, wires.write_gemini, wires.whole_gemini)


ROUTES = [
    ("/responses", respond(lambda _, body: wires.read_responses(body), wires.write_responses,
                           lambda *a: wires.whole_responses(list(wires.write_responses(*a))))),
    ("/chat/completions", respond(lambda _, body: wires.read_chat(body), wires.write_chat, wires.whole_chat)),
    ("/messages", respond(lambda _, body: wires.read_anthropic(body), wires.write_anthropic, wires.anthropic_message)),
    ("/messages/count_tokens", count_tokens),
    (":countTokens", count_tokens),
    (":streamGenerateContent", gemini(True)),
    (":generateContent", gemini(False)),
]


def models(path):
    """A list that OpenAI's, Anthropic's and Gemini's clients can all read."""
    both = [{"id": name, "object": "model", "type": "model", "created": 0, "created_at": "2026-01-01T00:00:00Z", "owned_by": "script",
             "display_name": name} for name in MODELS]
    google = [{"name": f"models/{name}", "displayName": name, "inputTokenLimit": 1000000, "supportedGenerationMethods": ["generateContent"]}
              for name in MODELS]
    name = path.rsplit("/", 1)[-1]
    if name != "models":
        return {**both[0], "id": name, "name": f"models/{name}"}
    return {"object": "list", "data": both, "has_more": False, "models": google if "/v1beta/" in path else []}


class TlsServer(ThreadingHTTPServer):
    daemon_threads = True

    def get_request(self):
        connection, address = super().get_request()
        connection.settimeout(30)
        # The handshake is made in the thread of the connection, or one silent client would hold all others up.
        return self.shared.tls.wrap_socket(connection, server_side=True, do_handshake_on_connect=False), address

    def handle_error(self, *_):
        pass


class PlainServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass


def certificate(directory, hosts):
    """A certificate authority and a certificate for the hosts, made at each start."""
    run = lambda *words: subprocess.run(["openssl", *words], cwd=directory, check=True, capture_output=True)
    names = ",".join([f"DNS:{h}" for h in hosts if not h[0].isdigit()] + ["DNS:localhost", "IP:127.0.0.1"])
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    run("req", "-x509", *curve, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=placet test authority")
    run("req", *curve, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=scripted model server")
    with open(os.path.join(directory, "ext"), "w") as file:
        file.write(f"subjectAltName={names}\nextendedKeyUsage=serverAuth\n")
    run("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out", "server.pem",
        "-days", "2", "-extfile", "ext")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(os.path.join(directory, "server.pem"), os.path.join(directory, "server.key"))
    context.set_alpn_protocols(["http/1.1"])
    return context, os.path.join(directory, "ca.pem")


class ModelServer:
    """The servers of one script. `run.py` starts it in its own process; main() starts it alone."""

    def __init__(self, turns, workspace, state, port=0, tls_port=None, hosts=(), address="127.0.0.1", key=None):
        self.key = key
        self.script, self.workspace, self.tls, self.ca = Script(turns), workspace, None, None
        self.log_path = os.path.join(state, "requests.jsonl")
        self.log = Log(self.log_path)
        plain = PlainServer((address, port), Handler)
        plain.shared, self.port, self.tls_port, self.servers = self, plain.server_address[1], None, [plain]
        if tls_port is not None:
            self.tls, self.ca = certificate(state, hosts)
            over_tls = TlsServer((address, tls_port), Handler)
            over_tls.shared, self.tls_port = self, over_tls.server_address[1]
            self.servers.append(over_tls)
        for server in self.servers:
            threading.Thread(target=server.serve_forever, daemon=True).start()

    def requests(self):
        with open(self.log_path) as file:
            return [json.loads(line) for line in file]

    def close(self):
        for server in self.servers:
            server.shutdown()
            server.server_close()


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("script")
    p.add_argument("--workspace", default=os.getcwd())
    p.add_argument("--port", type=int, default=0)
    p.add_argument("--tls-port", type=int)
    p.add_argument("--host", action="append", default=[])
    p.add_argument("--state")
    p.add_argument("--address", default="127.0.0.1")
    p.add_argument("--key", help="refuse requests without this key")
    args = p.parse_args()
    with open(args.script) as file:
        turns = json.load(file)
    state = args.state or tempfile.mkdtemp(prefix="model-server-")
    os.makedirs(state, exist_ok=True)
    server = ModelServer(turns, os.path.abspath(args.workspace), state, args.port, args.tls_port, args.host, args.address, args.key)
    print(json.dumps({"port": server.port, "tls_port": server.tls_port, "ca": server.ca, "log": server.log_path}), flush=True)
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        sys.exit(0)


if __name__ == "__main__":
    socket.setdefaulttimeout(120)
    main()
