"""A model on loopback: OpenAI's chat completions, one scripted answer for each request, with the times of each."""

import json
import socket
import threading
import time


class Model:
    """`script` has an answer for each request: `{"text": [PIECE, ...], "pause": SECONDS}` or `{"call": (TOOL, INPUT)}`.
    The last answer is repeated."""

    def __init__(self, script):
        # Made before the first request: their making is not the client's time.
        self.script = [(answer, [chunk(event) for event in events(answer, at)]) for at, answer in enumerate(script)]
        self.bodies, self.times, self.answered = [], [], []
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen()
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/v1"
        threading.Thread(target=self.serve, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()

    def serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.talk, args=(connection,), daemon=True).start()

    def talk(self, connection):
        data = b""
        try:
            while True:
                while b"\r\n\r\n" not in data:
                    more = connection.recv(65536)
                    if not more:
                        return
                    data += more
                head, data = data.split(b"\r\n\r\n", 1)
                length = 0
                for line in head.split(b"\r\n")[1:]:
                    name, value = line.split(b":", 1)
                    if name.lower() == b"content-length":
                        length = int(value)
                while len(data) < length:
                    more = connection.recv(65536)
                    if not more:
                        return
                    data += more
                body, data = data[:length], data[length:]
                if not head.startswith(b"POST"):
                    connection.sendall(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")
                    continue
                self.times.append(time.perf_counter())
                self.bodies.append(body)
                self.answer(connection, *self.script[min(len(self.bodies), len(self.script)) - 1])
        except OSError:
            return

    def answer(self, connection, answer, chunks):
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        if answer.get("pause"):
            for one in chunks:
                connection.sendall(one)
                time.sleep(answer["pause"])
            connection.sendall(b"0\r\n\r\n")
        else:
            connection.sendall(b"".join(chunks) + b"0\r\n\r\n")
        self.answered.append(time.perf_counter())


def chunk(event):
    text = event if isinstance(event, str) else json.dumps(event, separators=(",", ":"))
    data = f"data: {text}\n\n".encode()
    return b"%x\r\n%s\r\n" % (len(data), data)


def events(answer, number):
    def piece(delta, reason=None):
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return {"id": "c", "object": "chat.completion.chunk", "model": "figures", "choices": [choice]}

    for text in answer.get("text", []):
        yield piece({"content": text})
    if "call" in answer:
        tool, arguments = answer["call"]
        function = {"name": tool, "arguments": json.dumps(arguments)}
        yield piece({"tool_calls": [{"index": 0, "id": f"call_{number}", "type": "function", "function": function}]})
        yield piece({}, "tool_calls")
    else:
        yield piece({}, "stop")
    yield "[DONE]"
