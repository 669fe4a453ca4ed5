"""The four wire formats: what a request offers, and how an answer is streamed.

Each format has a reader, from the body of a request to a `Request`, and a writer, from an answer to the parts of a
stream. Only what the agents read is written; the events are in the order and with the fields of the real services.
"""

import itertools
import json
import time

from calls import Tool

numbers = itertools.count(1)


class Request:
    """What the server needs from a body: the tools, the last words of the user, the model, and whether to stream."""

    def __init__(self, body, tools, last, stream):
        self.tools = {tool.name: tool for tool in tools}
        self.last, self.stream = last, stream
        self.model = body.get("model") or "scripted"
        self.schema = False  # whether the answer must be JSON


def identifier(prefix):
    return f"{prefix}_{next(numbers):08d}"


def plain(content):
    """The text of a message, whose content is a string or a list of parts."""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or [] if isinstance(part, dict))


def pieces(text, size=24):
    return [text[at:at + size] for at in range(0, len(text), size)]


def sse(event, name=None):
    data = event if isinstance(event, str) else json.dumps(event)
    return (f"event: {name}\n" if name else "") + f"data: {data}\n\n"


# ---------------------------------------------------------------- OpenAI Responses

def read_responses(body):
    tools = []
    for tool in body.get("tools") or []:
        if tool.get("type") == "function":
            tools.append(Tool(tool["name"], tool.get("parameters")))
        elif tool.get("type") == "custom":
            tools.append(Tool(tool["name"], freeform=True))
    items = body.get("input") or []
    if isinstance(items, str):
        items = [{"role": "user", "content": items}]
    last = next((plain(item.get("content")) for item in reversed(items) if item.get("role") == "user"), "")
    request = Request(body, tools, last, bool(body.get("stream")))
    request.schema = ((body.get("text") or {}).get("format") or {}).get("type") == "json_schema"
    return request


