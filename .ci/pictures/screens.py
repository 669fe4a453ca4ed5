"""What the pictures show: each scene is a shell, the keys of a person, and the pictures on the way.

A scene waits for what its picture is about, so a picture of something else is never made: the script fails.
"""

import os
import subprocess

from model import Answer, Call

PROJECT = {
    "README.md": "# shop\n\nPrices with 19 % tax.\n",
    "src/price.py": '''"""Prices."""

TAX = 0.19


def net(prices):
    return sum(prices)


def gross(prices):
    total = net(prices) * (1 + TAX)
    return round(total, 2)
''',
    "src/stock.py": '"""What is in stock."""\n\nSTOCK = {"tea": 12, "coffee": 7}\n',
    "tests/test_price.py": "from price import gross\n\nassert gross([10]) == 11.9, gross([10])\n",
}

WORKFLOW = "on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: PYTHONPATH=src python3 -B tests/test_price.py\n"

ASK_TAX = "The tax is 21 % now. Change it, and run the test."
ASK_COMMIT = "Correct the test, run it on each push, and commit."
ASK_TAX_AND_TEST = "The tax is 21 % now. Change it, and the test."
ASK_ROUND = "Round to cents at the end only."
ASK_DECIMAL = "Compute with decimals."
ASK_NETWORK = "Is there a newer release?"
ASK_EXPLAIN = "How is a price computed?"

SCRIPT = {
    ASK_TAX: [
        Answer(
            "I read the prices and their test first.",
            Call("read_file", path="src/price.py"),
            Call("read_file", path="README.md"),
            Call("read_file", path="tests/test_price.py"),
        ),
        Answer(
            "The rate is a constant. The README names it too.",
            Call("edit_file", path="src/price.py", old_string="TAX = 0.19", new_string="TAX = 0.21"),
            Call("edit_file", path="README.md", old_string="19 % tax", new_string="21 % tax"),
        ),
        Answer("", Call("run_command", command="PYTHONPATH=src python3 -B tests/test_price.py")),
        Answer(
            "The tax is 21 % now, in `src/price.py` and in the README. The test **fails**: it expects 11.9 for a price of "
            "10, and with the new rate 12.1 is right. Shall I correct the test?"
        ),
    ],
    ASK_COMMIT: [
        Answer(
            "I correct the expected price and add a workflow.",
            Call("read_file", path="tests/test_price.py"),
        ),
        Answer(
            "",
            Call("edit_file", path="tests/test_price.py", old_string="== 11.9", new_string="== 12.1"),
            Call("write_file", path=".github/workflows/test.yml", content=WORKFLOW),
        ),
        Answer("", Call("run_command", command="PYTHONPATH=src python3 -B tests/test_price.py && git commit -qam 'Set the tax to 21 %'")),
        Answer("The test passes, and the change is committed. The workflow is new and not in the commit."),
    ],
    ASK_TAX_AND_TEST: [
        Answer(
            "I read the prices and their test first.",
            Call("read_file", path="src/price.py"),
            Call("read_file", path="tests/test_price.py"),
        ),
        Answer(
            "",
            Call("edit_file", path="src/price.py", old_string="TAX = 0.19", new_string="TAX = 0.21"),
            Call("edit_file", path="tests/test_price.py", old_string="== 11.9", new_string="== 12.1"),
        ),
        Answer("The tax is 21 %, and the test expects 12.1 for a price of 10."),
    ],
    ASK_ROUND: [
        Answer("", Call("read_file", path="src/price.py")),
        Answer(
            "",
            Call("edit_file", path="src/price.py", old_string="    total = net(prices) * (1 + TAX)\n    return round(total, 2)",
                 new_string="    return round(net(prices) * (1 + TAX), 2)"),
        ),
        Answer("The total is one expression now, and rounded once."),
    ],
    ASK_DECIMAL: [
        Answer("", Call("read_file", path="src/price.py")),
        Answer(
            "",
            Call("edit_file", path="src/price.py", old_string="TAX = 0.19", new_string='TAX = Decimal("0.19")'),
            Call("edit_file", path="src/price.py", old_string='"""Prices."""', new_string='"""Prices."""\n\nfrom decimal import Decimal'),
        ),
        Answer("The rate is a decimal."),
    ],
    ASK_NETWORK: [
        Answer("I ask the registry.", Call("run_command", command="curl -s https://pypi.org/pypi/shop/json", network=["pypi.org"])),
        Answer("Without the network I cannot tell."),
    ],
    ASK_EXPLAIN: [
        Answer("", Call("read_file", path="src/price.py"), Call("search_contents", pattern="gross")),
        Answer(
            "A price has two steps:\n\n1. `net` adds the prices.\n2. `gross` adds the tax and rounds to cents.\n\n"
            "| function | result |\n|---|---|\n| `net([10])` | 10 |\n| `gross([10])` | 11.9 |\n\n"
            "The rate is the constant `TAX` in `src/price.py`."
        ),
    ],
}

