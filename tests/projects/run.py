#!/usr/bin/env python3
"""Checks on six real projects: detection, the second run, failing states, and parts that break the build.

Usage: tests/projects/run.py PLACET DIRECTORY [NAME]...

The projects come from package registries, through their ordinary clients, into DIRECTORY: a cargo workspace of two
crates, a TypeScript package of npm, a pnpm workspace of two packages, a Python package with pytest, a Go module and a
CMake project of Debian. It needs cargo, npm, pip, go, cmake, dpkg and deb-src, skips what is missing, and prints a table
with times. An assertion that fails ends it. Without other work on the machine: the times are of the wall.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

PLACET = os.path.abspath(sys.argv[1])
BASE = pathlib.Path(sys.argv[2]).resolve()
WANTED = sys.argv[3:]
CACHE = BASE / "packages"
CACHE.mkdir(parents=True, exist_ok=True)
CARGO_HOME = os.environ.get("CARGO_HOME", os.path.expanduser("~/.cargo"))


def sh(line, cwd, check=True):
    done = subprocess.run(["sh", "-c", line], cwd=cwd, capture_output=True, text=True, timeout=900)
    assert not check or done.returncode == 0, f"{line}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done


def write(file, text):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


class Project:
    """A project and a home of its own."""

    def __init__(self, name):
        self.name = name
        self.base = BASE / name
        shutil.rmtree(self.base, ignore_errors=True)
        self.tree = self.base / "tree"
        self.home = self.base / "home"
        self.tree.mkdir(parents=True)
        self.home.mkdir()

    def placet(self, *args, code=0):
        env = dict(os.environ, HOME=str(self.home), CARGO_HOME=CARGO_HOME)
        for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "XDG_DATA_HOME"]:
            env.pop(name, None)
        env.setdefault("RUSTUP_HOME", os.path.expanduser("~/.rustup"))
        done = subprocess.run([PLACET, *args], cwd=self.tree, env=env, capture_output=True, text=True, timeout=900)
        out = done.stdout + done.stderr
        assert done.returncode == code, f"{self.name}: placet {args}: {done.returncode}, not {code}\n{out[-4000:]}"
        return out

    def change(self, command):
        """A turn whose command changes files; they stay pending."""
        self.placet("-p", f"run {command}", "--mode", "ask", code=3)

    def settings(self):
        return (self.tree / ".placet/config.toml").read_text()

    def edit_settings(self, change):
        file = self.tree / ".placet/config.toml"
        file.write_text(change(file.read_text()))
        self.placet("config", "trust")

    def output_bytes(self, check):
        """What the layer of the check costs on disk: the newest of the person's layers of checks with this name."""
        bases = [pathlib.Path(f"/var/tmp/placet-{os.getuid()}/checks"), self.home / ".local/state/placet/checks"]
        dirs = [dir for base in bases for dir in base.glob(f"*-{check}") if (dir / "0").is_dir()]
        newest = max(dirs, key=lambda dir: dir.stat().st_mtime)
        return int(sh(f"du -s -B1 '{newest}'", self.base).stdout.split()[0])


def timed(run):
    begin = time.monotonic()
    value = run()
    return time.monotonic() - begin, value


def incremental(project, run, command, environment, edited):
    """Seconds of the check and of the same command in a copy without placet, both after the same edit: the least of
    three runs each, one after the other."""
    copy = project.base / "outside"
    shutil.copytree(project.tree, copy, symlinks=True)
    env = f"export {environment}; " if environment else ""
    sh(env + command, copy)
    file, line = edited
    inside, outside = [], []
    for number in range(3):
        edit = f"echo '{line} {number}' >> {file}"
        sh(edit, copy)
        outside.append(timed(lambda: sh(env + command, copy))[0])
        project.change(edit)
        inside.append(timed(lambda: project.placet(*run))[0])
    project.placet("discard")
    return min(inside), min(outside)


