#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scps_ttcp --ccsds: two ends of a space link, over UDP with a relay of ours between them and over a pseudo terminal.

    ccsds_test.py PROGRAM pair [unittest options]
    ccsds_test.py PROGRAM read      the frames of a transfer, read by the package spacepackets (tools/ccsds_reader)

The tests wait for events in real time, but assert no limit on a time.
"""
import hashlib
import os
import pty
import random
import select
import socket
import struct
import subprocess
import sys
import threading
import tty
import unittest

PROGRAM = os.path.abspath(sys.argv[1])
GROUP = sys.argv[2]
PATIENCE = 600
DATA = b"".join(b"line %d of a stream of no particular length\n" % i for i in range(20000))


class Relay:
    """Forwards frames between two UDP sockets: what(frame, side) returns the frames to forward."""

    def __init__(self, what=lambda f, side: [f]):
        self.sock = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
        for s in self.sock:
            s.bind(("127.0.0.1", 0))
        self.port = [s.getsockname()[1] for s in self.sock]
        ends = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
        for s in ends:
            s.bind(("127.0.0.1", 0))
        self.end = [s.getsockname()[1] for s in ends]  # free ports, which the kernel has chosen
        for s in ends:
            s.close()
        self.what, self.over, self.seen = what, False, [[], []]
        self.thread = threading.Thread(target=self.carry, daemon=True)
        self.thread.start()

    def carry(self):
        while not self.over:
            for s in select.select(self.sock, [], [], 0.05)[0]:
                side = self.sock.index(s)
                frame = s.recv(65536)
                self.seen[side].append(frame)
                for f in self.what(frame, side):
                    self.sock[1 - side].sendto(f, ("127.0.0.1", self.end[1 - side]))

    def udp(self, side):
        return ["--udp", "127.0.0.1:%d,127.0.0.1:%d" % (self.end[side], self.port[side])]

    def close(self):
        self.over = True
        self.thread.join()
        for s in self.sock:
            s.close()


def transfer(tx, rx, data=DATA):
    """Runs a transfer. Returns status and messages of the sender, those of the receiver, and the data that arrived."""
    r = subprocess.Popen([PROGRAM, "-r", *rx], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    got = []
    reader = threading.Thread(target=lambda: got.extend(r.communicate(timeout=PATIENCE)))
    reader.start()
    t = subprocess.run([PROGRAM, "-t", *tx], input=data, capture_output=True, timeout=PATIENCE, check=False)
    if t.returncode != 0:
        r.terminate()
    reader.join()
    return t.returncode, t.stderr.decode(), r.returncode, got[1].decode(), got[0]


class Pair(unittest.TestCase):
    def over(self, relay, ccsds, addr=("10.9.0.1", "10.9.0.2"), more=()):
        try:
            ts, te, rs, re_, got = transfer([*relay.udp(0), "--ccsds", ccsds, "--addr", addr[0], *more, addr[1]],
                                            [*relay.udp(1), "--ccsds", ccsds, "--addr", addr[1], *more])
            self.assertEqual((0, 0), (ts, rs), te + re_)
            self.assertEqual(hashlib.sha256(DATA).digest(), hashlib.sha256(got).digest())
        finally:
            relay.close()

    def test_each_kind_of_frame(self):
        for kind in ("aos,scid=66,vcid=5,frame=223", "uslp,scid=40000,vcid=3,map=4,frame=1115", "tm,scid=700,vcid=6,frame=2048,nofecf"):
            relay = Relay()
            self.over(relay, kind)
            length = int(kind.split("frame=")[1].split(",")[0])
            self.assertEqual({length}, {len(f) for side in relay.seen for f in side})

    def test_frames_of_another_spacecraft(self):
        """The receiver, to which nobody has connected, names the reason with -v."""
        relay = Relay()
        try:
            _, _, status, err, _ = transfer([*relay.udp(0), "--ccsds", "aos,scid=66", "--addr", "10.9.0.1", "--timeout", "2", "10.9.0.2"],
                                            [*relay.udp(1), "--ccsds", "aos,scid=67", "--addr", "10.9.0.2", "-v"])
            self.assertEqual(3, status, err)
            self.assertRegex(err, r"ttcp-r: ccsds dropped: [1-9]\d* frames? ")
        finally:
            relay.close()

    def test_ipv6_and_large_packets(self):
        self.over(Relay(), "aos,frame=500,fill=0.002", ("fd00::1", "fd00::2"), ["--mtu", "9000"])

    def test_lost_damaged_and_repeated_frames(self):
        chance = random.Random(3)

        def what(frame, side):
            del side
            n = chance.randrange(200)
            if n == 0:
                return []
            if n == 1:
                frame = bytearray(frame)
                frame[chance.randrange(len(frame))] ^= 1 << chance.randrange(8)
                return [bytes(frame)]
            return [frame, frame] if n == 2 else [frame]
        self.over(Relay(what), "uslp,frame=700")

    def test_a_byte_stream(self):
        masters, slaves = zip(*(pty.openpty() for _ in range(2)))
        for s in slaves:
            tty.setraw(s)
        over = []

        def carry():
            while not over:
                for m in select.select(masters, [], [], 0.05)[0]:
                    got = os.read(m, 4096)
                    while got and not over:
                        out = masters[1 - masters.index(m)]
                        if select.select([], [out], [], 0.05)[1]:
                            got = got[os.write(out, got[:512]):]
        thread = threading.Thread(target=carry, daemon=True)
        thread.start()
        try:
            ends = [["--ccsds", "tm,frame=1115,line=" + os.ttyname(s)] for s in slaves]
            ts, te, rs, re_, got = transfer([*ends[0], "--addr", "10.9.0.1", "10.9.0.2"], [*ends[1], "--addr", "10.9.0.2"])
            self.assertEqual((0, 0), (ts, rs), te + re_)
            self.assertEqual(hashlib.sha256(DATA).digest(), hashlib.sha256(got).digest())
        finally:
            over.append(True)
            thread.join()
            for fd in masters + slaves:
                os.close(fd)

    def test_what_is_refused(self):
        for words, said in (("tc", "give the kind of frames first"), ("aos", "give --udp LOCAL:PORT,REMOTE:PORT, or line=DEVICE"),
                            ("aos,line=/dev/tty,scid=300", "a spacecraft id, in AOS to 255")):
            p = subprocess.run([PROGRAM, "-t", "--ccsds", words, "--addr", "10.9.0.1", "10.9.0.2"], stdin=subprocess.DEVNULL,
                               capture_output=True, text=True, timeout=PATIENCE, check=False)
            self.assertEqual((2, 1), (p.returncode, p.stderr.count("\n")), p.stderr)
            self.assertIn(said, p.stderr)


# ---- read by somebody else ----

def packets(stream):
    """Returns the IP packets in the data fields of consecutive frames, and the number of idle packets."""
    found, idle, at = [], 0, 0
    while at < len(stream):
        first = stream[at]
        assert first >> 5 == 7, "no encapsulation packet at %d" % at
        head = (1, 2, 4, 8)[first & 3]
        if at + head > len(stream):
            break
        total = {1: 1, 2: stream[at + 1] if head > 1 else 0, 4: int.from_bytes(stream[at + 2:at + 4], "big"),
                 8: int.from_bytes(stream[at + 4:at + 8], "big")}[head]
        body = stream[at + head:at + total]
        if first >> 2 & 7 == 0:
            idle += 1
        elif at + total <= len(stream):
            assert first >> 2 & 7 == 2 and body[0] == 33 and body[1] >> 4 == 4 and struct.unpack(">H", body[3:5])[0] == len(body) - 1
            found.append(body[1:])
        at += total
    return found, idle


def read_uslp(frame, count):
    from spacepackets.uslp.frame import FixedFrameProperties, FrameType, TransferFrame
    props = FixedFrameProperties(fixed_len=len(frame), has_insert_zone=False, has_fecf=True)
    f = TransferFrame.unpack(raw_frame=frame, frame_type=FrameType.FIXED, frame_properties=props)
    assert (f.header.scid, f.header.vcid, f.header.map_id) == (40000, 3, 4)
    assert f.header.vcf_count_len == 4 and f.header.vcf_count == count and f.header.frame_len + 1 == len(frame)
    assert f.tfdf.tfdz_contr_rules == 0 and f.tfdf.uslp_ident == 0
    assert crc(frame) == 0
    return f.tfdf.fhp_or_lvop, bytes(f.tfdf.tfdz), 0xffff


def read_tm(frame, count):
    from spacepackets.ccsds.tm_frame import TmTransferFrame
    f = TmTransferFrame.unpack(frame, len(frame), True)
    h = f.primary_header
    assert (h.master_channel_id.spacecraft_id, h.vc_id, h.vc_frame_count, h.master_ch_frame_count) == (700, 6, count % 256, count % 256)
    status = h.frame_datafield_status
    assert not status.sync_flag and not status.packet_order_flag and status.segment_len_id == 3
    return status.first_header_pointer, bytes(f.data_field), 0x7ff


def crc(octets):
    import fastcrc
    return fastcrc.crc16.ibm_3740(octets)


def read():
    few = DATA[:30000]  # no more data than a socket buffer holds, so that the relay gets each frame
    for kind, parse in (("uslp,scid=40000,vcid=3,map=4,frame=1115", read_uslp), ("tm,scid=700,vcid=6,frame=223", read_tm)):
        relay = Relay()
        ts, te, rs, re_, got = transfer([*relay.udp(0), "--ccsds", kind, "--addr", "10.9.0.1", "10.9.0.2"],
                                        [*relay.udp(1), "--ccsds", kind, "--addr", "10.9.0.2"], few)
        relay.close()
        assert (ts, rs) == (0, 0) and got == few, te + re_
        for frames in relay.seen:
            stream, starts = b"", []
            for i, frame in enumerate(frames):
                pointer, data, none = parse(frame, i)
                if pointer != none:
                    starts.append(len(stream) + pointer)
                stream += data
            found, idle = packets(stream)
            begins, at = set(), 0  # every first-header pointer must be the beginning of a packet
            while at < len(stream):
                begins.add(at)
                head = (1, 2, 4, 8)[stream[at] & 3]
                at += {1: 1, 2: stream[at + 1] if head > 1 else 0, 4: int.from_bytes(stream[at + 2:at + 4], "big"), 8: 0}[head]
            assert set(starts) <= begins
            print("figure %s: %d frames, %d IP packets, %d idle packets read by spacepackets" % (kind.split(",")[0], len(frames), len(found), idle))


if GROUP == "read":
    read()
elif __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
