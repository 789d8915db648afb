# SPDX-License-Identifier: MIT
"""SCPS-TP in captures: capabilities, SNACK in both forms, records, corruption marks, compressed headers, protocol 106,
IP in UDP, and why segments were sent again. What is expected is known because the captures are made here.
Usage: test_scps.py SCPS_TRACE
"""
import os
import struct
import subprocess
import sys
import tempfile

import checks
from capgen import *
from checks import equal
from compare import ours

BETS, SN1, SN2, COM, NLTS = 0x80, 0x40, 0x20, 0x10, 0x08


def syn_opts(bits, ident, n=1012):
    return caps(bits, ident) + mss(n)


def offered(program, d):
    c = Capture(RAW)
    t = Talk(c, opt_a=syn_opts(SN1 | COM | BETS, 0x7C), opt_b=syn_opts(SN1 | SN2 | COM, 0xCE) + bytes([20, 6, 1, 0, 0, 0])
             ).open()
    t.send(t.a, 1000, opts=record())
    t.acked(t.b, opts=corruption())
    t.send(t.a, 1000)
    t.acked(t.b, opts=corruption())
    t.close()
    # a plain peer
    t2 = Talk(c, End("10.1.0.1", 2000), B, t0=t.t, opt_a=syn_opts(SN1, 0)).open()
    t2.close()
    # kind 20 of nonsense lengths, and on a segment without SYN
    t3 = Talk(c, End("10.1.0.1", 2001), B, t0=t2.t, opt_a=b"\x14\2" + mss(1000), opt_b=b"\x14\3\0" + mss(1000) + b"\1").open()
    t3.send(t3.a, 100, opts=caps(0xF8, 1))
    t3.close()
    j = ours(program, c.write(d + "/offered.pcap"))["connections"]
    a, b = j[0]["a2b"], j[0]["b2a"]
    equal("offer of a", a["scps_offered"], "bets snack1 com")
    equal("offer of b", b["scps_offered"], "snack1 snack2 com")
    equal("agreed", j[0]["scps_agreed"], "snack1 com")
    equal("ids", (a["scps_connection_id"], b["scps_connection_id"]), (0x7C, 0xCE))
    equal("extended", b["extended_capabilities"], 4)
    equal("records", (a["records"], b["records"]), (1, 0))
    equal("corruption", (a["corruption_marks"], b["corruption_marks"]), (0, 2))
    equal("plain peer", (j[1]["scps_agreed"], j[1]["b2a"]["scps_offered"]), ("", ""))
    equal("nonsense", (j[2]["scps_agreed"], j[2]["a2b"]["bad_options"], j[2]["b2a"]["bad_options"]), ("", 1, 1))


def snacks(program, d, with_ts):
    """Losses that SNACK reports. The unit of the option is the MSS, less 12 octets with timestamps."""
    c = Capture()
    unit = 1000
    n = unit + (12 if with_ts else 0)
    t = Talk(c, opt_a=syn_opts(SN1 | SN2, 0, n), opt_b=syn_opts(SN1 | SN2, 0, n), rtt=0.5, ts_on=with_ts).open()
    base = t.s[t.a]
    t.send(t.a, unit)
    t.t += 0.5
    t.acked(t.b)  # a round trip is known now
    una = t.s[t.a]
    for i in range(10):
        t.send(t.a, unit)
    # blocks 0, 4 and 7 are missing: short form for 0, then short for 4, then long for 4 and 7
    t.t += 0.5
    t.acked(t.b, una, opts=snack(0, 1))
    t.send(t.a, unit, seq=una)
    t.acked(t.b, una, opts=snack(4, 1))
    t.send(t.a, unit, seq=una + 4 * unit)
    t.t += 0.6
    # long form: hole 4, then bits for 5, 6, 7, 8, 9: 1 1 0 1 1
    t.acked(t.b, una + 4 * unit, opts=snack(0, 1, bytes([0b11011000])))
    t.send(t.a, unit, seq=una + 4 * unit)
    t.send(t.a, unit, seq=una + 7 * unit)
    t.t += 0.5
    t.acked(t.b)
    t.acked(t.b, opts=snack(5, 0))  # size 0 and beyond what was sent: of no use
    t.acked(t.b, opts=snack(900, 1))
    t.close()
    j = ours(program, c.write(d + "/snack.pcap"))["connections"][0]
    a, b = j["a2b"], j["b2a"]
    equal("snack packets", b["snack_pkts_sent"], 5)
    equal("long forms", b["snack_long_sent"], 1)
    equal("holes", b["snack_holes"], 4)
    equal("snack bytes", b["snack_bytes"], 4 * unit)
    equal("ignored", b["snack_ignored"], 2)
    equal("resent", a["rexmt_data_pkts"], 4)
    equal("resent for SNACK", a["resent_snack"], 4)
    assert base


