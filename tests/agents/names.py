"""A name server for the private network: a few names, and "no such name" for all others.

Names in /etc/hosts would be simpler, but programs in a view read that file too and would go past placet's own names.
"""

import socket
import struct
import threading


def answer(query, names):
    """The reply to one query, or None if it cannot be read."""
    labels, at = [], 12
    try:
        while query[at]:
            labels.append(query[at + 1:at + 1 + query[at]].decode("ascii", "replace"))
            at += 1 + query[at]
        kind, = struct.unpack_from("!H", query, at + 1)
    except (IndexError, struct.error):
        return None
    question = query[12:at + 5]
    address = names.get(".".join(labels).lower())
    records = b""
    if address and kind == 1:  # only IPv4 addresses exist here
        records = struct.pack("!HHHIH", 0xC00C, 1, 1, 60, 4) + socket.inet_aton(address)
    flags = 0x8180 if address else 0x8183
    return query[:2] + struct.pack("!HHHHH", flags, 1, 1 if records else 0, 0, 0) + question + records


def serve(names, address="127.0.0.53", port=53):
    """Answers in a thread until the program ends."""
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind((address, port))

    def run():
        while True:
            query, sender = server.recvfrom(4096)
            if reply := answer(query, names):
                server.sendto(reply, sender)

    threading.Thread(target=run, daemon=True).start()
