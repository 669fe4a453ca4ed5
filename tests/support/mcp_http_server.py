"""A server of tools over HTTP that does what MCP_SCRIPT says, for the tests: a plain one, an older one, and hostile ones.

It prints its port, and writes a line for each request to MCP_LOG: method, path, session, version, key."""
import gzip, http.server, json, os, sys, time

WORDS = set(os.environ.get("MCP_SCRIPT", "").split())
LOG = os.environ["MCP_LOG"]
SESSIONS = []
WAITING = []


def tool(name):
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    return {"name": name, "description": "Does what its text says", "inputSchema": schema}


def text(words):
    return {"content": [{"type": "text", "text": words}]}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def note(self):
        said = [self.headers.get(name) or "-" for name in ("mcp-session-id", "mcp-protocol-version", "x-key")]
        with open(LOG, "a") as out:
            out.write(" ".join([self.command, self.path, *said]) + "\n")

    def answer(self, status, kind, body, more=()):
        if isinstance(body, str):
            body = body.encode()
        self.send_response(status)
        if kind:
            self.send_header("content-type", kind)
        for name, value in more:
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stream(self, more=()):
        """Begins a stream whose end is the end of the connection."""
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        for name, value in more:
            self.send_header(name, value)
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True

    def event(self, message, lead=""):
        self.wfile.write(f"{lead}data: {json.dumps(message)}\n\n".encode())
        self.wfile.flush()

    def do_DELETE(self):
        self.note()
        self.answer(200, None, "")

    def do_GET(self):
        self.note()
        if "older" in WORDS or "older-away" in WORDS:
            self.stream()
            at = "http://127.0.0.2:9/away" if "older-away" in WORDS else "/messages?s=1"
            self.wfile.write(f"event: endpoint\ndata: {at}\n\n".encode())
            self.wfile.flush()
            while True:
                while WAITING:
                    self.event(WAITING.pop(0), "event: message\n")
                time.sleep(0.02)
        after = self.headers.get("last-event-id")
        if after and after.startswith("broken-"):
            self.stream()
            return self.event({"jsonrpc": "2.0", "id": int(after[7:]), "result": text("after the break")})
        self.answer(405, None, "")

    def do_POST(self):
        self.note()
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if "key" in WORDS and self.headers.get("x-key") != "canary-key":
            return self.answer(401, "text/plain", "canary-page")
        if "away" in WORDS:
            return self.answer(307, None, "", [("location", "http://127.0.0.2:9/mcp")])
        if "around" in WORDS:
            return self.answer(307, None, "", [("location", "/mcp")])
        if "here" in WORDS and self.path == "/mcp":
            return self.answer(307, None, "", [("location", "/other")])
        if "page" in WORDS:
            return self.answer(200, "text/html", "<html>welcome \x1b[31m</html>")
        if "hung" in WORDS:
            time.sleep(600)
        if "older" in WORDS or "older-away" in WORDS:
            if self.path == "/mcp":
                return self.answer(405, None, "")
            if "id" in message:
                WAITING.append({"jsonrpc": "2.0", "id": message["id"], "result": self.result(message)})
            return self.answer(202, "text/plain", "Accepted")
        method = message.get("method")
        if method is None:
            time.sleep(600)
        if method == "initialize":
            SESSIONS.append(f"session-{len(SESSIONS) + 1}")
            return self.reply(message, self.result(message), [("mcp-session-id", SESSIONS[-1])])
        if self.headers.get("mcp-session-id") != SESSIONS[-1]:
            return self.answer(404, "application/json", "{}")
        if "id" not in message:
            return self.answer(202, None, "")
        if method == "tools/call" and self.strange(message):
            return None
        self.reply(message, self.result(message))

    def reply(self, message, result, more=()):
        whole = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        # A later session is named by nobody who can be believed.
        more = more or [("mcp-session-id", "swapped")]
        if "json" in WORDS:
            return self.answer(200, "application/json; charset=utf-8", json.dumps(whole), more)
        self.stream(more)
        self.event({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "hello"}})
        self.event(whole)

    def result(self, message):
        if message["method"] == "initialize":
            version = message["params"]["protocolVersion"]
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "web", "version": "2"}}
        if message["method"] == "tools/list":
            return {"tools": [tool("act")]}
        if message["method"] == "tools/call":
            return text("said " + message["params"]["arguments"].get("text", ""))
        return {}

    def strange(self, message):
        words, at = message["params"]["arguments"].get("text", ""), message["id"]
        if words == "forget" and len(SESSIONS) == 1:
            SESSIONS.append("nobody-has-this")
            self.answer(404, "application/json", "{}")
        elif words == "break":
            self.stream()
            self.wfile.write(f"id: broken-{at}\nretry: 100\ndata:\n\n".encode())
        elif words == "cut":
            self.stream()
            self.wfile.write(b": hello\n\n")
        elif words == "huge":
            self.answer(200, "application/json", b'{"jsonrpc":"2.0","id":1,"result":"' + b"x" * 100_000_000 + b'"}')
        elif words == "bomb":
            body = gzip.compress(b"[" + b" " * 200_000_000 + b"]", 9)
            self.answer(200, "application/json", body, [("content-encoding", "gzip")])
        elif words == "line":
            self.stream()
            while True:
                self.wfile.write(b"data: " + b"x" * 65536)
        elif words == "endless":
            self.stream()
            while True:
                self.wfile.write(b": ping\n\n")
                self.wfile.flush()
                time.sleep(0.05)
        elif words == "flood":
            self.stream()
            note = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "z" * 60000}}
            while True:
                self.event(note)
        elif words == "requests":
            self.stream()
            for n in range(10_000_000):
                self.event({"jsonrpc": "2.0", "id": f"r{n}", "method": "roots/list"})
        elif words == "other":
            self.answer(200, "application/json", json.dumps({"jsonrpc": "2.0", "id": 9999, "result": text("no")}))
        elif words == "broken":
            self.answer(200, "application/json", "{\"jsonrpc\": 1}")
        elif words == "error":
            self.answer(500, "application/json", json.dumps({"error": {"message": "out \x1b[31mof order"}}))
        else:
            return False
        return True


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass


server = Server(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
