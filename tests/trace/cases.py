# SPDX-License-Identifier: MIT
"""Captures of one situation each, for comparison with tcptrace and tshark. Each returns a Capture."""
import functools
import random

from capgen import *


def plain(link=ETHERNET, vlan=(), **kw):
    c = Capture(link, vlan)
    t = Talk(c, **kw).open()
    for i in range(20):
        t.send(t.a, 1000, "PA" if i % 4 == 3 else "A")
        if i % 2:
            t.acked(t.b, dt=0.004)
    t.send(t.b, 300, "PA")
    t.acked(t.a)
    return t.close().c


def scaled():
    c = Capture()
    t = Talk(c, opt_a=mss(1460) + wscale(7) + sack_ok(), opt_b=mss(1400) + wscale(3) + sack_ok(), win=1000,
             ts_on=True).open()
    for i in range(30):
        t.send(t.a, 1388, win=900 + i)
        if i % 2:
            t.acked(t.b, win=500 + 7 * i)
    return t.close().c


def one_side_scales():
    c = Capture()
    t = Talk(c, opt_a=mss(1460) + wscale(7), win=1000).open()
    for i in range(6):
        t.send(t.a, 1000)
        t.acked(t.b, win=500 + i)
    return t.close().c


def resends():
    """Losses that are retransmitted after duplicate ACKs and after a timeout; retransmissions that overlap in part,
    that occur twice, and of data that was acknowledged before."""
    c = Capture()
    t = Talk(c, opt_a=mss(1000) + sack_ok(), opt_b=mss(1000) + sack_ok()).open()
    a, b = t.a, t.b
    lost = t.send(a, 1000)
    for i in range(6):
        t.send(a, 1000)
        t.acked(b, lost, opts=sack((lost + 1000, t.s[a])))
    t.send(a, 1000, seq=lost)
    t.acked(b, dt=0.05)
    x = t.send(a, 1000)
    t.t += 0.4
    t.send(a, 1000, seq=x)
    t.t += 0.8
    t.send(a, 1000, seq=x)
    t.acked(b)
    y = t.send(a, 1000)
    t.send(a, 1500, seq=y + 500)  # overlaps the end, brings new octets
    t.s[a] = y + 2000
    t.acked(b)
    t.send(a, 1000, seq=y)  # this data had been acknowledged
    t.acked(b, opts=sack((y, y + 1000)))  # DSACK
    z = t.send(a, 400)
    t.send(a, 400)
    t.send(a, 800, seq=z)  # one segment repeats both
    t.acked(b)
    return t.close().c


def reordered(seed=1):
    c = Capture()
    r = random.Random(seed)
    t = Talk(c).open()
    base = t.s[t.a]
    segs = [(base + 500 * i, 500) for i in range(200)]
    for i in range(0, 195, 3):
        if r.random() < 0.4:
            segs[i], segs[i + 2] = segs[i + 2], segs[i]
    got, edge = set(), base
    for n, (seq, ln) in enumerate(segs):
        t.send(t.a, ln, seq=seq)
        got.add(seq)
        while edge in got:
            edge += 500
        if n % 2:
            t.acked(t.b, edge)
    t.s[t.a] = base + 500 * 200
    t.acked(t.b, edge)
    return t.close().c


def gaps(seed=2):
    """The capture has missed segments, which are acknowledged nevertheless. Some of them are captured later, when they
    are retransmitted."""
    c = Capture()
    r = random.Random(seed)
    t = Talk(c).open()
    base, missed = t.s[t.a], []
    for i in range(300):
        seq = base + 700 * i
        if r.random() < 0.1:
            missed.append(seq)
        else:
            t.send(t.a, 700, seq=seq)
        if i % 3 == 2:
            t.acked(t.b, seq + 700)
        if missed and r.random() < 0.05:
            t.send(t.a, 700, seq=missed.pop())
    t.s[t.a] = base + 700 * 300
    t.acked(t.b)
    return t.close().c


def zero_window():
    c = Capture()
    t = Talk(c).open()
    a, b = t.a, t.b
    for i in range(8):
        t.send(a, 1000)
    t.acked(b, win=0)
    for wait in (0.2, 0.4, 0.8):
        t.t += wait
        t.send(a, 1, seq=t.s[a])
        t.acked(b, win=0)
    t.acked(b, win=8192)
    for i in range(4):
        t.send(a, 1000)
        t.acked(b)
    return t.close().c


def keepalive():
    c = Capture()
    t = Talk(c).open()
    t.send(t.a, 100)
    t.acked(t.b)
    for n in (1, 1, 0, 1, 0):
        t.t += 10
        t.send(t.a, n, seq=t.s[t.a] - 1)
        t.acked(t.b)
    return t.close().c