def causes(program, d):
    """One retransmission of each cause, in the order of docs/SCPS_TRACE.md."""
    c = Capture()
    o = mss(1012) + sack_ok()
    t = Talk(c, opt_a=o, opt_b=o, rtt=0.1, ts_on=True).open()
    a, b = t.a, t.b
    for i in range(8):  # round trips of 0.1 s
        t.send(a, 1000)
        t.t += 0.1
        t.acked(b)
    # SACK
    x = t.send(a, 1000)
    for i in range(3):
        t.send(a, 1000)
    t.t += 0.1
    for i in range(3):
        t.acked(b, x, opts=sack((x + 1000, x + 2000 + 1000 * i)))
    t.send(a, 1000, seq=x)
    t.t += 0.1
    t.acked(b)
    # timeout
    x = t.send(a, 1000)
    t.send(a, 1000)
    t.t += 0.5
    t.send(a, 1000, seq=x)
    t.t += 0.1
    t.acked(b)
    # tail probe: the last of a flight, after two round trips
    t.send(a, 1000)
    x = t.send(a, 1000)
    t.t += 0.1
    t.acked(b, x)
    t.t += 0.1
    t.send(a, 1000, seq=x)
    t.t += 0.1
    t.acked(b)
    # first RTT: again after 20 ms
    x = t.send(a, 1000)
    t.t += 0.02
    t.send(a, 1000, seq=x)
    t.t += 0.1
    # it was needless: DSACK
    t.acked(b, opts=sack((x, x + 1000)))
    t.close()
    # three duplicates, no SACK
    t = Talk(c, End("10.1.0.1", 3000), B, rtt=0.1, t0=t.t).open()
    a, b = t.a, t.b
    for i in range(4):
        t.send(a, 1000)
        t.t += 0.1
        t.acked(b)
    x = t.send(a, 1000)
    for i in range(3):
        t.send(a, 1000)
    t.t += 0.1
    for i in range(3):
        t.acked(b, x)
    t.send(a, 1000, seq=x)
    t.t += 0.1
    t.acked(b)
    t.close()
    j = ours(program, c.write(d + "/causes.pcap"))["connections"]
    a = j[0]["a2b"]
    got = {k: a["resent_" + k] for k in ("snack", "sack", "dupack", "timeout", "tail_probe", "first_rtt", "unexplained",
                                         "spurious")}
    equal("causes", got, {"snack": 0, "sack": 1, "dupack": 0, "timeout": 1, "tail_probe": 1, "first_rtt": 1,
                          "unexplained": 0, "spurious": 1})
    equal("by DSACK", a["spurious_dsack"], 1)
    equal("three duplicates", j[1]["a2b"]["resent_dupack"], 1)


def resent_after_a_copy(program, d):
    """SACK reports a segment's second copy, which was sent after the highest segment: that one is lost, too (RFC 8985 section
    6.2 step 5), though nothing above it has arrived."""
    c = Capture()
    o = mss(1012) + sack_ok()
    t = Talk(c, opt_a=o, opt_b=o, rtt=0.1, ts_on=True).open()
    a, b = t.a, t.b
    for i in range(4):
        t.send(a, 1000)
        t.t += 0.1
        t.acked(b)
    x = t.send(a, 1000)  # lost, as are the third and the sixth
    for i in range(5):
        t.send(a, 1000)
    t.t += 0.1
    for block in ((1, 2),), ((3, 4), (1, 2)), ((3, 5), (1, 2)):
        t.acked(b, x, opts=sack(*[(x + 1000 * i, x + 1000 * j) for i, j in block]))
    t.send(a, 1000, seq=x)  # lost again
    t.send(a, 1000, seq=x + 2000)
    t.t += 0.1
    t.acked(b, x, opts=sack((x + 1000, x + 5000)))
    t.send(a, 1000, seq=x + 5000)
    t.t += 0.1
    t.acked(b, x, opts=sack((x + 1000, x + 6000)))
    t.send(a, 1000, seq=x)
    t.t += 0.1
    t.acked(b)
    t.close()
    j = ours(program, c.write(d + "/copy.pcap"))["connections"][0]["a2b"]
    equal("resent after a copy", (j["resent_sack"], j["resent_unexplained"], j["rexmt_data_pkts"], j["loss_episodes"]), (4, 0, 4, 1))


