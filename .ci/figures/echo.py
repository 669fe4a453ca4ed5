#!/usr/bin/env python3
"""The time from a key to the first byte of its echo, in a terminal: at the plain prompt, with the menu of files open
(`@`), and with the menu of commands open (`/`).

    .ci/figures/echo.py PLACET [PLACET...]

Binaries take turns. A letter is typed, its echo is waited for, and the letter is deleted again. Prints the minimum, the
median and the 95th percentile in milliseconds; under load only the minimum says something about the program.
"""

import fcntl
import os
import pty
import select
import statistics
import struct
import sys
import tempfile
import termios
import time

KEYS = 60
FILES = 2000
PLACES = {"plain": "write te", "files": "look at @src/mo", "commands": "/re"}


class Shell:
    """placet at its prompt, in a terminal of 100 columns."""

    def __init__(self, program, home, tree):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(tree)
            keep = {"PATH": os.environ["PATH"], "HOME": home, "TERM": "xterm-256color", "LANG": "C.UTF-8", "COLORFGBG": "15;0"}
            os.execve(program, [program, "--mode", "ask"], keep)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        self.read_until_quiet(1.0)

    def read(self, seconds):
        ready, _, _ = select.select([self.terminal], [], [], seconds)
        try:
            return os.read(self.terminal, 65536) if ready else b""
        except OSError:
            return b""

    def read_until_quiet(self, seconds):
        out = b""
        while piece := self.read(seconds):
            out += piece
        return out

    def echo(self, key):
        """Milliseconds until the letter comes back."""
        began = time.perf_counter()
        os.write(self.terminal, key)
        seen = b""
        while key not in seen:
            piece = self.read(5)
            if not piece:
                raise SystemExit(f"no echo of {key!r}")
            seen += piece
            took = time.perf_counter() - began
        return took * 1000

    def end(self):
        os.write(self.terminal, b"\x03")
        self.read_until_quiet(0.2)
        os.write(self.terminal, b"\x04")
        end = time.monotonic() + 5
        while time.monotonic() < end and os.waitpid(self.pid, os.WNOHANG) == (0, 0):
            self.read(0.05)


def measure(program, place, home, tree):
    shell = Shell(program, home, tree)
    for key in PLACES[place]:
        os.write(shell.terminal, key.encode())
        shell.read_until_quiet(0.15)
    times = []
    for _ in range(KEYS):
        times.append(shell.echo(b"d"))
        shell.read_until_quiet(0.06)
        os.write(shell.terminal, b"\x7f")
        shell.read_until_quiet(0.06)
    shell.end()
    return times


def main():
    programs = sys.argv[1:]
    if not programs:
        raise SystemExit(__doc__)
    with tempfile.TemporaryDirectory() as base:
        home, tree = os.path.join(base, "home"), os.path.join(base, "tree")
        os.makedirs(home)
        for n in range(FILES):
            folder = os.path.join(tree, "src", f"module{n % 40}")
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(folder, f"model{n}.py"), "w", encoding="utf-8") as out:
                out.write("x = 1\n")
        found = {}
        for _ in range(3):
            for place in PLACES:
                for program in programs:
                    found.setdefault((place, program), []).extend(measure(program, place, home, tree))
        for (place, program), times in found.items():
            times.sort()
            late = times[int(len(times) * 0.95)]
            print(f"{place:9} {min(times):6.2f} {statistics.median(times):6.2f} {late:6.2f}  {program}")


main()
