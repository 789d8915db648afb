#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs that are started with standard input, output or error closed, or with a full disk as standard output.

    stdfds_test.py DIRECTORY_OF_PROGRAMS [unittest options]

The first descriptor that a program opens must not become one of 0 to 2: what is meant for standard output would be written
to a socket or a TUN device as packets, and what arrives there would be read as standard input.
"""
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest

BIN = os.path.abspath(sys.argv[1])
PATIENCE = 600  # seconds after which a test may give up waiting
CASES = {"scps_ttcp": [["--version"], ["--help"], ["--list-cc"], ["--list-links"], ["-t", "-s", "-n", "1", "--json"]],
         "scps_trace": [["--version"], ["--help"], ["--schema"], ["CAPTURE"], ["--json", "CAPTURE"], ["-p", "CAPTURE"]],
         "scps_link": [["--version"], ["--help"], ["--list-links"]],
         "scps_lab": [["--version"], ["--help"], ["list"], ["keys"],
                      ["run", "leo", "--set", "flow.size=10kb"], ["run", "leo", "--set", "flow.size=10kb", "--json"]],
         "scps_echo": [["--version"], ["--help"]],
         "scps_httpd": [["--version"], ["--help"]],
         "scps_cctest": [["--version"], ["--help"], ["--list"], ["--list-checks"]],
         "scps_hello": [[]]}
CAPTURE = os.path.join(tempfile.mkdtemp(prefix="stdfds."), "c.pcap")


def program(name):
    return os.path.join(BIN, name)


def has(name):
    return os.access(program(name), os.X_OK)


def shell(redirections, name, *args, **kw):
    """Runs the program with redirections of the shell, such as '>&-'."""
    kw.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.Popen(["sh", "-c", 'exec "$0" "$@" ' + redirections, program(name)] + list(args),
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kw)


def run(redirections, name, *args, **kw):
    p = shell(redirections, name, *args, **kw)
    out, err = p.communicate(timeout=PATIENCE)
    return p.returncode, out.decode(), err.decode()


def until(what, *args):
    end = time.monotonic() + PATIENCE
    while not what(*args):
        if time.monotonic() > end:
            raise AssertionError("not in %d seconds: %s%r" % (PATIENCE, what.__name__, args))
        time.sleep(0.01)


def bound(port):
    with open("/proc/net/udp") as f:
        return any(line.split()[1].endswith(":%04X" % port) for line in f.readlines()[1:])


def free_ports():
    for port in range(32000 + os.getpid() % 300 * 2, 32700):
        if not bound(port) and not bound(port + 1):
            return port, port + 1
    raise AssertionError("no free ports")


def pair():
    a, b = free_ports()
    return (a, ["--udp", "127.0.0.1:%d,127.0.0.1:%d" % (a, b), "--addr", "10.9.0.1/24"],
            b, ["--udp", "127.0.0.1:%d,127.0.0.1:%d" % (b, a), "--addr", "10.9.0.2/24"])


class Results(unittest.TestCase):
    """A result that cannot be written is reported in one line and in the exit status."""

    def all(self, redirection, words):
        for name, lines in CASES.items():
            if not has(name):
                continue
            for args in lines:
                args = [CAPTURE if a == "CAPTURE" else a for a in args]
                with self.subTest(name=name, args=args):
                    status, out, err = run(redirection, name, *args)
                    said = [line for line in err.splitlines() if words in line]
                    self.assertEqual((status, len(said)), (1, 1), err)
                    self.assertRegex(said[0], "^%s: " % name)

    def test_closed_output(self):
        self.all(">&-", "Bad file descriptor")

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_full_output(self):
        self.all(">/dev/full", "No space left on device")

    def test_closed_error(self):
        """Without standard error there is no message, but the exit status shows the error, and no message is written to
        a file that the program opens."""
        for name, lines in CASES.items():
            if has(name):
                self.assertEqual(run("2>&- >&-", name, *[CAPTURE if a == "CAPTURE" else a for a in lines[0]])[0], 1, name)
        with tempfile.NamedTemporaryFile() as f:
            self.assertEqual(run("2>&-", "scps_ttcp", "-t", "-s", "-n", "1", "--pcap", f.name)[0], 0)
            self.assertNotIn(b"ttcp-t", f.read())

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    @unittest.skipUnless(has("scps_ttcp"), "no scps_ttcp")
    def test_full_error(self):
        """scps_ttcp writes its report to standard error. A report that is lost shows in the exit status."""
        self.assertEqual(run("2>/dev/full", "scps_ttcp", "-t", "-s", "-n", "1")[0], 1)
        status, out, _ = run("2>/dev/full", "scps_ttcp", "-t", "-s", "-n", "1", "--json")
        self.assertEqual((status, out[:1]), (0, "{"))

    def test_lines_of_error(self):
        """Each line on standard error goes out in one write, so that the lines of two programs on one terminal do not
        mix. A pipe with O_DIRECT keeps the writes apart: each read returns what one write wrote."""
        for name, args in [("scps_ttcp", ["-t", "-s", "-v", "-P", "2", "--bidir", "--time", "2", "-i", "1"]),
                           ("scps_ttcp", ["-t", "-s", "-d", "-n", "3"]), ("scps_ttcp", ["-t", "-s", "-v", "-u", "-n", "3"]),
                           ("scps_lab", ["run", "nowhere"]), ("scps_trace", ["nowhere"]), ("scps_link", ["--link", "nowhere"]),
                           ("scps_httpd", []), ("scps_echo", ["-r"]), ("scps_cctest", ["nobody"])]:
            if not has(name):
                continue
            with self.subTest(name=name, args=args):
                here, there = os.pipe2(os.O_DIRECT)
                p = subprocess.Popen([program(name)] + args, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=there)
                os.close(there)
                writes = list(iter(lambda: os.read(here, 1 << 16), b""))
                os.close(here)
                p.wait(timeout=PATIENCE)
                self.assertGreater(len(writes), 0)
                self.assertEqual([w for w in writes if not w.endswith(b"\n") or w.count(b"\n") != 1], [])

    @unittest.skipUnless(has("scps_trace"), "no scps_trace")
    def test_closed_input(self):
        status, out, err = run("<&-", "scps_trace", "-")
        self.assertEqual((status, out, err.count("\n")), (2, "", 1), err)
        self.assertIn("Bad file descriptor", err)
        status, out, err = run("<&-", "scps_trace", CAPTURE)
        self.assertEqual((status, err), (0, ""))


@unittest.skipUnless(has("scps_ttcp"), "no scps_ttcp")
class Sockets(unittest.TestCase):
    """A transfer between two processes over IP in UDP."""

    def receiver(self, redirections, port, *args):
        p = shell(redirections, "scps_ttcp", "-r", "--timeout", str(PATIENCE), *args)
        until(lambda: bound(port) or p.poll() is not None)
        return p

    def finish(self, p):
        out, err = p.communicate(timeout=PATIENCE)
        return p.returncode, out.decode(), err.decode()

    def test_receiver_without_output(self):
        _, tx, port, rx = pair()
        r = self.receiver(">&-", port, *rx)
        status, out, err = run("", "scps_ttcp", "-t", "-s", "-n", "500", "--timeout", "60", *tx, "10.9.0.2")
        self.assertIn(status, (1, 3), err)
        self.assertIn("reset", err)
        status, out, err = self.finish(r)
        self.assertEqual(status, 1, err)
        self.assertIn("standard output: Bad file descriptor", err)

    def test_sender_without_input(self):
        _, tx, port, rx = pair()
        r = self.receiver("", port, "-s", *rx)
        status, out, err = run("<&-", "scps_ttcp", "-t", "--timeout", "60", *tx, "10.9.0.2")
        self.assertEqual(status, 1, err)
        self.assertIn("standard input: Bad file descriptor", err)
        r.terminate()  # reset in SYN-RECEIVED, it goes on listening (RFC 9293 section 3.10.7.4)
        self.finish(r)

    def test_neither_needs_any(self):
        _, tx, port, rx = pair()
        r = self.receiver("<&- >&- 2>&-", port, "-s", *rx)
        self.assertEqual(run("<&- >&- 2>&-", "scps_ttcp", "-t", "-s", "-n", "500", "--timeout", "60", *tx, "10.9.0.2")[0], 0)
        self.assertEqual(self.finish(r)[0], 0)

    def test_servers(self):
        """Programs that run for long never have a socket as descriptor 0, 1 or 2."""
        tun = os.geteuid() == 0 and os.access("/dev/net/tun", os.R_OK | os.W_OK)
        port, udp = pair()[:2]
        lines = [["scps_ttcp", "-r"] + udp, ["scps_echo", "-r"] + udp, ["scps_httpd"] + udp]
        if tun and has("scps_link"):
            port += 1
            lines.append(["scps_link", "--a", "sfd%da" % port, "--b", "sfd%db" % port, "--link", "leo"])
        for line in lines:
            if not has(line[0]):
                continue
            with self.subTest(line=line):
                p = shell("<&- >&- 2>&-", *line)
                until(lambda: self.handles_sigint(p) or p.poll() is not None)
                if line[0] == "scps_link" and p.poll() is not None:
                    p.communicate()
                    continue  # no permission for network devices here
                self.addCleanup(p.kill)
                links = [os.readlink("/proc/%d/fd/%d" % (p.pid, fd)) for fd in range(3)]
                p.terminate()
                p.communicate(timeout=PATIENCE)
                self.assertEqual(links, ["/dev/null"] * 3)

    def handles_sigint(self, p):
        """Returns true once the program runs in place of the shell that started it and handles SIGINT."""
        with open("/proc/%d/comm" % p.pid) as f:
            comm = f.read()
        with open("/proc/%d/status" % p.pid) as f:
            found = re.search(r"SigCgt:\s*(\w+)", f.read())
        return comm.startswith("scps_") and found and int(found.group(1), 16) >> 1 & 1


if __name__ == "__main__":
    if has("scps_ttcp"):
        subprocess.check_call([program("scps_ttcp"), "-t", "-s", "-n", "9", "--pcap", CAPTURE], stderr=subprocess.DEVNULL)
    unittest.main(argv=[sys.argv[0]] + sys.argv[2:])
