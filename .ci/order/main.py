#!/usr/bin/env python3
"""Prints the functions that placet runs at start and in a turn, in the order of their first call, for the linker.

    .ci/order/main.py BINARY > FILE

The kernel maps the program in pieces of 64 kB around each page that is touched. When the functions of the start are next to
each other, far fewer pieces are touched. BINARY must have its symbols, and the names are valid for the same compiler, the
same Cargo.lock and the same profile only: make the list for each build, and link again, which takes seconds.

    cargo rustc --release --bin placet -- -C strip=none
    .ci/order/main.py target/release/placet > target/order
    cargo rustc --release --bin placet -- -C link-arg=-Wl,--symbol-ordering-file=$PWD/target/order \\
        -C link-arg=-Wl,--no-warn-symbol-ordering

Needs Python 3, valgrind, nm, and a linker that knows the option: LLD, which Rust uses on x86_64 Linux. The model is a server
in this process.
"""

import os
import pty
import re
import select
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "figures"))

from processes import environment, fresh_home, model_args  # noqa: E402
from server import Model  # noqa: E402

# Slow, as it runs in valgrind.
PATIENCE = 120


def traced(binary, out, *args):
    return ["valgrind", "-q", "--tool=callgrind", "--demangle=no", f"--callgrind-out-file={out}", binary, *args]


def prompt(binary, base, out):
    """The start of the shell, up to the prompt, and its end."""
    home, work = fresh_home(base)
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(work)
        argv = traced(binary, out)
        os.execvpe(argv[0], argv, environment(home))
    seen, end, asked = b"", time.monotonic() + PATIENCE, False
    while time.monotonic() < end:
        if not select.select([fd], [], [], 1.0)[0]:
            continue
        try:
            seen += os.read(fd, 65536)
        except OSError:
            break
        if b"> " in seen and not asked:
            asked = True
            time.sleep(1)
            os.write(fd, b"\x04")
    os.close(fd)
    _, status = os.waitpid(pid, 0)
    if status != 0:
        sys.exit(f"the shell did not end well: {seen[-500:]!r}")


def turn(binary, base, out):
    """A turn with a call of a tool, over HTTP."""
    with Model([{"call": ("read_file", {"path": "1.txt"})}, {"text": ["hello"]}]) as model:
        home, work = fresh_home(base)
        argv = traced(binary, out, *model_args(model), "-p", "hello")
        done = subprocess.run(argv, env=environment(home, model), cwd=work, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=PATIENCE)
        if done.returncode != 0 or b"hello" not in done.stdout:
            sys.exit(f"the turn failed: {done.stderr[-500:]!r}")


def called(path):
    """Symbols in the order in which callgrind lists them: roughly that of the first call."""
    with open(path) as file:
        for line in file:
            found = re.match(r"c?fn=\(\d+\) (\S+)", line)
            if found:
                yield re.sub(r"'\d+$", "", found[1])


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: .ci/order/main.py BINARY > FILE")
    binary = os.path.realpath(sys.argv[1])
    listed = subprocess.run(["nm", binary], capture_output=True, text=True).stdout
    known = {line.split()[-1] for line in listed.splitlines() if re.search(r" [tTwW] ", line)}
    if not known:
        sys.exit(f"{binary} has no symbols: build it with `-C strip=none`")
    order = {}
    with tempfile.TemporaryDirectory(prefix="order-") as base:
        for work in (prompt, turn):
            out = os.path.join(base, work.__name__)
            work(binary, base, out)
            order.update(dict.fromkeys(name for name in called(out) if name in known))
    if len(order) < 500:
        sys.exit(f"only {len(order)} functions were seen")
    print("\n".join(order))
    print(f"{len(order)} functions", file=sys.stderr)


if __name__ == "__main__":
    main()
