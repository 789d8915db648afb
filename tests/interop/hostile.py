# SPDX-License-Identifier: MIT
"""Sends libscps, over its TUN device, packets that no conforming peer sends, and checks how it reacts to each.

    hostile.py DEVICE KERNEL4 STACK4 KERNEL6 STACK6          one of everything, with a connection open meanwhile
    hostile.py flood DEVICE KERNEL4 STACK4 KERNEL6 STACK6    SYNs from 20000 addresses that never answer
    hostile.py hold DEVICE KERNEL4 STACK4 KERNEL6 STACK6     2000 connections whose windows stay closed

The bytes are made with scapy and leave by a packet socket, so that the kernel mends nothing.  A connection of the
kernel's is open all the time; it must live, and echo what it is sent.  Random numbers come from a fixed seed: two
runs send the same packets.  libscps processes packets in order, so it has sent all replies to an attack when it has
answered two pings sent after it, one after the other, however slow it is.
"""
import logging
import random
import select
import socket
import struct
import sys
import time

logging.getLogger("scapy").setLevel(logging.ERROR)
from scapy.all import (ICMP, IP, TCP, UDP, ICMPv6DestUnreach, ICMPv6PacketTooBig, IPv6, IPv6ExtHdrDestOpt,  # noqa: E402
                       IPv6ExtHdrFragment, IPv6ExtHdrHopByHop, IPv6ExtHdrRouting, Raw)

mode = sys.argv[1] if sys.argv[1] in ("flood", "hold") else ""
dev, k4, s4, k6, s6 = sys.argv[2:] if mode else sys.argv[1:]
rnd = random.Random(1)
ETH_IP, ETH_IP6, ETH_ALL = 0x0800, 0x86DD, 3

tx = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
rx = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_ALL))
rx.bind((dev, ETH_ALL))
rx.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
sent = pings = 0
PING = b"are you done? "
failures = []


def send(pkt, mangle=None):
    """Sends bytes or a scapy packet as if the kernel had routed it to the device."""
    global sent
    data = bytes(pkt)
    if mangle:
        data = mangle(data)
    if not data:
        return
    proto = ETH_IP6 if data[0] >> 4 == 6 else ETH_IP
    for _ in range(100):
        try:
            tx.sendto(data, (dev, proto))
            break
        except OSError:  # the device's queue is full
            time.sleep(0.001)
    sent += 1
    if sent % 100 == 0:
        time.sleep(0.001)  # not a test of the queue's length


def until_pinged():
    """Returns the packets that our stack sends until it answers a ping."""
    global pings
    pings += 1
    load = PING + b"%d" % pings
    out = []
    while True:
        try:
            tx.sendto(bytes(IP(src=k4, dst=s4) / ICMP() / Raw(load)), (dev, ETH_IP))
        except OSError:
            pass
        again = time.monotonic() + 1
        while select.select([rx], [], [], max(0, again - time.monotonic()))[0]:
            data, where = rx.recvfrom(65536)
            if where[2] == socket.PACKET_OUTGOING:  # on its way to libscps
                continue
            if data.endswith(load):
                return out
            if PING not in data:
                out.append(data)


def answers():
    """Returns, as raw bytes, the packets that libscps has sent since the last call. It waits until everything sent
    before this call has been answered."""
    return until_pinged() + until_pinged()


def expect(what, good):
    if not good:
        failures.append(what)
        print("FAILED:", what)


def tcp4(sport=5555, dport=7, flags="S", seq=1, ack=0, options=(), src=None, dst=None, load=b"", **ip):
    return IP(src=src or k4, dst=dst or s4, **ip) / TCP(sport=sport, dport=dport, flags=flags, seq=seq & 0xffffffff,
                                                        ack=ack & 0xffffffff, options=list(options)) / Raw(load)


# ---- the connection that must survive --------------------------------------------------------------------------

class Link:
    """An open connection of the kernel to the echo port. Its sequence numbers are known from the packets."""

    def __init__(self):
        answers()
        self.sock = socket.create_connection((s4, 7), timeout=300)
        self.port = self.sock.getsockname()[1]
        self.check()

    def check(self):
        data = bytes(rnd.randrange(256) for _ in range(200))
        try:
            self.sock.sendall(data)
            back = b""
            while len(back) < len(data):
                more = self.sock.recv(1000)
                if not more:
                    return False
                back += more
        except OSError:
            return False
        for raw in answers():
            p = IP(raw)
            if TCP in p and p[TCP].dport == self.port:
                self.seq = p[TCP].ack  # what the kernel sends next
                self.ack = p[TCP].seq + len(p[TCP].payload)
        return back == data


