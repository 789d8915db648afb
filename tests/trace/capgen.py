# SPDX-License-Identifier: MIT
"""Makes captures: packets from a few numbers, pcap and pcapng in every flavour. Plain Python, no scapy.

    c = Capture(link=RAW)
    c.tcp(0.0, A, B, flags="S", seq=100, opts=mss(1460))
    c.write("x.pcap", swap=True, nano=True)
"""
import struct

NULL, ETHERNET, PPP, RAW, LOOP, COOKED, COOKED2 = 0, 1, 9, 101, 108, 113, 276
FLAGS = {"F": 1, "S": 2, "R": 4, "P": 8, "A": 16, "U": 32, "E": 64, "W": 128}


def fold(s):
    while s >> 16:
        s = (s & 0xFFFF) + (s >> 16)
    return ~s & 0xFFFF


def cksum(b):
    if len(b) % 2:
        b += b"\0"
    return sum(struct.unpack(">%dH" % (len(b) // 2), b))


def mss(n):
    return struct.pack(">BBH", 2, 4, n)


def wscale(n):
    return b"\1\3\3" + bytes([n])


def sack_ok():
    return b"\4\2"


def ts(val, ecr):
    return b"\1\1" + struct.pack(">BBII", 8, 10, val & 0xFFFFFFFF, ecr & 0xFFFFFFFF)


def sack(*blocks):
    o = b"\1\1" + struct.pack(">BB", 5, 2 + 8 * len(blocks))
    for left, right in blocks:
        o += struct.pack(">II", left & 0xFFFFFFFF, right & 0xFFFFFFFF)
    return o


def caps(bits, ident):
    return bytes([20, 4, bits, ident])


def snack(offset, size, vector=b""):
    return struct.pack(">BBHH", 21, 6 + len(vector), offset, size) + vector


def record():
    return b"\1\1\x16\2"


def corruption():
    return b"\1\1\x17\2"


class End:
    """An IPv4 or IPv6 address (the text shows which) and a port."""

    def __init__(self, addr, port):
        import ipaddress

        self.ip = ipaddress.ip_address(addr)
        self.port = port


A, B = End("10.1.0.1", 1025), End("10.2.0.2", 5001)
A6, B6 = End("2001:db8::1", 1025), End("2001:db8:1::2", 5001)


def ip_packet(src, dst, proto, payload, ident=1, tos=0, frag=0, opts=b"", ext=b"", ext_proto=None):
    if src.ip.version == 4:
        ihl = 5 + len(opts) // 4
        h = struct.pack(">BBHHHBBH", 0x40 | ihl, tos, ihl * 4 + len(payload), ident & 0xFFFF, frag, 64, proto, 0)
        h += src.ip.packed + dst.ip.packed + opts
        h = h[:10] + struct.pack(">H", fold(cksum(h))) + h[12:]
        return h + payload
    first = proto if ext_proto is None else ext_proto
    h = struct.pack(">IHBB", 0x60000000 | tos << 20, len(ext) + len(payload), first, 64)
    return h + src.ip.packed + dst.ip.packed + ext + payload


def tcp_segment(src, dst, seq, ack, flags, win, opts, data, urp=0, proto=6):
    opts += b"\0" * (-len(opts) % 4)
    f = sum(FLAGS[c] for c in flags)
    h = struct.pack(">HHIIBBHHH", src.port, dst.port, seq & 0xFFFFFFFF, ack & 0xFFFFFFFF,
                    (5 + len(opts) // 4) << 4, f, win, 0, urp) + opts
    pseudo = src.ip.packed + dst.ip.packed + struct.pack(">II", len(h) + len(data), proto)
    c = fold(cksum(pseudo) + cksum(h + data))
    return h[:16] + struct.pack(">H", c) + h[18:] + data


def udp(sport, dport, payload):
    return struct.pack(">HHHH", sport, dport, 8 + len(payload), 0) + payload


def ng_block(kind, body, e="<"):
    """Returns a block of pcapng of this type."""
    body += b"\0" * (-len(body) % 4)
    n = 12 + len(body)
    return struct.pack(e + "II", kind, n) + body + struct.pack(e + "I", n)


class Capture:
    def __init__(self, link=ETHERNET, vlan=()):
        self.link, self.vlan = link, vlan
        self.packets = []  # (ns, bytes, length)
        self.ident = {}

    def frame(self, ip):
        v6 = ip[0] >> 4 == 6
        et = 0x86DD if v6 else 0x0800
        if self.link == ETHERNET:
            f = b"\2\0\0\0\0\1\2\0\0\0\0\2"
            for tag, vid in self.vlan:
                f += struct.pack(">HH", tag, vid)
            return f + struct.pack(">H", et) + ip
        if self.link == RAW:
            return ip
        if self.link == NULL:
            return struct.pack("<I", 10 if v6 else 2) + ip
        if self.link == LOOP:
            return struct.pack(">I", 24 if v6 else 2) + ip
        if self.link == PPP:
            return b"\xff\3" + struct.pack(">H", 0x57 if v6 else 0x21) + ip
        if self.link == COOKED:
            return struct.pack(">HHH8sH", 0, 1, 6, b"\2\0\0\0\0\1", et) + ip
        if self.link == COOKED2:
            return struct.pack(">HHIHBB8s", et, 0, 2, 1, 0, 6, b"\2\0\0\0\0\1") + ip
        raise ValueError(self.link)

    def add(self, t, ip, snap=None):
        f = self.frame(ip)
        self.packets.append((int(round(t * 1e9)), f[:snap] if snap else f, len(f)))

    def raw(self, t, frame, length=None):
        self.packets.append((int(round(t * 1e9)), frame, length or len(frame)))

    def tcp(self, t, src, dst, seq=0, ack=0, flags="A", win=8192, opts=b"", data=b"", ident=None, snap=None,
            urp=0, proto=6, tos=0, **ip):
        if isinstance(data, int):
            data = b"x" * data
        if ident is None:
            ident = self.ident.get(src, 1)
            self.ident[src] = ident + 1
        self.add(t, ip_packet(src, dst, proto, tcp_segment(src, dst, seq, ack, flags, win, opts, data, urp, proto),
                              ident, tos, **ip), snap)

    def write(self, path, swap=False, nano=False, snap=65535, ng=False, truncate=0, cut=None):
        """Writes the packets to a file of this kind; cut: of each packet at most so many octets."""
        e = ">" if swap else "<"
        if ng:
            out = self.pcapng(e, nano)
        else:
            out = bytearray()
            out += struct.pack(e + "IHHiIII", 0xA1B23C4D if nano else 0xA1B2C3D4, 2, 4, 0, 0, snap, self.link)
            for ns, b, n in self.packets:
                b, frac = b[:cut], ns % 10**9
                out += struct.pack(e + "IIII", ns // 10**9, frac if nano else frac // 1000, len(b), n) + b
        if truncate:
            out = out[:-truncate]
        with open(path, "wb") as f:
            f.write(out)
        return path

    def pcapng(self, e, nano):
        def block(kind, body):
            return ng_block(kind, body, e)

        opt = struct.pack(e + "HHB3x", 9, 1, 9 if nano else 6) + struct.pack(e + "HH", 0, 0)
        out = block(0x0A0D0D0A, struct.pack(e + "IHHq", 0x1A2B3C4D, 1, 0, -1))
        out += block(1, struct.pack(e + "HHI", self.link, 0, 65535) + opt)
        for ns, b, n in self.packets:
            t = ns if nano else ns // 1000
            out += block(6, struct.pack(e + "IIIII", 0, t >> 32, t & 0xFFFFFFFF, len(b), n) + b)
        return out


class Talk:
    """A connection between two ends; it keeps the sequence numbers of both."""

    def __init__(self, cap, a=A, b=B, isn_a=1000, isn_b=5000, t0=1700000000.0, rtt=0.1, opt_a=None, opt_b=None,
                 win=8192, ts_on=False):
        self.c, self.a, self.b, self.t, self.rtt, self.win = cap, a, b, t0, rtt, win
        self.s = {a: isn_a, b: isn_b}
        self.ack = {a: isn_b, b: isn_a}
        self.ts_on = ts_on
        self.opt_a = mss(1460) if opt_a is None else opt_a
        self.opt_b = mss(1460) if opt_b is None else opt_b

    def other(self, e):
        return self.b if e is self.a else self.a

    def stamp(self, e):
        if not self.ts_on:
            return b""
        return ts(int((self.t - 1600000000) * 1000), int((self.t - self.rtt - 1600000000) * 1000))

    def open(self):
        a, b = self.a, self.b
        self.c.tcp(self.t, a, b, self.s[a], 0, "S", self.win, self.opt_a + self.stamp(a))
        self.t += self.rtt / 2
        self.c.tcp(self.t, b, a, self.s[b], self.s[a] + 1, "SA", self.win, self.opt_b + self.stamp(b))
        self.s[a] += 1
        self.s[b] += 1
        self.ack[a], self.ack[b] = self.s[b], self.s[a]
        self.t += self.rtt / 2
        self.send(a, 0)
        return self

    def send(self, e, n=0, flags="A", seq=None, ack=None, dt=0.001, opts=b"", win=None, **kw):
        """Adds a segment of n octets from end e; seq None: the next octets of its stream."""
        o = self.other(e)
        at = self.s[e] if seq is None else seq
        self.c.tcp(self.t, e, o, at, self.ack[e] if ack is None else ack, flags, self.win if win is None else win,
                   self.stamp(e) + opts, n, **kw)
        if seq is None:
            self.s[e] += n + ("F" in flags)
        self.t += dt
        return at

    def acked(self, e, ack=None, dt=0.001, **kw):
        """Adds a segment without data from end e."""
        if ack is None:
            ack = self.s[self.other(e)]
        self.ack[e] = ack
        return self.send(e, 0, ack=ack, dt=dt, **kw)

    def close(self):
        a, b = self.a, self.b
        self.send(a, 0, "FA")
        self.ack[b] = self.s[a]
        self.t += self.rtt / 2
        self.send(b, 0, "FA")
        self.ack[a] = self.s[b]
        self.t += self.rtt / 2
        self.send(a, 0)
        return self
