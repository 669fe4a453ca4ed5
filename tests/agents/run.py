#!/usr/bin/env python3
"""Runs real agents against the scripted model server, directly or inside a view of placet, and checks what they left.

    run.py                                   each installed agent, directly
    run.py --with target/release/placet      each in `placet run --discard`: the workspace must be as before
    run.py --with PLACET --apply             the same with the changes applied: the workspace must be as after a direct run
    run.py --install codex,claude            installs the pinned versions from npm into the cache, then runs them
    run.py --list                            what is known and installed

Each agent gets a home directory of its own with a small git repository in `src/cart`. The script of the model edits two
files, removes a third with a command, commits and answers. The agents' own state, the log of the requests and what was
printed stay in `--keep DIR`.

With --private-network the agents use their default addresses, such as https://api.anthropic.com, and nothing can leave
the machine: run.py starts itself again in network and mount namespaces in which these names lead to the server. The
server listens there on public addresses, so placet's proxy takes the same way as on the internet.
"""

import argparse
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True
import interactive  # noqa: E402
import names as names_of_the_network  # noqa: E402
from agents import AGENTS, KEY, KEY_VARIABLES, PROMPT  # noqa: E402
from model_server import ModelServer  # noqa: E402

# TEST-NET addresses count as not public, and placet refuses those. These are public and belong to no model service.
ADDRESSES = "192.88.98"
MESSAGE = "Please also check the rounding."
FILES = {
    "cart.py": "class Cart:\n    def __init__(self, prices):\n        self.prices = prices\n\n"
               "    def total(self):\n        return sum(self.prices)\n",
    "README.md": "# Cart\n\n`total()` adds the prices.\n",
    "legacy.py": "# The old cart. Nothing uses it.\n",
}


