"""A real xterm on a display of its own: keys go in, and the screen comes out as text and as a picture.

xterm itself prints its screen for `until`, so that what is waited for is what the picture shows.
"""

import os
import shlex
import subprocess
import tempfile
import time

PATIENCE = float(os.environ.get("PICTURES_PATIENCE", "30"))
# What a question shows while no Enter answers it.
MOMENT = "a moment"
COLOURS = {"dark": ("#d8d8d8", "#161616"), "light": ("#1c1c1c", "#fafafa")}


# In tmux nobody knows the background: placet does not ask there.
TERMS = {"xterm": "xterm", "tmux": "tmux-256color"}


class ScreenError(Exception):
    """The screen does not show what the picture is of."""


class Display:
    """An X server without a screen; xterm and xdotool of one thread use it."""

    def __init__(self):
        # The server chooses a free number itself: others may start theirs at the same moment.
        reader, writer = os.pipe()
        self.server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(writer), "-screen", "0", "1800x1300x24", "-nolisten", "tcp", "-noreset"],
            pass_fds=[writer],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(writer)
        with os.fdopen(reader) as number:
            self.name = f":{number.readline().strip()}"
        if self.name == ":":
            raise ScreenError("Xvfb did not start")
        self.env = dict(os.environ, DISPLAY=self.name)

    def close(self):
        self.server.terminate()
        self.server.wait()


class Terminal:
    """An xterm in which a program runs."""

    def __init__(self, display, command, cwd, home, theme="dark", size=(80, 24), term="truecolor", path=None):
        self.display = display
        self.recorder = None
        self.columns = size[0]
        self.work = tempfile.mkdtemp(prefix="placet-pictures-")
        self.text_file = os.path.join(self.work, "screen")
        foreground, background = COLOURS[theme]
        env = {
            "PATH": path or os.environ["PATH"],
            "HOME": home,
            "DISPLAY": display.name,
            "LANG": "C.UTF-8",
            "TERM": TERMS.get(term, "xterm-256color"),
            "TZ": "UTC",
        }
        if term in ("truecolor", "tmux"):
            env["COLORTERM"] = "truecolor"
        resources = [
            f"xterm*printerCommand: cat > {self.text_file}.new; mv {self.text_file}.new {self.text_file}",
            "xterm*printerAutoClose: true",
            "xterm*printAttributes: 0",
            "xterm*VT100.translations: #override Ctrl Shift <Key>F12: print()",
            "xterm*directColor: true",
            "xterm*metaSendsEscape: true",
            "xterm*cursorBlink: false",
            "xterm*internalBorder: 6",
        ]
        # xterm sets TERM and COLORTERM itself: `env` gives the program those that the picture is about.
        variables = [f"{name}={value}" for name, value in env.items()]
        self.process = subprocess.Popen(
            ["xterm", "-geometry", f"{size[0]}x{size[1]}", "-fa", "DejaVu Sans Mono", "-fs", "11"]
            + ["-fg", foreground, "-bg", background, "-cr", foreground]
            + [word for line in resources for word in ("-xrm", line)]
            + ["-e", "env", "-i", *variables, *command],
            env=dict(env, PATH=os.environ["PATH"]),
            cwd=cwd,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        search = ["search", "--onlyvisible", "--class", "xterm"]
        windows = wait(lambda: self._xdotool(*search).stdout.split(), f"the window of {shlex.join(command)}")
        self.window = windows[0]
        self._xdotool("windowfocus", "--sync", self.window)

    def _xdotool(self, *words):
        return subprocess.run(["xdotool", *words], env=self.display.env, capture_output=True, text=True, check=False)

    def screen(self):
        """What xterm shows, as text."""
        if os.path.exists(self.text_file):
            os.remove(self.text_file)
        self._xdotool("key", "ctrl+shift+F12")
        try:
            wait(lambda: os.path.exists(self.text_file), "xterm's text", 1)
        except ScreenError:
            return ""
        with open(self.text_file, encoding="utf-8", errors="replace") as file:
            return file.read().replace("\f", "").replace("\r", "")

    def until(self, *texts, patience=PATIENCE):
        """Waits until the screen shows all texts and has stopped changing."""
        end = time.time() + patience
        before = None
        while True:
            screen = self.screen()
            # A line may be broken at a blank, and the line that is typed inside a word.
            squeezed = "".join(screen.split())
            if all(text in screen or "".join(text.split()) in squeezed for text in texts) and screen == before:
                return screen
            before = screen
            if time.time() > end or self.process.poll() is not None:
                missing = [text for text in texts if text not in screen]
                raise ScreenError(f"the screen does not show {missing}:\n{screen}")
            time.sleep(0.1)

    def resize(self, rows):
        """Other rows, and the same columns."""
        self._xdotool("windowsize", "--usehints", self.window, str(self.columns), str(rows))
        time.sleep(0.3)

    def settled(self, *texts):
        """The same for a question: after the moment in which no Enter counts, so that its picture does not show that."""
        end = time.time() + PATIENCE
        while MOMENT in self.until(*texts):
            if time.time() > end:
                raise ScreenError(f"the question still shows `{MOMENT}`")
            time.sleep(0.2)

    def rest(self, seconds):
        """A person reads. Only a recording shows it."""
        if self.recorder is not None:
            time.sleep(seconds)

    def type(self, text, delay=8):
        self._xdotool("type", "--delay", str(delay), "--", text)

    def key(self, *names):
        for name in names:
            self._xdotool("key", name)
            time.sleep(0.08)

    def take(self, letter, answer):
        """Marks the answer that begins like this, by Alt and its letter, and takes it once an Enter counts."""
        if f"[{answer}" not in self.screen():
            self.key(f"alt+{letter}")
        self.settled(f"[{answer}")
        self.key("Return")

    def line(self, text):
        self.type(text)
        self.until(text.split()[-1])
        self.key("Return")

    def picture(self, file, colours=64):
        """The window as a PNG with a palette."""
        subprocess.run(["import", "-window", self.window, f"{self.work}/full.png"], env=self.display.env, check=True)
        convert(f"{self.work}/full.png", "-strip", "-colors", str(colours), "-define", "png:compression-level=9", f"png8:{file}")

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(3)
        except subprocess.TimeoutExpired:
            self.process.kill()
        subprocess.run(["rm", "-rf", self.work], check=False)


def convert(*words):
    subprocess.run(["convert", *words], check=True)


def wait(condition, what, patience=20.0):
    """What `condition` returns once that is true."""
    end = time.time() + patience
    while not (found := condition()):
        if time.time() > end:
            raise ScreenError(f"waited {patience:.0f} s for {what}")
        time.sleep(0.02)
    return found
