#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scps_ttcp's options that are one field of the connection's configuration: what each of them changes on the wire or in
the figures, over a link in virtual time, where the same seed gives the same packets.

    scps_ttcp_fields_test.py PROGRAM fields [WORD...]
"""
import json
import struct
import sys
import unittest

from scps_ttcp_test import Case, options, packets, run

LINK = "rate=10mbit,rtt=100ms"
# After each second, the one-way delay falls within 1 ms from DELAY to 100 ms, so that newer packets overtake those that are
# under way. A segment is late by more each time than what the sender's reordering window has measured before (RFC 8985
# section 6.2 step 4), so that the sender takes it for lost each time. The queue loses nothing.
LATER = "rate=10mbit,queue=1000p,delays=0s:100ms" + "".join(
    "+%ds:%dms+%d.001s:100ms" % (t, delay, t) for t, delay in enumerate((105, 108, 112, 118, 127, 140, 160), 1))
SENDER = bytes([10, 0, 0, 1])


def lines(err, word):
    """Returns the lines of the sender's --debug output that begin with this word, as (seconds, {key: value})."""
    return [(float(line.split()[0]), dict(w.split("=") for w in line.split()[3:]))
            for line in err if line.split()[1:3] == ["t", word]]


class Fields(Case):
    def sent(self, *args, link=LINK, status=0, n=1000):
        return self.document(["-t", "-s", "-n", str(n), "--link", link] + [str(a) for a in args], status)

    def seconds(self, doc):
        return doc["end"]["sum_sent"]["seconds"]

    def config(self, *args):
        return self.sent(*args, n=1)["start"]["scps"]["config"]

    def captured(self, *args, **kw):
        """Returns the sender's packets, and the JSON document of the run."""
        doc = self.sent("--pcap", self.path("x.pcap"), *args, **kw)
        return packets(self.path("x.pcap")), doc

    # ---- the command line

    def test_refused(self):
        for args, names in [
                (["--snack-delay", "soon"], ["--snack-delay soon", "seconds"]), (["--keep-count", "0"], ["--keep-count 0", "1 to 65535"]),
                (["--quick-acks", "-1"], ["--quick-acks -1", "65535"]), (["--outage-after", "256"], ["--outage-after 256", "255"]),
                (["--caps-tries", "x"], ["--caps-tries x", "SYNs"]), 
                (["--rto-max", "40000d"], ["--rto-max 40000d"]), (["--syn-retries", "65536"], ["--syn-retries 65536", "0 to 65535"]), (["--sndbuf", "255"], ["--sndbuf 255", "256 to 1G"]),
                (["--rcvbuf", "2G"], ["--rcvbuf 2G"]), (["--ttl", "0"], ["--ttl 0"]), (["--tos", "256"], ["--tos 256", "255"]),
                (["--initial-window", "65536"], ["--initial-window 65536"]),
                (["--keep-idle", "5"], ["--keep-idle", "--keepalive"]), (["--snack-delay", "5ms", "-S"], ["--snack-delay", "-S"]),
                (["--bets-legacy"], ["--bets-legacy", "-E"]), (["--quick-acks", "9", "-F", "0"], ["--quick-acks", "-F 0"]),
                (["--require", "wscale", "--no-wscale"], ["--no-wscale"]),
                (["--require", "snack_long", "--no-snack-long"], ["--no-snack-long"])]:
            with self.subTest(args=args):
                status, out, err = run(["-t", "-s"] + args)
                self.assertEqual((status, out, len(err)), (2, b"", 1), err)
                self.complains(err, *names)

    def test_the_document_says_what_is_in_force(self):
        plain = self.config()
        self.assertEqual((plain["ttl"], plain["caps_tries"], plain["keepalive"], plain["dsack"]), (64, 3, False, True))
        self.assertGreater(plain["rto_min_us"], 0)  # derived
        self.assertEqual(plain["persist_max_us"], plain["rto_max_us"])
        given = self.config("--persist-max", "7", "--rto-min", "50ms", "--no-dsack", "--keepalive", "--keep-idle", "1h",
                            "--sndbuf", "100k", "--no-undo", "--snack-delay", "0.03")
        self.assertEqual({k: v for k, v in given.items() if v != plain[k]},
                         {"persist_max_us": 7000000, "rto_min_us": 50000, "dsack": False, "keepalive": True,
                          "keep_idle_us": 3600000000, "sndbuf": 102400, "undo": False, "snack_delay_us": 30000,
                          "rto_initial_us": given["rto_initial_us"]})  # follows rto_min

    # ---- when it ends

    def test_user_timeout(self):
        """The link fails at 2 s. The user timeout ends the connection ten seconds after the last acknowledgement, where
        retries would take ten minutes."""
        doc = self.sent("--outage", "2s-20000s", "--user-timeout", 10, status=3)
        self.assertIn("timed out", doc["error"])
        self.assertIn("--user-timeout", doc["error"])
        self.assertAlmostEqual(doc["end"]["scps"]["elapsed_us"], 12e6, delta=0.2e6)
        retries = self.sent("--outage", "2s-20000s", status=3)
        self.assertGreater(retries["end"]["scps"]["elapsed_us"], 300e6)
        self.assertNotIn("--user-timeout", retries["error"])

    def test_retries(self):
        """The connection sends the configured number of SYNs, the first again after one second. For data the number
        stands for a time, which is never less than 100 s (RFC 9293 section 3.8.3)."""
        for n in (0, 2):
            doc = self.sent("--syn-retries", n, "--rto-initial", 1, link="lan,loss=1", status=1)
            self.assertEqual((doc["end"]["tcp"]["retransmits"], doc["end"]["tcp"]["timeouts"]), (n, n + 1))
            self.assertIn("--syn-retries", doc["error"])
            doc = self.sent("--outage", "2s-20000s", "--data-retries", n, status=3)
            self.assertGreater(doc["end"]["scps"]["elapsed_us"], 102e6)
            self.assertLess(doc["end"]["scps"]["elapsed_us"], 162e6)

    def test_timeouts(self):
        """The timeout of the first SYN, and the first and the longest interval of timeouts during an outage."""
        def syns(*args):
            return [t for t, _ in lines(run(["-t", "-s", "--link", "lan,loss=1", "-d", "--syn-retries", "3"] + list(args))[2], "sent")]
        self.assertEqual(syns("--rto-initial", "0.5", "--rto-max", "1")[:4], [0, 0.5, 1.5, 2.5])
        self.assertEqual(syns("--rto-initial", "3"), [0, 3, 9, 21])
        short, long = (self.sent("--outage", "3s-13s", "--rto-min", m)["end"]["tcp"] for m in ("10ms", "2"))
        self.assertGreater(short["timeouts"], long["timeouts"] + 3)

    def test_outage_after(self):
        """An outage of two hundred seconds is longer than four retries last. After the third timeout the sender assumes
        an outage, which does not end the connection, and a probe finds that the link is back."""
        args = ["--outage", "3s-203s", "--data-retries", 4]
        self.sent(*args, status=3)
        doc = self.sent(*args, "--outage-after", 2)
        self.assertIs(doc["end"]["verified"], True)
        tcp = doc["end"]["tcp"]
        self.assertEqual(tcp["timeouts"], 3)
        self.assertEqual(tcp["probes_out"], 7)  # after 5, 6, 12, 24, 48, 60, 60 s
        self.assertGreater(tcp["holds_us"]["link_down"], 200e6)
        self.assertEqual(self.sent("--outage", "3s-33s")["end"]["tcp"]["probes_out"], 0)

    def test_keepalive(self):
        """Keep-alive at the receiver, which has no other timer. First the sender sends a packet every five seconds:
        more probes are sent than would end the connection, but each is answered. Then the link fails at 2 s: three
        probes are sent, and the connection ends."""
        slow = ["-l", "500", "-G", "0", "-R", "1k"]
        self.assertEqual(self.sent(*slow, n=20)["end"]["tcp_peer"]["probes_out"], 0)
        doc = self.sent(*slow, "--keepalive", "--keep-idle", 1, "--keep-interval", 1, "--keep-count", 2, n=20)
        self.assertGreater(doc["end"]["tcp_peer"]["probes_out"], 9)
        doc = self.sent("--outage", "2s-20000s", "--keepalive", "--keep-idle", 5, "--keep-interval", 2, "--keep-count", 3, status=3)
        self.assertEqual(doc["end"]["tcp_peer"]["probes_out"], 3)
        self.assertAlmostEqual(doc["end"]["scps"]["elapsed_us"], (2 + 5 + 3 * 2) * 1e6, delta=0.2e6)
        self.assertIn("--keep-count", doc["error"])

    # ---- SCPS

    def test_caps_tries(self):
        """The link loses the first SYNs. The first --caps-tries SYNs have the capabilities option, later ones do not,
        and SNACK is then not in force; 0: all have it."""
        for tries in (0, 1, 2, 9):
            seen, doc = self.captured("--outage", "0s-1s", "--caps-tries", tries, n=10)
            syns = [any(k == 20 for k, _ in options(p)[0]) for p in seen if p[33] == 2]
            lost = doc["end"]["tcp"]["timeouts"]
            self.assertEqual(lost, 3)
            kept = tries in (0, 9)
            self.assertEqual(syns, [True] * 4 if kept else [True] * tries + [False] * (4 - tries))
            self.assertEqual(doc["start"]["scps"]["features"]["snack"], "in_force" if kept else "fell_back")
            self.assertIs(doc["start"]["scps"]["snack"], kept)

    def first_repair(self, *args):
        err = run(["-t", "-s", "-n", "400", "-G", "0", "-R", "8m", "--no-sack", "--dupthresh", "200", "-d", "--link",
                   LINK + ",loss=0.004"] + list(args))[2]
        return min(t for t, sent in lines(err, "sent") if sent["resent"] == "1")

    def test_snack_delay(self):
        """The first retransmission is sent later by the delay; segments that are late by less than the delay are not
        retransmitted."""
        self.assertAlmostEqual(self.first_repair("--snack-delay", "300ms") - self.first_repair(), 0.3, delta=0.002)
        hasty, calm = (self.sent("--no-sack", "--rcvbuf", "256k", *a, link=LATER)["end"]["tcp"]["retransmits"]
                       for a in ([], ["--snack-delay", "65ms"]))
        self.assertGreaterEqual(hasty, 5)
        self.assertEqual(calm, 0)

    def test_snack_raw_unit(self):
        """A hole of a hundred segments of 1024 octets is reported as a hundred units of their payload, or as 99 units
        of the MSS, which is 12 octets larger."""
        for args, unit in [([], 1024), (["--snack-raw-unit"], 1036)]:
            seen, doc = self.captured("-l", "1024", "-G", "0", "-R", "8m", "--outage", "0.5s-0.7s", *args)
            self.assertIs(doc["end"]["verified"], True)
            sizes = [struct.unpack(">HH", v[:4])[1] for p in seen for k, v in options(p)[0] if k == 21]
            hole = max(sizes) * unit
            lost = doc["end"]["link"]["forward"]["dropped_outage"]
            self.assertGreater(lost, 150)
            self.assertLessEqual(abs(hole - lost * 1024), unit, (args, max(sizes), lost))

    def test_snack_long(self):
        """With --no-snack-long all SNACK options have the short form, of four octets, and only its capability is in
        force."""
        link = LINK + ",loss=0.02"
        for args, caps in [([], ["snack1", "snack2"]), (["--no-snack-long"], ["snack1"])]:
            seen, doc = self.captured("--no-sack", *args, link=link)
            self.assertEqual(doc["start"]["scps"]["capabilities"]["in_force"], caps)
            lengths = {len(v) for p in seen for k, v in options(p)[0] if k == 21}
            self.assertEqual(lengths == {4}, bool(args), lengths)

    def test_corruption(self):
        """The line flips bits. If the receiver reports this, Vegas keeps its window; otherwise it halves it. If more
        segments are lost than were damaged, losses count as corruption for --corruption-hold after the report, and at
        least until the lost segments were recovered."""
        line = "rate=10mbit,rtt=200ms,ber-back=0,flip,"

        def told(*more, link):
            seen, doc = self.captured("-G", "2", "--checksum-hints", *more, link=line + link, n=200)
            return sum(k == 23 for p in seen for k, _ in options(p)[0]), self.seconds(doc)
        (many, fast), (none, slow) = (told(*a, link="ber=3e-6") for a in ([], ["--no-corruption"]))
        self.assertGreater(many, 10)
        self.assertEqual(none, 0)
        self.assertLess(1.2 * fast, slow)
        (_, brief), (_, long) = (told("--corruption-hold", h, link="ber=6e-7,loss=0.01") for h in ("1us", "1h"))
        self.assertLess(1.2 * long, brief)

    def test_bets_legacy(self):
        for args in ([], ["--bets-legacy"]):
            seen, _ = self.captured("-E", *args, n=1)
            kinds = {k for p in seen if p[33] & 2 for k, _ in options(p)[0]}
            self.assertEqual(16 in kinds, bool(args), kinds)

    # ---- acknowledging and windows

    def test_quick_acks(self):
        """Each of the first forty segments is acknowledged separately, where delayed ACKs acknowledge every other
        one."""
        plain, quick = (self.sent(*a)["end"]["tcp_peer"]["acks_out"] for a in ([], ["--quick-acks", 40]))
        self.assertEqual(quick - plain, 20)

    def test_initial_window(self):
        """With an initial window of sixty segments the transfer takes one round trip less than with the default."""
        doc, wide = self.sent(n=8), self.sent("--initial-window", 60, n=8)
        self.assertAlmostEqual(self.seconds(doc) - self.seconds(wide), 0.1, delta=0.03)

    def test_buffers(self):
        """Each of the two buffers limits the data in flight: 50000 bytes in a round trip of 100 ms are 4 Mbit/s at
        most."""
        for args in (["--sndbuf", "50000"], ["--rcvbuf", "50000"]):
            bps = self.sent(*args)["end"]["sum_sent"]["bits_per_second"]
            self.assertTrue(3e6 < bps < 4.2e6, (args, bps))
        self.assertEqual(self.sent("-b", 70000, "--rcvbuf", 50000, n=1)["start"]["sndbuf_actual"], 70000)

    def test_wscale(self):
        doc = self.sent("--no-wscale", "-b", "1M")
        self.assertIs(doc["start"]["scps"]["wscale"], False)
        self.assertLess(doc["end"]["sum_sent"]["bits_per_second"], 65535 * 8 / 0.1)

    def test_pacing(self):
        """A window is sent at once, or spread over the round trip. A queue of twenty packets shows the difference."""
        link = "rate=100mbit,rtt=100ms,queue=20p"
        burst, paced = (self.sent(*a, link=link, n=30)["end"]["link"]["forward"]["max_queue_bytes"]
                        for a in (["--initial-window", 40], ["--initial-window", 40, "--pacing"]))
        self.assertGreater(burst, 4 * paced)

    def test_ecn(self):
        for args, why in [([], "not_configured"), (["--ecn"], "in_force")]:
            self.assertEqual(self.sent(*args, n=1)["start"]["scps"]["features"]["ecn"], why)

    def test_dsack_and_undo(self):
        link = LINK + ",dup=0.05"
        self.assertGreater(self.sent(link=link)["end"]["tcp_peer"]["dsacks_out"], 100)
        self.assertEqual(self.sent("--no-dsack", link=link)["end"]["tcp_peer"]["dsacks_out"], 0)
        undone, down = (self.sent("-S", "--rcvbuf", "256k", *a, link=LATER) for a in ([], ["--no-undo"]))
        self.assertGreaterEqual(undone["end"]["tcp"]["spurious"], 5)
        self.assertEqual(down["end"]["tcp"]["spurious"], 0)
        self.assertGreater(self.seconds(down), 2 * self.seconds(undone))

    def test_limited_transmit(self):
        """Windows are small and segments are lost. Without the extra segments of limited transmit there is no third
        duplicate ACK, and the timer expires."""
        def timeouts(*args):
            return sum(self.sent("-S", "--no-sack", "--seed", s, *args, link=LINK + ",loss=0.1", n=200)["end"]["tcp"]["timeouts"]
                       for s in (1, 2, 3))
        self.assertGreater(timeouts("--no-limited-transmit"), 1.5 * timeouts())

    def test_ip(self):
        seen, _ = self.captured("--ttl", 9, "--tos", 0x28, "--df-off", n=1)
        for p in seen:
            self.assertEqual((p[8], p[6] & 0x40, p[1] & 0xfc), (9, 0, 0x28))
        self.assertTrue(all(p[8] == 64 and p[6] & 0x40 for p in self.captured(n=1)[0]))


if __name__ == "__main__":
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(Fields)
    if len(sys.argv) > 3:
        suite = unittest.TestSuite(t for t in suite if any(word in t.id() for word in sys.argv[3:]))
    sys.exit(0 if unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful() else 1)