def write_responses(request, text, calls):
    response = {"id": identifier("resp"), "object": "response", "created_at": int(time.time()), "status": "in_progress",
                "model": request.model, "output": [], "parallel_tool_calls": True, "tools": [], "metadata": {}}
    order = itertools.count()

    def event(kind, **fields):
        return sse({"type": kind, "sequence_number": next(order), **fields}, kind)

    yield event("response.created", response=response)
    output = []
    if text:
        at, item = len(output), {"id": identifier("msg"), "type": "message", "role": "assistant", "status": "in_progress", "content": []}
        part = {"type": "output_text", "text": "", "annotations": []}
        yield event("response.output_item.added", output_index=at, item=item)
        yield event("response.content_part.added", output_index=at, content_index=0, item_id=item["id"], part=part)
        for piece in pieces(text):
            yield event("response.output_text.delta", output_index=at, content_index=0, item_id=item["id"], delta=piece)
        part = dict(part, text=text)
        yield event("response.output_text.done", output_index=at, content_index=0, item_id=item["id"], text=text)
        yield event("response.content_part.done", output_index=at, content_index=0, item_id=item["id"], part=part)
        item = dict(item, status="completed", content=[part])
        yield event("response.output_item.done", output_index=at, item=item)
        output.append(item)
    for name, arguments in calls:
        at = len(output)
        if isinstance(arguments, str):
            item = {"id": identifier("ctc"), "type": "custom_tool_call", "call_id": identifier("call"), "name": name, "input": "", "status": "in_progress"}
            field, kind, value = "input", "custom_tool_call_input", arguments
        else:
            item = {"id": identifier("fc"), "type": "function_call", "call_id": identifier("call"), "name": name, "arguments": "", "status": "in_progress"}
            field, kind, value = "arguments", "function_call_arguments", json.dumps(arguments)
        yield event("response.output_item.added", output_index=at, item=item)
        yield event(f"response.{kind}.delta", output_index=at, item_id=item["id"], delta=value)
        yield event(f"response.{kind}.done", output_index=at, item_id=item["id"], **{field: value})
        item = dict(item, status="completed", **{field: value})
        yield event("response.output_item.done", output_index=at, item=item)
        output.append(item)
    usage = {"input_tokens": 1200, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 80,
             "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 1280}
    yield event("response.completed", response=dict(response, status="completed", output=output, usage=usage))


def whole_responses(stream):
    """The answer of a request that does not stream is the response in the last event."""
    return json.loads(stream[-1].split("data: ", 1)[1])["response"]


# ---------------------------------------------------------------- OpenAI chat completions

def read_chat(body):
    tools = [Tool(t["function"]["name"], t["function"].get("parameters")) for t in body.get("tools") or [] if t.get("type") == "function"]
    messages = body.get("messages") or []
    last = next((plain(m.get("content")) for m in reversed(messages) if m.get("role") == "user"), "")
    request = Request(body, tools, last, bool(body.get("stream")))
    request.schema = (body.get("response_format") or {}).get("type", "text") != "text"
    request.blocks = any("SEARCH/REPLACE" in plain(m.get("content")) for m in messages)
    return request


CHAT_USAGE = {"prompt_tokens": 1200, "completion_tokens": 80, "total_tokens": 1280}


def write_chat(request, text, calls):
    base = {"id": identifier("chatcmpl"), "object": "chat.completion.chunk", "created": int(time.time()), "model": request.model}

    def chunk(delta, finish=None):
        return sse(dict(base, choices=[{"index": 0, "delta": delta, "finish_reason": finish}]))

    yield chunk({"role": "assistant", "content": ""})
    for piece in pieces(text):
        yield chunk({"content": piece})
    for at, (name, arguments) in enumerate(calls):
        yield chunk({"tool_calls": [{"index": at, "id": identifier("call"), "type": "function", "function": {"name": name, "arguments": ""}}]})
        for piece in pieces(json.dumps(arguments), 60):
            yield chunk({"tool_calls": [{"index": at, "function": {"arguments": piece}}]})
    yield chunk({}, "tool_calls" if calls else "stop")
    yield sse(dict(base, choices=[], usage=CHAT_USAGE))
    yield sse("[DONE]")


def whole_chat(request, text, calls):
    message = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [{"id": identifier("call"), "type": "function", "function": {"name": n, "arguments": json.dumps(a)}} for n, a in calls]
    return {"id": identifier("chatcmpl"), "object": "chat.completion", "created": int(time.time()), "model": request.model,
            "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}], "usage": CHAT_USAGE}


# ---------------------------------------------------------------- Anthropic Messages

# The tools of the thread that was made last: pi sends them once, and the requests that continue it have none.
thread_tools = []


def read_anthropic(body):
    tools = [Tool(t["name"], t.get("input_schema")) for t in body.get("tools") or [] if "input_schema" in t]
    thread = (body.get("thread") or {}).get("type")
    if thread == "create" and tools:
        thread_tools[:] = tools
    elif thread == "continue" and not tools:
        tools = list(thread_tools)
    messages = body.get("messages") or []
    last = next((plain(m.get("content")) for m in reversed(messages) if m.get("role") == "user"), "")
    request = Request(body, tools, last, bool(body.get("stream")))
    request.schema = "output_format" in body or "format" in (body.get("output_config") or {})
    return request


def anthropic_message(request, text, calls):
    content = [{"type": "text", "text": text}] if text else []
    content += [{"type": "tool_use", "id": identifier("toolu"), "name": n, "input": a} for n, a in calls]
    return {"id": identifier("msg"), "type": "message", "role": "assistant", "model": request.model, "content": content,
            "stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None,
            "usage": {"input_tokens": 1200, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 80}}


def write_anthropic(request, text, calls):
    whole = anthropic_message(request, text, calls)

    def event(kind, **fields):
        return sse({"type": kind, **fields}, kind)

    yield event("message_start", message=dict(whole, content=[], stop_reason=None))
    for at, block in enumerate(whole["content"]):
        if block["type"] == "text":
            yield event("content_block_start", index=at, content_block={"type": "text", "text": ""})
            for piece in pieces(block["text"]):
                yield event("content_block_delta", index=at, delta={"type": "text_delta", "text": piece})
        else:
            yield event("content_block_start", index=at, content_block=dict(block, input={}))
            for piece in pieces(json.dumps(block["input"]), 60):
                yield event("content_block_delta", index=at, delta={"type": "input_json_delta", "partial_json": piece})
        yield event("content_block_stop", index=at)
    yield event("message_delta", delta={"stop_reason": whole["stop_reason"], "stop_sequence": None}, usage=whole["usage"])
    yield event("message_stop")


# ---------------------------------------------------------------- Gemini

def read_gemini(body, stream):
    tools = []
    for group in body.get("tools") or []:
        for tool in group.get("functionDeclarations") or []:
            tools.append(Tool(tool["name"], lower(tool.get("parametersJsonSchema") or tool.get("parameters") or {})))
    contents = body.get("contents") or []
    last = next((plain(c.get("parts")) for c in reversed(contents) if c.get("role") == "user"), "")
    request = Request(body, tools, last, stream)
    request.schema = (body.get("generationConfig") or {}).get("responseMimeType") == "application/json"
    return request


def lower(schema):
    """Gemini writes `OBJECT` where JSON Schema has `object`."""
    if isinstance(schema, dict):
        return {k: v.lower() if k == "type" and isinstance(v, str) else lower(v) for k, v in schema.items()}
    return [lower(s) for s in schema] if isinstance(schema, list) else schema


def gemini_answer(request, parts, finish=None):
    candidate = {"index": 0, "content": {"role": "model", "parts": parts}}
    answer = {"candidates": [candidate], "modelVersion": request.model, "responseId": identifier("r")}
    if finish:
        candidate["finishReason"] = finish
        answer["usageMetadata"] = {"promptTokenCount": 1200, "candidatesTokenCount": 80, "totalTokenCount": 1280}
    return answer


def write_gemini(request, text, calls):
    for piece in pieces(text):
        yield sse(gemini_answer(request, [{"text": piece}]))
    parts = [{"functionCall": {"id": identifier("call"), "name": n, "args": a}} for n, a in calls]
    yield sse(gemini_answer(request, parts or [{"text": ""}], "STOP"))


def whole_gemini(request, text, calls):
    parts = ([{"text": text}] if text else []) + [{"functionCall": {"name": n, "args": a}} for n, a in calls]
    return gemini_answer(request, parts or [{"text": ""}], "STOP")