GIT = {
    "GIT_AUTHOR_NAME": "Me", "GIT_AUTHOR_EMAIL": "me@example.org", "GIT_AUTHOR_DATE": "2026-01-02T03:04:05Z",
    "GIT_COMMITTER_NAME": "Me", "GIT_COMMITTER_EMAIL": "me@example.org", "GIT_COMMITTER_DATE": "2026-01-02T03:04:05Z",
    "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null",
}


def make_project(home):
    root = os.path.join(home, "shop")
    for name, text in PROJECT.items():
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    for words in (
        ["init", "-q", "-b", "main"], ["config", "user.name", "Me"], ["config", "user.email", "me@example.org"],
        ["add", "-A"], ["commit", "-qm", "Prices"],
    ):
        subprocess.run(["git", *words], cwd=root, env=dict(os.environ, **GIT), check=True)
    return root


def start(shell):
    """The card of the first start, without a model."""
    with shell(model=False, rows=8) as term:
        term.until("placet [a] >", "model  none yet", "/tour")
        term.picture("start")


def conversation(shell):
    """A turn with two edits and a failing test, its question, the review of it, and the screens to read it again."""
    with shell(rows=46) as term:
        term.until("placet [a] >")
        term.line(ASK_TAX)
        term.settled("apply?", "AssertionError", "[Apply]")
        term.picture("turn")
        term.resize(26)
        term.settled("apply?")
        term.take("m", "More")
        term.take("p", "Patch")
        term.settled("diff --git")
        term.picture("patch")
        term.take("m", "More")
        term.take("p", "List")
        term.settled("apply?", "[Apply]")
        term.take("r", "Review")
        term.until("TAX = 0.21", "? keys")
        term.key("a", "c")
        term.type("only from January on?")
        term.key("Return")
        term.until("only from January on?")
        term.picture("review")
        term.key("q")
        term.settled("apply?", "Keep pending")
        term.take("k", "Keep pending")
        term.until("placet [a")
        term.key("ctrl+t")
        term.until("demo-1", "run ")
        term.key("G", "bracketleft", "Return")
        term.picture("transcript")
        term.key("q")
        term.until("placet [a")
        term.line("/view src/price.py")
        term.until("TAX = 0.21", "pending")
        term.picture("viewer")
        term.key("q")
        term.until("placet [a")
        term.line("/new")
        term.line(ASK_EXPLAIN)
        term.until("constant TAX", "placet [a")
        term.resize(14)
        term.line("/resume")
        term.until("Sessions", ASK_EXPLAIN[:16], ASK_TAX[:16])
        term.picture("resume")


def side_by_side(shell):
    with shell(columns=120, rows=22) as term:
        term.until("placet [a] >")
        term.line(ASK_TAX)
        term.settled("apply?", "[Apply]")
        term.take("r", "Review")
        term.until("TAX = 0.21", "? keys")
        term.key("s")
        term.until("TAX = 0.19", "TAX = 0.21")
        term.picture("review-side")


