"""The vendors' own types of a request, made strict: what a type does not name is wrong, and lists are read to their end.

They come from the Python client libraries, which are generated from the vendors' published descriptions. What a type
cannot say (which roles follow which) is not checked here; that is held by the tests in Rust.
"""

import os
import re

import pydantic_core
from pydantic import TypeAdapter

# A field that one server wants and OpenAI's types do not name: each is a quirk of a preset, and told in the guide.
BEYOND_OPENAI = {"reasoning_content", "reasoning_details", "reasoning"}


def strict(kind):
    """A validator of `kind` in which no typed dictionary takes an unknown field and every iterable is a list."""
    schema = TypeAdapter(kind).core_schema
    done = {}

    def walk(node):
        if isinstance(node, list):
            return [walk(part) for part in node]
        if isinstance(node, tuple):
            return tuple(walk(part) for part in node)
        if not isinstance(node, dict):
            return node
        if id(node) in done:
            return done[id(node)]
        out = done[id(node)] = {}
        out.update({key: value if key in ("metadata", "serialization", "cls") else walk(value) for key, value in node.items()})
        if out.get("type") == "typed-dict":
            out["extra_behavior"] = "forbid"
            # What a class says of itself would be stronger.
            out.pop("config", None)
        if out.get("type") == "generator":
            out["type"] = "list"
        return out

    return pydantic_core.SchemaValidator(walk(schema))


def validators():
    os.environ.setdefault("DEFER_PYDANTIC_BUILD", "false")
    from anthropic.types.message_create_params import MessageCreateParamsStreaming
    from google.genai import types as google
    from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
    from openai.types.responses.response_create_params import ResponseCreateParamsStreaming

    chat, messages = strict(CompletionCreateParamsStreaming), strict(MessageCreateParamsStreaming)
    responses = strict(ResponseCreateParamsStreaming)

    def gemini(body):
        """The library has no type of the whole body: it is checked field by field, and must have no other field."""
        fields = {
            "contents": TypeAdapter(list[google.Content]),
            "systemInstruction": TypeAdapter(google.Content),
            "tools": TypeAdapter(list[google.Tool]),
            "toolConfig": TypeAdapter(google.ToolConfig),
            "generationConfig": TypeAdapter(google.GenerationConfig),
        }
        for name, value in body.items():
            if name not in fields:
                raise ValueError(f"`{name}` is no field of a request")
            fields[name].validate_python(value)

    def openai_chat(body):
        """Without what a quirk adds, which must be on an answer of the model."""
        said = [
            {k: v for k, v in one.items() if k not in BEYOND_OPENAI} if one.get("role") == "assistant" else one
            for one in body["messages"]
        ]
        chat.validate_python({**body, "messages": said})

    return {
        "openai-chat": openai_chat,
        "openai-responses": responses.validate_python,
        "anthropic": messages.validate_python,
        "gemini": gemini,
    }


def wire_of(path):
    """Which wire format the address of a request belongs to."""
    path = path.split("?")[0]
    for end, wire in (("/chat/completions", "openai-chat"), ("/responses", "openai-responses"), ("/messages", "anthropic")):
        if path.endswith(end):
            return wire
    return "gemini" if ":streamGenerateContent" in path or ":generateContent" in path else None


def faults(error):
    """The words of a refusal, one for each place, without what was sent."""
    if not hasattr(error, "errors"):
        return [str(error)]
    told = {f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors(include_input=False, include_url=False)}
    # The names of all that an item could have been say nothing.
    return sorted({re.sub(r"list\[union\[[^]]*\]+", "item", words) for words in told})
