# SPDX-License-Identifier: MIT
"""Files, pipes, gzip, flavours; and what is no capture, or stops being one. Usage: test_input.py SCPS_TRACE"""
import glob
import gzip
import json
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

import cases
import checks
from capgen import *
from checks import check


def run(args, **kw):
    return subprocess.run(args, capture_output=True, timeout=600, **kw)


def figures(p):
    return json.loads(p.stdout)["connections"]


def flavours(program, d):
    c = cases.resends()
    want = figures(run([program, "--json", c.write(d + "/a.pcap")]))
    data = open(d + "/a.pcap", "rb").read()
    same = {"swapped": dict(swap=True), "nano": dict(nano=True), "pcapng": dict(ng=True),
            "pcapng swapped": dict(ng=True, swap=True), "pcapng nano": dict(ng=True, nano=True)}
    for name, kw in same.items():
        got = figures(run([program, "--json", c.write(d + "/x", **kw)]))
        check(name, got == want)
    for name, payload in (("gzip", gzip.compress(data)), ("two members", gzip.compress(data[:1000]) + gzip.compress(data[1000:])),
                          ("gzip'd pcapng", gzip.compress(open(c.write(d + "/x", ng=True), "rb").read()))):
        open(d + "/x.gz", "wb").write(payload)
        check(name, figures(run([program, "--json", d + "/x.gz"])) == want)
        check(name + " through a pipe", figures(run([program, "--json", "-"], input=payload)) == want)
    # Before version 2.3, and in files of DG/UX, the length on the wire comes first; in 2.3 either may.
    cut = open(c.write(d + "/x", cut=68), "rb").read()
    short = figures(run([program, "--json", d + "/x"]))
    for version in ((2, 2), (2, 3), (543, 0)):
        for e in "<>":
            old, at = struct.pack(e + "IHH", 0xA1B2C3D4, *version) + struct.pack(e + "4I", *struct.unpack("<4I", cut[8:24])), 24
            while at < len(cut):
                sec, usec, kept, length = struct.unpack("<4I", cut[at:at + 16])
                old += struct.pack(e + "4I", sec, usec, length, kept) + cut[at + 16:at + 16 + kept]
                at += 16 + kept
            open(d + "/x", "wb").write(old)
            p = run([program, "--json", d + "/x"])
            check("pcap %d.%d" % version, p.returncode == 0 and figures(p) == short, p.stderr)
    # names are UTF-8 where they can be, and never make the document unreadable
    for name, shown in (("größe ¼ 路.pcap".encode(), "größe ¼ 路.pcap"), (b"\xe4\xff.pcap", "\ufffd\ufffd.pcap"),
                        (b'a "b"\\c\n.pcap', 'a "b"\\c\n.pcap')):
        path = os.path.join(d.encode(), name)
        open(path, "wb").write(data)
        got = json.loads(run([program, "--json", path]).stdout.decode("utf-8"))
        check("name %r" % name, [os.path.basename(f) for f in got["files"]] == [shown], got["files"])
    check("pipe", figures(run([program, "--json", "-"], input=data)) == want)
    # pcapng with every block there is, unknown ones, and two sections
    block = ng_block
    head = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)) + block(1, struct.pack("<HHI", 1, 0, 65535))
    odd = [block(4, bytes(4)), block(5, bytes(12)), block(9, bytes(20)), block(10, b"KSLT\4\0\0\0abcd"), block(0xBAD, b"\1\2\3\4odd"),
           block(0x7777, b"x" * 33)]
    packets = [block(6, struct.pack("<IIIII", 0, ns // 1000 >> 32, ns // 1000 & 0xFFFFFFFF, len(b), n) + b) for ns, b, n in c.packets]
    full = head + b"".join(p + odd[i % len(odd)] for i, p in enumerate(packets))
    open(d + "/x", "wb").write(full + head + b"".join(odd))
    check("odd blocks", figures(run([program, "--json", d + "/x"])) == want)
    open(d + "/x", "wb").write(head + b"".join(packets[:9]) + head + b"".join(packets[9:]))
    check("two sections", figures(run([program, "--json", d + "/x"])) == want)
    p = run([program, "-b", "-o3-4,2", d + "/a.pcap"])
    check("a connection that is not there", p.returncode == 2 and p.stderr == b"scps_trace: -o 2: the capture has 1 connection\n", p.stderr)
    # a pipe that trickles
    p = subprocess.Popen([program, "--json", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for i in range(0, len(data), 997):
        p.stdin.write(data[i:i + 997])
        p.stdin.flush()
    check("trickle", json.loads(p.communicate(timeout=600)[0])["connections"] == want)
    # two files are one capture
    n = len(c.packets) // 2
    h, t = Capture(), Capture()
    h.packets, t.packets = c.packets[:n], c.packets[n:]
    check("two files", figures(run([program, "--json", h.write(d + "/h"), t.write(d + "/t")])) == want)


def interfaces(program, d):
    """A pcapng file of several interfaces: each has its own link type, snapshot length and unit of time, and the
    packets of each are read correctly."""
    c, raw = cases.resends(), Capture(link=RAW)
    want = figures(run([program, "--json", c.write(d + "/a.pcap")]))

    def option(kind, value):
        return struct.pack("<HH", kind, len(value)) + value + b"\0" * (-len(value) % 4)

    def interface(link, snap, *options):
        return ng_block(1, struct.pack("<HHI", link, 0, snap) + b"".join(options) + bytes(4))

    later = 1600000000
    units = [interface(ETHERNET, 8192, option(9, b"\6"), option(14, struct.pack("<q", later))), interface(RAW, 0, option(9, b"\x09")),
             interface(RAW, 262144, option(2, b"device"), option(9, bytes([0x80 | 30])), option(14, struct.pack("<q", later)))]

    def packet(i, ns, b, n):
        t = [ns // 1000 - later * 10**6, ns, ((ns - later * 10**9) * 2**30 + 10**9 - 1) // 10**9][i]
        b = b if i == 0 else b[14:]
        return ng_block(6, struct.pack("<IIIII", i, t >> 32, t & 0xFFFFFFFF, len(b), n - 14 * (i > 0)) + b)

    section = ng_block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    blocks = [packet(i % 3, *p) for i, p in enumerate(c.packets)]
    open(d + "/x", "wb").write(section + b"".join(units) + b"".join(blocks))
    check("interfaces of three kinds", figures(run([program, "--json", d + "/x"])) == want)
    # the packet block of old, and the simple one, which has no time and takes that of the packet before it
    old = [ng_block(2, struct.pack("<HHIIII", 0, 0, ns // 1000 >> 32, ns // 1000 & 0xFFFFFFFF, len(b), n) + b) for ns, b, n in c.packets]
    open(d + "/x", "wb").write(section + interface(ETHERNET, 65535) + b"".join(old))
    check("blocks of old", figures(run([program, "--json", d + "/x"])) == want)
    simple = [ng_block(3, struct.pack("<I", n) + b) for ns, b, n in c.packets]
    open(d + "/x", "wb").write(section + interface(ETHERNET, 65535) + old[0] + b"".join(simple[1:]))
    got = figures(run([program, "--json", d + "/x"]))
    check("simple blocks", [g["total_packets"] for g in got] == [w["total_packets"] for w in want] and got[0]["elapsed_time"] == 0)
    # what makes no sense ends it there, and says what
    long = ng_block(0x1234, bytes(600000))  # skipped, whatever its length
    for name, block, line in (
            ("no such interface", packet(0, *c.packets[5])[:8] + b"\7" + packet(0, *c.packets[5])[9:], "a packet of an interface not described: 7"),
            ("a packet beyond its block", ng_block(6, struct.pack("<IIIII", 0, 0, 0, 500, 500) + bytes(8)), "a packet longer than its block: 500"),
            ("a short block", ng_block(6, bytes(8)), "a packet's block of length 8"),
            ("an interface too short", ng_block(1, bytes(4)), "a description of an interface of length 4"),
            ("an odd length", struct.pack("<II", 6, 33) + bytes(29), "a block of length 33"),
            ("a length below the least", struct.pack("<II", 6, 8) + bytes(29), "a block of length 8"),
            ("a huge packet", struct.pack("<II", 6, 1 << 30) + bytes(29), "a block of length 1073741824"),
            ("lengths that differ", ng_block(6, bytes(24))[:-4] + bytes(4), "a block whose lengths differ, 36"),
            ("no byte order", ng_block(0x0A0D0D0A, b"\1\2\3\4" + bytes(12)), "a section whose byte order cannot be told, 16909060"),
            ("nobody's unit of time", interface(ETHERNET, 65535, option(9, b"\x14")), "a unit of time out of range, of interface 3"),
            ("a section forgets its interfaces", section + packet(0, *c.packets[5]), "a packet of an interface not described: 0")):
        open(d + "/x", "wb").write(section + b"".join(units) + long + b"".join(blocks[:4]) + block + b"".join(blocks[5:]))
        p = run([program, "--json", d + "/x"])
        told = "scps_trace: %s/x: after packet 4 comes %s: analysed up to there\n" % (d, line)
        j = json.loads(p.stdout)
        check(name, p.returncode == 1 and p.stderr.decode() == told and j["capture"]["packets"] == 4 and j["capture"]["unread_bytes"] > 0, p.stderr)
    whole = section + b"".join(units) + b"".join(blocks)
    for cut in range(len(section) + 1, len(section + b"".join(units)) + 200, 7):
        open(d + "/x", "wb").write(whole[:cut])
        p = run([program, "--json", d + "/x"])
        check("cut at %d" % cut, p.returncode in (0, 1) and (p.returncode == 0 or b"cut off" in p.stderr), p.stderr)


def tunnels(program, d):
    """The same conversation is read in the same way without a tunnel and inside each kind of tunnel."""
    bare = cases.resends()
    want = figures(run([program, "--json", bare.write(d + "/a.pcap")]))
    ips = [(ns, b[14:]) for ns, b, n in bare.packets]
    ether, out4, out6 = b"\2\0\0\0\0\1\2\0\0\0\0\2", (A, B), (A6, B6)
    llc, radio = b"\xaa\xaa\3\0\0\0\x08\0", b"\0\0"
    mpls = b"\0\1\0\x40\0\2\1\x40"  # two labels
    gre = {"plain": b"\0\0\x08\0", "key, sequence, checksum": b"\xb0\0\x08\0" + bytes(12), "Ethernet": b"\0\0\x65\x58" + ether + b"\x08\0",
           "tagged Ethernet": b"\0\0\x65\x58" + ether + b"\x81\0\0\5\x08\0", "MPLS": b"\0\0\x88\x47" + mpls,
           "PPTP": b"\x30\x81\x88\x0b" + bytes(12) + b"\xff\3\0\x21", "PPTP without acknowledgement": b"\x30\x01\x88\x0b" + bytes(8) + b"\x21",
           "ERSPAN I": b"\0\0\x88\xbe" + ether + b"\x08\0", "ERSPAN II": b"\x10\0\x88\xbe" + bytes(4) + bytes(8) + ether + b"\x08\0",
           "ERSPAN III": b"\x10\0\x22\xeb" + bytes(4) + bytes(12) + ether + b"\x08\0",
           "a pseudowire": b"\0\0\x88\x47" + mpls + bytes(4) + ether + b"\x08\0",
           "a service chain": b"\0\0\x89\x4f" + b"\0\x02\x02\1" + bytes(4),
           "ERSPAN III with its subheader": b"\x10\0\x22\xeb" + bytes(4) + bytes(11) + b"\1" + bytes(8) + ether + b"\x08\0"}
    gtp = b"\x30\xff\0\0\0\0\0\1"
    of_udp = {"VXLAN": (4789, b"\x08" + bytes(7) + ether + b"\x08\0"), "VXLAN, Linux's port": (8472, b"\x08" + bytes(7) + ether + b"\x08\0"),
              "GENEVE": (6081, b"\0\0\x65\x58" + bytes(4) + ether + b"\x08\0"), "GENEVE with options": (6081, b"\2\0\x08\0" + bytes(4) + bytes(8)),
              "GTP": (2152, gtp), "GTP, numbered": (2152, b"\x32" + gtp[1:] + bytes(4)),
              "GTP with extensions": (2152, b"\x34" + gtp[1:] + b"\0\0\0\x85" + b"\1\0\0\x85" + b"\2" + bytes(6) + b"\0"),
              "GRE in UDP": (4754, b"\0\0\x08\0"), "IP in UDP": (7000, b""), "MPLS in UDP": (6635, mpls),
              "VXLAN-GPE": (4790, b"\x0c\0\0\3" + bytes(4) + ether + b"\x08\0"), "VXLAN-GPE with IP": (4790, b"\x0c\0\0\1" + bytes(4)),
              "VXLAN-GPE with a service chain": (4790, b"\x04\0\0\4" + bytes(4) + b"\0\x06\1\3" + bytes(20) + ether + b"\x81\0\0\5\x08\0"),
              "L2TP": (1701, b"\0\2" + bytes(4) + b"\xff\3\0\x21"), "L2TP with all fields": (1701, b"\x4a\2" + bytes(10) + b"\0\3" + bytes(3) + b"\x21")}

    def through(name, wrap, link=RAW, options=(), same=True, wire=0):
        c = Capture(link=link)
        for ns, ip in ips:
            c.packets.append((ns, wrap(ip), len(wrap(ip))))
        p = run([program, "--json", *options, c.write(d + "/x")])
        j = json.loads(p.stdout)
        for x in j["connections"]:  # wire: octets of each packet that the bare one lacks
            for side in ("a2b", "b2a"):
                x[side]["wire_bytes"] -= wire * x[side]["total_packets"]
                x[side]["pureack_bytes"] -= wire * x[side]["pure_acks_sent"]
        check(name, p.returncode == 0 and (j["connections"] == want if same else j["connections"] == []) and
              j["capture"]["other_protocol"] == (0 if same else len(ips)), j["capture"])

    for ends, version in ((out4, "IPv4"), (out6, "IPv6")):
        for name, options in (("", ()), (", not asked for", ("--no-tunnels",))):
            same = not options
            through("IP in " + version + name, lambda ip: ip_packet(*ends, 4, ip), RAW, options, same)
            for kind, header in gre.items():
                through("GRE, %s, in %s%s" % (kind, version, name), lambda ip: ip_packet(*ends, 47, header + ip), RAW, options, same)
            for kind, (port, header) in of_udp.items():
                through("%s in %s%s" % (kind, version, name), lambda ip: ip_packet(*ends, 17, udp(40000, port, header + ip)), RAW, options, same)
                if options:
                    through("%s in %s, not UDP" % (kind, version), lambda ip: ip_packet(*ends, 17, udp(40000, port, header + ip)), RAW, ["--no-udp"], False)
        through("EtherIP in " + version, lambda ip: ip_packet(*ends, 97, b"\x30\0" + ether + b"\x08\0" + ip))
        through("MPLS in " + version, lambda ip: ip_packet(*ends, 137, mpls + ip))
        auth = lambda proto: bytes([proto, 4]) + bytes(22)
        through("IP behind an authentication header, " + version, lambda ip: ip_packet(*ends, 51, auth(4) + ip))
        through("L2TP, from its port in " + version, lambda ip: ip_packet(*ends, 17, udp(1701, 40000, of_udp["L2TP"][1] + ip)))
        # CCSDS encapsulation packets: header of 2, 4 or 8 octets, the extension's octet, IP
        for form in ("B", "xH", "xxxI"):
            head = lambda n: struct.pack(">B" + form, 0xE8 | (1, 2, 3)[("B", "xH", "xxxI").index(form)], n)
            size = len(head(0)) + 1
            small = lambda ip: len(ip) + size < 256 or form != "B"
            through("a CCSDS encapsulation packet, %s, in %s" % (form, version), lambda ip: ip_packet(
                *ends, 17, udp(1, 9, head(size + len(ip)) + b"\x21" + ip if small(ip) else ip)))
            through("another length, %s, in %s" % (form, version), lambda ip: ip_packet(
                *ends, 17, udp(1, 9, head((size + 1 + len(ip)) & (0xFF if form == "B" else 0xFFFF)) + b"\x21" + ip)), same=False)
    through("TCP behind an authentication header", lambda ip: ip_packet(End(".".join(map(str, ip[12:16])), 1), End(".".join(map(str, ip[16:20])), 1), 51,
                                                                        auth(6) + ip[20:], ident=ip[4] << 8 | ip[5]), wire=24)
    through("a tunnel in a tunnel", lambda ip: ip_packet(*out4, 47, gre["plain"] + ip_packet(*out6, 17, udp(1, 6081, of_udp["GENEVE"][1] + ip_packet(*out4, 4, ip)))))
    deep = lambda ip, n: deep(ip_packet(*out4, 4, ip), n - 1) if n else ip
    through("five deep", lambda ip: deep(ip, 5))
    through("six deep: nobody's", lambda ip: deep(ip, 6), same=False)
    through("VXLAN-GPE, administration", lambda ip: ip_packet(*out4, 17, udp(1, 4790, b"\x0d\0\0\1" + bytes(4) + ip)), same=False)
    through("L2TP, control", lambda ip: ip_packet(*out4, 17, udp(1, 1701, b"\xc8\2" + bytes(10) + b"\x21" + ip)), same=False)
    through("another version of EtherIP", lambda ip: ip_packet(*out4, 97, b"\x40\0" + ether + b"\x08\0" + ip), same=False)
    through("another version of GRE", lambda ip: ip_packet(*out4, 47, b"\0\2\x08\0" + ip), same=False)
    through("VXLAN with flags nobody knows", lambda ip: ip_packet(*out4, 17, udp(1, 4789, b"\x88" + bytes(7) + ether + b"\x08\0" + ip)), same=False)
    through("GTP's own messages", lambda ip: ip_packet(*out4, 17, udp(1, 2152, b"\x30\1" + gtp[2:] + ip)), same=False)
    # link types
    through("MPLS on Ethernet", lambda ip: ether + b"\x88\x47" + mpls + ip, ETHERNET)
    word, wires = bytes(4), {"IPv4": ether + b"\x08\0", "a tag": ether + b"\x81\0\0\5\x08\0", "LLC": ether + b"\0\x64\xaa\xaa\3\0\0\0\x08\0"}
    for kind, header in wires.items():
        through("a pseudowire with a control word, " + kind, lambda ip: ether + b"\x88\x47" + mpls + word + header + ip, ETHERNET)
        through("a pseudowire, " + kind, lambda ip: ether + b"\x88\x47" + mpls + header + ip, ETHERNET)
    through("MPLS alone", lambda ip: mpls + ip, 219)
    through("MPLS in PPP", lambda ip: b"\xff\3\x02\x81" + mpls + ip, PPP)
    through("tags of switches", lambda ip: ether + b"\x89\x03" + b"\0\x20" + ether + b"\x89\x3f" + bytes(6) + b"\x89\x26" + bytes(4) + b"\x89\x2f" + bytes(4) + b"\x08\0" + ip, ETHERNET)
    through("LLC of IP", lambda ip: ether + struct.pack(">H", min(3 + len(ip), 1500)) + b"\6\6\3" + ip, ETHERNET)
    through("LLC and SNAP", lambda ip: ether + struct.pack(">H", min(8 + len(ip), 1500)) + b"\xaa\xaa\3\0\0\0\x08\0" + ip, ETHERNET)
    through("Cisco HDLC", lambda ip: b"\x0f\0\x08\0" + ip, 104)
    through("PPPoE alone", lambda ip: b"\x11\0\0\1\0\0\0\x21" + ip, 51)
    through("frame relay", lambda ip: b"\x18\x41\3\xcc" + ip, 107)
    through("frame relay, IPv6", lambda ip: b"\x18\x41\3\x8e" + ip_packet(*out6, 4, ip), 107)
    through("frame relay, SNAP", lambda ip: b"\x18\x41\3\0\x80\0\0\0\x08\0" + ip, 107)
    through("frame relay, four octets", lambda ip: b"\x18\x40\x40\x41\3\xcc" + ip, 107)
    through("frame relay, with its direction", lambda ip: b"\1\x18\x41\3\xcc" + ip, 206)
    bridged = b"\0\x80\xc2\0\7"
    through("frame relay, bridged", lambda ip: b"\x18\x41\3\0\x80" + bridged + ether + b"\x08\0" + ip, 107)
    through("PPP or Cisco HDLC: PPP", lambda ip: b"\xff\3\0\x21" + ip, 50)
    for link in (PPP, 50):
        through("PPP or Cisco HDLC: Cisco", lambda ip: b"\x0f\0\x08\0" + ip, link)
    atm = {"LLC": llc, "bridged": b"\xaa\xaa\3" + bridged + b"\0\0" + ether + b"\x08\0", "routed, without LLC": b"",
           "bridged, without LLC": b"\0\0" + ether + b"\x08\0", "PPP": b"\xfe\xfe\3\xcf\x21", "NLPID": b"\xfe\xfe\3\xcc"}
    for kind, header in atm.items():
        through("ATM, " + kind, lambda ip: header + ip, 100)
        through("SunATM, " + kind, lambda ip: b"\x82\0\0\x20" + header + ip, 123)
        through("ERF, AAL5, " + kind, lambda ip: bytes(8) + b"\4" + bytes(11) + header + ip, 197)
    for kind, header in {2: b"\0\0" + ether + b"\x08\0", 1: b"\xff\3\0\x21", 5: bytes(4) + b"\x0f\0\x08\0", 22: b"", 9: bytes(8) + llc}.items():
        through("ERF, type %d" % kind, lambda ip: bytes(8) + bytes([kind]) + bytes(7) + header + ip, 197)
        through("ERF, type %d, with extension headers" % kind, lambda ip: bytes(8) + bytes([kind | 128]) + bytes(7) + b"\x83" + bytes(7) + b"\3" + bytes(7) + header + ip, 197)
    through("Cisco HDLC, with its direction", lambda ip: b"\1\x0f\0\x08\0" + ip, 205)
    through("PPP, with its direction", lambda ip: b"\1\xff\3\0\x21" + ip, 204)
    through("PPP, of pppd", lambda ip: b"\0\3\0\x21" + ip, 166)
    through("SLIP", lambda ip: bytes(16) + ip, 8)
    through("FDDI", lambda ip: b"\x50" + ether + llc + ip, 10)
    through("token ring", lambda ip: b"\x10\x40" + ether + llc + ip, 6)
    through("token ring, with a route", lambda ip: b"\x10\x40" + ether[:6] + b"\x82" + ether[7:] + b"\6\0\0\1\0\2" + llc + ip, 6)
    through("InfiniBand", lambda ip: bytes(40) + b"\x08\0\0\0" + ip, 242)
    through("a provider's backbone", lambda ip: ether + b"\x88\xe7" + bytes(4) + ether + b"\x81\0\0\5\x08\0" + ip, ETHERNET)
    through("enc of BSD", lambda ip: b"\0\0\0\2" + bytes(8) + ip, 109)
    through("pflog", lambda ip: b"\x3d\2" + bytes(62) + ip, 117)
    for order in "<>":
        through("nflog", lambda ip: b"\2\0\0\1" + struct.pack(order + "HHI", 8, 1, 0) + struct.pack(order + "HHBxxx", 5, 10, 0) +
                struct.pack(order + "HH", len(ip) + 4, 9) + ip, 239)
    through("macOS's packet tap", lambda ip: struct.pack("<III", 108, 1, ETHERNET) + bytes(96) + ether + b"\x08\0" + ip, 258)
    # 802.11
    data, header = b"\x08\1", bytes(22)
    through("802.11", lambda ip: data + header + llc + ip, 105)
    through("802.11, QoS", lambda ip: b"\x88\2" + header + b"\0\0" + llc + ip, 105)
    through("802.11, QoS, high throughput", lambda ip: b"\x88\x82" + header + bytes(6) + llc + ip, 105)
    through("802.11, four addresses", lambda ip: b"\x08\3" + header + bytes(6) + llc + ip, 105)
    through("Prism", lambda ip: struct.pack("<II", 0x44, 144) + bytes(136) + data + header + llc + ip, 119)
    through("AVS as Prism", lambda ip: struct.pack(">II", 0x80211001, 64) + bytes(56) + data + header + llc + ip, 119)
    through("AVS", lambda ip: struct.pack(">II", 0x80211001, 64) + bytes(56) + data + header + llc + ip, 163)
    through("radiotap", lambda ip: radio + struct.pack("<HI", 8, 0) + data + header + llc + ip, 127)
    through("radiotap, padded", lambda ip: radio + struct.pack("<HIIQB", 25, 0x80000003, 0, 0, 0x20)[:-9] + bytes(4) + bytes(8) + b"\x20" +
            b"\x88\1" + header + bytes(2) + bytes(2) + llc + ip, 127)
    through("per-packet information", lambda ip: b"\0\0" + struct.pack("<HI", 8, 105) + data + header + llc + ip, 192)

    def unread(name, wrap, link, key):
        c = Capture(link=link)
        for ns, ip in ips:
            c.packets.append((ns, wrap(ip), len(wrap(ip))))
        p = run([program, "--json", c.write(d + "/x")])
        j = json.loads(p.stdout)
        check(name, j["connections"] == [] and j["capture"][key] == len(ips), j["capture"])

    unread("802.11, encrypted", lambda ip: b"\x08\x41" + header + llc + ip, 105, "other_link")
    unread("802.11, a beacon", lambda ip: b"\x80\0" + header + llc + ip, 105, "other_link")
    unread("802.11, an aggregate cut in its header", lambda ip: b"\x88\1" + header + b"\x80\0" + ether + b"\0\x40" + llc[:7], 105, "truncated")
    unread("ATM cells in ERF", lambda ip: bytes(8) + b"\3" + bytes(7) + bytes(4) + llc + ip, 197, "other_link")
    unread("ERF, extension headers without end", lambda ip: bytes(8) + b"\x82" + bytes(7) + b"\x83" + bytes(7) + b"\x83" + bytes(7), 197, "truncated")
    unread("MPLS, an associated channel", lambda ip: mpls + b"\x10\0\0\x21" + ip, 219, "other_link")
    unread("MPLS, a control word before nothing", lambda ip: mpls + bytes(4), 219, "truncated")
    unread("pseudowires in one another, cut", lambda ip: ((mpls + bytes(4) + ether + b"\x88\x47") * 3000)[:-1], 219, "truncated")
    unread("a service chain of a length below its least", lambda ip: ether + b"\x89\x4f" + b"\0\1\2\1" + bytes(8) + ip, ETHERNET, "other_link")

    def aggregates(name, several, head, tail, link):
        """Frames of up to `several` packets each, at the time of the first one, are read as those packets alone at that time."""
        alone, c = Capture(link=RAW), Capture(link=link)
        for i in range(0, len(ips), several):
            part, body = ips[i:i + several], b""
            for _, ip in part:
                alone.packets.append((part[0][0], ip, len(ip)))
                body += b"\0" * (-len(body) % 4) + ether + struct.pack(">H", 8 + len(ip)) + llc + ip
            c.packets.append((part[0][0], head + body + tail, len(head + body + tail)))
        got, one = (json.loads(run([program, "--json", x.write(d + "/x")]).stdout) for x in (c, alone))
        check(name, got["connections"] == one["connections"] and got["capture"]["tcp_packets"] == len(ips) and
              got["capture"]["packets"] == len(c.packets) and got["capture"]["truncated"] == 0, got["capture"])

    for several in (1, 2, 3, 7):
        aggregates("802.11, aggregates of %d" % several, several, b"\x88\1" + header + b"\x80\0", b"", 105)
        aggregates("radiotap, aggregates of %d, with checksum" % several, several, radio + struct.pack("<HI", 8, 0) + b"\x88\1" + header + b"\x80\0", b"\1\2\3\4", 127)
        aggregates("PPI, aggregates of %d" % several, several, b"\0\0" + struct.pack("<HI", 8, 105) + b"\x88\1" + header + b"\x80\0", bytes(3), 192)
    unread("802.11, cut", lambda ip: data + header, 105, "truncated")
    unread("radiotap longer than the packet", lambda ip: radio + struct.pack("<HI", 60000, 2) + data + header + llc + ip, 127, "truncated")
    unread("per-packet information of its own kind", lambda ip: b"\0\0" + struct.pack("<HI", 8, 192) + ip, 192, "other_link")
    unread("nflog without a length", lambda ip: b"\2\0\0\1" + struct.pack("<HH", 0, 1) + ip, 239, "other_link")
    unread("nflog without a packet", lambda ip: b"\2\0\0\1" + struct.pack("<HHI", 8, 1, 0), 239, "truncated")


def fragments(program, d):
    """A tunnel's packet of which only the first fragment has the headers, a packet whose IPv6 fragment header says that it is complete, and
    headers that the snapshot length cuts within a tunnel."""
    bare = cases.resends()
    want = figures(run([program, "--json", bare.write(d + "/a.pcap")]))
    ips = [(ns, b[14:]) for ns, b, n in bare.packets]

    def first(outer):
        """Returns the first fragment of an IP packet, of at most 576 octets, or the whole packet if that is shorter."""
        if len(outer) <= 576:
            return outer
        if outer[0] >> 4 == 6:
            part = struct.pack(">BBHI", outer[6], 0, 1, 9) + outer[40:40 + 528]
            return outer[:4] + struct.pack(">HB", len(part), 44) + outer[7:40] + part
        head = outer[:2] + struct.pack(">H", 572) + outer[4:6] + b"\x20\0" + outer[8:10] + b"\0\0" + outer[12:20]
        return head[:10] + struct.pack(">H", fold(cksum(head))) + head[12:] + outer[20:572]

    def read(name, wrap, snap=None):
        c = Capture(link=RAW)
        for ns, ip in ips:
            p = wrap(ip)
            c.packets.append((ns, p[:snap], len(p)))
        return json.loads(run([program, "--json", c.write(d + "/x")]).stdout)

    longer = sum(len(ip) + 28 > 576 for _, ip in ips)
    for ends, version in (((A, B), 4), ((A6, B6), 6)):
        for name, proto, header in (("IP in IP", 4, lambda ip: ip), ("GRE", 47, lambda ip: b"\0\0\x08\0" + ip),
                                    ("IP in UDP", 17, lambda ip: udp(40000, 7000, ip))):
            j = read(name, lambda ip: first(ip_packet(*ends, proto, header(ip))))
            now = [dict(x, **{k: {**x[k], "truncated_data": 0, "truncated_packets": 0} for k in ("a2b", "b2a")}) for x in j["connections"]]
            check("first fragments of %s in IPv%d" % (name, version), now == want and j["capture"]["fragments"] == longer, j["capture"])
        # UDP's length is beyond the packet, which is no fragment
        j = read("", lambda ip: ip_packet(*ends, 17, udp(1, 7000, ip)[:8 + 40]))
        check("UDP longer than its packet, IPv%d" % version, j["capture"]["tcp_packets"] == sum(len(ip) <= 40 for _, ip in ips), j["capture"])
    complete = lambda p: p[:4] + struct.pack(">HB", len(p) - 32, 44) + p[7:40] + struct.pack(">BBHI", p[6], 0, 0, 9) + p[40:]
    j = read("", lambda ip: complete(ip_packet(A6, B6, 4, ip)))
    check("a fragment header of a complete packet", j["connections"] == want and j["capture"]["fragments"] == 0, j["capture"])
    for snap in (20 + 8 + 20, 20 + 8 + 20 + 19):
        j = read("", lambda ip: ip_packet(A, B, 17, udp(40000, 7000, ip)), snap)
        check("TCP header cut off in UDP", j["capture"]["truncated"] == len(ips) and j["capture"]["other_protocol"] == 0, j["capture"])


def half_open(program, d):
    """Segments of a connection whose ports a SYN uses again are those of that connection until the SYN is answered: the acknowledgement of
    a SYN within an open connection and the reset after it (RFC 9293 section 3.5.1), and all of them if the SYN is an old duplicate."""
    def sizes(c):
        j = json.loads(run([program, "--json", c.write(d + "/x")]).stdout)
        return [(x["a2b"]["total_packets"], x["b2a"]["total_packets"], x["a2b"]["actual_data_bytes"], x["a2b"]["rtt_samples"],
                 x["a2b"]["adv_wind_scale"], x["b2a"]["acks_old"]) for x in j["connections"]]

    for above in (3000000, 2**31 - 5000, 2**32 - 3000000):
        scale = mss(1460) + wscale(7)

        def opened():
            c = Capture()
            t = Talk(c, opt_a=scale, opt_b=scale).open()
            for i in range(5):
                t.send(A, 1000)
                t.acked(B)
            return c, t, (t.s[A] + above) % 2**32

        c, t, isn = opened()
        c.tcp(t.t + 5, A, B, isn, 0, "S", opts=scale)
        c.tcp(t.t + 5.1, B, A, t.s[B], t.s[A])
        c.tcp(t.t + 5.2, A, B, t.s[A], 0, "R")
        u = Talk(c, opt_a=scale, opt_b=scale, isn_a=isn, isn_b=777777777, t0=t.t + 6).open()
        for i in range(3):
            u.send(A, 1000)
            u.acked(B)
        got = sizes(c)
        check("a half-open connection, %d above" % above, got == [(8, 7, 5000, 6, 7, 0), (6, 4, 3000, 3, 7, 0)], got)
        c, t, isn = opened()
        c.tcp(t.t, A, B, isn, 0, "S", opts=scale)
        t.t += 1
        for i in range(5):
            t.acked(B)
            t.send(A, 1000)
        t.acked(B)
        got = sizes(c)
        check("an old duplicate of a SYN, %d above" % above, got == [(12, 12, 10000, 11, 7, 0), (1, 0, 0, 0, 7, 0)], got)
    c, t, isn = opened()
    u = Talk(c, opt_a=scale, opt_b=scale, isn_a=isn, isn_b=777777777, t0=t.t + 6).open()
    u.send(A, 1000)
    c.packets = [p for p in c.packets if p[1][26:30] == A.ip.packed]
    got = sizes(c)
    check("one direction alone", [x[:3] for x in got] == [(7, 0, 5000), (3, 0, 1000)], got)
    # A SYN-ACK after a reset answers the SYN all the same: of B's earlier connection (the capture lacks it) this reset is A's end, or B
    # had no listener until A sent the SYN again, or somebody else sent it.
    for name, before in (("a half-open connection before the capture", lambda c: (c.tcp(0.1, B, A, 4000000000, above, "A"),
                                                                                  c.tcp(0.2, A, B, above, 0, "R"))),
                         ("a port that opens", lambda c: c.tcp(0.1, B, A, 0, 1001, "RA", win=0)),
                         ("a reset of somebody else", lambda c: c.tcp(0.1, B, A, 77777, 0, "R"))):
        for above in (900000000, 3000000000):
            c = Capture()
            c.tcp(0, A, B, 1000, 0, "S", opts=scale)
            before(c)
            resets = len(c.packets) - 1
            u = Talk(c, opt_a=scale, opt_b=scale, isn_a=1000, isn_b=777777777, t0=1).open()
            for i in range(3):
                u.send(A, 1000)
                u.acked(B)
            j = json.loads(run([program, "--json", c.write(d + "/x")]).stdout)["connections"]
            got = [(x["total_packets"], x["a2b"]["actual_data_bytes"], x["a2b"]["adv_wind_scale"], x["b2a"]["acks_old"], x["a2b"]["bytes_acked"],
                    x["a2b"]["rexmt_data_pkts"], x["a2b"]["gap_fills"], x["a2b"]["resent_unexplained"], x["a2b"]["missed_data"]) for x in j]
            check("%s: one connection" % name, got == [(10 + resets, 3000, 7, 0, 3000, 1, 0, 0, None)], got)


def captured_late(program, d):
    """A SYN and data that the capture has behind the packets which answer them, as a host stores them that captures each direction by
    itself, are parts of the same connection and were not sent again."""
    c = Capture()
    t = Talk(c).open()
    syn = c.packets.pop(0)
    t.send(A, 1000)
    t.acked(B)
    for late in (0.00001, 0.00001, 0.2):  # the last one is later than a round trip, so it was sent again
        t.t += 0.1
        t.send(A, 1000)
        t.acked(B)
        data, ack = c.packets[-2:]
        c.packets[-2:] = [(data[0], *ack[1:]), (int(data[0] + late * 1e9), *data[1:])]
    t.t += 0.3
    t.close()
    c.packets.append((int(t.t * 1e9), *syn[1:]))
    j = json.loads(run([program, "--json", c.write(d + "/x")]).stdout)["connections"]
    got = [(x["host_a"], x["total_packets"], x["syns"], x["b2a"]["reordered_pkts"], x["b2a"]["repaired_unseen_pkts"],
            x["b2a"]["rexmt_data_pkts"]) for x in j]
    check("captured late", got == [("10.2.0.2", len(c.packets), 2, 2, 1, 0)], got)


def covering(program, d):
    """Packets that each cover thousands of small segments sent before: more than 1e8 segments in all are counted within a second of processor time,
    while a search for each took more than two. Data below the first number seen has a negative number in the list of packets."""
    c = Capture(link=RAW)
    for i in range(24000):
        head = tcp_segment(A, B, 100000 + (i * 3 if i % 2 else 0), 0, "A", 1, b"", b"")
        p = ip_packet(A, B, 6, head)
        c.packets.append((i * 1000, p[:2] + struct.pack(">H", 60040) + p[4:], 60040))
    c.tcp(1, A, B, 99000, 0, data=500)
    c.write(d + "/x")
    before = os.times().children_user
    j = json.loads(run([program, "--json", d + "/x"]).stdout)
    used = os.times().children_user - before
    x = j["connections"][0]["a2b"]
    check("many small segments covered", used < 1 and x["max_retrans"] == 21999 and x["rexmt_data_pkts"] == 23999, (used, x["max_retrans"], x["rexmt_data_pkts"]))
    last = run([program, "-p", d + "/x"]).stdout.decode().splitlines()[-1]
    check("data below the first number", " seq -1000:-500 " in last, last)


def no_capture(program, d):
    random.seed(1)
    for name, content in (("text", b"this is no capture at all, just words\n" * 10), ("empty", b""), ("short", b"\xd4\xc3"),
                          ("header cut", b"\xd4\xc3\xb2\xa1\2\0\4\0"), ("noise", bytes(random.randrange(256) for _ in range(5000))),
                          ("noise in gzip", gzip.compress(b"words " * 100)), ("cut gzip", gzip.compress(b"x" * 1000)[:15])):
        open(d + "/f", "wb").write(content)
        for options in ([], ["--json"], ["-l"], ["--csv"]):
            p = run([program, *options, d + "/f"])
            check("%s: exit 2, one line" % name, p.returncode == 2 and p.stderr.count(b"\n") == 1 and not p.stdout,
                  (p.returncode, p.stderr, p.stdout[:100]))
    for path in (d, d + "/missing"):
        p = run([program, path])
        check("%s: exit 2, one line" % path, p.returncode == 2 and p.stderr.count(b"\n") == 1, p.stderr)
    for args in ([], ["--nonsense"], ["-o", "x", "f"], ["--graph-format", "bmp", "f"], ["--max-memory", "1", "f"]):
        p = run([program, *args])
        check("usage %s" % args, p.returncode == 2 and not p.stdout and p.stderr, p.stderr)
    f = cases.plain().write(d + "/f")
    os.mkdir(d + "/folder")
    for args, words in ((["-Z", f], b"no option -Z"), (["--nonsense", f], b"no option --nonsense"), (["--schema=x", f], b"no option --schema=x"),
                        ([f, "--live"], b"--live needs a value"), ([f, "-o"], b"-o needs a value"), (["--qlog", d + "/folder", f], b"this is a folder"),
                        (["--json=" + d + "/j", "-l", f], b"leave out all but one"), (["--csv", "--tsv", f], b"leave out all but one"),
                        (["-p", "--json", f], b"give --json=FILE"), (["--json=-", "-p", f], b"give --json=FILE"),
                        (["-p", "--csv", f], b"leave out one"), (["--tsv", "-p", f], b"leave out one"),
                        (["-p", "--json=/dev/stdout", f], b"same file"),
                        (["--graph-dir", d, f], b"add -G"), (["--graph-format", "svg", f], b"add -G"), (["--html-marks", "5000", f], b"without --html"),
                        ([d + "/missing"], b"give a pcap or pcapng file"), ([d], b"give a file in it")):
        p = run([program, *args])
        check("one line that names the input and the remedy: %s" % args,
              p.returncode == 2 and not p.stdout and p.stderr.count(b"\n") == 1 and words in p.stderr,
              (p.returncode, p.stderr))
    check("nothing was written", sorted(os.listdir(d + "/folder")) == [] and not os.path.exists(d + "/j"), os.listdir(d))
    capture = cases.plain().write(d + "/kept")
    before = open(capture, "rb").read()
    for args in (["--json=" + capture, capture], ["--html", d + "/./kept", capture], ["--json=" + d + "/r", "--html", d + "/r", capture],
                 ["--html", "/dev/stdout", capture]):
        p = run([program, *args])
        check("one file twice %s" % args, p.returncode == 2 and not p.stdout and b"same file" in p.stderr, p.stderr)
    check("the capture is kept", open(capture, "rb").read() == before)
    # names that depend on the connections: those that a run may write are not read or written by it besides
    log, graph = cases.plain().write(d + "/x-1-a2b.qlog"), cases.plain().write(d + "/a2b_tsg.xpl")
    os.symlink(log, d + "/link")
    os.mkdir(d + "/graphs")
    for args in (["--qlog", d + "/x", log], ["--qlog", d + "/./x", d + "/link"], ["--qlog", d + "/x", "--html", d + "/x-7-b2a.qlog", capture],
                 ["-S", "--graph-dir", d, graph], ["-G", "--graph-dir", d + "/.", "--html", d + "/c2d_rtt.gpl", capture]):
        p = run([program, *args])
        check("a file of a family %s" % args, p.returncode == 2 and not p.stdout and b"may be one of its files" in p.stderr, p.stderr)
    for args in (["--qlog", d + "/xx", log], ["--qlog", d + "/graphs/x", log], ["-S", "--graph-dir", d + "/graphs", graph],
                 ["--qlog", d + "/x", graph]):
        p = run([program, *args])
        check("not of the family %s" % args, p.returncode == 0, p.stderr)
    p = run([program, "-p", "--json=" + d + "/both.json", f])
    check("packets on standard output, the report in a file", p.stdout == run([program, "-p", f]).stdout and
          len(json.load(open(d + "/both.json"))["connections"]) == 1 and p.returncode == 0, p.stderr)
    p = run([program, "--json=/nowhere/x", cases.plain().write(d + "/ok")])
    check("unwritable report", p.returncode == 1 and p.stderr.count(b"\n") == 1, p.stderr)
    p = subprocess.run([program, "--json", d + "/ok"], stdout=open("/dev/full", "w"), stderr=subprocess.PIPE)
    check("full disk", p.returncode == 1 and b"could not be written" in p.stderr, p.stderr)


def unknown_link(program, d):
    """A file whose link type is not supported is refused in the same way as a file that is not a capture."""
    c = cases.plain()
    n = len(c.packets)
    known = open(c.write(d + "/k", ng=True), "rb").read()
    c.link = 147
    paths = [c.write(d + "/u"), c.write(d + "/u.ng", ng=True), d + "/u.gz"]
    open(paths[2], "wb").write(gzip.compress(open(paths[0], "rb").read()))
    for path in paths:
        for options in ([], ["--json"], ["-l"], ["--csv"]):
            p = run([program, *options, path])
            check("unknown link type: exit 2, one line", p.returncode == 2 and p.stderr.count(b"\n") == 1 and not p.stdout and
                  b"link type 147 is not understood" in p.stderr, (path, p.returncode, p.stderr, p.stdout[:100]))
    # two sections, one of them unknown: what can be read is, and the status tells of the rest
    open(d + "/both", "wb").write(known + open(d + "/u.ng", "rb").read())
    p = run([program, "--json", d + "/both"])
    j = json.loads(p.stdout)
    check("one of two link types unknown", p.returncode == 1 and b"%d of %d packets" % (n, 2 * n) in p.stderr and
          (j["capture"]["bad_link"], j["capture"]["tcp_packets"]) == (n, n), (p.returncode, p.stderr))


def damaged(program, d):
    c = cases.many(50)
    whole = open(c.write(d + "/w"), "rb").read()
    n = len(c.packets)
    p = run([program, "--json", c.write(d + "/cut", truncate=30)])
    j = json.loads(p.stdout)
    check("truncated", p.returncode == 1 and j["capture"]["packets"] == n - 1 and "cut off" in j["trouble"], p.stderr)
    check("truncated is counted", j["capture"]["unread_bytes"] > 0)
    # a record length that makes no sense, half-way
    b, at, i = bytearray(whole), 24, 0
    while i < n // 2:
        at += 16 + struct.unpack_from("<I", b, at + 8)[0]
        i += 1
    struct.pack_into("<I", b, at + 8, 0x7FFFFFF0)
    open(d + "/bad", "wb").write(b)
    p = run([program, "--json", d + "/bad"])
    j = json.loads(p.stdout)
    check("absurd record", p.returncode == 1 and j["capture"]["packets"] == n // 2 and j["capture"]["unread_bytes"] > 1000,
          (p.returncode, p.stderr))
    ng = open(c.write(d + "/x", ng=True), "rb").read()
    open(d + "/cutng", "wb").write(ng[:len(ng) // 2])
    p = run([program, "--json", d + "/cutng"])
    check("cut pcapng", p.returncode == 1 and json.loads(p.stdout)["capture"]["packets"] > n // 3, p.stderr)
    z = gzip.compress(whole)
    open(d + "/cut.gz", "wb").write(z[:len(z) // 2])
    p = run([program, "--json", d + "/cut.gz"])
    check("cut gzip", p.returncode == 1 and json.loads(p.stdout)["capture"]["packets"] > 0, p.stderr)
    # every packet damaged at random: nothing but counts
    random.seed(5)
    for seed in range(30):
        b = bytearray(whole)
        for _ in range(600):
            b[random.randrange(24, len(b))] = random.randrange(256)
        open(d + "/noisy", "wb").write(b)
        p = run([program, "--json", d + "/noisy"])
        check("noise %d" % seed, p.returncode in (0, 1) and json.loads(p.stdout), (p.returncode, p.stderr))


def not_understood(program, d):
    c = Capture()
    t = Talk(c).open()
    t.send(t.a, 1000)
    t.close()
    n = len(c.packets)
    c.raw(t.t, b"\xff" * 12 + b"\x08\x06" + bytes(28))  # ARP
    c.raw(t.t, b"\xff" * 9)  # shorter than a frame
    c.add(t.t, ip_packet(A, B, 17, struct.pack(">HHHH", 1, 2, 8, 0)))
    c.add(t.t, ip_packet(A, B, 6, b"\0" * 20, frag=0x2000 | 5))  # a later fragment
    c.add(t.t, ip_packet(A, B, 6, tcp_segment(A, B, 1, 1, "A", 1, b"", b""), frag=0x2000))  # the first
    c.add(t.t, ip_packet(A, B, 6, b"\0" * 12))  # half a TCP header
    c.add(t.t, ip_packet(A, B, 6, tcp_segment(A, B, 1, 1, "A", 1, b"", b"")[:12] + b"\x10" + bytes(7)))  # data offset 1
    c.raw(t.t, b"\2" * 12 + b"\x08\x00" + b"\x41" + bytes(30))  # IP header of 4 octets
    c.raw(t.t, b"\2" * 12 + b"\x08\x00" + b"\x95" + bytes(30))  # version 9
    p = run([program, "--json", c.write(d + "/mixed")])
    o = json.loads(p.stdout)["capture"]
    want = dict(packets=n + 9, tcp_packets=n + 1, other_link=1, truncated=2, other_protocol=2, fragments=2, bad_tcp=1, bad_ip=2)
    check("counted", {k: o[k] for k in want} == want, {k: o[k] for k in want})
    text = run([program, d + "/mixed"]).stdout.decode()
    check("said", "IP headers that make no sense" in text and "fragments" in text)
    # options of which the snaplen has cut a part are not malformed: 14 + 20 + 20 octets, then NOP, NOP, timestamps
    c = Capture()
    t = Talk(c, ts_on=True).open()
    for i in range(3):
        t.send(t.a, 1000)
        t.acked(t.b)
    for cut in range(54, 67):
        path = c.write(d + "/cut", cut=cut)
        j = json.loads(run([program, "--json", path]).stdout)
        x = j["connections"][0]
        check("options cut at %d" % cut, (x["a2b"]["bad_options"], x["b2a"]["bad_options"]) == (0, 0) and
              x["a2b"]["actual_data_pkts"] == 3 and j["capture"]["truncated"] == (len(c.packets) if cut < 66 else 2), j["capture"])
        check("and said", b"bad length" not in run([program, "-p", path]).stdout)


def bounded(program, d):
    """A capture with more connections than there is memory for. The connections that were idle for longest are removed
    first, and each connection is reported once."""
    c = Capture()
    for i in range(4000):
        c.tcp(1.7e9 + i * 0.001, End("10.%d.%d.1" % (i // 250, i % 250), 1000 + i % 60000), B, i, 0, "S")
    path = c.write(d + "/synflood")
    p = run([program, "--json", "--max-conns", "100", path])
    j = json.loads(p.stdout)
    nums = [x["number"] for x in j["connections"]]
    check("each once", sorted(nums) == list(range(1, 4001)), len(nums))
    check("says so", j["capture"]["evicted"] == 3900 and sum(x["evicted"] for x in j["connections"]) == 3900)
    p = run([program, "--csv", "--max-memory", "2M", path])
    check("by memory", len(p.stdout.splitlines()) == 4001, len(p.stdout.splitlines()))


def endless(program, d):
    """A capture that never ends. The use of memory stays constant, and an interrupt makes the program print its
    report."""
    one = Capture()
    Talk(one).open()
    p = subprocess.Popen([program, "--json", "--max-memory", "8M", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    header = open(one.write(d + "/e"), "rb").read()[:24]
    r, body = random.Random(3), []
    for i in range(20000):
        e = End("10.%d.%d.%d" % (r.randrange(256), r.randrange(256), r.randrange(256)), r.randrange(1, 65536))
        k = Capture()
        k.tcp(1.7e9 + i * 1e-4, e, B, r.randrange(2**32), 0, "S" if i % 2 else "PA", data=r.randrange(50))
        ns, b, n = k.packets[0]
        body.append(struct.pack("<IIII", ns // 10**9, ns % 10**9 // 1000, len(b), n) + b)

    def pour():
        try:
            p.stdin.write(header)
            while True:
                p.stdin.write(b"".join(body))
        except (BrokenPipeError, ValueError, OSError):
            pass

    threading.Thread(target=pour, daemon=True).start()
    out = [0]

    def drain():
        for x in iter(lambda: p.stdout.read(1 << 16), b""):
            out[0] += len(x)

    reader = threading.Thread(target=drain, daemon=True)
    reader.start()
    while out[0] < 4000000 and reader.is_alive():  # for ever, by what it says
        time.sleep(0.01)
    rss = int([x for x in open("/proc/%d/status" % p.pid) if x.startswith("VmRSS")][0].split()[1])
    check("bounded memory", rss < 60000, "%d kB" % rss)
    p.send_signal(signal.SIGINT)
    reader.join(600)
    try:
        ended = p.wait(600) in (0, 1)
    except subprocess.TimeoutExpired:
        p.kill()
        ended = False
    check("ends on SIGINT", ended and not reader.is_alive())
    # A report that nobody reads: signals that come together are one, as timeout(1) sends them, and a later one ends it.
    c = Capture()
    for i in range(3000):
        c.tcp(1.7e9 + i * 0.001, End("10.%d.%d.1" % (i // 250, i % 250), 1000 + i), B, i, 0, "S")
    path = c.write(d + "/unread")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        p = subprocess.Popen([program, "--json", path], stdout=subprocess.PIPE)
        first = p.stdout.read(1)  # The pipe is full soon, and stays so.
        p.send_signal(number)
        p.send_signal(number)
        time.sleep(1)
        running = p.poll() is None
        p.send_signal(number)
        try:
            status = p.wait(60)
        except subprocess.TimeoutExpired:
            p.kill()
            status = None
        check("a second %s" % number.name, running and first == b"{" and status in (-number, -signal.SIGTERM), (running, status))
        p.stdout.close()


def has_socket(pid):
    """Returns true if the process has opened a socket, which is that of its capture."""
    try:
        return any("socket:" in os.readlink(f) for f in glob.glob("/proc/%d/fd/*" % pid))
    except OSError:  # A descriptor was closed meanwhile.
        return False


def live(program, d):
    """Capturing from a device on which no packets arrive ends at the time limit; an unknown device is an error of one
    line. The test needs the privilege to capture."""
    p = run([program, "--json", "--live", "nosuch0"])
    check("unknown device", p.returncode == 2 and p.stderr.count(b"\n") == 1, p.stderr)
    p = run([program, "--json", "--live", "lo", "--filter", "tcp port 9", "--time", "1"])
    if p.returncode == 2 and (b"ermi" in p.stderr or b"ermit" in p.stderr):
        print("live capture left out:", p.stderr.decode().strip())
        return
    check("live", p.returncode == 0 and "connections" in json.loads(p.stdout), p.stderr)
    p = run([program, "--live", "lo", "--filter", "nonsense ("])
    check("bad filter", p.returncode == 2 and p.stderr.count(b"\n") == 1 and b"pcap-filter(7)" in p.stderr, p.stderr)
    p = run([program, "--live", "nosuch0"])
    check("unknown device, with the privilege", b"give a device that 'ip link' lists" in p.stderr, p.stderr)
    # more than the kernel's buffer of 32 MiB, while the program does not read
    p = subprocess.Popen([program, "--json", "--live", "lo", "--filter", "udp port 9"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        while not has_socket(p.pid) and p.poll() is None:
            time.sleep(0.01)
        time.sleep(0.3)
        p.send_signal(signal.SIGSTOP)
        for _ in range(800):
            s.sendto(bytes(60000), ("127.0.0.1", 9))
        p.send_signal(signal.SIGCONT)
        time.sleep(0.3)
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=600)
    check("packets that the kernel dropped", p.returncode == 1 and err.count(b"\n") == 1 and b"the kernel dropped" in err and
          "the kernel dropped" in json.loads(out)["trouble"], (p.returncode, err))


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as d:
        for f in (flavours, interfaces, tunnels, fragments, half_open, captured_late, covering, no_capture, unknown_link, damaged, not_understood, bounded, endless, live):
            f(program, d)
    print("%d failures" % checks.failures)
    return checks.failures > 0


sys.exit(main())