def every_flag(port, seq, ack, sport):
    for flags in range(256):
        send(tcp4(sport=sport, dport=port, flags=flags, seq=seq, ack=ack, load=b"x" * (flags % 3)))


def nonsense_options():
    """Yields options of every known kind and of some unknown ones, with every length, at the end and in the middle of
    the options."""
    for kind in list(range(0, 31)) + [34, 69, 77, 78, 253, 254, 255]:
        for length in range(0, 41):
            body = bytes([kind, length]) + bytes(rnd.randrange(256) for _ in range(38))
            yield body[:40]
    for _ in range(500):
        yield bytes(rnd.randrange(256) for _ in range(40))


def folded(data):
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return struct.pack("!H", ~total & 0xffff)


def tcp_with_raw_options(opts, flags, seq, ack, sport, dport=7, src=k4, wnd=1000):
    """Builds the packet without scapy, which is slower and cannot write malformed options."""
    seg = struct.pack("!HHIIBBHHH", sport, dport, seq & 0xffffffff, ack & 0xffffffff, (5 + len(opts) // 4) << 4,
                      flags, wnd, 0, 0) + opts
    ends = socket.inet_aton(src) + socket.inet_aton(s4)
    seg = seg[:16] + folded(ends + struct.pack("!BBH", 0, 6, len(seg)) + seg) + seg[18:]
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(seg), 1, 0, 64, 6, 0) + ends
    return ip[:10] + folded(ip) + ip[12:] + seg


def headers():
    """Sends packets whose IP or TCP header has a wrong length, offset or version."""
    good = bytes(tcp4(load=b"data"))
    for n in range(len(good)):
        send(good[:n])
        send(good[:n] + bytes(rnd.randrange(256) for _ in range(len(good) - n)))
    for ihl in range(16):
        send(bytes([0x40 | ihl]) + good[1:])
    for total in (0, 1, 19, 20, 39, 40, len(good) + 1, 65535):
        send(tcp4(len=total))
    for offset in range(16):
        send(IP(src=k4, dst=s4) / TCP(dport=7, flags="S", dataofs=offset))
    send(tcp4(chksum=1))
    send(IP(src=k4, dst=s4) / TCP(dport=7, flags="S", chksum=1))
    send(tcp4(ttl=0))
    send(IP(src=k4, dst=s4, options=[]) / TCP(dport=0, sport=0, flags="S"))
    for proto in range(256):
        send(IP(src=k4, dst=s4, proto=proto) / Raw(b"0123456789" * 3))
        send(IPv6(src=k6, dst=s6, nh=proto) / Raw(b"0123456789" * 3))


def garbage():
    for _ in range(3000):
        n = rnd.randrange(1, 200)
        data = bytearray(rnd.randrange(256) for _ in range(n))
        data[0] = (0x45, 0x60, data[0])[rnd.randrange(3)]
        if n >= 40 and rnd.random() < 0.7:  # addressed to us, at least
            if data[0] >> 4 == 4:
                data[12:20] = socket.inet_aton(k4) + socket.inet_aton(s4)
                data[9] = rnd.choice((1, 6, 17))
                data[2:4] = struct.pack("!H", n)
                data[6:8] = b"\0\0"
                data[10:12] = b"\0\0"
                data[10:12] = folded(bytes(data[:20]))
            elif data[0] >> 4 == 6:
                data[4:6] = struct.pack("!H", n - 40)
                data[6] = rnd.choice((0, 6, 17, 43, 44, 58, 60))
                data[8:40] = socket.inet_pton(socket.AF_INET6, k6) + socket.inet_pton(socket.AF_INET6, s6)
        send(bytes(data))


