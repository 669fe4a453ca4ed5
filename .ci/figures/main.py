#!/usr/bin/env python3
"""Measures the figures of docs/guide/performance.md, each next to another program where one is installed.

    .ci/figures/main.py [BINARY ...] [--only WORDS] [--rounds N] [--goals]

Several binaries are measured in turns, so that a machine whose speed changes is the same for all. Each row has the
minimum and the median. Needs Python 3, no network and no key: the model is a server in this process.
"""

import argparse
import os
import shutil
import statistics
import tempfile
import time

from passing import key, passing, run
from processes import Mcp, Terminal, Timed, fresh_home, highest_memory, model_args
from server import Model

FLOOR = "sh -c true"
PROMPT = b"> "


def timed_floor(_binary, base, rows):
    home, work = fresh_home(base)
    rows.add(FLOOR, "ms", Timed(["sh", "-c", "true"], home, work).seconds * 1e3)


def version(binary, base, rows):
    home, work = fresh_home(base)
    rows.add("--version", "ms", Timed([binary, "--version"], home, work).seconds * 1e3)


def one_shot(binary, base, rows):
    with Model([{"text": ["hello"]}]) as model:
        home, work = fresh_home(base)
        argv = [binary, *model_args(model), "-p", "hello"]
        Timed(argv, home, work, model)
        done = Timed(argv, home, work, model)
        assert b"hello" in done.output, done.output
        rows.add("one-shot turn", "ms", done.seconds * 1e3)
        rows.add("one-shot turn: processor time", "ms", done.cpu * 1e3)
        rows.add("one-shot turn: memory", "MB", highest_memory(argv, home, work, model))
        rows.add("one-shot turn: first request", "B", len(model.bodies[0]))
        # A file name that placet looks for: the settings of the person.
        settings = os.path.join(home, ".config", "placet")
        os.makedirs(settings)
        with open(os.path.join(settings, "config.toml"), "w") as file:
            file.write("tools.rare_in_full = false\n")
        count = len(model.bodies)
        Timed(argv, home, work, model)
        rows.add("first request, rare tools looked up", "B", len(model.bodies[count]))


def start(binary, base, rows):
    home, work = fresh_home(base)
    for first in (True, False):
        terminal = Terminal([binary], home, work)
        took = terminal.until(PROMPT)
        if not first:
            rows.add("start to the prompt", "ms", took * 1e3)
            terminal.drain(1.0)
            memory = terminal.memory()
            rows.add("memory at the prompt, resident", "MB", memory["Rss"] / 1024)
            rows.add("memory at the prompt, its share", "MB", memory["Pss"] / 1024)
        terminal.end()


def stream_headless(binary, base, rows):
    with Model([{"text": ["piece "] * 20_000}]) as model:
        home, work = fresh_home(base)
        done = Timed([binary, *model_args(model), "-p", "hello"], home, work, model)
        assert done.output.count(b"piece") == 20_000
        rows.add("20,000 pieces, -p", "ms", done.seconds * 1e3)
        rows.add("20,000 pieces, -p: processor time", "ms", done.cpu * 1e3)
        rows.add("20,000 pieces, -p: context switches", "", done.switches)


def stream_pane(binary, base, rows):
    with Model([{"text": ["piece "] * 20_000 + ["finis"]}]) as model:
        home, work = fresh_home(base)
        terminal = Terminal([binary, *model_args(model)], home, work, model)
        terminal.until(PROMPT)
        terminal.drain(0.3)
        before, start = terminal.fine_cpu(), time.perf_counter()
        terminal.type(b"hello\r")
        terminal.until(b"finis")
        rows.add("20,000 pieces, pane", "ms", (time.perf_counter() - start) * 1e3)
        rows.add("20,000 pieces, pane: processor time", "ms", (terminal.fine_cpu() - before) * 1e3)
        terminal.end()


def stream_slow(binary, base, rows):
    with Model([{"text": ["piece "] * 800, "pause": 0.005}]) as model:
        home, work = fresh_home(base)
        terminal = Terminal([binary, *model_args(model)], home, work, model)
        terminal.until(PROMPT)
        terminal.type(b"hello\r")
        terminal.drain(0.5)
        before, start = terminal.fine_cpu(), time.perf_counter()
        terminal.drain(3.0)
        used = (terminal.fine_cpu() - before) / (time.perf_counter() - start)
        rows.add("200 pieces a second: share of a processor", "%", used * 100)
        terminal.end()