def cache():
    # Not below /tmp: a view has a /tmp of its own, and a program that lies there would not be found in it.
    return os.environ.get("PLACET_AGENTS_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "placet-ci", "agents")


def make_workspace(agent, home):
    work = agent.workspace(home)
    os.makedirs(work)
    for name, content in FILES.items():
        agent.write(work, name, content)
    env = {"PATH": os.environ["PATH"], "HOME": home}
    # The identity is in the repository: Gemini CLI runs commands without the global configuration of git.
    identity = (["config", "user.name", "Test Person"], ["config", "user.email", "person@example.org"])
    for words in (["init", "-q", "-b", "main"], *identity, ["add", "-A"], ["commit", "-q", "-m", "A cart"]):
        subprocess.run(["git", *words], cwd=work, env=env, check=True)
    return work


def state(work, home):
    """What a person would look at afterwards: the files, the commits, and whether anything is uncommitted."""
    git = lambda *words: subprocess.run(["git", *words], cwd=work, env={"PATH": os.environ["PATH"], "HOME": home},
                                        capture_output=True, text=True).stdout.splitlines()
    files = {}
    for name in sorted(os.listdir(work)):
        if name != ".git" and os.path.isfile(os.path.join(work, name)):
            with open(os.path.join(work, name), errors="replace") as file:
                files[name] = file.read()
    return {"files": files, "subjects": git("log", "--format=%s"), "status": git("status", "--short")}


def check(agent, got, applied):
    """The sentences of what is not as expected."""
    wrong, files = [], got["files"]
    if not applied:
        if files != FILES or got["subjects"] != ["A cart"] or got["status"]:
            wrong.append(f"the workspace changed: {sorted(files)}, {got['subjects']}, {got['status']}")
        return wrong
    if "discount=0" not in files.get("cart.py", ""):
        wrong.append("cart.py was not edited")
    if "total(discount)" not in files.get("README.md", ""):
        wrong.append("README.md was not edited")
    if agent.tools and "legacy.py" in files:
        wrong.append("legacy.py was not removed")
    if len(got["subjects"]) < 2:
        wrong.append("nothing was committed")
    return wrong


def environment(agent, home, url, path, ca, key_files=False):
    env = {"HOME": home, "PATH": path, "TERM": "xterm-256color", "LANG": "C.UTF-8", "USER": "person", "SHELL": "/bin/bash", "NO_COLOR": "1"}
    if ca:  # each runtime has a variable of its own for one more authority
        env.update({name: ca for name in ("NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "CODEX_CA_CERTIFICATE", "REQUESTS_CA_BUNDLE")})
    env.update(agent.environment(url))
    if key_files:
        env = {name: value for name, value in env.items() if name not in KEY_VARIABLES}
    return env


def run_one(agent, args, turns):
    base = os.path.join(args.keep, agent.name)
    home = os.path.join(base, "home")
    os.makedirs(home)
    work = make_workspace(agent, home)
    server = ModelServer(turns, work, base, key=KEY, **(network_server() if args.inside else {}))
    url = None if args.inside else f"http://localhost:{server.port}"
    agent.configure(home, url)
    if args.key_files:
        agent.key_file(home)
    command = in_view(agent, args, agent.headless(PROMPT), server)
    env = environment(agent, home, url, args.path, server.ca, args.key_files)
    start = time.monotonic()
    code, printed, errors = execute(command, base, "", work, env, args.timeout)
    seconds = time.monotonic() - start
    requests = server.requests()
    wrong = check(agent, state(work, home), applied=not args.placet or args.apply)
    answered = len([r for r in requests if r["kind"].startswith("turn")])
    if answered < (len(turns) if agent.tools else 1):
        wrong.append(f"{answered} of {len(turns)} turns were asked for")
    if args.placet:
        printed += errors  # with JSON on standard output, placet writes what the program prints to standard error
    if "the work is committed" not in printed:
        wrong.append("the answer was not printed")
    if code != 0 and not (args.placet and code == 3):
        wrong.append(f"exit code {code}")
    if args.guide and not wrong and agent.ready is None:
        shown = [line.rstrip() for line in printed.rstrip().splitlines() if line.strip()][-12:]
        interactive.write_block(args.guide, agent, ["$ placet run --apply " + shlex.join(agent.headless(PROMPT)), "...", *shown])
    if args.resume and not wrong and agent.resume(MESSAGE):
        wrong += resume_one(agent, args, server, base, url, env)
    server.close()
    sides = sorted({f"{r.get('method', '')} {r['path'].split('?')[0]}" for r in requests if not r["kind"].startswith("turn")})
    return {"agent": agent.name, "ok": not wrong, "wrong": wrong, "code": code, "seconds": round(seconds, 1), "turns": answered,
            "other_requests": sides, "command": command, "stderr": errors[-600:] if wrong else ""}


def run_interactive(agent, args):
    """The agent in its own screen inside `placet run`; see interactive.py."""
    base = os.path.join(args.keep, agent.name)
    home = os.path.join(base, "home")
    os.makedirs(home)
    work = make_workspace(agent, home)
    server = ModelServer(interactive.script(agent, interactive.FIRST), work, base, key=KEY, **network_server())
    agent.configure(home, None)
    agent.key_file(home)
    agent.configure_screen(home)
    env = environment(agent, home, None, args.path, server.ca, key_files=True)
    env.pop("NO_COLOR")
    wrong, seconds = interactive.run_one(agent, args, server, base, work, env)
    server.close()
    return {"agent": agent.name, "ok": not wrong, "wrong": wrong, "seconds": seconds, "turns": len(server.requests()), "stderr": ""}


def resume_one(agent, args, server, base, url, env):
    """Goes on with the conversation in a new home directory that has only what the agent must keep.

    In a view this is what placet has to do, so the home directory is left to it.
    """
    home, first = os.path.join(base, "home"), os.path.join(base, "home.first")
    work = agent.workspace(home)
    if not args.placet:
        os.rename(home, first)
        os.makedirs(os.path.dirname(work))
        os.rename(agent.workspace(first), work)
        agent.configure(home, url)
        if args.key_files:
            agent.key_file(home)
        for name in agent.keep:
            source, target = os.path.join(first, name), os.path.join(home, name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copytree(source, target, dirs_exist_ok=True) if os.path.isdir(source) else shutil.copy2(source, target)
    server.script.turns.append({"text": "The rest is done too."})
    before = len(server.requests())
    code, printed, errors = execute(in_view(agent, args, agent.resume(MESSAGE), server), base, ".resume", work, env, args.timeout)
    turns = [r for r in server.requests()[before:] if r["kind"].startswith("turn")]
    wrong = []
    if code != 0 and not (args.placet and code == 3):
        wrong.append(f"resume: exit code {code}")
    if not turns or MESSAGE not in json.dumps(turns[-1]["body"]):
        wrong.append("resume: the message did not reach the model")
    elif "the work is committed" not in json.dumps(turns[-1]["body"]):
        wrong.append("resume: the earlier conversation was not sent")
    if "The rest is done too." not in printed + (errors if args.placet else ""):
        wrong.append("resume: the answer was not printed")
    return wrong


def in_view(agent, args, command, server):
    if not args.placet:
        return command
    words = [args.placet, *args.subcommand.split(), "--apply" if args.apply else "--discard", "--output-format", "json"]
    for host in agent.hosts if args.inside else [f"localhost:{server.port}"]:
        words += ["--network", host]
    # A preset has the hosts, the flags and the files to keep; its name stands where the program's would.
    return words + args.placet_option + ([] if args.preset else ["--"]) + command


def execute(command, base, suffix, work, env, timeout):
    with open(os.path.join(base, "stdout" + suffix), "w+") as out, open(os.path.join(base, "stderr" + suffix), "w+") as err:
        process = subprocess.Popen(command, cwd=work, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True)
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            code = "timeout"
        # What an agent left running would hold the home directory and the next run up.
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        out.seek(0), err.seek(0)
        return code, out.read(), err.read()


def network_server():
    return {"tls_port": 443, "hosts": list(private_names()), "address": "0.0.0.0"}


def private_names():
    with open(os.environ["PLACET_AGENTS_NAMES"]) as file:
        return json.load(file)


def enter_private_network(argv, agents):
    """Starts this program again where the agents' hosts are addresses of the loopback device and nothing else is reachable."""
    hosts = sorted({host for name in agents for host in AGENTS[name].hosts})
    addresses = {host: f"{ADDRESSES}.{n}" for n, host in enumerate(hosts, 10)}
    where = tempfile.mkdtemp(prefix="agents-network-", dir=cache())
    with open(os.path.join(where, "names.json"), "w") as file:
        json.dump(addresses, file)
    with open(os.path.join(where, "resolv.conf"), "w") as file:
        file.write("nameserver 127.0.0.53\n")
    setup = ["ip link set lo up"] + [f"ip address add {address}/32 dev lo" for address in addresses.values()]
    setup += [f"mount --bind {where}/resolv.conf /etc/resolv.conf", 'exec "$@"']
    env = dict(os.environ, PLACET_AGENTS_NAMES=os.path.join(where, "names.json"))
    user = [] if os.getuid() == 0 else ["--map-root-user"]
    try:
        return subprocess.run(["unshare", "--net", "--mount", *user, "sh", "-ec", "\n".join(setup), "sh",
                               sys.executable, os.path.abspath(__file__), *argv, "--inside"], env=env).returncode
    finally:
        shutil.rmtree(where, ignore_errors=True)


def prefix(name):
    """Each agent has a directory of its own: npm's options hold for a whole tree."""
    return os.path.join(cache(), "npm", name)


def install(name):
    agent = AGENTS[name]
    if agent.package == "aider-chat":
        print("error: aider is installed with pip; see README.md", file=sys.stderr)
        sys.exit(2)
    words = ["npm", "install", "--loglevel", "error", "--no-audit", "--no-fund", "--prefix", prefix(name), f"{agent.package}@{agent.version}"]
    if not agent.needs_script:
        words.append("--ignore-scripts")
    if not agent.needs_optional:
        words.append("--omit=optional")
    node = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout.strip().lstrip("v") or "0"
    if int(node.split(".")[0]) < agent.node:
        print(f"error: {name} needs Node.js {agent.node}, and this is {node}", file=sys.stderr)
        sys.exit(4)
    os.makedirs(prefix(name), exist_ok=True)
    start = time.monotonic()
    try:
        subprocess.run(words, check=True, timeout=280, stdout=subprocess.DEVNULL)
    except (subprocess.SubprocessError, OSError) as error:
        print(f"error: npm could not install {agent.package}: {error}", file=sys.stderr)
        sys.exit(4)
    print(f"{name:10} {agent.version} installed in {time.monotonic() - start:.0f} s", flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--agents", help="names with commas; without it each that is installed")
    p.add_argument("--install", metavar="NAMES", help="install these from npm first, and run them")
    p.add_argument("--list", action="store_true")
    p.add_argument("--with", dest="placet", metavar="PLACET", help="run the agents inside a view of this placet")
    p.add_argument("--subcommand", default="run", help="placet's subcommand, such as 'sandbox run'")
    p.add_argument("--placet-option", action="append", default=[], metavar="OPTION", help="one more option of placet")
    p.add_argument("--apply", action="store_true", help="apply the changes instead of discarding them")
    p.add_argument("--key-files", action="store_true", help="the key is in the agent's own file, as after a login, not in the environment")
    p.add_argument("--preset", action="store_true", help="placet run codex ... instead of placet run -- codex ...")
    p.add_argument("--resume", action="store_true", help="also go on with the conversation in a new home directory")
    p.add_argument("--interactive", action="store_true",
                   help="the agents' own screens: a turn, the question, a message back, applying, undo; needs --with, --private-network and tmux")
    p.add_argument("--guide", metavar="DIR", help="put the sessions into the pages of the guide: those of --interactive, or where an agent has none, these")
    p.add_argument("--private-network", action="store_true")
    p.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    p.add_argument("--script", default=os.path.join(HERE, "scripts", "headless.json"))
    p.add_argument("--prefix", action="append", default=[], metavar="DIR", help="look for the programs here first")
    p.add_argument("--keep", metavar="DIR")
    p.add_argument("--timeout", type=int, default=120)
    p.add_argument("--json", action="store_true", help="print the results as JSON")
    args = p.parse_args()

    if args.install and not args.inside:
        for name in args.install.split(","):
            install(name)
    installed = [os.path.join(prefix(name), "node_modules", ".bin") for name in AGENTS]
    args.path = os.pathsep.join([*args.prefix, *installed, os.environ["PATH"]])
    found = [n for n in AGENTS if shutil.which(n, path=args.path)]
    if args.list:
        for name, agent in AGENTS.items():
            print(f"{name:10} {agent.version:10} {shutil.which(name, path=args.path) or 'not installed'}")
        return 0
    names = (args.agents or args.install or ",".join(found)).split(",")
    if missing := [n for n in names if n not in found]:
        print(f"not installed: {', '.join(missing)}; run.py --install {','.join(missing)}", file=sys.stderr)
        return 2
    if args.interactive and not (args.placet and args.private_network and shutil.which("tmux")):
        print("error: --interactive needs --with, --private-network and tmux", file=sys.stderr)
        return 2
    os.makedirs(cache(), exist_ok=True)
    if args.private_network and not args.inside:
        return enter_private_network(sys.argv[1:], names)
    if args.inside:
        names_of_the_network.serve(private_names())
    if args.placet:
        args.placet = os.path.abspath(args.placet)
    kept = args.keep is not None
    args.keep = os.path.abspath(args.keep) if kept else tempfile.mkdtemp(prefix="run-", dir=cache())
    with open(args.script) as file:
        turns = json.load(file)
    results = []
    for name in names:
        shutil.rmtree(os.path.join(args.keep, name), ignore_errors=True)
        agent = AGENTS[name]
        if args.interactive and agent.ready is None:
            print(f"{name:10} not tried in its own screen", flush=True)
            continue
        result = run_interactive(agent, args) if args.interactive else run_one(agent, args, json.loads(json.dumps(turns)))
        results.append(result)
        if not args.json:
            print(f"{name:10} {'passed' if result['ok'] else 'FAILED'}  {result['seconds']:5.1f} s  {result['turns']} turns"
                  + "".join(f"\n           {w}" for w in result["wrong"])
                  + (f"\n           {result['stderr']}" if result["stderr"] else ""), flush=True)
    failed = [r for r in results if not r["ok"]]
    if args.json:
        print(json.dumps(results, indent=2))
    else:
        print(f"{len(results) - len(failed)} passed, {len(failed)} failed")
    if not kept and not failed:
        shutil.rmtree(args.keep, ignore_errors=True)
    elif failed and not args.json:
        print(f"see {args.keep}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
