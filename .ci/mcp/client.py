#!/usr/bin/env python3
"""The client of the conformance suite of the protocol: placet, used as a person uses it.

The suite starts it with the address of a server as its last word. It writes that address into settings of its own, and
then types what a person would type: `placet mcp test`, `placet mcp login` when placet says so, and a call."""
import fcntl, json, os, pty, re, select, struct, subprocess, sys, tempfile, termios, time, urllib.request

PLACET = os.environ["PLACET"]
SCENARIO = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
CONTEXT = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
# Metadata of programs are found at addresses of https. The suite names this one.
DOCUMENT = "https://conformance-test.local/client-metadata.json"
CALLS = {
    "tools_call": 'add_numbers {"a": 5, "b": 3}',
    "sse-retry": "test_reconnection {}",
    "elicitation-sep1034-client-defaults": "test_client_elicitation_defaults {}",
}
# How often a person logs in again because a right is missing.
LOGINS = 3


def browse(address):
    """A browser in which the person is logged in."""
    urllib.request.urlopen(address, timeout=20).read()


class Person:
    def __init__(self, home, url):
        self.home = home
        self.env = dict(os.environ, HOME=home, BROWSER=f"{sys.executable} {os.path.abspath(__file__)} browse %s", LOGIN_SECRET=CONTEXT.get("client_secret", ""))
        for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"]:
            self.env.pop(name, None)
        settings = f'provider = "offline"\n[mcp.servers.s]\nurl = {json.dumps(url)}\n'
        if "client_id" in CONTEXT:
            settings += f'oauth_client_id = {json.dumps(CONTEXT["client_id"])}\noauth_client_secret = "${{LOGIN_SECRET}}"\n'
        elif SCENARIO == "auth/basic-cimd":
            settings += f'oauth_client_id = "{DOCUMENT}"\n'
        os.makedirs(f"{home}/.config/placet")
        os.makedirs(f"{home}/work")
        with open(f"{home}/.config/placet/config.toml", "w") as out:
            out.write(settings)

    def types(self, *words):
        done = subprocess.run([PLACET, *words], cwd=f"{self.home}/work", env=self.env, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
        print("$ placet", *words, "\n", done.stdout, done.stderr, file=sys.stderr)
        return done

    def until_logged_in(self, *words):
        """A command, with a login whenever placet asks for one."""
        for _ in range(LOGINS):
            done = self.types(*words)
            if "placet mcp login s" not in done.stdout + done.stderr:
                return done
            if self.types("mcp", "login", "s").returncode != 0:
                break
        return done

    def answers(self, call):
        """A call in the shell, in which every form gets the answers that it proposes."""
        import pyte

        screen = pyte.Screen(100, 90)
        stream = pyte.ByteStream(screen)
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(f"{self.home}/work")
            os.execve(PLACET, [PLACET, "--mode", "ask", "--allow", "mcp(*)"], dict(self.env, TERM="xterm-256color"))
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 90, 100, 0, 0))
        done, end = "", time.time() + 40
        while time.time() < end:
            if select.select([terminal], [], [], 0.8)[0]:
                try:
                    stream.feed(os.read(terminal, 65536))
                except OSError:
                    break
                continue
            # It is quiet: the person reads, and answers.
            shown = "\n".join(line.rstrip() for line in screen.display if line.strip())
            keys = self.keys(shown, call, done)
            if keys is None:
                break
            if shown != done and keys:
                done = shown
                for key in keys:
                    os.write(terminal, key.encode())
                    time.sleep(0.2)
        print(shown, file=sys.stderr)
        os.write(terminal, b"\x04")
        os.close(terminal)
        os.waitpid(pid, 0)
        return 0

    @staticmethod
    def keys(shown, call, done):
        """What a person types at this screen, key by key; nothing while it is unclear, and None at the end."""
        question = shown.rsplit("\n──", 1)[-1]
        if not done:
            return [f"call s__{call}\r"] if "◆ placet" in shown else []
        # Alt and the letter mark the yes, and Enter takes it once it says so.
        if re.search(r"\[(Answer|Send)\b.*Enter answers", question):
            return ["\r"]
        if re.search(r"\b(Answer|Send)\b.*Enter answers", question):
            return ["\x1by"]
        if proposed := re.search(r"proposes (.+?)(?:; |$)", question, re.M):
            number = re.search(rf"^ *(\d) {re.escape(proposed[1].strip())}$", question, re.M)
            return [number[1] if number else proposed[1].strip(), "\r"]
        return None if "Elicitation" in shown.split(call)[-1] else []


def main():
    if sys.argv[1] == "browse":
        return browse(sys.argv[2])
    with tempfile.TemporaryDirectory() as home:
        person = Person(home, sys.argv[-1])
        call = CALLS.get(SCENARIO, "test-tool {}")
        tested = person.until_logged_in("mcp", "test", "s")
        if tested.returncode != 0:
            return 1
        if SCENARIO == "initialize":
            return 0
        if SCENARIO.startswith("elicitation"):
            return person.answers(call)
        done = person.until_logged_in("--mode", "ask", "--allow", "mcp(*)", "-p", f"call s__{call}")
        return 0 if done.returncode == 0 else 1


sys.exit(main())