def rounds_of(name, binary, base, rows, mode, call, count=20):
    # Different calls: the same one again and again ends a turn.
    script = [{"call": call(f"{number}.txt")} for number in range(count)] + [{"text": ["done"]}]
    with Model(script) as model:
        home, work = fresh_home(base)
        argv = [binary, "--mode", mode, *model_args(model), "-p", "go"]
        done = Timed(argv, home, work, model)
        assert len(model.times) == count + 1, (len(model.times), done.output)
        # From the end of an answer to the next request: what the client needs for a round.
        gaps = [asked - answered for answered, asked in zip(model.answered, model.times[1:])]
        assert all("alpha" in str(body) for body in model.bodies[-1:]), model.bodies[-1][-500:]
        rows.add(f"round, {name}, {mode}: first", "ms", gaps[0] * 1e3)
        for gap in gaps[2:]:
            rows.add(f"round, {name}, {mode}", "ms", gap * 1e3)


def rounds(binary, base, rows):
    rounds_of("read_file", binary, base, rows, "ask", lambda file: ("read_file", {"path": file}))
    rounds_of("run_command", binary, base, rows, "ask", lambda file: ("run_command", {"command": f"cat {file}"}))
    rounds_of("run_command", binary, base, rows, "unrestricted", lambda file: ("run_command", {"command": f"cat {file}"}))


def commands(binary, base, rows):
    for mode in ("ask", "unrestricted"):
        home, work = fresh_home(base)
        # The first process of a machine tests what the sandbox can do, and records it.
        mcp = Mcp(binary, home, work, mode)
        mcp.call("run_command", {"command": "true"})
        mcp.end()
        mcp = Mcp(binary, home, work, mode)
        time.sleep(0.1)
        rows.add(f"first command, {mode}", "ms", mcp.call("run_command", {"command": "true"}) * 1e3)
        for _ in range(30):
            rows.add(f"command, {mode}", "ms", mcp.call("run_command", {"command": "true"}) * 1e3)
            rows.add(FLOOR, "ms", Timed(["sh", "-c", "true"], home, work).seconds * 1e3)
        mcp.end()


def bwrap(_binary, base, rows):
    if not shutil.which("bwrap"):
        return
    home, work = fresh_home(base)
    argv = ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "--bind", work, work, "--tmpfs", "/tmp", "--dev", "/dev"]
    argv += ["--proc", "/proc", "--die-with-parent", "sh", "-c", "true"]
    for _ in range(10):
        rows.add("bwrap, sh -c true", "ms", Timed(argv, home, work).seconds * 1e3)


def pending(binary, base, rows):
    """A command after others have left many pending changes."""
    home, work = fresh_home(base)
    mcp = Mcp(binary, home, work, "ask")
    mcp.call("run_command", {"command": "mkdir d; i=0; while [ $i -lt 11000 ]; do : > d/$i; i=$((i+1)); done"})
    for _ in range(20):
        rows.add("command, 11,000 paths pending", "ms", mcp.call("run_command", {"command": "true"}) * 1e3)
    mcp.end()


def many(binary, base, rows):
    """Apply and undo of many changed files, next to git, which syncs nothing. `--base` on a tmpfs takes syncing out."""
    home, work = fresh_home(base)
    for number in range(MANY):
        os.makedirs(os.path.join(work, f"d{number % 100}"), exist_ok=True)
        with open(os.path.join(work, f"d{number % 100}", f"f{number}"), "w") as file:
            file.write(f"line {number}\n" * 60)
    who = ["-c", "user.name=n", "-c", "user.email=e", "-c", "gc.auto=0"]

    def git(*words):
        return Timed(["git", *who, *words], home, work).seconds

    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        git(*words)
    change = "for file in d*/*; do echo changed >> $file; done"
    # The changes are pending: nobody was there to decide about them.
    Timed([binary, "run", "--", "sh", "-c", change], home, work, code=PENDING)
    took = {}
    for word in ("apply", "undo"):
        done = Timed([binary, word], home, work)
        took[word] = done.seconds
        rows.add(f"{word} of {MANY} files", "s", done.seconds)
        rows.add(f"{word} of {MANY} files: processor time", "s", done.cpu)
    # What undo left would be a difference.
    git("diff", "--quiet")
    Timed(["sh", "-c", change], home, work)
    stash, pop = git("stash", "-q"), git("stash", "pop", "-q")
    rows.add(f"git stash of {MANY} files", "s", stash)
    rows.add(f"git stash pop of {MANY} files", "s", pop)
    rows.add("undo, over git stash pop", "x", took["undo"] / pop)
    shutil.rmtree(work)


MANY = 10_000
PENDING = 3


