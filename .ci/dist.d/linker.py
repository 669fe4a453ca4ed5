#!/usr/bin/env python3
"""The linker of `.ci/dist`: zig links, and everything that it linked is kept, so that `relink` can link it once more with
the functions in another order. zig itself refuses the option for that, but it says how it calls LLD, and Rust brings a LLD
that takes the option.

As rustc's linker it is called with rustc's arguments; cargo-zigbuild names its own linker in the environment, and
PLACET_LINK_KEEP is the directory for what is kept. A file called `link` would be another kind of linker to rustc. By hand:

    linker.py --relink KEPT ORDER OUTPUT
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys


def zig():
    for name, value in os.environ.items():
        if name.startswith("CARGO_TARGET_") and name.endswith("_LINKER"):
            return value
    sys.exit("linker.py: no CARGO_TARGET_..._LINKER: cargo-zigbuild sets it")


def link(args):
    done = subprocess.run([zig(), *args, "-v"], stderr=subprocess.PIPE, text=True)
    calls = [line.split(" ") for line in done.stderr.splitlines() if line.startswith("ld.lld ")]
    if done.returncode != 0 or not calls:
        sys.stderr.write(done.stderr)
        return done.returncode
    keep = pathlib.Path(os.environ["PLACET_LINK_KEEP"])
    rust = subprocess.run(["rustc", "--print", "sysroot"], check=True, capture_output=True, text=True).stdout.strip()
    shutil.rmtree(keep, ignore_errors=True)
    keep.mkdir(parents=True)
    kept = []
    for number, word in enumerate(calls[-1][1:]):
        # rustc removes its own objects when it has ended, and a later build may replace libraries.
        is_theirs = word.startswith(rust) or "/zig/o/" in word
        if word.endswith((".o", ".rlib")) and os.path.isfile(word) and not is_theirs:
            copy = keep / f"{number}-{os.path.basename(word)}"
            shutil.copyfile(word, copy)
            word = str(copy)
        kept.append(word)
    (keep / "arguments.json").write_text(json.dumps(kept))
    return 0


def relink(keep, order, output):
    args = json.loads(pathlib.Path(keep, "arguments.json").read_text())
    args[args.index("-o") + 1] = output
    asked = subprocess.run(["rustc", "--print", "target-libdir"], check=True, capture_output=True, text=True)
    lld = pathlib.Path(asked.stdout.strip()).parent / "bin" / "rust-lld"
    program = [str(lld), "-flavor", "gnu"] if lld.exists() else ["ld.lld"]
    more = ["-s", f"--symbol-ordering-file={order}", "--no-warn-symbol-ordering"]
    return subprocess.run([*program, *args, *more]).returncode


if __name__ == "__main__":
    if sys.argv[1:2] == ["--relink"]:
        sys.exit(relink(*sys.argv[2:]))
    sys.exit(link(sys.argv[1:]))