def commit(shell):
    """The question with a commit and a protected path, and the review of the commit."""
    with shell(rows=46) as term:
        term.until("placet [a] >")
        term.line(ASK_TAX)
        term.settled("apply?", "[Apply]")
        term.take("a", "Apply")
        term.until("applied changes to 2 files", "placet [a] >")
        term.line("/clear")
        term.until("placet [a] >")
        term.line(ASK_COMMIT)
        term.settled("apply?", "Set the tax", ".github/workflows/test.yml")
        term.picture("question")
        term.resize(34)
        term.settled("apply?")
        term.take("r", "Review")
        term.until("? keys")
        term.picture("review-commit")


CHECKS = """
[checks.test]
command = "PYTHONPATH=src python3 -B tests/test_price.py"
when = "apply"
required = true

[checks.types]
command = "python3 -B -m compileall -q src"
when = "apply"
"""


CHECK = CHECKS.partition("[checks.types]")[0]


def checks(shell):
    """The question whose checks passed, what a check wrote that failed, and the same in the review."""
    with shell(rows=34, settings=CHECKS) as term:
        term.until("placet [a] >")
        term.line(ASK_TAX_AND_TEST)
        term.settled("apply?", "test (required): passed", "types: passed", "[Apply]")
        term.picture("question-checks")
        term.take("r", "Review")
        term.until("TAX = 0.21", "? keys")
        # Without the new rate the test fails: only what is accepted is checked.
        term.key("a", "r")
        term.until("2/2 hunks")
        term.key("t")
        # A narrow title has no room for the second word.
        failed = "checks failed" if (shell.columns or 80) >= 80 else "checks"
        term.until("failed on what you accepted", failed, "2/2 hunks")
        term.key("Up")
        term.until(failed, "? keys")
        term.picture("review-checks")
        term.key("o")
        term.until("AssertionError")
        term.picture("check-output")


def tries(shell):
    """Two tries of one file: their list, and one against the other."""
    with shell(rows=24) as term:
        for name, ask in (("round", ASK_ROUND), ("decimal", ASK_DECIMAL)):
            term.until("placet [a")
            term.line(f"/try {name}")
            term.until(f"placet [a] {name}")
            term.line(ask)
            term.settled("apply?", "Keep pending")
            term.take("k", "Keep pending")
            term.until(f"placet [a] {name} ±1 >")
        term.resize(14)
        term.line("/try")
        term.until("compares two", "placet [a] decimal")
        term.picture("tries")
    asked = [["--try", name, "--mode", "ask", "-p", ask] for name, ask in (("round", ASK_ROUND), ("decimal", ASK_DECIMAL))]
    with shell(rows=24, before=asked, words=["compare", "round", "decimal"]) as term:
        term.until("Decimal", "? keys")
        term.picture("compare")


def permission(shell):
    with shell(rows=16) as term:
        term.until("placet [a] >")
        term.line(ASK_NETWORK)
        term.settled("Allow this command?", "Yes")
        term.picture("permission")


def answer(shell):
    with shell(rows=34) as term:
        term.until("placet [a] >")
        term.line(ASK_EXPLAIN)
        term.until("constant TAX", "placet [a] >")
        term.picture("answer")


def picker(shell):
    with shell(model=False, columns=100, rows=18) as term:
        term.until("placet [a] >")
        term.type("look at ")
        term.key("ctrl+p")
        term.until("src/price.py")
        term.type("pr")
        # The preview needs 100 columns.
        term.until("src/price.py", *(["TAX = 0.19"] if (shell.columns or 100) >= 100 else []))
        term.picture("picker")