def fin_first():
    """A FIN that arrives before the acknowledgements that were sent before it."""
    c = Capture()
    t = Talk(c).open()
    for i in range(4):
        t.send(t.a, 1000)
    seq, top = t.s[t.b], t.s[t.a]
    t.acked(t.b, top, flags="FA")
    t.s[t.b] += 1
    t.send(t.b, 0, seq=seq, ack=top)
    t.acked(t.a)
    t.send(t.b, 0, seq=seq, ack=top - 1000)
    t.send(t.a, 0, "FA")
    t.acked(t.b)
    return c


def reset():
    c = Capture()
    t = Talk(c).open()
    t.send(t.a, 1000)
    t.acked(t.b)
    t.send(t.a, 1000)
    t.send(t.b, 0, "RA")
    t2 = Talk(c, End("10.1.0.1", 1026), B, t0=t.t)
    c.tcp(t2.t, t2.a, t2.b, 77, 0, "S", opts=mss(1460))  # refused
    c.tcp(t2.t + 0.01, t2.b, t2.a, 0, 78, "RA", 0)
    return c


def half_open():
    c = Capture()
    for i in range(4):
        c.tcp(1700000000 + 3 * (2**i - 1), A, B, 4242, 0, "S", opts=mss(1460) + sack_ok())
    e = End("10.1.0.9", 2000)
    c.tcp(1700000050, B, e, 1, 2, "SA", opts=mss(512))
    return c


def mid_connection():
    c = Capture()
    t = Talk(c)
    t.s = {t.a: 123456, t.b: 987654}
    t.ack = {t.a: 987654, t.b: 123456}
    for i in range(20):
        t.send(t.a, 900, "PA")
        if i % 2:
            t.acked(t.b)
    t.send(t.a, 900, seq=123456 - 900)  # this data is from before the beginning of the capture
    return t.close().c


def late_copies():
    """The capture begins at the receiver during a go-back retransmission: the first transmission of the segments was
    not captured, and they had been acknowledged."""
    c = Capture()
    t = Talk(c)
    t.s[t.a] += 100000
    x = t.s[t.a]
    t.send(t.a, 1000)
    t.acked(t.b, x + 6000)  # this fills the hole before data that arrived earlier
    for i in range(1, 6):
        t.send(t.a, 1000, seq=x + 1000 * i)
        t.acked(t.b, x + 6000, dt=0.02)
    t.s[t.a] = x + 6000
    for i in range(8):
        t.send(t.a, 1000)
        t.acked(t.b)
    t.send(t.a, 1000, seq=x - 3000)
    t.acked(t.b)
    return t.close().c


def fin_lost():
    """A FIN and a reply with data are lost before the point of capture. Acknowledgements of them are captured first."""
    c = Capture()
    t = Talk(c).open()
    t.send(t.a, 1000)
    lost = t.s[t.b]
    t.s[t.b] += 500
    t.acked(t.b)
    t.t += 0.4
    t.send(t.b, 500, seq=lost)
    t.acked(t.a)
    t.send(t.a, 0, "FA")
    fin = t.s[t.b]
    t.s[t.b] += 1
    t.acked(t.b)
    t.t += 0.4
    t.send(t.b, 0, "FA", seq=fin)
    t.acked(t.a)
    return c


def acks_overtaken():
    """Acknowledgements, each with a different window, arrive in another order than they were sent."""
    c = Capture()
    t = Talk(c).open()
    base = t.s[t.a]
    for i in range(8):
        t.send(t.a, 1000)
    for ack, win in ((1, 8000), (2, 8001), (1, 8002), (1, 8003), (2, 8004), (2, 8005), (2, 8005), (8, 0), (8, 8005), (7, 8007), (8, 8006)):
        t.acked(t.b, base + 1000 * ack, win=win)
    return t.close().c


def one_way(flags="A"):
    c = Capture()
    t = Talk(c)
    t.s[t.a] += 1
    for i in range(10):
        t.send(t.a, 1000)
    return c


def wrap(isn=2**32 - 5000):
    """The sequence numbers of both directions wrap from 2^32 - 1 to 0."""
    c = Capture()
    t = Talk(c, isn_a=isn, isn_b=isn + 3000).open()
    for i in range(20):
        t.send(t.a, 1000)
        t.send(t.b, 500)
        t.acked(t.a)
        t.acked(t.b)
    return t.close().c


