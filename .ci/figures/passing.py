"""`placet run` around a program in a terminal, next to the same program without it."""

import os
import statistics
import time

from processes import Terminal, fresh_home

SIZE = 100_000_000
KEYS = 200
LINE = b"".join(b"%05d a line of a log, as long as most of them are, and no longer than a terminal\n" % n for n in range(12_500))


def run(binary, base, rows):
    home, work = fresh_home(base)
    # The first process of a machine tests what the sandbox can do, and records it.
    Terminal([binary, "run", "--", "true"], home, work).until_end()
    for _ in range(10):
        alone = Terminal(["true"], home, work).until_end() * 1e3
        around = Terminal([binary, "run", "--", "true"], home, work).until_end() * 1e3
        rows.add("true", "ms", alone)
        rows.add("placet run -- true", "ms", around)
        rows.add("placet run -- true, over true", "ms", around - alone)


def passing(binary, base, rows):
    """The shares of the time without placet: 1 is as fast, 0.5 takes twice as long."""
    home, work = fresh_home(base)
    path = os.path.join(work, "large.txt")
    with open(path, "wb") as file:
        while file.tell() < SIZE:
            file.write(LINE)
    alone = Terminal(["cat", path], home, work).until_end()
    around = Terminal([binary, "run", "--", "cat", path], home, work).until_end()
    rows.add("100 MB with cat", "ms", alone * 1e3)
    rows.add("100 MB with placet run -- cat", "ms", around * 1e3)
    rows.add("100 MB through placet run, of direct", "x", alone / around)
    os.unlink(path)


def echoes(argv, home, work):
    """Milliseconds from each key to its echo."""
    terminal = Terminal(argv, home, work)
    terminal.drain(1.0)
    times = []
    for number in range(KEYS):
        letter = b"abcdefgh"[number % 8 : number % 8 + 1]
        began = time.perf_counter()
        terminal.type(letter)
        terminal.until(letter, 5)
        times.append((time.perf_counter() - began) * 1e3)
        if number % 8 == 7:
            terminal.type(b"\r")
            terminal.drain(0.02)
        time.sleep(0.003)
    terminal.end()
    return times


def key(binary, base, rows):
    home, work = fresh_home(base)
    alone = statistics.median(echoes(["cat"], home, work))
    around = statistics.median(echoes([binary, "run", "--", "cat"], home, work))
    rows.add("a key's echo in cat", "ms", alone)
    rows.add("a key's echo in placet run -- cat", "ms", around)
    rows.add("a key through placet run, over direct", "ms", around - alone)
