"""From neutral calls to the tools that an agent offers.

A script says what the model does in four forms that belong to no agent:

    {"shell": "COMMAND"}, or {"shell": {"command": "COMMAND", "escalate": "WHY"}} to ask to run it outside the agent's sandbox
    {"read":  {"path": P}}
    {"write": {"path": P, "content": TEXT}}
    {"edit":  {"path": P, "old": LINES, "new": LINES}}

Each agent has its own names and arguments for them. The request lists the tools with their schemas, so the names are
chosen from the request and not from a table per agent: a new version that renames an argument keeps working.
"""

import os
import shlex

SHELL = ["Bash", "bash", "run_shell_command", "exec_command", "shell_command", "shell", "local_shell", "execute_command", "run_command"]
READ = ["Read", "read", "read_file", "view"]
WRITE = ["Write", "write", "write_file", "create_file"]
EDIT = ["Edit", "edit", "replace", "edit_file", "str_replace"]
PATCH = ["apply_patch", "patch"]

PATHS = ["file_path", "filePath", "absolute_path", "path"]
CONTENTS = ["content", "contents", "file_text"]
OLDS = ["old_string", "oldString", "oldText", "old_text", "old_str"]
NEWS = ["new_string", "newString", "newText", "new_text", "new_str"]


class Tool:
    """One tool of a request: its name, the schema of its arguments, and whether it takes plain text instead."""

    def __init__(self, name, schema=None, freeform=False):
        self.name, self.freeform = name, freeform
        self.schema = schema or {}
        self.properties = self.schema.get("properties") or {}


def is_agent(tools):
    """Whether a request belongs to the conversation. A request for a title or a summary offers no way to run a command."""
    return any(name in tools for name in SHELL)


def translate(call, tools, workspace):
    """The calls of the agent for one neutral call, as pairs of a tool name and its arguments."""
    (kind, value), = call.items()
    if kind == "shell":
        return [shell(value, tools)]
    path = os.path.join(workspace, value["path"])
    if kind == "read":
        tool = first(READ, tools)
        return [fill(tool, {one(PATHS, tool): path})] if tool else [shell("cat " + shlex.quote(path), tools)]
    if kind == "write":
        tool = first(WRITE, tools)
        if tool:
            return [fill(tool, {one(PATHS, tool): path, one(CONTENTS, tool): value["content"]})]
        added = "".join("+" + line + "\n" for line in value["content"].splitlines())
        return [patch(f"*** Add File: {value['path']}\n{added}", tools)]
    if kind == "edit":
        tool = first(EDIT, tools)
        if tool:
            return [edit(tool, path, value)]
        lines = ["-" + line for line in value["old"].splitlines()] + ["+" + line for line in value["new"].splitlines()]
        return [patch(f"*** Update File: {value['path']}\n@@\n" + "".join(line + "\n" for line in lines), tools)]
    raise ValueError(f"the script has an unknown kind of call: {kind}")


def edit(tool, path, value):
    arguments = {one(PATHS, tool): path}
    inner = tool.properties.get("edits")
    if inner:  # a list of replacements in one file
        item = Tool("", inner.get("items"))
        arguments["edits"] = [{one(OLDS, item): value["old"], one(NEWS, item): value["new"]}]
    else:
        arguments.update({one(OLDS, tool): value["old"], one(NEWS, tool): value["new"]})
    return fill(tool, arguments)


def patch(body, tools):
    text = f"*** Begin Patch\n{body}*** End Patch\n"
    tool = first(PATCH, tools)
    if tool is None:  # an agent with a shell only reads the patch from its standard input
        return shell(f"apply_patch <<'EOF'\n{text}EOF", tools)
    if tool.freeform:
        return tool.name, text
    return fill(tool, {next(iter(tool.properties), "input"): text})


def shell(command, tools):
    tool = first(SHELL, tools)
    name = one(["command", "cmd"], tool)
    more = {}
    if isinstance(command, dict):
        if "sandbox_permissions" in tool.properties:
            more = {"sandbox_permissions": "require_escalated", "justification": command["escalate"]}
        command = command["command"]
    if tool.properties.get(name, {}).get("type") == "array":
        command = ["bash", "-lc", command]
    return fill(tool, {name: command, **more})


def first(names, tools):
    return next((tools[name] for name in names if name in tools), None)


def one(names, tool):
    return next((name for name in names if name in tool.properties), names[0])


def fill(tool, arguments):
    """Adds the arguments that the schema requires and the script does not know, such as a description of a command."""
    for name in tool.schema.get("required") or []:
        if name not in arguments:
            kind = tool.properties.get(name, {})
            if kind.get("enum"):
                arguments[name] = kind["enum"][0]
            elif optional(kind):
                arguments[name] = None
            else:
                arguments[name] = {"boolean": False, "integer": 1, "number": 1, "array": [], "object": {}}.get(
                    kind.get("type"), "a step of the script")
    return tool.name, arguments


def optional(kind):
    """Strict schemas require each argument and allow null for those that are left out."""
    choices = kind.get("anyOf") or kind.get("oneOf") or []
    return "null" in (kind.get("type") or []) or any(choice.get("type") == "null" for choice in choices)


def as_blocks(calls):
    """The same calls for an agent without tools that reads edits from the text, as aider does."""
    out = []
    for call in calls:
        (kind, value), = call.items()
        if kind == "shell":
            out.append(f"```bash\n{value if isinstance(value, str) else value['command']}\n```\n")
        elif kind in ("edit", "write"):
            old, new = value.get("old", ""), value.get("new", value.get("content"))
            out.append(f"{value['path']}\n```\n<<<<<<< SEARCH\n{line_end(old)}=======\n{line_end(new)}>>>>>>> REPLACE\n```\n")
    return "\n".join(out)


def line_end(text):
    return text if not text or text.endswith("\n") else text + "\n"
