"""search_web with the providers' own search: the request is held to the vendors' types of a request, and the answer is
made of the vendors' types of an answer. The server is this program's own on loopback: no real service is asked."""

import http.server
import json
import pathlib
import subprocess
import tempfile
import threading

KEY = "canary-search-key-0123456789"
QUERY = "fast \"snails\" \\ 2026"
PAGES = [("https://a.example/snail?x=1&y=2", "Snails — a study"), ("https://b.example/", "B")]
TEXT = "Snails are slow."


def anthropic_answer():
    from anthropic import types

    first, second = PAGES
    found = [
        types.WebSearchResultBlock(type="web_search_result", url=url, title=title, encrypted_content="x", page_age=age)
        for (url, title), age in zip(PAGES, ("May 1, 2026", None))
    ]
    cited = types.CitationsWebSearchResultLocation(
        type="web_search_result_location", url=second[0], title=second[1], encrypted_index="z", cited_text="slow"
    )
    content = [
        types.ServerToolUseBlock(type="server_tool_use", id="srvtoolu_1", name="web_search", input={"query": "snails"}),
        types.WebSearchToolResultBlock(type="web_search_tool_result", tool_use_id="srvtoolu_1", content=found),
        types.TextBlock(type="text", text=TEXT, citations=[cited]),
    ]
    usage = types.Usage(input_tokens=1, output_tokens=1, server_tool_use={"web_search_requests": 1, "web_fetch_requests": 0})
    message = types.Message(
        id="msg_1", type="message", role="assistant", model="m", content=content, stop_reason="end_turn", usage=usage
    )
    return message.model_dump(mode="json", by_alias=True)


def anthropic_failure():
    from anthropic import types

    error = types.WebSearchToolResultError(type="web_search_tool_result_error", error_code="max_uses_exceeded")
    content = [types.WebSearchToolResultBlock(type="web_search_tool_result", tool_use_id="srvtoolu_1", content=error)]
    message = types.Message(
        id="msg_1", type="message", role="assistant", model="m", content=content, stop_reason="end_turn",
        usage=types.Usage(input_tokens=1, output_tokens=1),
    )
    return message.model_dump(mode="json", by_alias=True)


def openai_answer():
    from openai.types import responses
    from openai.types.responses import response_function_web_search as search
    from openai.types.responses import response_output_text as text

    sources = [search.ActionSearchSource(type="url", url=url) for url, _ in PAGES]
    action = search.ActionSearch(type="search", query="snails", queries=["snails"], sources=sources)
    cited = text.AnnotationURLCitation(type="url_citation", start_index=0, end_index=len(TEXT), url=PAGES[1][0], title="B")
    said = text.ResponseOutputText(type="output_text", text=TEXT, annotations=[cited])
    output = [
        responses.ResponseFunctionWebSearch(id="ws_1", type="web_search_call", status="completed", action=action),
        responses.ResponseOutputMessage(id="msg_1", type="message", role="assistant", status="completed", content=[said]),
    ]
    answer = responses.Response(
        id="resp_1", object="response", created_at=1, model="gpt-5", output=output, parallel_tool_calls=True,
        tool_choice="required", tools=[], status="completed",
    )
    return answer.model_dump(mode="json", by_alias=True)


def gemini_answer():
    from google.genai import types

    chunks = [types.GroundingChunk(web=types.GroundingChunkWeb(uri=url, title=title)) for url, title in PAGES]
    support = types.GroundingSupport(
        segment=types.Segment(start_index=0, end_index=len(TEXT), text=TEXT), grounding_chunk_indices=[1]
    )
    grounded = types.GroundingMetadata(web_search_queries=["snails"], grounding_chunks=chunks, grounding_supports=[support])
    content = types.Content(role="model", parts=[types.Part(text="hm", thought=True), types.Part(text=TEXT)])
    candidate = types.Candidate(content=content, finish_reason="STOP", grounding_metadata=grounded)
    return types.GenerateContentResponse(candidates=[candidate]).model_dump(mode="json", by_alias=True, exclude_none=True)


def requests():
    """Of each provider: the types of a request, without a stream."""
    from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
    from google.genai import types as google
    from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming
    from pydantic import TypeAdapter

    from schemas import strict

    messages, responses = strict(MessageCreateParamsNonStreaming), strict(ResponseCreateParamsNonStreaming)
    fields = {
        "contents": TypeAdapter(list[google.Content]),
        "tools": TypeAdapter(list[google.Tool]),
        "generationConfig": TypeAdapter(google.GenerationConfig),
    }

    def gemini(body):
        for name, value in body.items():
            if name not in fields:
                raise ValueError(f"`{name}` is not a field of a request")
            fields[name].validate_python(value)
        if not TypeAdapter(list[google.Tool]).validate_python(body["tools"])[0].google_search:
            raise ValueError("the tool is not a search")

    return {"anthropic": messages.validate_python, "openai": responses.validate_python, "gemini": gemini}


