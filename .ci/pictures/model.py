"""A model that follows a script: a Chat Completions server on the loopback address.

The pictures need a conversation that is the same each time. What it answers depends on the person's last message and on
how many answers it has already given to that message, so any number of shells can use one server.
"""

import http.server
import json
import threading


class Call:
    def __init__(self, tool, **arguments):
        self.tool = tool
        self.arguments = arguments


class Answer:
    """One answer: text, then calls."""

    def __init__(self, text, *calls):
        self.text = text
        self.calls = calls


class ScriptedModel:
    def __init__(self, script):
        """`script` has for words of a message the answers to it."""
        model = self
        self.script = script
        self.unknown = []

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                data = "".join(f"data: {json.dumps(event)}\n\n" for event in model.events(body["messages"]))
                data = (data + "data: [DONE]\n\n").encode()
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, messages):
        given = 0
        for message in reversed(messages):
            if message["role"] == "assistant":
                given += 1
            if message["role"] == "user":
                text = json.dumps(message["content"], ensure_ascii=False)
                for words, answers in self.script.items():
                    if words in text:
                        return answers[min(given, len(answers) - 1)]
        self.unknown.append(messages[-1])
        return Answer("There is no script for this message.")

    def events(self, messages):
        answer = self.answer(messages)
        number = len(messages)
        yield {"choices": [{"index": 0, "delta": {"role": "assistant", "content": answer.text}}]}
        for index, call in enumerate(answer.calls):
            function = {"name": call.tool, "arguments": json.dumps(call.arguments)}
            entry = {"index": index, "id": f"call-{number}-{index}", "type": "function", "function": function}
            yield {"choices": [{"index": 0, "delta": {"tool_calls": [entry]}}]}
        reason = "tool_calls" if answer.calls else "stop"
        yield {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
        used = sum(len(json.dumps(message)) for message in messages) // 4
        yield {"choices": [], "usage": {"prompt_tokens": used + 2400, "completion_tokens": 20 + len(answer.text) // 4}}
