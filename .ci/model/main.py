"""What only a real model and a real server show: each case is a function that starts the server it needs.

The model is far too small for work. It answers, it can be held to a grammar, and its server counts what it evaluates.
"""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

PLACET = sys.argv[1]
HERE = os.path.dirname(os.path.abspath(__file__))
# A limit for what must end; nothing waits for so long if all is well.
LONG = 600


class Server:
    def __init__(self, window=8192, conversations=1, port=None):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = port or free.getsockname()[1]
        self.log = tempfile.TemporaryFile()
        args = [sys.executable, os.path.join(HERE, "serve.py"), self.port, window, conversations]
        self.process = subprocess.Popen([str(arg) for arg in args], stdout=self.log, stderr=self.log)
        self.url = f"http://127.0.0.1:{self.port}"
        until("the server is up", lambda: self.get("/health"))

    def get(self, path):
        if self.process.poll() is not None:
            self.log.seek(0)
            raise AssertionError(self.log.read().decode(errors="replace")[-2000:])
        try:
            with urllib.request.urlopen(self.url + path, timeout=10) as answer:
                return answer.read().decode()
        except OSError:
            return None

    def evaluated(self):
        """The prompt tokens that were evaluated until now, without those that the server remembered."""
        return int(float(re.search(r"^llamacpp:prompt_tokens_total (\S+)", self.get("/metrics"), re.M)[1]))

    def is_answering(self):
        """True in the middle of an answer."""
        slots = json.loads(self.get("/slots"))
        return any(slot["is_processing"] and slot["next_token"][0]["n_decoded"] > 5 for slot in slots)

    def is_idle(self):
        return not any(slot["is_processing"] for slot in json.loads(self.get("/slots")))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


class Place:
    """A home and a workspace with one file."""

    def __init__(self):
        self.dir = tempfile.TemporaryDirectory()
        self.home, self.tree = (os.path.join(self.dir.name, name) for name in ("home", "tree"))
        os.mkdir(self.home)
        os.mkdir(self.tree)
        with open(os.path.join(self.tree, "notes.txt"), "w") as file:
            file.write("one\ntwo\n")
        os.makedirs(os.path.join(self.home, ".config", "placet"))
        with open(os.path.join(self.home, ".config", "placet", "config.toml"), "w") as file:
            # The model does not always know when to end, and repeats itself, also its calls.
            file.write("max_output_tokens = 100\nmax_repeats = 0\nmax_turns = 3\n")
        self.env = {"PATH": os.environ["PATH"], "HOME": self.home, "LANG": "C.UTF-8"}

    def start(self, server, *args):
        to = ["--provider", "llama.cpp", "--model", "smollm2", "--base-url", server.url + "/v1"] if server else []
        return subprocess.Popen(
            [PLACET, *args, *to], cwd=self.tree, env=self.env, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )

    def run(self, server, *args):
        process = self.start(server, *args)
        out, err = process.communicate(timeout=LONG)
        return process.returncode, out.decode(), err.decode()


def until(what, is_so):
    end = time.monotonic() + LONG
    while not is_so():
        assert time.monotonic() < end, f"not in {LONG} s: {what}"
        time.sleep(0.05)


def plain_conversation():
    with Server() as server:
        code, out, err = Place().run(server, "-p", "Say hello.")
        assert code == 0 and out.strip() and not out.lstrip().startswith("{"), (code, out, err)
        assert "window 8192 (/props), no tools (/props): calls as JSON" in err, err
        return out.strip()[:60]


def five_turns_evaluate_only_what_is_new():
    with Server() as server:
        place, news = Place(), []
        for number, words in enumerate(["Say hello.", "What is a file?", "And a directory?", "Why?", "Thanks."]):
            before = server.evaluated()
            more = ["-c"] if number else []
            code, out, err = place.run(server, *more, "-p", words)
            assert code == 0, (code, out, err)
            news.append(server.evaluated() - before)
        # The last answer is written back by placet, and not with the blanks of the model.
        assert all(new < news[0] / 3 for new in news[1:]), news
        return f"evaluated {news} tokens"


def a_call_by_grammar_changes_a_file_through_the_gate():
    with Server() as server:
        place = Place()
        call = {"tool": "write_file", "arguments": {"path": "new.txt", "content": "hello"}}
        words = f"Repeat this JSON object and nothing else: {json.dumps(call)}"
        code, out, err = place.run(server, "-p", words, "--mode", "ask", "--max-turns", "1", "--output-format", "json")
        report = json.loads(out)
        made = [(call["tool"], call.get("outcome")) for call in report["calls"]]
        path = os.path.join(place.tree, "new.txt")
        assert made and made[0][0] == "write_file" and not os.path.exists(path), (code, report, err)
        code, out, err = place.run(None, "apply")
        with open(path) as file:
            content = file.read()
        assert code == 0 and content.strip() == "hello", (code, out, err, content)
        return f"{made} -> {content!r}"


def a_stop_in_mid_answer_stops_the_server_too():
    with Server() as server:
        place = Place()
        process = place.start(server, "-p", "Tell a long story about a river and a mountain.")
        until("the answer begins", server.is_answering)
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=LONG)
        ended = time.monotonic() - begun
        assert process.returncode == 130, (process.returncode, err)
        until("the server is idle", server.is_idle)
        return f"code 130 after {ended:.1f} s, the server is idle"


def a_server_that_restarts_in_mid_answer_is_said_and_the_conversation_goes_on():
    server, place = Server(), Place()
    with server:
        process = place.start(server, "-p", "Tell a long story about a river and a mountain.")
        until("the answer begins", server.is_answering)
    _, err = process.communicate(timeout=LONG)
    said = err.decode().strip().splitlines()[-1]
    assert process.returncode == 4, (process.returncode, err)
    with Server(port=server.port) as again:
        code, out, err = place.run(again, "-c", "-p", "Say hello.")
        assert code == 0 and out.strip(), (code, out, err)
    return said


def two_conversations_at_once():
    with Server(conversations=2) as server:
        places = [Place(), Place()]
        started = [place.start(server, "-p", "Say hello.", "--output-format", "json") for place in places]
        answers = []
        for process in started:
            out, err = process.communicate(timeout=LONG)
            report = json.loads(out)
            # A server that works on two requests at once rounds otherwise, and what the model says then is words or a call.
            assert (report["answer"] or "").strip() or report["calls"], (process.returncode, report, err)
            answers.append((process.returncode, len(report["calls"])))
        return f"both answered: code and calls {answers}"


def a_window_of_512_overflows():
    with Server(window=512) as server:
        code, out, err = Place().run(server, "-p", "word " * 600)
        assert code == 4 and "512" in err, (code, out, err)
        return err.strip().splitlines()[-1]


CASES = [
    plain_conversation,
    five_turns_evaluate_only_what_is_new,
    a_call_by_grammar_changes_a_file_through_the_gate,
    a_stop_in_mid_answer_stops_the_server_too,
    a_server_that_restarts_in_mid_answer_is_said_and_the_conversation_goes_on,
    two_conversations_at_once,
    a_window_of_512_overflows,
]


def main():
    failed = 0
    for case in CASES:
        if sys.argv[2:] and case.__name__ not in sys.argv[2:]:
            continue
        begun = time.monotonic()
        try:
            word, said = "ok", case()
        except (AssertionError, subprocess.TimeoutExpired) as e:
            failed += 1
            word, said = "FAILED", e
        print(f"{word:<7}{case.__name__} ({time.monotonic() - begun:.1f} s): {said}", flush=True)
    sys.exit(failed and 1)


if __name__ == "__main__":
    main()
