#!/usr/bin/env python3
"""Measures what grows with the number of changed files, of directories and of turns, and draws it.

    .ci/figures/growth.py [BINARY] [--rounds N] [--only WORDS] [--base DIRECTORY]

Each row is the minimum of the rounds, with a bar to scale. Needs what `main.py` needs, and some gigabytes.
"""

import argparse
import os
import shutil
import tempfile
import time

from main import PROMPT
from processes import Mcp, Terminal, fresh_home, model_args
from server import Model

FILES = (100, 1_000, 10_000, 100_000)
DIRECTORIES = (71, 710, 7_100)
TURNS = (100, 1_000, 2_500)
# Columns of the longest bar.
WIDTH = 40


def question(model, terminal):
    """Milliseconds from the end of the answer to the question about its changes."""
    terminal.type(b"go\r")
    terminal.until(b"apply?", 600)
    return (time.perf_counter() - model.answered[-1]) * 1e3


def keep(terminal):
    """Answers the question with *Keep pending*: an Enter counts when it has been there for a moment."""
    for keys in (b"\x1bk", b"\r"):
        terminal.drain(1.5)
        terminal.type(keys)
    terminal.until(PROMPT)
    terminal.drain(0.5)


def files(binary, base, rows):
    for count in FILES:
        make = f"mkdir -p d && cd d && seq {count} | split -l 1 -a 6 -d - f"
        calls = [{"call": ("run_command", {"command": line})} for line in (make, "echo x > one-more")]
        done = {"text": ["done"]}
        with Model([calls[0], done, calls[1], done]) as model:
            home, work = fresh_home(base)
            terminal = Terminal([binary, "--mode", "ask", *model_args(model)], home, work, model)
            terminal.until(PROMPT)
            rows.add("the question after N new files", count, question(model, terminal))
            keep(terminal)
            rows.add("the question after one more, N pending", count, question(model, terminal))
            keep(terminal)
            terminal.type(b"/quit\r")
            terminal.until_end()
            other = Terminal([binary], home, work)
            rows.add("start beside N pending files", count, other.until(PROMPT) * 1e3)
            other.end()
            shutil.rmtree(home)


def directories(binary, base, rows):
    for count in DIRECTORIES:
        home, work = fresh_home(base)
        for number in range(count):
            place = os.path.join(work, f"d{number % 71}", f"e{number}")
            os.makedirs(place)
            for name in range(8):
                with open(os.path.join(place, f"{name}.txt"), "w") as file:
                    file.write("alpha\n")
        for mode in ("ask", "write"):
            mcp = Mcp(binary, home, work, mode)
            rows.add(f"the first read among N directories, {mode}", count, mcp.call("read_file", {"path": "0.txt"}) * 1e3)
            mcp.end()
        shutil.rmtree(home)


def turns(binary, base, rows):
    script = [{"text": [f"answer {number}."]} for number in range(TURNS[-1] + 1)]
    with Model(script) as model:
        home, work = fresh_home(base)
        terminal = Terminal([binary, *model_args(model)], home, work, model)
        terminal.until(PROMPT)
        for number, answer in enumerate(script):
            before = terminal.fine_cpu()
            terminal.type(b"go\r")
            terminal.until(answer["text"][0].encode())
            terminal.until(PROMPT)
            # The first turns after the size, of which the best counts.
            size = max((size for size in TURNS if size <= number), default=0)
            if size and number < size + 5:
                rows.add("processor time of a turn after N turns", size, (terminal.fine_cpu() - before) * 1e3)
        terminal.end()


CASES = {"files": files, "directories": directories, "turns": turns}


class Rows:
    def __init__(self):
        self.found = {}

    def add(self, name, size, value):
        sizes = self.found.setdefault(name, {})
        sizes[size] = min(value, sizes.get(size, value))

    def draw(self):
        for name, sizes in self.found.items():
            print(name)
            most = max(sizes.values())
            for size, value in sizes.items():
                bar = "█" * max(1, round(value / most * WIDTH))
                print(f"  {size:>9,} {value:9.1f} ms  {bar}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", nargs="?", default="target/release/placet")
    parser.add_argument("--only", help="cases, with commas: " + ",".join(CASES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--base", help="directory for temporary files", default=None)
    asked = parser.parse_args()
    rows = Rows()
    with tempfile.TemporaryDirectory(prefix="growth-", dir=asked.base, ignore_cleanup_errors=True) as base:
        for case in asked.only.split(",") if asked.only else CASES:
            for _ in range(asked.rounds):
                CASES[case](os.path.realpath(asked.binary), base, rows)
    rows.draw()


if __name__ == "__main__":
    main()