def walk(project, check, names, failure, rename, edited, environment="", changes=False):
    """The same story for each project. `failure` is a command that breaks the check, and what its result must name;
    `rename` is a command that changes two files, and the one of them that alone breaks the check. `edited` is a file and
    the beginning of a comment. `changes` says that the check itself changes files, which is reported."""
    sh("git init -q && git add -A && git -c user.name=a -c user.email=a@example.org commit -qm begin", project.tree)
    out = project.placet("checks", "detect")
    found = re.findall(r"^\[checks\.(.*)\]", out, re.M)
    assert set(names) <= set(found), f"{project.name}: {found}"
    # Nobody can be asked here: the change to the settings is pending until an option names the file.
    project.placet("checks", "detect", "--write", code=3)
    assert "is pending already" in project.placet("checks", "detect", "--write", code=1)
    project.placet("apply", "--apply-protected", ".placet/config.toml")
    project.placet("config", "trust")
    project.placet("checks", "list")
    project.edit_settings(lambda text: text.replace(f"[checks.{check}]\n", f"[checks.{check}]\nrequired = true\n"))
    command = re.search(rf"\[checks\.{check}\]\nrequired = true\ncommand = (\"|')(.*)\1\n", project.settings())[2]
    command = command.replace('\\"', '"')
    if environment:
        project.edit_settings(lambda text: text.replace('command = "', f'command = "export {environment}; '))
    sh("git add -A && git -c user.name=a -c user.email=a@example.org commit -qm settings", project.tree)
    run = ("checks", "run", check)
    first, out = timed(lambda: project.placet(*run))
    assert f"{check}: passed" in out, out
    assert ("it changed" in out) == changes, out
    assert not sh("git status --porcelain", project.tree).stdout, "the check wrote into the workspace"
    second = min(timed(lambda: project.placet(*run))[0] for _ in range(3))
    inside, outside = incremental(project, run, command, environment, edited)
    size = project.output_bytes(check)

    broken, said = failure
    project.change(broken)
    out = project.placet(*run, code=1)
    assert re.search(said, out), f"{said}\n{out}"
    project.placet("apply", "--checked", code=3)
    project.placet("discard")
    out = project.placet(*run)
    assert f"{check}: passed" in out, out

    both, part = rename
    before = (project.tree / part).read_bytes()
    project.change(both)
    out = project.placet("apply", "--checked", part, code=3)
    assert f"the required check {check} did not pass" in out, out
    assert (project.tree / part).read_bytes() == before
    out = project.placet("apply", "--checked")
    assert f"checked: {check} passed in state" in out, out
    assert (project.tree / part).read_bytes() != before
    print(f"| {project.name} | `{command}` | {first:.1f} s | {second:.2f} s | {inside:.2f} s | {outside:.2f} s | "
          f"{inside / outside:.2f} | {size / 1e6:.1f} MB |", flush=True)


def cargo():
    project = Project("cargo")
    packages = {"aho-corasick": "1.1.4", "memchr": "2.7.6"}
    seed = CACHE / "crates"
    write(seed / "Cargo.toml", '[package]\nname = "seed"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\n'
          + "".join(f'{name} = "={version}"\n' for name, version in packages.items()))
    write(seed / "src/lib.rs", "")
    sh("cargo fetch -q", seed)
    sources = list(pathlib.Path(CARGO_HOME, "registry/src").iterdir())
    for name, version in packages.items():
        source = next(s / f"{name}-{version}" for s in sources if (s / f"{name}-{version}").is_dir())
        shutil.copytree(source, project.tree / name)
        (project.tree / name / ".cargo-ok").unlink(missing_ok=True)
    write(project.tree / "Cargo.toml", '[workspace]\nmembers = ["aho-corasick", "memchr"]\nresolver = "2"\n'
          '[patch.crates-io]\nmemchr = { path = "memchr" }\n')
    sh("cargo generate-lockfile -q && cargo fetch -q", project.tree)
    symbol, definition = "alphabet_len", "aho-corasick/src/util/alphabet.rs"
    walk(project, "check", ["check", "test"],
         ("sed -i 's/fn alphabet_len(&self) -> usize {/&\\n        let _: u8 = \"\";/' " + definition,
          rf"{definition}:\d+:\d+: error: mismatched types"),
         (f"grep -rlw {symbol} aho-corasick/src | xargs sed -i 's/\\b{symbol}\\b/letters/g'", definition),
         ("memchr/src/lib.rs", "//"))