def resent_in_parts(program, d):
    """A packet of five segments, captured before segmentation offload has cut it, is sent again segment by segment: none of
    them was sent a moment ago."""
    c = Capture()
    o = mss(1012) + sack_ok()
    t = Talk(c, opt_a=o, opt_b=o, rtt=0.1, ts_on=True).open()
    a, b = t.a, t.b
    for i in range(4):
        t.send(a, 1000)
        t.t += 0.1
        t.acked(b)
    x = t.send(a, 5000)
    for i in range(3):
        t.send(a, 1000)
    t.t += 0.1
    for i in range(3):
        t.acked(b, x, opts=sack((x + 5000, x + 6000 + 1000 * i)))
    for i in range(5):
        t.send(a, 1000, seq=x + 1000 * i)
    t.send(a, 1000, seq=x)  # this one was
    t.t += 0.1
    t.acked(b)
    t.close()
    j = ours(program, c.write(d + "/parts.pcap"))["connections"][0]["a2b"]
    equal("resent in parts", (j["resent_sack"], j["resent_first_rtt"], j["rexmt_data_pkts"]), (5, 1, 6))


def network_copies(program, d):
    """Segments that a channel delivers twice: hardware_dups, with neither a cause nor an episode, and not spurious."""
    c = Capture()
    o = mss(1012) + sack_ok()
    t = Talk(c, opt_a=o, opt_b=o, rtt=0.1, ts_on=True).open()
    a, b = t.a, t.b
    for i in range(8):
        x = t.send(a, 1000, ident=500 + i)
        if i in (3, 5):
            c.add(t.t + 0.0001, c.packets[-1][1][14:])
            t.t += 0.1
            t.acked(b, opts=sack((x, x + 1000)))
        else:
            t.t += 0.1
            t.acked(b)
    # a resend, which has an identification of its own
    x = t.send(a, 1000)
    t.t += 0.5
    t.send(a, 1000, seq=x)
    t.t += 0.1
    t.acked(b)
    t.close()
    j = ours(program, c.write(d + "/copies.pcap"))["connections"][0]["a2b"]
    got = {k: j[k] for k in ("hardware_dups", "rexmt_data_pkts", "resent_timeout", "resent_spurious", "loss_episodes")}
    equal("copies by the network", got, {"hardware_dups": 2, "rexmt_data_pkts": 3, "resent_timeout": 1, "resent_spurious": 0,
                                         "loss_episodes": 1})
    equal("no other cause", [j["resent_" + k] for k in ("snack", "sack", "dupack", "tail_probe", "first_rtt", "unexplained")],
          [0] * 6)