def addresses():
    """Sends packets from addresses that no host can have. None of them may be answered."""
    answers()
    for src in ("0.0.0.0", "255.255.255.255", "224.0.0.1", "239.1.2.3", "127.0.0.1", s4, "240.0.0.1"):
        for flags in ("S", "A", "R", "FPU"):
            send(tcp4(src=src, flags=flags))
            send(tcp4(src=src, flags=flags, dport=81))
        send(IP(src=src, dst=s4) / ICMP() / Raw(b"ping"))
        send(IP(src=src, dst=s4) / UDP(dport=81) / Raw(b"hello"))
    for src in ("::", "ff02::1", "::1", s6):
        send(IPv6(src=src, dst=s6) / TCP(dport=7, flags="S"))
        send(IPv6(src=src, dst=s6) / UDP(dport=81) / Raw(b"hello"))
    for dst in ("255.255.255.255", "224.0.0.1", "10.77.0.255"):
        send(tcp4(dst=dst, flags="S"))
        send(tcp4(dst=dst, flags="A"))
    send(IPv6(src=k6, dst="ff02::1") / TCP(dport=7, flags="S"))
    got = [IP(a).summary() if a[0] >> 4 == 4 else IPv6(a).summary() for a in answers()]
    expect("answers to impossible addresses: %s" % got[:3], not got)


def silence():
    """Sends packets that must never be answered: resets, ICMP errors, and errors about errors."""
    answers()
    send(tcp4(dport=81, flags="R"))
    send(tcp4(dport=81, flags="RA"))
    quoted = bytes(IP(src=s4, dst=k4) / ICMP(type=3, code=1))[:28]
    send(IP(src=k4, dst=s4) / ICMP(type=3, code=3) / Raw(quoted))
    send(IP(src=k4, dst=s4) / ICMP(type=11) / Raw(b"short"))
    send(IP(src=k4, dst=s4) / ICMP(type=0) / Raw(b"an answer nobody asked for"))
    send(IPv6(src=k6, dst=s6) / ICMPv6DestUnreach() / Raw(b"short"))
    got = answers()
    expect("%d answers where none may be" % len(got), not got)


def icmp(link):
    """Sends ICMP errors about flows of this stack, about other flows and about none, and path MTUs that are
    impossible."""
    def about(sport, dport, seq, dst=k4, src=s4):
        return bytes(IP(src=src, dst=dst) / TCP(sport=sport, dport=dport, seq=seq & 0xffffffff))[:28]
    for mtu in (0, 1, 67, 68, 295, 576, 1500, 65535):
        for seq in (0, link.ack - 1, link.ack + 100000):
            send(IP(src=k4, dst=s4) / ICMP(type=3, code=4, nexthopmtu=mtu) / Raw(about(7, link.port, seq)))
    for kind in range(256):
        for code in (0, 1, 3, 255):
            send(IP(src=k4, dst=s4) / ICMP(type=kind, code=code) / Raw(about(7, link.port, link.ack + 5000000)))
            send(IP(src=k4, dst=s4) / ICMP(type=kind, code=code) / Raw(about(1, 2, 3)[:rnd.randrange(28)]))
    for mtu in (0, 1, 1279, 1280, 0xffffffff):
        quoted = bytes(IPv6(src=s6, dst=k6) / TCP(sport=7, dport=5))
        send(IPv6(src=k6, dst=s6) / ICMPv6PacketTooBig(mtu=mtu) / Raw(quoted))
    send(IP(src=k4, dst=s4) / ICMP() / Raw(b"p" * 1400))
    send(IP(src=k4, dst=s4, flags="MF") / ICMP() / Raw(b"p" * 1400))


def fragments():
    syn = bytes(TCP(sport=9999, dport=7, flags="S"))
    for offset, more in ((0, 1), (1, 0), (1, 1), (0, 1), (8189, 0), (8191, 1), (0, 0)):
        send(IP(src=k4, dst=s4, proto=6, frag=offset, flags="MF" if more else 0, id=7) / Raw(syn[:16]))
        send(IPv6(src=k6, dst=s6) / IPv6ExtHdrFragment(offset=offset, m=more, id=7, nh=6) / Raw(syn))


