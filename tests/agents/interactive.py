"""The agents in their own screens inside `placet run`, as a person uses them, in a terminal that tmux provides.

One run is the whole way: the agent starts, edits two files, removes a third with a command, commits, tries a host that is
not allowed, and is left. The question must list exactly that. Then one hunk is rejected in the review and sent back, the
agent continues with the message and makes another change, which is applied; `placet undo` restores every byte and ref.
"""

import json
import os
import re
import shlex
import subprocess
import time

REFUSED = "pkg.example.org"
MESSAGE_BEGINS = "I reviewed your changes."
FIRST_ANSWER = "Done: the cart has discounts"
SECOND_ANSWER = "The README is shorter now"
FIRST = [
    {"text": "I will read the files first.", "calls": [{"read": {"path": "cart.py"}}, {"read": {"path": "README.md"}}]},
    {"text": "Now the two edits.", "calls": [
        {"edit": {"path": "cart.py",
                  "old": "    def total(self):\n        return sum(self.prices)\n",
                  "new": "    def total(self, discount=0):\n        return sum(self.prices) * (100 - discount) // 100\n"}},
        {"edit": {"path": "README.md", "old": "`total()` adds the prices.\n",
                  "new": "`total(discount)` adds the prices and takes a discount in percent.\n"}}]},
    {"text": "I will remove the old module and commit.", "calls": [
        {"shell": "rm legacy.py && git add -A && git commit -q -m 'Add discounts' && "
                  f"(curl -sS -m 5 https://{REFUSED}/ || true) 2>&1 | head -2"}]},
    {"text": FIRST_ANSWER + ", legacy.py is removed, and the work is committed.", "calls": []}]
SECOND = [
    {"text": "I look at the file again.", "calls": [{"read": {"path": "README.md"}}]},
    {"text": "I write it shorter.", "calls": [
        {"edit": {"path": "README.md", "old": "`total()` adds the prices.\n", "new": "`total(discount)` takes a discount.\n"}}]},
    {"text": SECOND_ANSWER + ".", "calls": []}]


def as_one(turns):
    """The turns for an agent that reads edits from the text: one answer, without reads."""
    calls = [call for turn in turns for call in turn["calls"] if "read" not in call]
    return [{"text": turns[-1]["text"], "calls": calls}]


def script(agent, turns):
    return json.loads(json.dumps(turns if agent.tools else as_one(turns)))


EXPECTED = {("M", "README.md"), ("M", "cart.py"), ("D", "legacy.py"), ("commit", "Add discounts")}


class Terminal:
    """A program in a terminal of its own tmux server."""

    def __init__(self, base, command, cwd, env, size=(100, 40)):
        self.socket = os.path.join(base, "tmux")
        self.log = os.path.join(base, "screens")
        self.question = self.message = ""
        script = os.path.join(base, "start.sh")
        with open(script, "w") as file:
            names = "\n".join(f"export {name}={shlex.quote(value)}" for name, value in env.items())
            file.write(f"{names}\ncd {shlex.quote(cwd)}\n{shlex.join(command)}\necho \"[ended $?]\"\nsleep 600\n")
        self.env = {"PATH": env["PATH"], "HOME": env["HOME"], "LANG": "C.UTF-8", "TERM": "xterm-256color"}
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(size[0]), "-y", str(size[1]), f"env -i sh {shlex.quote(script)}")

    def tmux(self, *words):
        return subprocess.run(["tmux", "-S", self.socket, *words], env=self.env, capture_output=True, text=True).stdout

    def screen(self):
        return self.tmux("capture-pane", "-p")

    def note(self, title):
        with open(self.log, "a") as file:
            file.write(f"==== {title}\n{self.screen()}\n")

    def key(self, *keys):
        for key in keys:
            self.tmux("send-keys", key)
            time.sleep(0.15)

    def take(self, letter, *answers):
        """Marks the answer that begins like one of these, by Alt and its letter, and takes it once an Enter counts."""
        is_marked = lambda screen: any(f"[{answer}" in screen for answer in answers)
        if not is_marked(self.screen()):
            self.key(f"M-{letter}")
        self.until(f"{answers[0]} marked", lambda screen: is_marked(screen) and "Enter answers" in screen)
        self.key("Enter")

    def type(self, text):
        self.tmux("send-keys", "-l", text)
        time.sleep(0.6)

    def quiet(self, seconds=1.5, most=30):
        """Waits until the screen is the same for some time."""
        last, since, end = None, time.monotonic(), time.monotonic() + most
        while time.monotonic() < end:
            now = self.screen()
            if now != last:
                last, since = now, time.monotonic()
            if time.monotonic() - since >= seconds:
                return
            time.sleep(0.1)

    def until(self, what, found, most=60):
        end = time.monotonic() + most
        while time.monotonic() < end:
            screen = self.screen()
            if found(" ".join(screen.split())):
                self.note(what)
                return screen
            time.sleep(0.15)
        self.note(f"{what}: did not come")
        raise AssertionError(f"{what} did not come; the screen:\n{self.screen().rstrip()}")

    def close(self):
        self.tmux("kill-server")


