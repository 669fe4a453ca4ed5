"""What each agent needs to run against the scripted server: its configuration, its environment and its command.

`hosts` are the names that the agent uses with its default settings; with --private-network they lead to the server.
Otherwise the agent is given the server's address on localhost in its own configuration.
"""

import json
import os

PROMPT = "Add a discount in percent to Cart.total, describe it in the README, remove legacy.py and commit."
KEY = "sk-scripted-key-of-no-account"
KEY_VARIABLES = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"]


class Agent:
    name = package = version = ""
    hosts = []
    node = 20           # the oldest node that runs it; 0 where the package is a native program
    needs_script = False  # whether the script of its npm package puts the program in its place
    needs_optional = True  # whether its program lies in an optional package, as those for one platform do
    tools = True        # False where edits are read from the text, and no command is run

    def configure(self, home, url):
        """Writes the configuration below HOME. `url` is None if the default hosts lead to the server."""

    def environment(self, url):
        """The variables. The key is in one of KEY_VARIABLES, and run.py leaves it out with --key-files."""
        return {}

    def key_file(self, home):
        """Writes the key where a login of the agent would have put it."""

    def headless(self, prompt):
        """The command without a screen of its own and without questions."""
        raise NotImplementedError

    keep = []           # what a new home directory needs for the conversation to go on

    def resume(self, message):
        """The headless command that goes on with the last conversation, or None."""
        return None

    def screen(self):
        """The command with the agent's own screen, as a person starts it."""
        return [self.name]

    ready = None        # what its screen shows when it waits for a message; None where interactive.py does not try it
    first_screens = []  # what it shows before that, with the keys that answer
    leave = ["C-c", "C-c"]  # keys, or a command of its own, one after the other until it has ended
    own_rows = []       # files of its own that it makes in the workspace
    own_commits = []    # subjects of commits that it makes by itself
    asks = []           # what its screen asks before and after its answer, with the keys that answer
    more_hosts = []     # hosts that its preset does not have

    def configure_screen(self, home):
        """What its screen needs in addition to configure()."""

    def workspace(self, home):
        return os.path.join(home, "src", "cart")

    def write(self, home, path, content):
        path = os.path.join(home, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(content if isinstance(content, str) else json.dumps(content, indent=2) + "\n")


class Codex(Agent):
    name, package, version = "codex", "@openai/codex", "0.169.0"
    hosts = ["api.openai.com", "chatgpt.com"]

    def configure(self, home, url):
        lines = ['model = "gpt-5.1-codex"', "check_for_update_on_startup = false"]
        if url:
            lines += ['model_provider = "scripted"']
        lines += [f'[projects."{self.workspace(home)}"]', 'trust_level = "trusted"']
        if url:
            lines += ["[model_providers.scripted]", 'name = "scripted"', f'base_url = "{url}/v1"', 'wire_api = "responses"', 'env_key = "OPENAI_API_KEY"']
        self.write(home, ".codex/config.toml", "\n".join(lines) + "\n")

    def environment(self, url):
        return {"OPENAI_API_KEY": KEY}

    def key_file(self, home):
        self.write(home, ".codex/auth.json", {"auth_mode": "apikey", "OPENAI_API_KEY": KEY})

    def headless(self, prompt):
        # Without the flag codex starts a daemon that outlives it.
        return ["codex", "exec", "--disable", "daemon_auto_start", "--dangerously-bypass-approvals-and-sandbox", prompt]

    keep = [".codex/sessions"]

    def resume(self, message):
        return ["codex", "exec", "--disable", "daemon_auto_start", "--dangerously-bypass-approvals-and-sandbox", "resume", "--last", message]

    def screen(self):
        return ["codex", "--dangerously-bypass-approvals-and-sandbox"]

    ready = "Ask Codex"
    leave = ["C-c", "C-c", "C-c"]


class Claude(Agent):
    name, package, version, node = "claude", "@anthropic-ai/claude-code", "2.1.332", 0
    needs_script = True
    hosts = ["api.anthropic.com"]

    def configure(self, home, url):
        # What the first start asks is answered here; `customApiKeyResponses` has the last 20 characters of the key.
        self.write(home, ".claude.json", {
            "hasCompletedOnboarding": True, "theme": "dark", "autoUpdates": False, "installMethod": "native",
            "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
            "projects": {self.workspace(home): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}}})

    def environment(self, url):
        env = {"ANTHROPIC_API_KEY": KEY, "DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
        # Root may use the flag of headless() only inside a sandbox.
        env["IS_SANDBOX"] = "1"
        return {**env, "ANTHROPIC_BASE_URL": url} if url else env

    def key_file(self, home):
        self.write(home, ".claude/settings.json", {"apiKeyHelper": f"echo {KEY}"})

    def headless(self, prompt):
        return ["claude", "--dangerously-skip-permissions", "-p", prompt]

    keep = [".claude/projects"]

    def resume(self, message):
        return ["claude", "--dangerously-skip-permissions", "--continue", "-p", message]

    def configure_screen(self, home):
        # The question about --dangerously-skip-permissions is answered.
        path = os.path.join(home, ".claude/settings.json")
        with open(path) as file:
            settings = json.load(file)
        self.write(home, ".claude/settings.json", {**settings, "skipDangerousModePermissionPrompt": True})

    def screen(self):
        return ["claude", "--dangerously-skip-permissions"]

    ready = "bypass permissions on"
    leave = ["/exit", "Enter", "C-c", "C-c"]


class Gemini(Agent):
    name, package, version = "gemini", "@google/gemini-cli", "0.61.0"
    needs_optional = False
    hosts = ["generativelanguage.googleapis.com"]

    def configure(self, home, url):
        self.write(home, ".gemini/settings.json", {
            "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
            "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False, "disableAutoUpdate": True},
            "privacy": {"usageStatisticsEnabled": False}, "telemetry": {"enabled": False}, "ui": {"hideTips": False}})

    def environment(self, url):
        env = {"GEMINI_API_KEY": KEY}
        return {**env, "GOOGLE_GEMINI_BASE_URL": url} if url else env

    def key_file(self, home):
        self.write(home, ".gemini/.env", f"GEMINI_API_KEY={KEY}\n")

    def headless(self, prompt):
        return ["gemini", "-m", "gemini-2.5-pro", "--yolo", "--skip-trust", "-p", prompt]

    keep = [".gemini/tmp", ".gemini/history", ".gemini/projects.json"]

    def resume(self, message):
        return ["gemini", "-m", "gemini-2.5-pro", "--yolo", "--skip-trust", "--resume", "latest", "-p", message]

    def screen(self):
        return ["gemini", "-m", "gemini-2.5-pro", "--yolo"]

    ready = "Type your message"
    leave = ["/quit", "Enter", "C-c", "C-c"]


class Opencode(Agent):
    name, package, version, node = "opencode", "opencode-ai", "1.18.33", 0
    needs_script = True
    hosts = ["api.anthropic.com"]

    def configure(self, home, url):
        config = {"$schema": "https://opencode.ai/config.json", "autoupdate": False, "share": "disabled"}
        if url:
            config["model"] = "scripted/scripted"
            config["provider"] = {"scripted": {
                "npm": "@ai-sdk/openai-compatible", "name": "Scripted", "options": {"baseURL": f"{url}/v1", "apiKey": KEY},
                "models": {"scripted": {"name": "Scripted", "limit": {"context": 200000, "output": 8000}}}}}
        else:
            config["model"] = "anthropic/claude-sonnet-4-5"
        self.write(home, ".config/opencode/opencode.json", config)

    def environment(self, url):
        env = {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}
        return env if url else {**env, "ANTHROPIC_API_KEY": KEY}

    def key_file(self, home):
        self.write(home, ".local/share/opencode/auth.json", {"anthropic": {"type": "api", "key": KEY}})

    def headless(self, prompt):
        return ["opencode", "run", "--auto", prompt]

    keep = [".local/share/opencode"]

    def resume(self, message):
        return ["opencode", "run", "--auto", "--continue", message]

    def screen(self):
        return ["opencode"]

    ready = "commands"
    leave = ["/exit", "Enter", "C-c", "C-c"]
    own_rows = [".git/opencode"]


class Pi(Agent):
    name, package, version, node = "pi", "@earendil-works/pi-coding-agent", "0.87.1", 22
    hosts = ["api.anthropic.com"]

    def configure(self, home, url):
        if url:
            self.write(home, ".pi/agent/models.json", {"providers": {"scripted": {
                "baseUrl": f"{url}/v1", "api": "openai-completions", "apiKey": KEY,
                "models": [{"id": "scripted", "name": "Scripted", "contextWindow": 200000, "maxTokens": 8000}]}}})

    def environment(self, url):
        return {"PI_SKIP_VERSION_CHECK": "1", "PI_TELEMETRY": "0", **({} if url else {"ANTHROPIC_API_KEY": KEY})}

    def key_file(self, home):
        self.write(home, ".pi/agent/auth.json", {"anthropic": {"type": "api_key", "key": KEY}})

    def headless(self, prompt):
        return ["pi", "-p", prompt]

    keep = [".pi/agent/sessions"]

    def resume(self, message):
        return ["pi", "--continue", "-p", message]

    def screen(self):
        return ["pi"]

    ready = "claude-"
    leave = ["C-c", "C-c", "C-d"]


class Aider(Agent):
    """From PyPI. It reads edits from the text, commits by itself and runs no command without a person."""
    name, package, version, node, tools = "aider", "aider-chat", "0.86.2", 0, False
    hosts = ["api.openai.com"]

    def environment(self, url):
        return {"OPENAI_API_KEY": KEY, **({"OPENAI_API_BASE": f"{url}/v1"} if url else {})}

    def key_file(self, home):
        self.write(home, ".aider.conf.yml", f"openai-api-key: {KEY}\n")

    def headless(self, prompt):
        return ["aider", "--model", "openai/scripted", "--edit-format", "diff", "--yes-always", "--no-check-update", "--no-analytics",
                "--no-show-model-warnings", "--no-gitignore", "--map-tokens", "0", "--message", prompt, "cart.py", "README.md"]

    def screen(self):
        return ["aider", "--model", "openai/scripted", "--edit-format", "diff", "--no-analytics", "--no-show-model-warnings",
                "--no-gitignore", "--map-tokens", "0", "cart.py", "README.md"]

    first_screens = [("see what's new in this version?", ["n", "Enter"])]
    ready = "Added README.md to the chat"
    asks = [("Add file to the chat?", ["n", "Enter"]), ("Run shell command?", ["y", "Enter"]), ("Add command output to the chat?", ["n", "Enter"])]
    leave = ["/exit", "Enter", "C-c", "C-c"]
    own_rows = [".aider.chat.history.md", ".aider.input.history"]
    own_commits = ["Cart discounts"]


class Qwen(Agent):
    name, package, version, node = "qwen", "@qwen-code/qwen-code", "0.24.4", 22
    hosts = ["api.openai.com"]

    def configure(self, home, url):
        self.write(home, ".qwen/settings.json", {
            "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}},
            "general": {"enableAutoUpdate": False, "disableAutoUpdate": True, "disableUpdateNag": True},
            "privacy": {"usageStatisticsEnabled": False}, "telemetry": {"enabled": False}, "model": {"name": "gpt-5-mini"}})

    def environment(self, url):
        return {"OPENAI_API_KEY": KEY, "OPENAI_MODEL": "gpt-5-mini", "OPENAI_BASE_URL": f"{url or 'https://api.openai.com'}/v1"}

    def key_file(self, home):
        self.write(home, ".qwen/.env", f"OPENAI_API_KEY={KEY}\n")

    def headless(self, prompt):
        return ["qwen", "--yolo", "-p", prompt]

    keep = [".qwen/projects", ".qwen/tmp"]

    def resume(self, message):
        return ["qwen", "--yolo", "--continue", "-p", message]

    def screen(self):
        return ["qwen", "--yolo"]

    ready = "Type your message"
    leave = ["/quit", "Enter", "C-c", "C-c"]


AGENTS = {agent.name: agent for agent in (Codex(), Claude(), Gemini(), Opencode(), Pi(), Aider(), Qwen())}
