"""A recording of a terminal: an animation of what xterm showed, and an asciinema cast of what the program wrote."""

import codecs
import json
import os
import subprocess
import threading
import time

from terminal import convert

# A frame that shows for longer than this is read already.
LONGEST = 3.5


class Recorder:
    """Takes a frame whenever the window looks different."""

    def __init__(self, term):
        self.term = term
        self.frames = []
        self.ended = False
        self.thread = threading.Thread(target=self._watch, daemon=True)
        self.thread.start()

    def _watch(self):
        before = None
        while not self.ended:
            taken = time.time()
            command = ["import", "-window", self.term.window, "bmp:-"]
            image = subprocess.run(command, env=self.term.display.env, capture_output=True, check=False).stdout
            if image and image != before:
                before = image
                file = os.path.join(self.term.work, f"frame-{len(self.frames):04}.bmp")
                with open(file, "wb") as out:
                    out.write(image)
                self.frames.append((taken, file))
            time.sleep(0.04)

    def save(self, file):
        """Writes the animation; the last frame shows for a while before it begins again. Returns its length."""
        self.ended = True
        self.thread.join()
        ends = [taken for taken, _ in self.frames[1:]] + [self.frames[-1][0] + LONGEST]
        words, length = [], 0.0
        for (taken, frame), end in zip(self.frames, ends):
            shown = min(end - taken, LONGEST)
            length += shown
            words += ["-delay", str(max(2, round(shown * 100))), frame]
        # One palette for all frames: with one for each, differences between frames lose their colours.
        convert(*words, "+dither", "-colors", "48", "+remap", "-loop", "0", "-layers", "Optimize", file)
        return length


def cast(output, timing, size, title, file):
    """An asciinema cast, version 2, of what `script` logged."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    with open(output, "rb") as log:
        data = log.read()
    # The log of `script` begins and ends with a line of its own.
    data = data[data.index(b"\n") + 1 :]
    now, at, events = 0.0, 0, []
    with open(timing, encoding="ascii") as lines:
        for line in lines:
            pause, count = line.split()
            now += min(float(pause), LONGEST)
            text = decoder.decode(data[at : at + int(count)])
            at += int(count)
            if text:
                events.append([round(now, 3), "o", text])
    header = {"version": 2, "width": size[0], "height": size[1], "title": title, "env": {"TERM": "xterm-256color"}}
    with open(file, "w", encoding="utf-8") as out:
        for entry in [header, *events]:
            out.write(json.dumps(entry, ensure_ascii=False) + "\n")