def compressed(program, d):
    """Packets of the reference implementation in loopback framing: connection ids 7c and ce, and SYNs with protocol
    number 106."""
    me = End("127.0.0.1", 5001)
    c = Capture(RAW)

    def hexed(s):
        return bytes.fromhex(s.replace(" ", ""))

    syn = hexed("1389 1389 e17e4fb1 00000000 b002 7fff cec7 0000 1404507c 02040598 01030300 0101080a e17e4fb1 00000000")
    ack = hexed("1389 1389 e16f6b0a e17e4fb2 b012 7fff 4c29 0000 140450ce 02040598 01030300 0101080a e17e5442 e17e4fb1")
    x, y = End("127.0.0.1", 5001), End("127.0.0.2", 5001)  # two addresses: with one the ports could not tell the ends
    assert me
    c.add(1.0, ip_packet(x, y, 106, syn))
    c.add(1.1, ip_packet(y, x, 106, ack))
    packets = [
        (x, y, "7c 63  7fff e16f6b0b  e17e4fb2  e17e545d e17e5442  1bd0", b""),
        (x, y, "7c 62  e17e4fb2  e17e547b e17e5442  de08", bytes(range(0x20, 0x7F)) * 11),
        (y, x, "ce 61  7a64 e17e53b2            e17e54a2 e17e548e  0687", b""),
        (x, y, "7c 62  e17e53b2  e17e549b e17e5442  de08", bytes(1024)),
        (x, y, "7c 66  e17e57b2  e17e549b e17e5442  de08", bytes(1024)),
        # a SNACK in the options part: block 0 of 1
        (y, x, "ce e1 80 7a64 e17e53b2 e17e54a2 e17e548e 06 150600000001 8f5e", b""),
        (x, y, "7c 72  e17e53b2  e17e54ab e17e5442  de08", bytes(1024)),  # again, and a record ends
        (y, x, "ce 61  7a64 e17e5bb2            e17e54a2 e17e548e  0687", b""),
        (x, y, "7c e3 41  7fff e16f6b0b  e17e5bb2  e1813145 e1811325  00  2942", b""),  # FIN
        (y, x, "ce e3 41  8000 e17e5bb3  e16f6b0b  e181319d e1813128  00  7a23", b""),
        (x, y, "7c 63  8000 e16f6b0c  e17e5bb3  e18131aa e181319d  111f", b""),
        (x, y, "99 63  8000 e16f6b0c  e17e5bb3  e18131aa e181319d  111f", b""),  # an id nobody announced
        (x, y, "7c e3 80  8000 e16f6b0c  e17e5bb3  e18131aa e181319d  ff", b""),  # options longer than the packet
    ]
    for i, (src, dst, head, data) in enumerate(packets):
        c.add(1.2 + 0.1 * i, ip_packet(src, dst, 105, hexed(head) + data[:1024], ident=1 + i))
    path = c.write(d + "/compressed.pcap")
    j = ours(program, path)
    con, cap = j["connections"][0], j["capture"]
    a, b = con["a2b"], con["b2a"]
    equal("compressed", (cap["compressed"], a["compressed_pkts"], b["compressed_pkts"]), (11, 7, 4))
    equal("unknown id", cap["unknown_compressed"], 1)
    equal("nonsense", cap["bad_compressed"], 1)
    equal("connections", len(j["connections"]), 1)
    equal("data", (a["actual_data_pkts"], a["actual_data_bytes"], a["unique_bytes_sent"]), (4, 4096, 3072))
    equal("resent", (a["rexmt_data_pkts"], a["resent_snack"]), (1, 1))
    equal("snack", (b["snack_pkts_sent"], b["snack_holes"]), (1, 1))
    equal("record", a["records"], 1)
    equal("closed", con["complete"], True)
    equal("length", (a["ttl_stream_length"], a["missed_data"]), (3072, 0))
    lines = subprocess.run([program, "-p", path], capture_output=True, text=True).stdout
    for words in ("scps-caps snack1+com id 124", "compressed", "snack offset 0 size 1", "resent: snack", "proto-106"):
        equal("in the packet list: " + words, words in lines, True)
    # the same within UDP: acknowledgements are shorter there than a TCP header
    around = Capture(RAW)
    for ns, b, _ in c.packets:
        around.add(ns / 1e9, ip_packet(A, B, 17, struct.pack(">HHHH", 7168, 7167, 8 + len(b), 0) + b))
    k = ours(program, around.write(d + "/compressed_udp.pcap"))
    equal("in UDP: compressed", (k["capture"]["encapsulated"], k["capture"]["compressed"]), (len(c.packets), 11))
    equal("in UDP: the same connection", k["connections"], j["connections"])


def in_udp(program, d):
    """IP inside UDP is found on any port; other UDP packets are not taken for it."""
    c = Capture()
    inner = Capture(RAW)
    t = Talk(inner, End("172.16.0.1", 40000), End("172.16.0.2", 5001), opt_a=syn_opts(SN1, 0), opt_b=syn_opts(SN1, 0)).open()
    for i in range(5):
        t.send(t.a, 1000)
        t.acked(t.b)
    t.close()
    for ns, b, _ in inner.packets:
        u = struct.pack(">HHHH", 7168, 7167, 8 + len(b), 0) + b
        c.add(ns / 1e9, ip_packet(A, B, 17, u))
    c.add(t.t, ip_packet(A, B, 17, struct.pack(">HHHH", 53, 53, 40, 0) + b"\x45" + bytes(31)))
    path = c.write(d + "/udp.pcap")
    j = ours(program, path)
    equal("encapsulated", (j["capture"]["encapsulated"], j["capture"]["other_protocol"]), (len(inner.packets), 1))
    equal("inner", (len(j["connections"]), j["connections"][0]["host_a"], j["connections"][0]["a2b"]["actual_data_bytes"]),
          (1, "172.16.0.1", 5000))
    j = ours(program, path, "--no-udp")
    equal("--no-udp", len(j["connections"]), 0)


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as d:
        offered(program, d)
        snacks(program, d, False)
        snacks(program, d, True)
        causes(program, d)
        network_copies(program, d)
        resent_in_parts(program, d)
        resent_after_a_copy(program, d)
        compressed(program, d)
        in_udp(program, d)
        if len(sys.argv) > 2:
            os.system("cp %s/*.pcap %s" % (d, sys.argv[2]))
    print("%d failures" % checks.failures)
    return checks.failures > 0


sys.exit(main())
