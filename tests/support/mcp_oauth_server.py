"""A server of tools with a login, its authorization server, and what a hostile pair of them does, for the tests.

MCP_SCRIPT has words that change what they do. It prints the ports of the server and of the authorization server, and
writes a line for each request to MCP_LOG: which of the two, method, path, key, and body."""
import base64, hashlib, http.server, json, os, sys, threading, time, urllib.parse

WORDS = set(os.environ.get("MCP_SCRIPT", "").split())
LOG = os.environ["MCP_LOG"]
CODES, TOKENS, RENEWALS = {}, {}, {}
COUNT = [0]


def fresh(kind):
    COUNT[0] += 1
    return f"canary-{kind}-{COUNT[0]}"


class Base(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def body(self):
        return self.rfile.read(int(self.headers.get("content-length") or 0)).decode()

    def note(self, body=""):
        with open(LOG, "a") as out:
            out.write(" ".join([self.who, self.command, self.path, self.headers.get("authorization") or "-", body]) + "\n")

    def answer(self, status, value, more=()):
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        for name, text in more:
            self.send_header(name, text)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Resource(Base):
    who = "server"

    def do_GET(self):
        self.note()
        if self.path == "/.well-known/oauth-protected-resource/mcp":
            server = AUTH
            # After the first login the server names somebody else.
            if "switch" in WORDS and TOKENS:
                server = OTHER
            named = HERE + "/mcp" if "elsewhere" not in WORDS else "http://127.0.0.1:9/other"
            return self.answer(200, {"resource": named, "authorization_servers": [server], "scopes_supported": ["read"]})
        self.answer(405 if self.path == "/mcp" else 404, {})

    def do_DELETE(self):
        self.answer(200, {})

    def do_POST(self):
        body = self.body()
        self.note(body)
        key = (self.headers.get("authorization") or "").removeprefix("Bearer ")
        if key not in TOKENS or TOKENS[key]["until"] < time.time():
            at = f"Bearer realm=\"x\", resource_metadata=\"{HERE}/.well-known/oauth-protected-resource/mcp\""
            return self.answer(401, {}, [("www-authenticate", "Basic realm=\"old\""), ("www-authenticate", at)])
        message = json.loads(body)
        if "id" not in message:
            return self.answer(202, {})
        result = {}
        if message["method"] == "initialize":
            version = message["params"]["protocolVersion"]
            result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "safe", "version": "1"}}
        elif message["method"] == "tools/list":
            result = {"tools": [{"name": "act", "description": "Acts", "inputSchema": {"type": "object"}}]}
        elif message["method"] == "tools/call":
            if "scope" in WORDS and "write" not in TOKENS[key]["scope"]:
                at = "Bearer error=\"insufficient_scope\", scope=\"write\""
                return self.answer(403, {}, [("www-authenticate", at)])
            result = {"content": [{"type": "text", "text": "acted for " + TOKENS[key]["scope"]}]}
        self.answer(200, {"jsonrpc": "2.0", "id": message["id"], "result": result})


class Auth(Base):
    who = "auth"

    def do_GET(self):
        self.note()
        at = urllib.parse.urlparse(self.path)
        if at.path == "/.well-known/oauth-authorization-server":
            if "hung" in WORDS:
                time.sleep(600)
            if "large" in WORDS:
                return self.answer(200, b"[" + b" " * 5_000_000 + b"]")
            here = "http://" + self.headers["host"]
            metadata = {
                "issuer": "http://127.0.0.1:9" if "false-issuer" in WORDS else here,
                "authorization_endpoint": here + "/authorize", "token_endpoint": here + "/token",
                "registration_endpoint": here + "/register", "revocation_endpoint": here + "/revoke",
                "code_challenge_methods_supported": ["plain"] if "no-pkce" in WORDS else ["S256"],
                "response_types_supported": ["code"], "authorization_response_iss_parameter_supported": True,
            }
            if "irrevocable" in WORDS:
                del metadata["revocation_endpoint"]
            if "long-page" in WORDS:
                metadata["authorization_endpoint"] += "?x=" + "y" * 9000
            if "bad-page" in WORDS:
                metadata["authorization_endpoint"] = "file:///etc/passwd"
            if "unregistered" in WORDS:
                del metadata["registration_endpoint"]
            return self.answer(200, metadata)
        if at.path == "/authorize":
            query = dict(urllib.parse.parse_qsl(at.query))
            back = {"state": query["state"], "iss": "http://127.0.0.1:9" if "mixed-up" in WORDS else AUTH}
            if "deny" in WORDS:
                back |= {"error": "access_denied", "error_description": "not \x1b[31mtoday"}
            else:
                back["code"] = fresh("code")
                CODES[back["code"]] = query
            return self.answer(302, {}, [("location", query["redirect_uri"] + "?" + urllib.parse.urlencode(back))])
        self.answer(404, {})

    def do_POST(self):
        body = self.body()
        self.note(body)
        if self.path == "/register":
            if "refuse" in WORDS:
                return self.answer(400, {"error": "invalid_client_metadata", "error_description": "no \x1b[31mroom"})
            known = {"client_id": "client-1", "redirect_uris": json.loads(body)["redirect_uris"]}
            return self.answer(201, known | ({"client_secret": "canary-secret"} if "secret" in WORDS else {}))
        if self.path == "/revoke":
            return self.answer(200, {})
        form = dict(urllib.parse.parse_qsl(body))
        if form["grant_type"] == "refresh_token":
            scope = RENEWALS.pop(form["refresh_token"], None)
            if scope is None or "end" in WORDS:
                return self.answer(400, {"error": "invalid_grant"})
        else:
            asked = CODES.pop(form["code"])
            digest = hashlib.sha256(form["code_verifier"].encode()).digest()
            proof = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
            if asked["code_challenge"] != proof or asked["code_challenge_method"] != "S256" or form["resource"] != HERE + "/mcp":
                return self.answer(400, {"error": "invalid_grant"})
            scope = asked.get("scope", "")
        if "large-token" in WORDS:
            return self.answer(200, b"[" + b" " * 5_000_000 + b"]")
        access, renewal = fresh("access"), fresh("refresh")
        lasts = 1 if "short" in WORDS else 3600
        TOKENS[access] = {"scope": scope, "until": time.time() + lasts}
        RENEWALS[renewal] = scope
        if "crooked" in WORDS:
            access = "canary\r\nX-Evil: 1"
        self.answer(200, {"access_token": access, "token_type": "Bearer", "expires_in": lasts, "refresh_token": renewal})


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass


auth, resource = Server(("127.0.0.1", 0), Auth), Server(("127.0.0.1", 0), Resource)
other = Server(("127.0.0.2", 0), Auth)
HERE, AUTH, OTHER = ("http://%s:%d" % server.server_address[:2] for server in (resource, auth, other))
print(resource.server_address[1], auth.server_address[1], flush=True)
for server in (auth, other):
    threading.Thread(target=server.serve_forever, daemon=True).start()
resource.serve_forever()