def snapshot(work):
    """Every file of the workspace but git's index and logs, and every ref."""
    files = {}
    for dir, _, names in os.walk(work):
        for name in names:
            path = os.path.relpath(os.path.join(dir, name), work)
            if not path.startswith(".git/") or path.startswith(".git/refs/") or path in (".git/HEAD", ".git/config"):
                with open(os.path.join(work, path), "rb") as file:
                    files[path] = file.read()
    return files


def is_question(screen):
    return ("Send back to" in screen or "Copy a message, run" in screen) and "Keep pending" in screen


def listed(screen):
    """The rows of the question: a letter and a path each, or a commit and its subject."""
    rows = set()
    for line in screen.splitlines():
        if found := re.match(r"\s*[▾▸!]*\s*commit [0-9a-f]+ \"(.*?)\"", line):
            rows.add(("commit", found[1]))
        elif found := re.match(r"^[▾▸ !]*([AMDR]) (\S.*?)(  |$| \()", line):
            rows.add((found[1], found[2]))
    return rows


def leave(terminal, agent):
    """Leaves the agent, as its users do."""
    terminal.quiet(1, 10)
    for key in agent.leave:
        if is_question(" ".join(terminal.screen().split())):
            break
        terminal.type(key) if key.startswith("/") else terminal.key(key)
        time.sleep(0.8)
    return terminal.until("the question", is_question)


