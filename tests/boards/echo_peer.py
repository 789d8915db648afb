#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The kernel's TCP against an echo server: sends OCTETS to HOST, reads as many back at the same time, compares SHA-256.

    echo_peer.py HOST OCTETS SECONDS

SECONDS: how long it waits for the next octet. Exit status 0 when all came back equal and the server closed.
"""
import hashlib
import socket
import sys
import threading
import time


def octets(n):
    """Neither random nor all alike, nor repeating: the same in every run."""
    block, at = b"", 0
    while n:
        block = hashlib.sha256(b"%d" % at).digest() * 32
        block = block[:n]
        yield block
        n -= len(block)
        at += 1


def main():
    host, total, patience = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    there, back, got = hashlib.sha256(), hashlib.sha256(), 0
    begin = time.monotonic()
    with socket.create_connection((host, 7), timeout=patience) as s:

        def send():
            for block in octets(total):
                there.update(block)
                s.sendall(block)
            s.shutdown(socket.SHUT_WR)

        sender = threading.Thread(target=send, daemon=True)
        sender.start()
        while True:
            block = s.recv(65536)
            if not block:
                break
            back.update(block)
            got += len(block)
        sender.join()
    if got != total or there.digest() != back.digest():
        print("%s: %d octets sent, SHA-256 %s; %d back, SHA-256 %s" % (host, total, there.hexdigest(), got, back.hexdigest()))
        return 1
    took = time.monotonic() - begin
    print("figure  %s: %d octets each way, SHA-256 %s, %.1f s, %.1f Mbit/s each way" %
          (host, total, there.hexdigest()[:16], took, total * 8e-6 / took))
    return 0


sys.exit(main())
