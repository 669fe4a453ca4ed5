"""What is asked, what the servers are given to answer, and what a right outcome is.

A case is a function that gets an `Ask` and raises `Wrong`; its name is its line. The same cases run over every wire
format. What is common to all: exit codes, and the words on standard error that the guide promises.
"""

import dataclasses
import json

import person
import schemas

KEY, REFUSED_KEY = "sk-conformance", "sk-nobody-knows"
SEEING, READING = "gpt-seeing", "gpt-reading"

# How a built-in provider's base URL ends on a server that has all of them.
WIRES = {
    "openai-chat": ("openai-chat", "/v1"),
    "openai-responses": ("openai", "/v1"),
    "anthropic": ("anthropic", ""),
    "gemini": ("gemini", "/v1beta"),
}
# Other providers of one wire format, whose quirks the body has to carry past the same server.
ALSO = ["deepseek", "groq", "mistral", "openrouter", "xai", "azure-openai", "ollama", "vllm"]


class Wrong(Exception):
    pass


@dataclasses.dataclass
class Ask:
    """One way to a server: who is asked, where, and by which names its models go."""

    place: person.Place
    server: object
    provider: str
    end: str
    # The models by what they do; a server that reads the prompt has one for all.
    model: object

    def say(self, prompt, does="answer", *args, code=0, key=KEY):
        line = ["-p", prompt, "--model", self.model(does), "--set", "network.attempts=2", "--no-project", *args]
        run = self.place.placet(self.provider, self.server.url + self.end, *line, key=key)
        # What asks the server about itself, as `/api/show`, is no request of a conversation.
        self.bodies = [(path, body) for path, body in self.server.taken() if schemas.wire_of(path)]
        if run.returncode != code:
            raise Wrong(f"exit code {run.returncode}, not {code}: {run.stderr.strip()[-600:]} {run.stdout.strip()[-200:]}")
        return run


def has(text, *words):
    for word in words:
        if word not in text:
            raise Wrong(f"`{word}` is not in: {text.strip()[-600:]}")


def sent(ask, count):
    if len(ask.bodies) != count:
        raise Wrong(f"{len(ask.bodies)} requests were sent, not {count}")
    return [json.dumps(body) for _, body in ask.bodies]


def a_text_is_streamed(ask):
    run = ask.say("please greet me")
    has(run.stdout, "Good morning, said the gate.")
    sent(ask, 1)


def a_call_runs_and_its_result_goes_back(ask):
    run = ask.say("please look into the note", "call")
    has(run.stdout, "It is about a heron.")
    has(run.stderr, "note.txt")
    has(sent(ask, 2)[1], "the heron stood in the reeds")


def two_calls_at_once_get_both_results(ask):
    run = ask.say("please look into both", "calls")
    has(run.stdout, "Both were seen.")
    has(sent(ask, 2)[1], "the heron stood in the reeds", "red.png")


def reasoning_goes_before_a_call_and_may_go_back(ask):
    run = ask.say("please ponder the note", "ponder")
    has(run.stdout, "Pondered.")
    sent(ask, 2)


def a_picture_is_in_the_request(ask):
    run = ask.say("please tell the colour", "picture", "--set", "vision=true")
    has(run.stdout, "It is red.")
    has(sent(ask, 2)[1], person.PICTURE)


def a_pdf_is_in_the_request(ask):
    run = ask.say("please read the paper", "paper", "--set", "pdf=true")
    has(run.stdout, "It was read.")
    has(sent(ask, 2)[1], person.PAPER)


def a_full_server_is_asked_again(ask):
    # The server counts by the words, so that each way to it has words of its own.
    run = ask.say(f"please wait a little, {ask.provider}", "busy-once")
    has(run.stdout, "Now it goes.")
    has(run.stderr, "retry")
    sent(ask, 2)


def a_server_that_stays_full_is_a_failure(ask):
    run = ask.say("please be busy", "rate-limit", code=4)
    has(run.stderr, "placet: ")
    sent(ask, 2)


def a_fault_of_the_server_is_tried_again_and_told(ask):
    ask.say("please break", "fault", code=4)
    sent(ask, 2)


def too_long_a_conversation_is_told_as_that(ask):
    run = ask.say("please overflow", "overflow", code=4)
    has(run.stderr, "too long")


def a_stream_that_breaks_off_is_no_whole_answer(ask):
    run = ask.say("please stop midway", "cut", code=4)
    has(run.stderr, "placet: ")


def nonsense_instead_of_an_answer_is_told(ask):
    ask.say("please talk nonsense", "nonsense", code=4)


def an_answer_that_was_too_long_says_so(ask):
    run = ask.say("please never end", "length")
    has(run.stdout, "And so on")
    has(run.stderr, "the answer stopped at the model's output limit")


def a_key_that_is_refused_is_told_and_not_shown(ask):
    run = ask.say("please greet me", "answer", code=4, key=REFUSED_KEY)
    has(run.stderr, "key")
    if REFUSED_KEY in run.stderr + run.stdout:
        raise Wrong("the key stands in the message")
    sent(ask, 1)