class Provider:
    def __init__(self, answer):
        provider, self.seen = self, []

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                provider.seen.append((self.path, {name.lower(): text for name, text in self.headers.items()}, body))
                data = json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


# The path of the setting, that of the request, and the header of the key, as the vendors' libraries send them.
ENDS = {
    "anthropic": ("/v1/messages", "/v1/messages", "x-api-key"),
    "openai": ("/v1/responses", "/v1/responses", "authorization"),
    "gemini": ("/v1beta/models", "/v1beta/models/m-1:generateContent", "x-goog-api-key"),
}


def asked(placet, engine, answer):
    """What a person gets who searches with this provider, and what the provider was sent."""
    provider = Provider(answer)
    with tempfile.TemporaryDirectory() as work:
        home = pathlib.Path(work)
        (home / "config/placet").mkdir(parents=True)
        url = f"http://{provider.host}{ENDS[engine][0]}"
        (home / "config/placet/config.toml").write_text(
            f'[search]\nengine = "{engine}"\nmodel = "m-1"\nurl = "{url}"\nkey_env = "SEARCH_KEY"\n'
        )
        environment = {
            "PATH": "/usr/bin:/bin", "HOME": work, "XDG_CONFIG_HOME": f"{work}/config", "XDG_STATE_HOME": f"{work}/state",
            "SEARCH_KEY": KEY,
        }
        line = [placet, "tool", "call", "search_web", json.dumps({"query": QUERY}), "--allow", f"fetch({provider.host})"]
        done = subprocess.run(line, env=environment, cwd=work, capture_output=True, text=True, timeout=60)
    provider.server.shutdown()
    return done.stdout + done.stderr, provider.seen


def check(placet, engine, answer, holds, has):
    """The faults of one search; none is right."""
    told, seen = asked(placet, engine, answer)
    if len(seen) != 1:
        return [f"{len(seen)} requests: {told[:400]}"]
    (path, headers, body), faults = seen[0], []
    _, end, header = ENDS[engine]
    if path != end or KEY not in headers.get(header, "") or KEY in json.dumps(body) + told:
        faults.append(f"the address or the key: {path} {sorted(headers)}")
    if QUERY not in json.dumps(body, ensure_ascii=False).replace("\\\"", "\"").replace("\\\\", "\\"):
        faults.append(f"the query is not in {body}")
    if engine == "anthropic" and "anthropic-version" not in headers:
        faults.append("the header anthropic-version is missing")
    try:
        holds(body)
    except (ValueError, KeyError) as error:
        faults.append(str(error)[:600])
    return faults + [f"`{words}` is not in: {told[:600]}" for words in has if words not in told]


def run(placet):
    """A line for each check. The numbers of right and of wrong ones."""
    holds, right, wrong = requests(), 0, 0
    pages = [url for url, _ in PAGES] + ["2 results", TEXT]
    cases = [
        ("anthropic", "an answer with its pages", anthropic_answer(), pages + ["May 1, 2026", PAGES[0][1]]),
        ("anthropic", "a search that failed", anthropic_failure(), ["0 results"]),
        ("openai", "an answer with its pages", openai_answer(), pages),
        ("gemini", "an answer with its pages", gemini_answer(), pages + [PAGES[0][1]]),
    ]
    for engine, name, answer, has in cases:
        faults = check(placet, engine, answer, holds[engine], has)
        right, wrong = right + (not faults), wrong + bool(faults)
        print(f"{'WRONG' if faults else 'ok':8} search {engine}: {name}{'' if not faults else ': ' + '; '.join(faults)}")
    # Types that take a spoilt request check nothing.
    for engine, answer in (("anthropic", anthropic_answer), ("openai", openai_answer), ("gemini", gemini_answer)):
        _, seen = asked(placet, engine, answer())
        for spoilt in ({"temprature": 1}, {"tools": [{"type": "web_serch"}]}):
            try:
                holds[engine]({**seen[0][2], **spoilt})
            except (ValueError, KeyError):
                continue
            wrong += 1
            print(f"WRONG    search {engine}: the vendor's types take {spoilt}")
    return right, wrong