def quadrant(isn=2**30 - 4500):
    """Sequence numbers cross a multiple of 2^30, at which tcptrace begins another list; losses and acknowledgements lie
    directly at that border."""
    c = Capture()
    t = Talk(c, isn_a=isn, isn_b=2**31 - 700).open()
    for i in range(3):
        t.send(t.a, 1000)
    t.acked(t.b)
    t.send(t.a, 2**30 - t.s[t.a])
    t.acked(t.b)  # acknowledges exactly up to the border
    x = t.send(t.a, 1000)
    t.acked(t.b)
    t.send(t.a, 1000)
    t.send(t.a, 3000, seq=x - 500)  # across the border and beyond
    t.s[t.a] = x + 2500
    t.acked(t.b)
    for i in range(5):
        t.send(t.b, 400)
        t.acked(t.a)
    return t.close().c


def quadrant_resent(isn=2**30 - 7000):
    """Data below a multiple of 2^30 is acknowledged after data beyond it was sent, and some data below that had been sent again."""
    c = Capture()
    t = Talk(c, isn_a=isn).open()
    x = t.send(t.a, 1000)
    for i in range(3):
        t.send(t.a, 1000)
    t.t += 0.3
    t.send(t.a, 1000, seq=x)
    t.send(t.a, 2**30 - t.s[t.a])
    t.send(t.a, 1000)
    for i in range(2, 5):
        t.acked(t.b, x + 1000 * i)
    t.acked(t.b)
    return t.close().c