def the_models_are_listed(ask):
    run = ask.place.placet(ask.provider, ask.server.url + ask.end, "provider", "models", ask.provider)
    if run.returncode or len(run.stdout.splitlines()) < 2:
        raise Wrong(f"exit code {run.returncode}: {run.stderr.strip()} {run.stdout.strip()[-200:]}")


EVERY = [
    a_text_is_streamed,
    a_call_runs_and_its_result_goes_back,
    two_calls_at_once_get_both_results,
    reasoning_goes_before_a_call_and_may_go_back,
    a_picture_is_in_the_request,
    a_pdf_is_in_the_request,
    a_full_server_is_asked_again,
    a_server_that_stays_full_is_a_failure,
    a_fault_of_the_server_is_tried_again_and_told,
    too_long_a_conversation_is_told_as_that,
    a_stream_that_breaks_off_is_no_whole_answer,
    nonsense_instead_of_an_answer_is_told,
    an_answer_that_was_too_long_says_so,
    a_key_that_is_refused_is_told_and_not_shown,
    the_models_are_listed,
]


def fixtures():
    """aimock's answers, by the words of the prompt; the first that fits is taken."""
    def call(name, **arguments):
        return {"name": name, "arguments": arguments}
    note, picture = call("read_file", path="note.txt"), call("list_directory", path=".")
    rows = [
        ({"userMessage": "greet"}, {"content": "Good morning, said the gate."}, {}),
        ({"userMessage": "into the note", "hasToolResult": False}, {"toolCalls": [note]}, {}),
        ({"userMessage": "into the note"}, {"content": "It is about a heron."}, {}),
        ({"userMessage": "into both", "hasToolResult": False}, {"content": "Both.", "toolCalls": [note, picture]}, {}),
        ({"userMessage": "into both"}, {"content": "Both were seen."}, {}),
        ({"userMessage": "ponder", "hasToolResult": False}, {"toolCalls": [note], "reasoning": "A heron, perhaps.", "reasoningSignature": "c2lnbmVk"}, {}),
        ({"userMessage": "ponder"}, {"content": "Pondered.", "reasoning": "A heron."}, {}),
        # By its model: where a result cannot hold a picture, it is the picture that was said last.
        ({"model": SEEING, "turnIndex": 0}, {"toolCalls": [call("read_file", path="red.png")]}, {}),
        ({"model": SEEING, "turnIndex": 1}, {"content": "It is red."}, {}),
        ({"model": READING, "turnIndex": 0}, {"toolCalls": [call("read_file", path="paper.pdf")]}, {}),
        ({"model": READING, "turnIndex": 1}, {"content": "It was read."}, {}),
        ({"userMessage": "overflow"}, {"error": {"message": "prompt is too long: 250000 tokens > 200000 maximum", "type": "invalid_request_error", "code": "context_length_exceeded"}, "status": 400}, {}),
        *[({"userMessage": f"a little, {name}", "sequenceIndex": 0}, busy(), {}) for name, _ in WIRES.values()],
        *[({"userMessage": f"a little, {name}"}, {"content": "Now it goes."}, {}) for name, _ in WIRES.values()],
        ({"userMessage": "busy"}, busy(), {}),
        ({"userMessage": "break"}, {"error": {"message": "It broke.", "type": "server_error"}, "status": 500}, {}),
        ({"userMessage": "midway"}, {"content": "This will not be whole. " * 20}, {"truncateAfterChunks": 4, "chunkSize": 8}),
        ({"userMessage": "nonsense"}, {"content": "x"}, {"chaos": {"malformedRate": 1}}),
        ({"userMessage": "never end"}, {"content": "And so on", "finishReason": "length"}, {}),
    ]
    # "openai" also begins the longer names, and the first that fits is taken.
    rows.sort(key=lambda row: -len(row[0].get("userMessage", "")) if "a little" in row[0].get("userMessage", "") else 0)
    return [{"match": match, "response": response, **more} for match, response, more in rows]


def busy():
    return {"error": {"message": "Too many requests.", "type": "rate_limit_error"}, "status": 429}


# LiteLLM has its own mocked answers; a model of any other name is asked from aimock, in OpenAI's wire format.
MOCKED = {
    "answer": "Good morning, said the gate.",
    "rate-limit": "litellm.RateLimitError",
    "fault": "litellm.InternalServerError",
    "overflow": "litellm.ContextWindowExceededError",
}


def litellm_models(behind):
    models = [
        {"model_name": name, "litellm_params": {"model": f"openai/{name}", "api_key": "none", "mock_response": answer}}
        for name, answer in MOCKED.items()
    ]
    if behind:
        for name in ("behind", SEEING):
            params = {"model": f"openai/{name}", "api_base": f"{behind.url}/v1", "api_key": KEY}
            models.append({"model_name": name, "litellm_params": params, "model_info": {"supports_vision": True}})
    return models
