"""The servers placet talks to, each behind a recorder that keeps every request body and passes all on unchanged.

Everything listens on loopback, at ports the system gives. Nothing here knows what a right answer is.
"""

import contextlib
import http.client
import http.server
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

START = 180


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Recorder(http.server.ThreadingHTTPServer):
    """Stands before a server at `port` and keeps (path, body) of what goes there."""

    daemon_threads = True

    def __init__(self, port):
        super().__init__(("127.0.0.1", 0), Passing)
        self.target, self.seen = port, []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def taken(self):
        """What came since the last time this was asked."""
        seen, self.seen = self.seen, []
        return seen


class Passing(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        self.pass_on(None)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.server.seen.append((self.path, json.loads(body)))
        self.pass_on(body)

    def pass_on(self, body):
        way = http.client.HTTPConnection("127.0.0.1", self.server.target, timeout=60)
        headers = {k: v for k, v in self.headers.items() if k.lower() not in ("host", "connection", "accept-encoding")}
        self.close_connection = True
        try:
            way.request(self.command, self.path, body, headers)
            answer = way.getresponse()
        except (http.client.HTTPException, OSError):
            # The server hung up; placet sees the same of us.
            return
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "content-length", "connection", "date", "server"):
                self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        # A stream that the server breaks off breaks off here as well.
        with contextlib.suppress(http.client.HTTPException, OSError):
            while piece := answer.read1(65536):
                self.wfile.write(piece)
                self.wfile.flush()
        way.close()


class Servers(contextlib.ExitStack):
    """Programs that are gone, with all they started, when this ends."""

    def __init__(self, work):
        super().__init__()
        self.work = pathlib.Path(work)

    def start(self, name, line, ready, port, env=None):
        log = self.work / f"{name}.log"
        with open(log, "wb") as out:
            program = subprocess.Popen(
                line, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True,
                cwd=self.work, env={**os.environ, **(env or {})},
            )
        self.callback(stop, program)
        began = time.monotonic()
        while not answers(f"http://127.0.0.1:{port}{ready}"):
            if program.poll() is not None or time.monotonic() - began > START:
                sys.exit(f"conformance: {name} did not start:\n{log.read_text(errors='replace')[-3000:]}")
            time.sleep(0.2)
        print(f"   {name} took {time.monotonic() - began:.0f} s to start")
        return Recorder(port)

    def aimock(self, directory, fixtures, keys):
        port = free_port()
        script = pathlib.Path(directory) / "node_modules/@copilotkit/aimock/dist/cli.js"
        file = self.work / "fixtures.json"
        file.write_text(json.dumps({"fixtures": fixtures}))
        line = ["node", str(script), "-p", str(port), "-f", str(file), "--strict", "--log-level", "warn"]
        return self.start("aimock", line, "/health", port, {"AIMOCK_API_KEYS": keys})

    def litellm(self, models, master_key):
        port = free_port()
        file = self.work / "litellm.json"
        settings = {"drop_params": False, "num_retries": 0, "telemetry": False}
        general = {"master_key": master_key}
        file.write_text(json.dumps({"model_list": models, "litellm_settings": settings, "general_settings": general}))
        program = str(pathlib.Path(sys.executable).parent / "litellm")
        line = [program, "--config", str(file), "--host", "127.0.0.1", "--port", str(port), "--telemetry", "False"]
        # The prices are those it was shipped with: nothing is fetched.
        quiet = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_LOG": "ERROR", "NO_PROXY": "127.0.0.1"}
        return self.start("litellm", line, "/health/liveliness", port, quiet)


def answers(url):
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return answer.status == 200
    except urllib.error.HTTPError as answer:
        return answer.code in (401, 403)
    except OSError:
        return False


def stop(program):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(program.pid, signal.SIGTERM)
    try:
        program.wait(5)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(program.pid, signal.SIGKILL)
        program.wait(5)
