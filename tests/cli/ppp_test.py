#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scps_ttcp --ppp: two ends on pseudo terminals with a line of ours between them, slirp, and the crate ppproto.

    ppp_test.py PROGRAM pair|slirp [unittest options]
    ppp_test.py PROGRAM ppproto PEER [unittest options]      PEER: of tests/interop/ppp_reader (tools/ppp_reader)

pair   two ends of libscps over a line that damages, loops, is silent, or hangs up; what is refused
slirp  the PPP of slirp, with Van Jacobson compression, and behind it the kernel's TCP on loopback (77 without slirp)

Real time is only waited for, never measured against a limit.
"""
import hashlib
import json
import os
import pty
import random
import select
import shutil
import socket
import subprocess
import sys
import termios
import threading
import tty
import unittest

PROGRAM = os.path.abspath(sys.argv[1])
GROUP = sys.argv[2]
PATIENCE = 600
SLIRP = shutil.which("slirp-fullbolt") or shutil.which("slirp")
DATA = b"".join(b"line %d of a stream with octets that are escaped: \x7d\x7e\x00\x11\x13\xff\n" % i for i in range(20000))


class Line:
    """Two pseudo terminals, which a thread connects like a cable. damage(octets) returns the octets that arrive."""

    def __init__(self, damage=lambda b: b, loop=False):
        self.masters, self.slaves = [], []
        for _ in range(1 if loop else 2):
            m, s = pty.openpty()
            tty.setraw(s)
            self.masters.append(m)
            self.slaves.append(s)
        self.names = [os.ttyname(s) for s in self.slaves]
        self.damage, self.over = damage, False
        self.moved, self.last = [0, 0], [b"", b""]  # octets of each end: how many, and the last of them
        self.thread = threading.Thread(target=self.carry, daemon=True)
        self.thread.start()

    def carry(self):
        while not self.over:
            for m in select.select(self.masters, [], [], 0.05)[0]:
                i = self.source = self.masters.index(m)
                got = self.damage(os.read(m, 4096))
                self.moved[i] += len(got)
                self.last[i] = (self.last[i] + got)[-100:]
                out = self.masters[-1 - i]
                while got and not self.over:
                    if select.select([], [out], [], 0.05)[1]:
                        got = got[os.write(out, got[:512]):]

    def close(self):
        self.over = True
        self.thread.join()
        for fd in self.masters + self.slaves:
            os.close(fd)


def run(*args, data=b"", **kw):
    p = subprocess.run([PROGRAM, *args], input=data, capture_output=True, timeout=PATIENCE, check=False, **kw)
    return p.returncode, p.stdout, p.stderr.decode(errors="replace")


def pair(line, tx=(), rx=(), data=DATA):
    """Transfers data from the first end of the line to the second. Returns (status, report) of the sender and (status,
    octets, messages) of the receiver."""
    r = subprocess.Popen([PROGRAM, "-r", "--ppp", line.names[1] + ",passive,restart=5", *rx], stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    got = []
    reader = threading.Thread(target=lambda: got.extend(r.communicate(timeout=PATIENCE)))
    reader.start()
    status, _, err = run("-t", *tx, data=data)
    if status != 0:
        r.terminate()  # it would wait for the next peer
    reader.join()
    return (status, err), (r.returncode, got[0], got[1].decode(errors="replace"))


class Pair(unittest.TestCase):
    def transfer(self, line, tx, rx):
        try:
            (ts, terr), (rs, octets, rerr) = pair(line, tx, rx)
            self.assertEqual((0, 0), (ts, rs), terr + rerr)
            self.assertEqual(hashlib.sha256(DATA).digest(), hashlib.sha256(octets).digest())
        finally:
            line.close()

    def test_ipv4(self):
        line = Line()
        self.transfer(line, ["--ppp", line.names[0] + ",restart=5", "--addr", "10.0.0.1", "--no-timestamps", "10.0.0.2"], ["--addr", "10.0.0.2"])

    def test_a_syn_right_behind_the_configure_ack(self):
        """The receiver reads the SYN with the Configure-Ack that opens its link, and does not drop it."""
        def damage(octets):
            if line.source != 0 or line.joined:
                return octets
            octets = line.held + octets
            ack = octets.find(b"\x80\x21\x02")  # IPCP, Configure-Ack
            if ack < 0:
                return octets
            if b"\x0a\x00\x00\x01\x0a\x00\x00\x02" not in octets:  # the addresses of the SYN
                begin = max(octets.rfind(b"\x7e", 0, ack), 0)
                line.held = octets[begin:]
                return octets[:begin]
            line.joined = octets
            return octets
        line = Line(damage)
        line.held = line.joined = b""
        try:
            (ts, terr), (rs, octets, rerr) = pair(line, ["--ppp", line.names[0] + ",restart=5", "--addr", "10.0.0.1", "10.0.0.2"],
                                                  ["--addr", "10.0.0.2", "-v"])
            self.assertEqual((0, 0), (ts, rs), terr + rerr)
            self.assertEqual(DATA, octets)
            self.assertTrue(line.joined)
            self.assertNotIn("not_ours", rerr)
        finally:
            line.close()

    def test_ipv6(self):
        line = Line()
        self.transfer(line, ["--ppp", line.names[0] + ",restart=5", "--addr", "fd00::1/64", "fd00::2"], ["--addr", "fd00::2/64"])

    def test_an_address_from_the_peer(self):
        line = Line()
        self.transfer(line, ["--ppp", line.names[0] + ",restart=5,novj,accm=ffffffff", "--mtu", "576", "10.0.0.2"],
                      ["--ppp", line.names[1] + ",passive,restart=5,remote=10.0.0.77", "--addr", "10.0.0.2"])

    def test_through_noise(self):
        noise = random.Random(7)

        def damage(octets):
            if noise.random() < 0.02:
                octets = bytearray(octets)
                octets[noise.randrange(len(octets))] ^= 1 << noise.randrange(8)
            return bytes(octets)
        line = Line(damage)
        self.transfer(line, ["--ppp", line.names[0] + ",restart=5", "--addr", "10.0.0.1", "--no-timestamps", "10.0.0.2"], ["--addr", "10.0.0.2"])

    def test_the_terminal_is_put_back(self):
        line = Line()
        slave = os.open(line.names[0], os.O_RDWR | os.O_NOCTTY)
        mode = termios.tcgetattr(slave)
        mode[0] |= termios.ICRNL  # no echo: the other end would see its own octets, and call it a loop
        mode[1] |= termios.OPOST
        mode[3] |= termios.ISIG
        termios.tcsetattr(slave, termios.TCSANOW, mode)
        before = termios.tcgetattr(slave)
        (status, err), _ = pair(line, ["--ppp", line.names[0] + ",restart=5", "--addr", "10.0.0.1", "10.0.0.2"], ["--addr", "10.0.0.2"])
        self.assertEqual(0, status, err)
        self.assertEqual(before, termios.tcgetattr(slave))
        os.close(slave)
        line.close()

    def refused(self, device, words, *args, status=1):
        code, out, err = run("-t", "--ppp", device, "--addr", "10.0.0.1", *args, "10.0.0.2")
        self.assertEqual((status, b""), (code, out), err)
        self.assertEqual(1, err.count("\n"), err)
        self.assertIn(words, err)

    def test_a_line_that_loops(self):
        line = Line(loop=True)
        self.refused(line.names[0] + ",restart=0.1", "the line loops back")
        line.close()

    def test_a_silent_line(self):
        line = Line(lambda octets: b"")
        self.refused(line.names[0] + ",restart=0.05", "is a PPP peer at the other end")
        self.refused(line.names[0] + ",passive,wait=0.5,restart=0.05", "no link within wait=0.500")
        line.close()

    def test_a_line_that_hangs_up(self):
        m, s = pty.openpty()
        name = os.ttyname(s)
        timer = threading.Timer(0.5, os.close, [m])
        timer.start()
        self.refused(name + ",passive", "the line was closed at its other end")
        timer.join()
        os.close(s)

    def lost_peer(self, lost, words):
        """Kills the process at one end during an idle transfer. Returns status and messages of the other end."""
        line = Line()
        keys = ",restart=0.5,echo=1"
        r = subprocess.Popen([PROGRAM, "-r", "--ppp", line.names[1] + ",passive" + keys, "--addr", "10.0.0.2"],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        t = subprocess.Popen([PROGRAM, "-t", "--ppp", line.names[0] + keys, "--addr", "10.0.0.1", "10.0.0.2"], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            t.stdin.write(DATA[:8192])
            t.stdin.flush()
            self.assertEqual(b"line 0", r.stdout.read(6))  # the connection is there
            dead, left = (t, r) if lost == "t" else (r, t)
            dead.kill()
            err = left.stderr.read().decode()
            self.assertIn(left.wait(PATIENCE), (1, 3), err)  # 1: the acknowledgement had not come
            self.assertIn("the network device has gone", err)
            self.assertIn(words, err)
        finally:
            for p in (t, r):
                p.kill()
                p.wait()
                for f in (p.stdin, p.stdout, p.stderr):
                    if f is not None:
                        f.close()
            line.close()

    def test_a_passive_end_reports_a_lost_peer(self):
        self.lost_peer("t", "the peer stopped answering Echo-Requests")

    def test_an_end_reports_a_lost_peer(self):
        self.lost_peer("r", "the peer stopped answering Echo-Requests")

    def test_the_timeout_bounds_the_negotiation(self):
        line = Line(lambda octets: b"")
        self.refused(line.names[0] + ",passive", "no link within 0.500 s: no answer", "--timeout", "0.5", status=124)
        self.refused(line.names[0] + ",passive,wait=0.2", "no link within wait=0.200", "--timeout", "60")
        code, out, err = run("-r", "--ppp", line.names[0] + ",passive", "--addr", "10.0.0.1", "--timeout", "0.5", "--json")
        self.assertEqual((124, "timeout"), (code, json.loads(out)["end"]["scps"]["outcome"]), err)
        line.close()

    def test_octets_that_are_no_frames(self):
        line = Line(lambda octets: bytes(b ^ 0x40 for b in octets).replace(b"\x3e", b"\x7e"), loop=True)
        self.refused(line.names[0] + ",passive,wait=1,restart=0.05", "octets come, but no whole frame: have both ends the same speed?")
        line.close()

    def test_one_family_of_two(self):
        line = Line()
        r = subprocess.Popen([PROGRAM, "-r", "--ppp", line.names[1] + ",passive", "--addr", "10.0.0.2", "--timeout", str(PATIENCE)],
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            self.refused(line.names[0] + ",restart=5", "no IPv6: the peer has no network protocol that this end wants: leave out the --addr of IPv6",
                         "--addr", "fd00::1/64")
        finally:
            r.kill()
            r.wait()
            line.close()

    def test_a_signal_on_a_full_line(self):
        """A sender that gets a signal while its line is full still sends the reset and the Terminate-Request."""
        held, free = threading.Event(), threading.Event()
        passed = []

        def damage(octets):  # of either direction
            if len(passed) and not free.is_set():
                held.set()
                free.wait(PATIENCE)
            return octets
        line = Line(damage)
        r = subprocess.Popen([PROGRAM, "-r", "-s", "--ppp", line.names[1] + ",passive,restart=5", "--addr", "10.0.0.2"],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        t = subprocess.Popen([PROGRAM, "-t", "-s", "--time", "600", "--ppp", line.names[0] + ",restart=5", "--addr", "10.0.0.1", "10.0.0.2"],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            while line.moved[0] < 100000:  # the transfer is under way
                self.assertIsNone(t.poll())
                select.select([], [], [], 0.01)
            passed.append(True)
            held.wait(PATIENCE)
            select.select([], [], [], 0.3)  # the sender fills what the line holds
            t.terminate()
            select.select([], [], [], 0.1)  # and meets a full line
            free.set()
            self.assertEqual(3, t.wait(PATIENCE), t.stderr.read())
            err = r.communicate(timeout=PATIENCE)[1].decode()
            self.assertEqual(3, r.returncode, err)
            self.assertIn("connection reset by the peer", err)
            self.assertIn(b"\xc0\x21\x7d\x25", line.last[0])  # LCP, Terminate-Request
        finally:
            free.set()
            for p in (t, r):
                p.kill()
                p.wait()
                for f in (p.stdout, p.stderr):
                    f.close()
            line.close()

    def test_a_line_that_takes_nothing_holds_nobody_up(self):
        m, s = pty.openpty()
        tty.setraw(s)
        os.set_blocking(s, False)
        name = os.ttyname(s)
        try:
            while True:  # nobody reads at the other side
                os.write(s, bytes(4096))
        except BlockingIOError:
            pass
        code, _, err = run("-t", "--ppp", name + ",wait=0.1", "--addr", "10.0.0.1", "10.0.0.2")
        self.assertEqual(1, code, err)
        self.assertIn("no link within wait=0.100", err)
        os.close(m)
        os.close(s)

    def test_what_the_link_dropped(self):
        noise = random.Random(7)

        def damage(octets):
            if noise.random() < 0.02:
                octets = bytearray(octets)
                octets[noise.randrange(len(octets))] ^= 1 << noise.randrange(8)
            return bytes(octets)
        line = Line(damage)
        (ts, terr), (rs, out, rerr) = pair(line, ["--ppp", line.names[0] + ",restart=5", "--addr", "10.0.0.1", "10.0.0.2"],
                                           ["--addr", "10.0.0.2", "--output", "/dev/null", "-v", "--json"])
        line.close()
        self.assertEqual((0, 0), (ts, rs), terr + rerr)
        drops = json.loads(out)["end"]["scps"]["interface"]
        self.assertEqual("ppp", drops["link"])
        self.assertGreater(drops["drops"]["fcs"], 0)
        self.assertIn("ttcp-r: ppp dropped:", rerr)
        self.assertIn(" %d frames with a wrong check sequence" % drops["drops"]["fcs"], rerr)

    def test_what_is_no_line(self):
        self.refused("/nonexistent", "--ppp: there is no /nonexistent: give a serial line", status=2)
        self.refused("/dev/null", "--ppp: /dev/null is not a terminal: give a serial line", status=2)
        line = Line()
        self.refused(line.names[0] + ",speed=1234567", "--ppp: speed=1234567: give bit/s that lines have, as speed=9600", status=2)
        for words in ("speed=x", "remote=fd00::1", "wait=0", "restart=1.2345", "echo=-1", "accm=100000000", "vj"):
            self.refused(line.names[0] + "," + words, "--ppp: %s: give " % words, status=2)
        self.refused(line.names[0], "exclude each other", "--udp", "127.0.0.1:1", status=2)
        self.refused(line.names[0], "over PPP give 128 to 16384", "--mtu", "20000", status=2)
        line.close()


class Slirp(unittest.TestCase):
    def behind_slirp(self, *args, data=DATA):
        """Sends data through slirp to a socket of the kernel. Returns status, messages, received octets and report."""
        sink = socket.create_server(("127.0.0.1", 0))
        got = []

        def take():
            conn, _ = sink.accept()
            while True:
                b = conn.recv(65536)
                if not b:
                    break
                got.append(b)
            conn.close()
        taker = threading.Thread(target=take, daemon=True)
        taker.start()
        pid, slirp = pty.fork()  # slirp wants a terminal that is its own
        if pid == 0:
            os.execvp(SLIRP, [SLIRP, "ppp"])
        tty.setraw(slirp)
        master, slave = pty.openpty()
        tty.setraw(slave)
        over = []

        def carry(a, b):
            while not over:
                if select.select([a], [], [], 0.05)[0]:
                    try:
                        octets = os.read(a, 4096)
                    except OSError:
                        return
                    while octets and not over:
                        if select.select([], [b], [], 0.05)[1]:
                            octets = octets[os.write(b, octets[:512]):]
        threads = [threading.Thread(target=carry, args=p, daemon=True) for p in ((master, slirp), (slirp, master))]
        for t in threads:
            t.start()
        try:
            status, out, err = run("-t", "--json", "-p", str(sink.getsockname()[1]), "--ppp", os.ttyname(slave), *args, "10.0.2.2", data=data)
            if status == 0:
                taker.join(PATIENCE)
        finally:
            over.append(True)
            for t in threads:
                t.join()
            os.kill(pid, 9)
            os.waitpid(pid, 0)
            for fd in (master, slave, slirp):
                os.close(fd)
            sink.close()
        return status, err, b"".join(got), out

    def test_an_address_of_slirps(self):
        status, err, got, out = self.behind_slirp("--no-timestamps")
        self.assertEqual(0, status, err)
        self.assertEqual(hashlib.sha256(DATA).digest(), hashlib.sha256(got).digest())
        self.assertEqual("10.0.2.15", json.loads(out)["start"]["connected"][0]["local_host"])

    def test_an_address_of_ours_and_small_packets(self):
        status, err, got, _ = self.behind_slirp("--addr", "10.0.2.15", "--no-timestamps", "--mtu", "552")
        self.assertEqual(0, status, err)
        self.assertEqual(hashlib.sha256(DATA).digest(), hashlib.sha256(got).digest())

    def test_an_address_that_slirp_will_not_have(self):
        status, err, _, _ = self.behind_slirp("--addr", "10.0.2.99")
        self.assertEqual(1, status)
        self.assertIn("the peer does not take this end's IPv4 address", err)
        self.assertEqual(1, err.count("\n"), err)


class Ppproto(unittest.TestCase):
    """The PPP implementation of the crate ppproto as the peer: first end of libscps - line - the crate - IP in UDP -
    second end of libscps."""

    def over_the_crate(self, *keys, damage=lambda b: b):
        """Transfers data to an end behind the crate. Returns status and messages of both ends, the octets, the crate's
        output and the report."""
        line = Line(damage)
        ports = []
        for _ in range(2):
            s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            s.bind(("127.0.0.1", 0))
            ports.append(s.getsockname()[1])
            s.close()
        here, there = "127.0.0.1:%d" % ports[0], "127.0.0.1:%d" % ports[1]
        peer = subprocess.Popen([PEER, line.names[1], here, there], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        r = subprocess.Popen([PROGRAM, "-r", "--udp", there + "," + here, "--addr", "10.0.0.77", "--mtu", "1400"],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        got = []
        reader = threading.Thread(target=lambda: got.extend(r.communicate(timeout=PATIENCE)))
        reader.start()
        try:
            status, out, err = run("-t", "--json", "--ppp", ",".join((line.names[0], "remote=10.0.0.77", "restart=5") + keys),
                                   "--addr", "10.0.0.1", "--mtu", "1400", "--timeout", str(PATIENCE), "10.0.0.77", data=DATA)
            if status != 0:
                r.terminate()
            reader.join()
        finally:
            peer.kill()
            told = peer.communicate()[0].decode()
            line.close()
        return status, err, r.returncode, got[1].decode(), got[0], told, json.loads(out)

    def test_a_transfer(self):
        for keys in ((), ("novj", "accm=ffffffff")):
            ts, terr, rs, rerr, octets, told, report = self.over_the_crate(*keys)
            self.assertEqual((0, 0), (ts, rs), terr + rerr)
            self.assertEqual(hashlib.sha256(DATA).digest(), hashlib.sha256(octets).digest())
            self.assertEqual("open 10.0.0.77 10.0.0.1\n", told)
            drops = report["end"]["scps"]["interface"]["drops"]
            self.assertEqual({}, {k: n for k, n in drops.items() if n}, "nothing that the crate sends is unexpected")
        print("figure %d octets through the crate ppproto, equal" % len(DATA))

    def test_through_noise(self):
        noise = random.Random(11)

        def damage(octets):
            if noise.random() < 0.01 and line_is_open():
                octets = bytearray(octets)
                octets[noise.randrange(len(octets))] ^= 1 << noise.randrange(8)
            return bytes(octets)
        seen = []

        def line_is_open():  # the crate has no timers: what negotiates must arrive
            seen.append(1)
            return len(seen) > 200
        ts, terr, rs, rerr, octets, _, _ = self.over_the_crate(damage=damage)
        self.assertEqual((0, 0), (ts, rs), terr + rerr)
        self.assertEqual(hashlib.sha256(DATA).digest(), hashlib.sha256(octets).digest())


PEER = sys.argv.pop(3) if GROUP == "ppproto" else None
if GROUP == "slirp" and SLIRP is None:
    print("skipped: slirp is not installed")
    sys.exit(77)
if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], {"pair": "Pair", "slirp": "Slirp", "ppproto": "Ppproto"}[GROUP]] + sys.argv[3:])