def npm():
    project = Project("npm")
    sh("npm pack -s zod@4.1.12 && tar xzf zod-4.1.12.tgz", CACHE)
    shutil.copytree(CACHE / "package/src/v4", project.tree / "src", ignore=shutil.ignore_patterns("tests"))
    write(project.tree / "package.json", '{"name": "copy", "version": "1.0.0", "type": "module",\n'
          ' "scripts": {"typecheck": "tsc -p ."}, "devDependencies": {"typescript": "5.9.3"}}\n')
    write(project.tree / "tsconfig.json", '{"compilerOptions": {"strict": true, "noEmit": true, "target": "es2022", "module": "nodenext",\n'
          ' "skipLibCheck": true, "incremental": true, "tsBuildInfoFile": ".cache/build"}, "include": ["src"]}\n')
    write(project.tree / ".gitignore", "node_modules/\n.cache/\n")
    sh("npm install --silent --no-audit --no-fund", project.tree)
    symbol, definition = "floatSafeRemainder", "src/core/util.ts"
    walk(project, "typecheck", ["typecheck"],
         (f"echo 'export const wrong: number = \"\";' >> {definition}", r"src/core/util.ts:\d+:\d+: error: TS2322"),
         (f"grep -rlw {symbol} src | xargs sed -i 's/\\b{symbol}\\b/remainder/g'", definition),
         (definition, "//"))


def pnpm():
    """A workspace: the build of one package reads that of the other, through the link that pnpm makes."""
    project = Project("pnpm")
    tool = CACHE / "pnpm"
    if not tool.is_dir():
        sh(f"npm install --silent --no-audit --no-fund --prefix {tool} pnpm@10.34.9", CACHE)
    environment = f"PATH={tool}/node_modules/.bin:$PATH"
    sh("mkdir -p immer && cd immer && npm pack -s immer@10.1.1 && tar xzf immer-10.1.1.tgz", CACHE)
    shutil.copytree(CACHE / "immer/package/src", project.tree / "packages/immer/src")
    write(project.tree / "pnpm-workspace.yaml", "packages:\n  - packages/*\n")
    write(project.tree / "package.json", '{"name": "copy", "private": true, "scripts": {"typecheck": "tsc -b packages/app"},\n'
          ' "devDependencies": {"typescript": "5.9.3", "@types/node": "22.10.2"}}\n')
    write(project.tree / "packages/immer/package.json", '{"name": "immer", "version": "10.1.1", "type": "module",\n'
          ' "types": "./.cache/immer.d.ts", "exports": {".": {"types": "./.cache/immer.d.ts"}}}\n')
    write(project.tree / "packages/app/package.json", '{"name": "app", "version": "1.0.0", "type": "module",\n'
          ' "dependencies": {"immer": "workspace:*"}}\n')
    options = ('"strict": true, "composite": true, "target": "es2022", "module": "es2022", "moduleResolution": "bundler",\n'
               ' "skipLibCheck": true, "rootDir": "src", "outDir": ".cache", "types": ["node"]')
    write(project.tree / "packages/immer/tsconfig.json", '{"compilerOptions": {' + options + '}, "include": ["src"]}\n')
    write(project.tree / "packages/app/tsconfig.json",
          '{"compilerOptions": {' + options + '}, "include": ["src"], "references": [{"path": "../immer"}]}\n')
    write(project.tree / "packages/app/src/main.ts", 'import { isDraftable, produce } from "immer";\n\n'
          "export const next = produce({ items: [1] }, (draft) => { draft.items.push(2); });\n"
          "export const known: boolean = isDraftable(next);\n")
    write(project.tree / ".gitignore", "node_modules/\n.cache/\n*.tsbuildinfo\n")
    sh(f"export {environment}; pnpm install --silent", project.tree)
    symbol, definition = "isDraftable", "packages/immer/src/utils/common.ts"
    walk(project, "typecheck", ["typecheck"],
         ("sed -i 's/: boolean = isDraftable/: string = isDraftable/' packages/app/src/main.ts",
          r"packages/app/src/main.ts:\d+:\d+: error: TS2322"),
         (f"grep -rlw {symbol} packages/*/src | xargs sed -i 's/\\b{symbol}\\b/canBeDrafted/g'", "packages/app/src/main.ts"),
         (definition, "//"), environment=environment)


