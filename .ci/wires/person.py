"""placet as a person starts it: in a directory with a few files, in an empty home, with nothing but loopback."""

import base64
import os
import pathlib
import subprocess
import zlib

DEADLINE = 60
VARIABLES = {"openai": "OPENAI_API_KEY", "openai-chat": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY", "gemini": "GEMINI_API_KEY"}
NOTE = "the heron stood in the reeds\n"


def png(side=8):
    """A red square, made here so that no picture lies about."""
    def chunk(kind, data):
        body = kind + data
        return len(data).to_bytes(4, "big") + body + zlib.crc32(body).to_bytes(4, "big")
    size = side.to_bytes(4, "big")
    rows = b"".join(b"\0" + b"\xdc\x14\x14" * side for _ in range(side))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size + size + b"\x08\x02\0\0\0") + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


PDF = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\nno real one\n%%EOF\n"
PAPER = base64.b64encode(PDF).decode()
PICTURE = base64.b64encode(png()).decode()


class Place:
    def __init__(self, program, work):
        self.program, self.work = program, pathlib.Path(work)
        self.tree = self.work / "tree"
        for directory in (self.tree, self.work / "home"):
            directory.mkdir(parents=True)
        (self.tree / "note.txt").write_text(NOTE)
        (self.tree / "red.png").write_bytes(png())
        (self.tree / "paper.pdf").write_bytes(PDF)

    def placet(self, provider, url, *args, key="sk-conformance"):
        env = {k: v for k, v in os.environ.items() if not k.endswith(("_API_KEY", "_proxy", "_PROXY"))}
        env |= {"HOME": str(self.work / "home"), "XDG_CONFIG_HOME": "", "XDG_STATE_HOME": ""}
        env |= {VARIABLES.get(provider, provider.upper().replace("-", "_") + "_API_KEY"): key}
        line = [self.program, *args, "--provider", provider, "--base-url", url]
        return subprocess.run(line, cwd=self.tree, env=env, capture_output=True, text=True, timeout=DEADLINE, stdin=subprocess.DEVNULL)