def edit(binary, base, rows):
    """One edit in 100 MB, journaled and synced, next to sed and sync."""
    home, work = fresh_home(base)
    large = os.path.join(work, "large.txt")
    with open(large, "w") as file:
        for number in range(1_000_000):
            file.write(f"{number:07} " + "x" * 91 + "\n")
    os.sync()
    mcp = Mcp(binary, home, work, "write")
    for number in range(5):
        mcp.call("read_file", {"path": "large.txt", "offset": 500_000, "limit": 10})
        old, new = f"{500_003 + number:07} xx", f"{500_003 + number:07} yy"
        ours = mcp.call("edit_file", {"path": "large.txt", "old_string": old, "new_string": new})
        line = f"sed -i 's/^{600_003 + number:07} xx/{600_003 + number:07} yy/' large.txt && sync large.txt"
        other = Timed(["sh", "-c", line], home, work).seconds
        rows.add("edit in 100 MB, write mode", "ms", ours * 1e3)
        rows.add("sed -i and sync, 100 MB", "ms", other * 1e3)
        rows.add("edit in 100 MB, over sed -i and sync", "x", ours / other)
    mcp.end()
    os.remove(large)


def size(binary, _base, rows):
    rows.add("size of the program", "MB", os.path.getsize(binary) / 1e6)


CASES = {
    "floor": timed_floor,
    "version": version,
    "one-shot": one_shot,
    "start": start,
    "headless": stream_headless,
    "pane": stream_pane,
    "slow": stream_slow,
    "rounds": rounds,
    "commands": commands,
    "bwrap": bwrap,
    "run": run,
    "passing": passing,
    "key": key,
    "pending": pending,
    "many": many,
    "edit": edit,
    "size": size,
}

# The goals of the maintainers: the figure, at most; or at least, where more is better.
GOALS = {
    "20,000 pieces, pane": 100,
    "20,000 pieces, pane: processor time": 100,
    "200 pieces a second: share of a processor": 1.5,
    "round, run_command, ask": 7,
    "round, read_file, ask": 1.2,
    "one-shot turn": 6,
    "one-shot turn: memory": 16,
    "one-shot turn: first request": 10_000,
    "first request, rare tools looked up": 8_000,
    "start to the prompt": 6,
    "memory at the prompt, resident": 14,
    "memory at the prompt, its share": 7,
    "placet run -- true, over true": 12,
    "100 MB through placet run, of direct": 0.8,
    "a key through placet run, over direct": 0.3,
    "undo, over git stash pop": 1.3,
    "edit in 100 MB, over sed -i and sync": 1.5,
    "size of the program": 33,
}

MORE_IS_BETTER = {"100 MB through placet run, of direct"}

ALONE = {"floor", "bwrap"}


class Rows:
    def __init__(self):
        self.found = {}

    def add(self, name, unit, value):
        self.found.setdefault((name, unit), []).append(value)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binaries", nargs="*", default=["target/release/placet"])
    parser.add_argument("--only", help="cases, with commas: " + ",".join(CASES))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--goals", action="store_true", help="end with a Markdown table of the goals")
    parser.add_argument("--base", help="directory for temporary files", default=None)
    asked = parser.parse_args()
    binaries = [os.path.realpath(path) for path in asked.binaries]
    chosen = asked.only.split(",") if asked.only else list(CASES)
    tables = [Rows() for _ in binaries]
    others = Rows()
    try:
        with tempfile.TemporaryDirectory(prefix="figures-", dir=asked.base, ignore_cleanup_errors=True) as base:
            for case in chosen:
                for _ in range(asked.rounds):
                    if case in ALONE:
                        CASES[case](None, base, others)
                        continue
                    for binary, rows in zip(binaries, tables):
                        CASES[case](binary, base, rows)
    except KeyboardInterrupt:
        print("stopped; the figures until then:")
    names = dict.fromkeys(key for rows in [others, *tables] for key in rows.found)
    print("minimum / median of", " | ".join(["other", *asked.binaries]))
    for name, unit in names:
        cells = []
        for rows in [others, *tables]:
            values = rows.found.get((name, unit))
            cells.append(f"{min(values):9.2f} / {statistics.median(values):9.2f}" if values else " " * 21)
        print(f"{name:<46} {unit:<3} " + " | ".join(cells))
    if asked.goals:
        goals(asked.binaries, tables)


def goals(binaries, tables):
    """The fastest of each figure next to its goal. A machine that does something else makes every figure worse."""
    print("\n| figure | goal | " + " | ".join(os.path.basename(path) for path in binaries) + " |")
    print("|---|---|" + "---|" * len(binaries))
    units = {name: unit for rows in tables for name, unit in rows.found}
    for name, goal in GOALS.items():
        if name in units:
            best_of = max if name in MORE_IS_BETTER else min
            best = [best_of(rows.found[name, units[name]]) for rows in tables if (name, units[name]) in rows.found]
            cells = [f"{value:.3g} {units[name]}" if value < 1000 else f"{value:.0f} {units[name]}" for value in best]
            print(f"| {name} | {goal:g} {units[name]} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