def python():
    project = Project("python")
    sh("pip download -q --no-binary :all: --no-deps more-itertools==10.5.0 && tar xzf more-itertools-10.5.0.tar.gz", CACHE)
    venv = CACHE / "venv"
    if not venv.is_dir():
        sh(f"python3 -m venv {venv} && {venv}/bin/pip -q install pytest", CACHE)
    source = CACHE / "more-itertools-10.5.0"
    for part in ["more_itertools", "tests", "pyproject.toml", "setup.cfg"]:
        (shutil.copytree if (source / part).is_dir() else shutil.copy)(source / part, project.tree / part)
    write(project.tree / "requirements-dev.txt", "pytest\n")
    symbol, definition = "_zip_equal", "more_itertools/recipes.py"
    walk(project, "pytest", ["pytest"],
         (f"sed -i 's/return list(islice(iterable, n))/return list(islice(iterable, n + 1))/' {definition}",
          r"pytest: failed: \d+ of \d+ tests(.|\n)*tests/test_more.py:\d+"),
         (f"grep -rlw {symbol} more_itertools | xargs sed -i 's/\\b{symbol}\\b/_equal/g'", definition), ("more_itertools/more.py", "#"),
         environment=f"PATH={venv}/bin:$PATH")


def go():
    project = Project("go")
    package = "golang-github-spf13-pflag-dev"
    sh(f"apt-get download -q -o APT::Sandbox::User=root {package} && dpkg -x {package}_*.deb go", CACHE)
    source = CACHE / "go/usr/share/gocode/src/github.com/spf13/pflag"
    shutil.copytree(source, project.tree, dirs_exist_ok=True)
    # The vet of newer compilers rejects two lines of the package.
    sh("sed -i 's/fmt.Println(/fmt.Print(/' flag_test.go && go vet .", project.tree)
    walk(project, "test", ["vet", "test"],
         ("sed -i 's/^func (s \\*stringValue) String() string { return string/func (s *stringValue) String() string { return \"x\" + string/' string.go",
          r"test: failed: \d+ of \d+ tests(.|\n)*_test.go:\d+"),
         ("grep -lw getFlagType *.go | xargs sed -i 's/\\bgetFlagType\\b/kindOf/g'", "flag.go"),
         ("flag.go", "//"))


def cmake():
    project = Project("cmake")
    lists = CACHE / "apt"
    (lists / "lists/partial").mkdir(parents=True, exist_ok=True)
    listed = sh("apt-get indextargets --format '$(REPO_URI)' 'Component: main' 'Codename: bookworm' | head -1", CACHE)
    write(lists / "sources.list", f"deb-src {listed.stdout.strip()} bookworm main\n")
    options = (f"-o Dir::Etc::sourcelist={lists}/sources.list -o Dir::Etc::sourceparts=- "
               f"-o Dir::State::lists={lists}/lists -o APT::Sandbox::User=root")
    if not list(CACHE.glob("tinyxml2_*.orig.tar.xz")):
        sh(f"apt-get {options} update -qq && apt-get {options} source -qq --download-only tinyxml2", CACHE)
    sh(f"tar xJf {CACHE}/tinyxml2_*.orig.tar.xz --strip-components=1", project.tree)
    (project.tree / "Makefile").unlink()
    write(project.tree / ".gitignore", "build/\n")
    symbol = "SkipWhiteSpace"
    walk(project, "build", ["build"],
         ("sed -i 's/^#include <new>/&\\nint wrong = \"\";/' tinyxml2.cpp", r"tinyxml2.cpp:\d+:\d+: error: invalid conversion"),
         (f"sed -i 's/\\b{symbol}\\b/SkipBlanks/g' tinyxml2.h tinyxml2.cpp", "tinyxml2.h"), ("tinyxml2.cpp", "//"),
         # Its tests write files that git does not ignore.
         changes=True)


def main():
    print("| project | check | first run | no change | after an edit | the same without placet | ratio | on disk |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    programs = {cargo: "cargo", npm: "npm", pnpm: "npm", python: "pip", go: "go", cmake: "cmake"}
    for run, program in programs.items():
        if WANTED and run.__name__ not in WANTED:
            continue
        if not shutil.which(program):
            print(f"skipped: `{program}` is not installed")
            continue
        run()


main()