def way(agent, args, server, terminal, work):
    before, wrong = snapshot(work), []
    for text, keys in agent.first_screens:
        terminal.until(text, lambda screen: text in screen)
        terminal.key(*keys)
    terminal.until("the agent's screen", lambda screen: agent.ready in screen)
    terminal.quiet()
    terminal.type("Add a discount in percent to Cart.total, describe it, remove legacy.py and commit.")
    terminal.key("Enter")
    for text, keys in agent.asks:
        terminal.until(text, lambda screen: text in screen)
        terminal.key(*keys)
    terminal.until("the first answer", lambda screen: FIRST_ANSWER in screen, 90)
    screen = leave(terminal, agent)
    time.sleep(1.5)
    terminal.question = terminal.screen()
    rows = {row for row in listed(screen) if row[1] != "README.md" or row[0] == "M"}
    own = {row for row in rows if row[1] in agent.own_rows or row[1].startswith(".git") or row == ("commit", row[1]) and row[1] in agent.own_commits}
    if rows - own != EXPECTED:
        wrong.append(f"the question lists {sorted(rows - own)}")
    if REFUSED not in screen:
        wrong.append("the refused host is not named")
    if snapshot(work) != before:
        wrong.append("the workspace changed before the question")
    # The review: the hunk of README.md is rejected, and commented. It names its keys when it takes them.
    terminal.take("r", "Review")
    terminal.until("the review", lambda screen: "a accept" in screen and "r reject" in screen)
    terminal.key("f")
    terminal.type("README")
    terminal.key("Enter")
    time.sleep(0.5)
    # The first file with this name is that of the commit, which belongs to the repository.
    terminal.key("}", "r", "c")
    terminal.type("shorter, please")
    terminal.key("Enter")
    terminal.until("the comment", lambda screen: "sends it to" in screen or "shorter, please" in screen)
    terminal.key("Escape", "q")
    terminal.until("the question again", is_question)
    terminal.take("s", "Send back", "Copy a message")
    terminal.until("the message", lambda screen: "1 rejected" in screen and "1 comment" in screen)
    time.sleep(1.5)
    terminal.message = terminal.screen()
    server.script.turns += script(agent, SECOND)
    asked = len(server.requests())
    terminal.take("1", "1]")
    terminal.until("the second answer", lambda screen: SECOND_ANSWER in screen, 90)
    bodies = json.dumps([request["body"] for request in server.requests()[asked:]])
    if MESSAGE_BEGINS not in bodies or "shorter, please" not in bodies:
        wrong.append("the message did not reach the model")
    if FIRST_ANSWER not in bodies:
        wrong.append("the conversation before was not sent")
    leave(terminal, agent)
    terminal.take("a", "Apply")
    time.sleep(1)
    if "go ahead?" in terminal.screen():
        terminal.take("a", "Apply")
    # Files of the home directory that run later, each by itself.
    for _ in range(6):
        terminal.quiet(1, 10)
        screen = " ".join(terminal.screen().split())
        if "[ended" in screen:
            break
        wrong.append(f"asked about: {[line for line in terminal.screen().splitlines() if 'apply this file' in line]}")
        terminal.take("k", "Keep")
    terminal.until("the end", lambda screen: "[ended" in screen)
    applied = snapshot(work)
    readme = applied.get("README.md", b"").decode()
    if "takes a discount." not in readme or "in percent" in readme:
        wrong.append(f"README.md after the second round: {readme!r}")
    if b"discount=0" not in applied.get("cart.py", b"") or "legacy.py" in applied:
        wrong.append("the first round's changes were not applied")
    git = lambda *words: subprocess.run(["git", *words], cwd=work, capture_output=True, text=True).stdout.split("\n")
    subjects = [subject for subject in git("log", "--format=%s") if subject not in agent.own_commits]
    if subjects[0] != "Add discounts":
        wrong.append("the commit was not applied")
    subprocess.run([args.placet, "undo"], cwd=work, env={**terminal.env, "HOME": agent_home(work)}, capture_output=True)
    if snapshot(work) != before:
        now = snapshot(work)
        differing = sorted(path for path in set(now) | set(before) if now.get(path) != before.get(path) and path not in agent.own_rows)
        if differing:
            wrong.append(f"undo did not restore {differing}")
    return wrong


def agent_home(work):
    return os.path.dirname(os.path.dirname(work))


def write_session(guide, agent, terminal):
    """Puts the session into the page of the guide."""
    clean = lambda screen: [line.rstrip() for line in screen.rstrip().splitlines()]
    asked, told = clean(terminal.question), clean(terminal.message)
    # What both screens show, and empty lines, are there once.
    asked = [line for line in asked if line]
    told = [line for line in told if line and line not in asked]
    write_block(guide, agent, ["$ " + " ".join(["placet", "run", *agent.screen()]), *asked, "...", *told])


def write_block(guide, agent, lines):
    page = os.path.join(guide, f"run-{agent.name}.md")
    block = "\n".join(lines)
    with open(page) as file:
        text = file.read()
    marker = f"<!-- agents: {agent.name} -->\n\n```text\n"
    if marker not in text:
        return  # the page names what differs from another agent's session, and shows none
    before, after = text.split(marker)
    with open(page, "w") as file:
        file.write(before + marker + block + "\n" + after[after.index("```\n"):])


def run_one(agent, args, server, base, work, env):
    words = [args.placet, "run", *(word for host in agent.more_hosts for word in ("--network", host)), *args.placet_option, *agent.screen()]
    terminal = Terminal(base, words, work, env)
    start = time.monotonic()
    try:
        wrong = way(agent, args, server, terminal, work)
        if args.guide and not wrong:
            write_session(args.guide, agent, terminal)
    except AssertionError as error:
        wrong = [str(error)]
    finally:
        terminal.close()
    return wrong, round(time.monotonic() - start, 1)