def many(n=300, seed=3):
    c = Capture()
    r = random.Random(seed)
    talks = [Talk(c, End("10.%d.%d.%d" % (3 + i // 60000, i // 250 % 250, i % 250 + 1), 1025 + i), B,
                  isn_a=r.randrange(2**32), isn_b=r.randrange(2**32), rtt=0.01) for i in range(n)]
    t0 = 1700000000.0
    for t in talks:
        t.t = t0
        t.open()
        t0 += 0.0001
    now = t0 + 1
    for _ in range(3 * n):
        t = r.choice(talks)
        t.t = now
        t.send(t.a, r.randrange(1, 1400), "PA")
        if r.random() < 0.6:
            t.acked(t.b)
        now += 0.002
    for t in talks:
        t.t = now
        if r.random() < 0.7:
            t.close()
        now += 0.001
    c.packets.sort(key=lambda p: p[0])
    return c


def same_ports_again():
    c = Capture()
    t = Talk(c).open()
    t.send(t.a, 500)
    t.acked(t.b)
    t.close()
    t2 = Talk(c, t.a, t.b, isn_a=900000, isn_b=800000, t0=t.t + 1).open()
    t2.send(t2.a, 700)
    t2.acked(t2.b)
    t2.close()
    return c


def same_ports_in_window(end):
    """The ports are used again, from the same end and then from the other one, with an initial sequence number within the window of the
    connection before, as one that grows with the time often is (RFC 6528 section 3). end: how each connection has ended before that."""
    c = Capture()
    opts = mss(1460) + wscale(7) + sack_ok()
    t = Talk(c, opt_a=opts, opt_b=opts)
    for a in (A, A, B):
        b = B if a is A else A
        t = Talk(c, a, b, isn_a=t.s[a] + 300000, isn_b=t.s[b] + 200000, t0=t.t + 1, opt_a=opts, opt_b=opts).open()
        t.send(a, 500)
        t.acked(b)
        t.send(b, 700)
        t.acked(a)
        if end == "fin":
            t.close()
        elif end == "fin_of_one":
            t.send(b, 0, "FA")
            t.acked(a)
        elif end == "reset":
            t.send(a, 0, "RA")
    return c


def same_ports_without_first_syn():
    """The capture begins within a connection, whose end it lacks; the ports are used again, and the SYN has a larger number."""
    c = Capture()
    t = Talk(c)
    for i in range(4):
        t.send(A, 500)
        t.acked(B)
    t = Talk(c, isn_a=t.s[A] + 300000, isn_b=t.s[B] + 200000, t0=t.t + 1).open()
    t.send(A, 500)
    t.acked(B)
    return t.close().c


def one_side_first():
    """All packets of the listener, the last of them a reset, come before those of the other side, as where captures of two devices with
    different clocks were joined."""
    c = Capture()
    t = Talk(c, isn_a=2**32 - 3000).open()
    for i in range(10):
        t.send(A, 1000)
        t.acked(B)
    t.send(B, 0, "RA")
    c.packets.sort(key=lambda p: p[1][26:30] == A.ip.packed)
    return c


def one_handshake():
    """A SYN and a SYN-ACK that are repeated with the same numbers begin no other connection."""
    c = Capture()
    t = 1700000000.0
    for i in range(3):
        c.tcp(t + i, A, B, 1000, 0, "S", opts=mss(1460))
    for i in range(2):
        c.tcp(t + 3 + i, B, A, 5000, 1001, "SA", opts=mss(1460))
    c.tcp(t + 5, A, B, 1001, 5001)
    c.tcp(t + 6, A, B, 1001, 5001, data=100)
    c.tcp(t + 7, B, A, 5001, 1101)
    return c


def urgent_and_ecn():
    c = Capture()
    t = Talk(c).open()
    t.send(t.a, 100, "PAU", urp=5)
    t.acked(t.b)
    t.send(t.a, 100, tos=3)
    t.acked(t.b, flags="AE")
    t.send(t.a, 100, "AW", tos=2)
    t.acked(t.b)
    return t.close().c


def duplicated_by_two_interfaces():
    c = plain()
    c.packets = [p for q in c.packets for p in (q, (q[0] + 3000, q[1], q[2]))]
    return c


def short_snaplen(snap=68):
    c = plain(ts_on=True)
    c.packets = [(t, b[:snap], n) for t, b, n in c.packets]
    return c


def clock_back():
    c = plain()
    c.packets[20:24] = [(t - 5 * 10**6, b, n) for t, b, n in c.packets[20:24]]
    return c


def padded():
    c = plain()
    c.packets = [(t, b + b"\0" * (60 - len(b)), max(60, n)) for t, b, n in c.packets]
    return c


def ip_options():
    c = Capture()
    t = Talk(c).open()
    for i in range(4):
        t.send(t.a, 200, opts=b"")
        t.acked(t.b)
    c2 = Capture()
    for ns, b, n in c.packets:
        ip = b[14:]
        h = ip_packet(A if ip[12:16] == A.ip.packed else B, B if ip[12:16] == A.ip.packed else A, 6, ip[20:],
                      ident=7, opts=b"\x94\4\0\0")
        c2.packets.append((ns, b[:14] + h, n + 4))
    return c2


def ipv6(link=ETHERNET):
    return plain(link, a=A6, b=B6)


def ipv6_extensions():
    c = Capture()
    t = Talk(c, A6, B6)
    hbh = bytes([60, 0]) + b"\1\4\0\0\0\0"
    dst = bytes([6, 0]) + b"\1\4\0\0\0\0"
    base = t.s[A6]
    for i in range(6):
        seg = tcp_segment(A6, B6, base + 300 * i, 1, "PA", 4000, b"", b"z" * 300)
        c.add(t.t + i * 0.01, ip_packet(A6, B6, 6, seg, ext=hbh + dst, ext_proto=0))
    return c


#: for which tcptrace gives figures that are to equal ours, field by field
TCPTRACE = {
    "plain": plain, "scaled": scaled, "one_side_scales": one_side_scales, "resends": resends, "reordered": reordered,
    "gaps": gaps, "zero_window": zero_window, "keepalive": keepalive, "reset": reset, "half_open": half_open,
    "mid_connection": mid_connection, "late_copies": late_copies, "acks_overtaken": acks_overtaken,
    "fin_lost": fin_lost, "fin_first": fin_first,
    "one_way": one_way, "wrap": wrap, "quadrant": quadrant, "quadrant_resent": quadrant_resent, "many": many,
    "same_ports_again": same_ports_again, "urgent_and_ecn": urgent_and_ecn,
    "duplicated": duplicated_by_two_interfaces, "short_snaplen": short_snaplen, "clock_back": clock_back,
    "padded": padded, "ip_options": ip_options, "ipv6": ipv6, "ipv6_extensions": ipv6_extensions,
    "vlan": lambda: plain(vlan=((0x8100, 7),)), "raw": lambda: plain(RAW), "null": lambda: plain(NULL),
    "cooked": lambda: plain(COOKED), "ppp": lambda: plain(PPP),
}
#: link types tcptrace does not read, and connections that it does not tell apart
OURS_ONLY = {
    **{"same_ports_" + end: functools.partial(same_ports_in_window, end) for end in ("fin", "fin_of_one", "reset", "open")},
    "one_handshake": one_handshake, "one_side_first": one_side_first, "same_ports_without_first_syn": same_ports_without_first_syn,
    "qinq": lambda: plain(vlan=((0x88A8, 100), (0x8100, 7))), "cooked2": lambda: plain(COOKED2),
    "loop": lambda: plain(LOOP), "ipv6_raw": lambda: ipv6(RAW), "ipv6_null": lambda: ipv6(NULL),
    "ipv6_cooked2": lambda: ipv6(COOKED2), "ipv6_ppp": lambda: ipv6(PPP),
}

if __name__ == "__main__":
    import os
    import sys

    os.makedirs(sys.argv[1], exist_ok=True)
    for name, make in {**TCPTRACE, **OURS_ONLY}.items():
        make().write("%s/%s.pcap" % (sys.argv[1], name))
