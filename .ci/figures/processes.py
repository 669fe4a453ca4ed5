"""The processes that are measured: a program that ends, a shell in a terminal, an MCP server."""

import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time


def environment(home, model=None):
    env = {"HOME": home, "PATH": os.environ["PATH"], "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    if model:
        env["OPENAI_API_KEY"] = "none"
    return env


def fresh_home(base):
    home = tempfile.mkdtemp(prefix="home-", dir=base)
    work = os.path.join(home, "work")
    os.mkdir(work)
    for number in range(20):
        with open(os.path.join(work, f"{number}.txt"), "w") as file:
            file.write("alpha\nbeta\n")
    return home, work


class Timed:
    """A process that has ended with `code`: seconds, seconds of processor time, context switches. There is no figure of
    another one."""

    def __init__(self, argv, home, work, model=None, stdin=None, code=0):
        start = time.perf_counter()
        process = subprocess.Popen(
            argv,
            env=environment(home, model),
            cwd=work,
            stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        if stdin:
            process.stdin.write(stdin)
            process.stdin.close()
        self.output = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        self.seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != code:
            raise SystemExit(f"{' '.join(argv)[:200]} ended with {process.returncode}: {self.output[-500:]!r}")
        self.cpu = used.ru_utime + used.ru_stime
        self.switches = used.ru_nvcsw + used.ru_nivcsw


# A process counts as its highest memory also that of the process that forked it, and this one is large.
SMALL_PARENT = """import os, sys
pid = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ)
print(os.wait4(pid, 0)[2].ru_maxrss, file=sys.stderr)"""


def highest_memory(argv, home, work, model=None):
    command = [sys.executable, "-S", "-c", SMALL_PARENT, *argv]
    done = subprocess.run(command, env=environment(home, model), cwd=work, capture_output=True, check=True)
    return int(done.stderr.split()[-1]) / 1024


def model_args(model):
    return ["--provider", "openai-chat", "--base-url", model.url, "--model", "figures"]


class Mcp:
    """One `placet mcp` process, which runs tools without a model."""

    def __init__(self, binary, home, work, mode):
        argv = [binary, "--mode", mode, "mcp", "serve"]
        self.process = subprocess.Popen(
            argv, env=environment(home), cwd=work, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.number = 0
        hello = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "figures", "version": "1"}}
        self.ask("initialize", hello)
        self.tell("notifications/initialized", {})

    def tell(self, method, params):
        self.write({"jsonrpc": "2.0", "method": method, "params": params})

    def write(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.number += 1
        self.write({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise SystemExit("placet mcp ended early")
            message = json.loads(line)
            if message.get("id") == self.number:
                if "error" in message or message["result"].get("isError"):
                    raise SystemExit(f"placet mcp: {line.decode()}")
                return message["result"]

    def call(self, tool, arguments):
        start = time.perf_counter()
        self.ask("tools/call", {"name": tool, "arguments": arguments})
        return time.perf_counter() - start

    def end(self):
        self.process.stdin.close()
        self.process.wait()


class Terminal:
    """A shell in a pseudo-terminal."""

    def __init__(self, argv, home, work, model=None):
        self.start = time.perf_counter()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(work)
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
            os.execvpe(argv[0], argv, environment(home, model))
        self.seen = b""

    def until(self, text, seconds=60):
        end = time.perf_counter() + seconds
        while text not in self.seen:
            left = end - time.perf_counter()
            if left <= 0 or not select.select([self.fd], [], [], left)[0]:
                raise SystemExit(f"{text!r} did not appear in: {self.seen[-2000:]!r}")
            try:
                self.seen += os.read(self.fd, 65536)
            except OSError:
                raise SystemExit(f"the shell ended before {text!r}: {self.seen[-2000:]!r}")
        return time.perf_counter() - self.start

    def drain(self, seconds):
        end = time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0:
            if select.select([self.fd], [], [], left)[0]:
                self.seen += os.read(self.fd, 65536)

    def until_end(self):
        """Seconds until the program has ended, all that it wrote read and dropped."""
        try:
            while os.read(self.fd, 65536):
                pass
        except OSError:
            pass
        os.close(self.fd)
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        if code:
            raise SystemExit(f"a program in the terminal ended with {code}")
        return time.perf_counter() - self.start

    def type(self, text):
        self.seen = b""
        os.write(self.fd, text)

    def cpu(self):
        with open(f"/proc/{self.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def fine_cpu(self):
        """Nanoseconds of all threads, from the scheduler."""
        total = 0
        for task in os.listdir(f"/proc/{self.pid}/task"):
            try:
                with open(f"/proc/{self.pid}/task/{task}/schedstat") as file:
                    total += int(file.read().split()[0])
            except FileNotFoundError:
                pass
        return total / 1e9

    def memory(self):
        found = {}
        with open(f"/proc/{self.pid}/smaps_rollup") as file:
            for line in file:
                match = re.match(r"(Rss|Pss|Private_Dirty):\s+(\d+)", line)
                if match:
                    found[match[1]] = int(match[2])
        return found

    def end(self):
        os.close(self.fd)
        try:
            os.kill(self.pid, 9)
        except ProcessLookupError:
            pass
        os.waitpid(self.pid, 0)