def tour(shell):
    """All steps of the tour, at the pace of somebody who reads; recorded."""
    size = (80, 28)
    with shell(rows=size[1], model=False, words=["tour"], record=True) as term:
        term.until("Tour, 1 of 4", "placet [a] >")
        if shell.columns:
            term.picture("tour")
        term.rest(2.5)
        term.key("Return")
        term.settled("apply?", "[Apply]")
        term.rest(2)
        term.key("Right")
        term.rest(1)
        term.take("r", "Review")
        term.until("TAX = 0.21", "? keys")
        term.rest(2)
        term.key("a")
        term.rest(1)
        term.key("c")
        term.type("keep the rounding", delay=60)
        term.rest(0.5)
        term.key("Return")
        term.rest(1)
        term.key("r")
        term.until("2/2 hunks")
        term.rest(1)
        term.key("Return")
        term.settled("[Apply]")
        term.rest(2)
        term.key("Return")
        term.until("Tour, 2 of 4", "run rm -rf tests README.md")
        term.rest(2)
        term.key("Return")
        term.settled("apply?", "D README.md", "[Apply]")
        term.rest(2.5)
        term.take("a", "Apply")
        term.until("Tour, 3 of 4", "/undo")
        term.rest(1.5)
        term.key("Return")
        term.until("Tour, 4 of 4", "undid")
        if shell.columns:
            term.picture("tour-end")
        term.rest(3)
        term.save_recording("tour")
        # The line is `exit`: the recorder does not end when its terminal is closed.
        term.key("Return")
        term.rest(1)


def run(shell):
    """An agent with its permissions off, sent back once because a check failed, applied, and undone; recorded."""
    with shell(rows=28, model=False, settings=CHECK, agent="claude", record=True) as term:
        term.until("$")
        term.rest(1)
        term.type('placet run claude --dangerously-skip-permissions \\', delay=30)
        term.key("Return")
        term.type('"The tax is 21 % now. Change it and commit."', delay=30)
        term.rest(0.5)
        term.key("Return")
        term.settled("apply?", "test (required): failed", "[Apply]")
        if shell.columns:
            term.picture("run")
        term.rest(3.5)
        term.take("s", "Send back")
        term.until("message to claude")
        term.type("The test expects the old price.", delay=40)
        term.rest(0.7)
        term.key("Return")
        term.settled("apply?", "test (required): passed", "Correct the test", "[Apply]")
        term.rest(3.5)
        term.take("a", "Apply")
        term.until("applied changes to", "$")
        term.rest(2)
        term.type("git log --oneline", delay=40)
        term.key("Return")
        term.until("Correct the test")
        term.rest(1.5)
        term.type("placet undo && git log --oneline", delay=40)
        term.key("Return")
        term.until("undid", "Prices")
        term.rest(3)
        term.save_recording("run")
        term.line("exit")
        term.rest(1)


def menus(shell):
    """The menus under the line: commands and files, while they are typed."""
    with shell(model=False, rows=16) as term:
        term.until("placet [a] >")
        term.type("/re")
        term.until("/review", "/resume")
        term.picture("menu-commands")
        term.key("Escape")
        term.key("ctrl+u")
        term.type("look at @pr")
        term.until("src/price.py")
        term.picture("menu-files")


def rewind(shell):
    """The list of turns to go back to."""
    with shell(rows=46) as term:
        term.until("placet [a] >")
        term.line(ASK_TAX)
        term.settled("apply?", "[Apply]")
        term.take("a", "Apply")
        term.until("/undo reverts", "placet [a")
        term.line(ASK_EXPLAIN)
        term.until("constant TAX", "placet [a")
        term.resize(20)
        term.line("/rewind")
        # The list cuts long texts.
        term.until(ASK_TAX[:16], ASK_EXPLAIN[:16], "Esc")
        term.picture("rewind")


# The setting that came with a screen: an older program is not asked to show it.
menus.needs = rewind.needs = "ui.menus"

SCENES = [start, conversation, side_by_side, commit, checks, tries, permission, answer, picker, menus, rewind, tour, run]