def extensions():
    for n in (0, 1, 7, 255):
        for nh in (0, 6, 43, 44, 59, 60, 135, 255):
            send(IPv6(src=k6, dst=s6, nh=0) / Raw(bytes([nh, n]) + bytes(46)))
            send(IPv6(src=k6, dst=s6, nh=43) / Raw(bytes([nh, n, 0, 255]) + bytes(44)))
            send(IPv6(src=k6, dst=s6, nh=60) / Raw(bytes([nh, n]) + b"\x1e\xff" * 20))
    chain = IPv6(src=k6, dst=s6)
    for _ in range(40):
        chain = chain / IPv6ExtHdrDestOpt()
    send(chain / TCP(dport=7, flags="S"))
    send(IPv6(src=k6, dst=s6) / IPv6ExtHdrHopByHop() / IPv6ExtHdrRouting(segleft=5) / TCP(dport=7, flags="S"))
    send(IPv6(src=k6, dst=s6, plen=0) / TCP(dport=7, flags="S"))
    send(IPv6(src=k6, dst=s6, plen=65535) / TCP(dport=7, flags="S"))


def blind(link):
    """Sends segments with guessed numbers, as an attacker off the path does (RFC 5961). Only a reset with the exact
    sequence number may end the connection."""
    for k in range(60):
        far = rnd.randrange(1 << 32)
        send(tcp4(sport=link.port, flags="R", seq=far))
        send(tcp4(sport=link.port, flags="R", seq=(link.seq + 1 + k * 500) & 0xffffffff))  # inside the window, not exact
        send(tcp4(sport=link.port, flags="S", seq=far))
        send(tcp4(sport=link.port, flags="SA", seq=link.seq, ack=far))
        send(tcp4(sport=link.port, flags="A", seq=far, ack=link.ack, load=b"injected"))
        send(tcp4(sport=link.port, flags="A", seq=link.seq, ack=link.ack + (1 << 30) + k, load=b"injected"))
        send(tcp4(sport=link.port, flags="FA", seq=far, ack=far))
    expect("the connection survives blind segments", link.check())


def flood():
    for i in range(20000):
        src = "10.77.%d.%d" % (1 + i // 250, 1 + i % 250)
        send(tcp_with_raw_options(b"\x02\x04\x05\xb4", 2, i, 0, 1024 + i % 60000, src=src))


def hold(n=2000):
    """Opens connections to the character generator and never reads from them. Returns the number of connections
    opened."""
    options = b"\x02\x04\x05\xb4"
    opened = 0
    for i in range(n):
        port, src = 20000 + i // 200, "10.77.0.%d" % (20 + i % 200)
        send(tcp_with_raw_options(options, 2, 1, 0, port, dport=19, src=src, wnd=0))
        if i % 100 < 99:
            continue
        for raw in answers():
            if len(raw) < 40 or raw[0] != 0x45 or raw[9] != 6 or raw[33] & 0x12 != 0x12:
                continue
            sport, dport, seq = struct.unpack("!HHI", raw[20:28])
            send(tcp_with_raw_options(b"", 16, 2, seq + 1, dport, dport=sport, src=socket.inet_ntoa(raw[16:20]), wnd=0))
            opened += 1
    answers()
    return opened


if mode == "hold":
    held = hold()
    print(held, "connections held")
    sys.exit(0 if held >= 1900 else 1)
if mode == "flood":
    flood()
    print(sent, "SYNs")
    sys.exit(0)

connection = Link()
answers()
begun = sent
total = 0
for attack in (headers, garbage, addresses, silence, lambda: icmp(connection), fragments, extensions):
    attack()
    total += len(answers())
    expect("the connection lives on after %s" % getattr(attack, "__name__", "icmp"), connection.check())
every_flag(7, 1000, 2000, 6001)
every_flag(81, 1000, 2000, 6002)
total += len(answers())
expect("the connection lives on after every_flag", connection.check())
every_flag(7, connection.seq + 0x40000000, connection.ack + 0x40000000, connection.port)
total += len(answers())
expect("the connection lives on after every flag on itself", connection.check())
for option in nonsense_options():
    send(tcp_with_raw_options(option, 0x02, rnd.randrange(1 << 32), 0, rnd.randrange(10000, 60000)))
    # on the open connection, with an old sequence number: parsed, answered with no more than an ACK
    send(tcp_with_raw_options(option, 0x10, connection.seq - 70000, connection.ack, connection.port))
total += len(answers())
expect("the connection lives on after nonsense in options", connection.check())
blind(connection)
total += len(answers())
expect("%d answers to %d packets" % (total, sent - begun), total <= sent - begun)
print("%d packets, %d answers, %d failures" % (sent, total, len(failures)))
sys.exit(1 if failures else 0)
