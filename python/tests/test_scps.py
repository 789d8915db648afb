#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Transfers, worlds and stacks."""
import gc
import json
import threading
import unittest

import numpy as np
import pandas as pd

import scps
from programs import run


def greeting(**kw):
    """Two hosts over a link; returns the world, what was heard, and both ends' connections."""
    w = scps.World(**kw)
    heard, ends = [], {}

    def on(host, ev):
        heard.append((w.now, host.name, ev.kind))
        if ev.kind == "connected":
            ev.conn.write(b"Hello, Moon!")
        elif ev.kind == "accept":
            ends["moon"] = ev.listener.accept()
        elif ev.kind == "readable":
            data = ev.conn.read()
            while data:
                heard.append((w.now, host.name, data))
                if host.name == "moon":
                    ev.conn.write(b"Hello, Earth!")
                    ev.conn.shutdown()
                data = ev.conn.read()
            if data == b"" and host.name == "earth":
                ev.conn.close()
                ends["earth"] = None

    earth, moon = w.host("earth", on), w.host("moon", on)
    link = w.link(earth, "10.0.0.1", moon, "10.0.0.2", "moon")
    listener = moon.listen(7, expected_rtt=2.56)
    ends["earth"] = earth.connect("10.0.0.2", 7, expected_rtt=2.56)
    return w, heard, ends, link, listener, earth


class Transfer(unittest.TestCase):
    def test_same_arguments_same_result(self):
        a, b = (scps.transfer("geo,ber=1e-6", size=1_000_000, seed=3, notes=True, trace=True) for _ in range(2))
        self.assertTrue(a.done and a.intact)
        self.assertEqual((a.seconds, a.packets, a.sender), (b.seconds, b.packets, b.sender))
        self.assertTrue(np.array_equal(a.notes, b.notes) and np.array_equal(a.trace, b.trace))
        c = scps.transfer("geo,ber=1e-6", size=1_000_000, seed=4)
        self.assertNotEqual(a.seconds, c.seconds)

    def test_every_controller_and_preset(self):
        for cc in scps.controllers():
            r = scps.transfer("leo", cc, 200_000)
            self.assertTrue(r.done and r.intact, cc)
            self.assertLessEqual(r.rate, r.limit * 1.0001, cc)
        for link in scps.presets():
            self.assertTrue(scps.transfer(link, size=20_000).intact, link)

    def test_settings(self):
        r = scps.transfer("geo,ber=1e-5", size=300_000, recovery="rack", timestamps=False, rto_min=1.5, snack=False)
        self.assertTrue(r.intact)
        self.assertFalse(r.sender["timestamps"])
        self.assertEqual(r.sender["snacks_in"], 0)
        self.assertIn("snack", scps.settings())

    def test_timeout_is_a_result(self):
        r = scps.transfer("mars", size=10_000_000, timeout=60)
        self.assertFalse(r.done)
        self.assertEqual((r.rate, r.error), (0.0, "not done within timeout"))
        self.assertTrue(np.isnan(r.seconds))

    def test_nothing_to_send(self):
        self.assertTrue(scps.transfer(size=0).done)

    def test_what_is_refused(self):
        for error, args in [(ValueError, {"link": "venus"}), (ValueError, {"link": "geo,ber=2"}), (ValueError, {"cc": "cubi"}),
                            (ValueError, {"cc": "vegas,alpha=x"}), (TypeError, {"size": 1.5}), (TypeError, {"size": "1"}),
                            (ValueError, {"size": -1}), (TypeError, {"link": 7}), (TypeError, {"cc": b"vj"}), (ValueError, {"mtu": 5}),
                            (TypeError, {"no_such_setting": 1}), (TypeError, {"snack": 1}), (ValueError, {"recovery": "classical"}),
                            (ValueError, {"dupthresh": 0}), (TypeError, {"rto_min": "1s"}), (ValueError, {"rto_min": -1.0}),
                            (ValueError, {"link": "geo\0"}), (ValueError, {"notes": "UNHEARD"}), (TypeError, {"size": True}),
                            (ValueError, {"link": "geo,rates=@file"}), (ValueError, {"cc": "rate", "link": "rate=0,rtt=1s"})]:
            with self.subTest(args=args):
                with self.assertRaises(error) as said:
                    scps.transfer(**args)
                key = next(reversed(args))
                self.assertTrue(str(said.exception))
                if key in ("size", "mtu", "recovery", "rto_min", "dupthresh", "no_such_setting"):
                    self.assertIn(key, str(said.exception))

    def test_notes_and_trace(self):
        r = scps.transfer("geo,ber=1e-6", size=2_000_000, notes=["CWND", "LOST"] if "CWND" in kinds() else [k for k in kinds() if k in ("cwnd", "lost")],
                          trace=True)
        cwnd = r.notes_frame([k for k in kinds() if k.lower() == "cwnd"][0])
        self.assertEqual(list(cwnd.columns[:4]), ["time", "host", "conn", "cwnd"])
        self.assertTrue(cwnd.time.is_monotonic_increasing and len(cwnd) > 10)
        t = r.trace_frame()
        self.assertEqual(len(t), len(r.trace))
        data = t[(t.direction == 0) & (t.payload > 0)]
        self.assertEqual(data.payload.sum(), r.sender["bytes_sent"])
        self.assertEqual(len(data), r.sender["data_segs_out"])
        self.assertEqual(int((data.fate != "delivered").sum()), int(data.arrival.isna().sum()))
        self.assertGreater(int((data.fate == "ber").sum()), 0)
        self.assertTrue(t.offered.is_monotonic_increasing)

    def test_sweep(self):
        a = scps.sweep(link=["geo", "geo,ber=1e-6"], cc=["vj", "rate"], size=500_000, seed=range(1, 3))
        b = scps.sweep(jobs=2, link=["geo", "geo,ber=1e-6"], cc=["vj", "rate"], size=500_000, seed=range(1, 3))
        self.assertIsInstance(a, pd.DataFrame)
        self.assertEqual(len(a), 8)
        self.assertTrue(a.intact.all())
        pd.testing.assert_frame_equal(a, b)
        best = a.groupby(["link", "cc"]).mbps.mean()
        self.assertGreater(best["geo,ber=1e-6", "rate"], best["geo,ber=1e-6", "vj"])


def kinds():
    from scps import _names
    return _names.NOTES


class Worlds(unittest.TestCase):
    def test_greeting(self):
        w, heard, _, link, _, _ = greeting()
        with w:
            w.run(60)
            said = [(round(t, 2), who, what) for t, who, what in heard if isinstance(what, bytes)]
            self.assertEqual(said, [(3.84, "moon", b"Hello, Moon!"), (5.12, "earth", b"Hello, Earth!")])
            self.assertEqual(link.stats()["dropped_queue"], 0)
            self.assertGreater(link.stats(1)["delivered_bytes"], 0)

    def test_closed_objects_raise(self):
        w, _, ends, link, listener, earth = greeting()
        w.run(4)
        conn = ends["earth"]
        self.assertEqual(conn.state, "ESTABLISHED")
        self.assertAlmostEqual(conn.info()["srtt"], 2.56, 1)
        conn.close()
        conn.close()
        self.assertTrue(conn.closed)
        for use in (lambda: conn.write(b"x"), lambda: conn.write(b""), conn.read, conn.shutdown, conn.info, lambda: conn.state):
            self.assertRaises(scps.ClosedError, use)
        listener.close()
        self.assertRaises(scps.ClosedError, listener.accept)
        w.run(30)
        w.close()
        w.close()
        for use in (lambda: w.run(1), lambda: w.now, lambda: w.host("x"), link.stats, lambda: earth.connect("10.0.0.2", 7), lambda: w.notes,
                    ends["moon"].info):
            self.assertRaises(scps.ClosedError, use)
        ends["moon"].close()

    def test_best_effort(self):
        heard, holes = [], []

        def on(host, ev):
            if ev.kind == "accept":
                host.conn = ev.listener.accept()
            elif ev.kind in ("readable", "hole", "peer_closed"):
                while True:
                    try:
                        data = host.conn.read()
                    except scps.ScpsError as e:
                        self.assertIn("hole()", str(e))
                        holes.append(host.conn.hole())
                        self.assertEqual(holes[-1].at, sum(map(len, heard)) + sum(h.length for h in holes[:-1]))
                        self.assertIsNone(host.conn.hole())
                        continue
                    if not data:
                        return
                    heard.append(data)

        with scps.World() as w:
            a, b = w.host("a"), w.host("b", on)
            w.link(a, "10.0.0.1", b, "10.0.0.2", "geo,loss=0.1")
            b.listen(7, bets=True)
            c = a.connect("10.0.0.2", 7, bets=True, bets_retries=1)
            w.run(60)
            sent = bytes(range(250)) * 200
            self.assertEqual(c.write(sent), len(sent))
            c.shutdown()
            w.run(500)
            self.assertTrue(holes)
            self.assertEqual(sum(map(len, heard)) + sum(h.length for h in holes), len(sent))
            self.assertTrue(all(0 <= h.at < h.at + h.length <= len(sent) for h in c.given_up()))

    def test_names_of_settings_stand_without_braces(self):
        self.assertFalse([name for name, words in scps.settings().items() if "{" in words])

    def test_records(self):
        with scps.World() as w:
            a, b = w.host("a"), w.host("b")
            w.link(a, "10.0.0.1", b, "10.0.0.2", "leo")
            listener = b.listen(7, records=True)
            c = a.connect("10.0.0.2", 7, records=True)
            w.run(1)
            other = listener.accept()
            c.write(b"one", record=True)
            c.write(b"half", record=False)
            w.run(1)
            self.assertEqual((other.read(), other.record_end, other.record_torn), (b"one", True, False))
            self.assertEqual((other.read(), other.record_end), (b"half", False))
            self.assertEqual((other.hole(), c.given_up()), (None, []))

    def test_errors_in_handlers_come_out_of_run(self):
        w, heard, _, _, _, earth = greeting()

        def bad(host, ev):
            raise KeyError("mine")

        earth.on_event = bad
        self.assertRaises(KeyError, w.run, 60)
        earth.on_event = None
        w.run(60)
        w.close()

    def test_handlers_may_not_run_or_close_the_world(self):
        for what in ("run", "close"):
            w, _, _, _, _, earth = greeting()
            earth.on_event = lambda host, ev: w.run(1) if what == "run" else w.close()
            self.assertRaises(RuntimeError, w.run, 60)
            earth.on_event = None
            w.close()

    def test_another_thread_is_refused(self):
        w, _, ends, _, _, earth = greeting()
        said = []

        def intrude():
            try:
                ends["earth"].info()
            except RuntimeError as e:
                said.append(str(e))

        def on(host, ev):
            t = threading.Thread(target=intrude)
            t.start()
            t.join()

        earth.on_event = on
        w.run(3)
        self.assertTrue(said and all("another thread" in s for s in said), said)
        intrude()
        self.assertAlmostEqual(w.now, 3)
        w.close()

    def test_worlds_in_threads(self):
        results = []
        threads = [threading.Thread(target=lambda: results.append(scps.transfer("geo,ber=1e-6", size=3_000_000).seconds)) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(len(set(results)), 1)
        self.assertEqual(len(results), 4)

    def test_wrong_types(self):
        with scps.World() as w, scps.World() as other:
            a, b = w.host("a"), other.host("b")
            for error, use in [(ValueError, lambda: w.link(a, "10.0.0.1", b, "10.0.0.2")), (TypeError, lambda: w.link(a, "10.0.0.1", "b", "10.0.0.2")),
                               (ValueError, lambda: w.link(a, "10.0.0.300", a, "10.0.0.2")), (TypeError, lambda: w.run("1")),
                               (ValueError, lambda: w.run(-1)), (TypeError, lambda: w.host(7)), (ValueError, lambda: a.listen(0)),
                               (TypeError, lambda: a.listen("7")), (scps.ScpsError, lambda: a.connect("10.9.9.9", 7)),
                               (scps.ScpsError, lambda: a.connect("nowhere", 7)), (TypeError, lambda: a.connect("10.0.0.2", 7, no_such=1)),
                               (ValueError, lambda: scps.World(seed=-1))]:
                self.assertRaises(error, use)

    def test_forgotten_worlds_are_freed(self):
        for _ in range(50):
            w, _, _, _, _, _ = greeting()
            w.run(2)
            del w
        gc.collect()

    def test_notes(self):
        w, _, _, _, _, _ = greeting(notes=[k for k in kinds() if k.lower() == "state"])
        with w:
            w.run(10)
            frame = w.notes_frame([k for k in kinds() if k.lower() == "state"][0])
        self.assertEqual(set(frame.host), {0, 1})
        self.assertIn("to", frame.columns)


class Stacks(unittest.TestCase):
    def test_a_time_after_the_latest_one(self):
        with self.assertRaises(ValueError) as said:
            scps.Stack("10.0.0.1", now=9e12)
        self.assertIn("now: ", str(said.exception))
        scps.Stack("10.0.0.1", now=4.6e12).close()

    def test_two_stacks_by_hand(self):
        with scps.Stack("10.0.0.1", seed=1) as a, scps.Stack("10.0.0.2", seed=2) as b:
            b.listen(80)
            c = a.connect("10.0.0.2", 80)
            got, now, sent = b"", 0.0, False
            data = bytes(range(256)) * 400
            rest = data
            ours = None
            for _ in range(100000):
                moved = False
                for this, that in ((a, b), (b, a)):
                    p = this.output(now)
                    while p is not None:
                        self.assertIsNone(that.input(p, now))
                        moved = True
                        p = this.output(now)
                for ev in b.events():
                    if ev.kind == "accept":
                        ours = ev.listener.accept()
                list(a.events())
                if c.state == "ESTABLISHED" and rest:
                    rest = rest[c.write(rest):]
                elif not rest and not sent:
                    c.shutdown()
                    sent = True
                piece = ours.read() if ours else None
                while piece:
                    got += piece
                    moved = True
                    piece = ours.read()
                if piece == b"":
                    break
                if not moved:
                    now = max(now + 1e-6, min(a.deadline, b.deadline, now + 1))
            self.assertEqual(got, data)
            self.assertRaises(TypeError, a.input, "text", now)
            self.assertIsInstance(a.input(b"", now), str)
            self.assertIsInstance(a.input(b"\x45" * 10, now), str)
        self.assertRaises(scps.ClosedError, a.output, 1.0)
        self.assertRaises(scps.ClosedError, c.read)

    def test_addresses(self):
        self.assertRaises(ValueError, scps.Stack, "10.0.0.300")
        self.assertRaises(TypeError, scps.Stack, 7)


class Program(unittest.TestCase):
    """The module beside scps_ttcp."""

    def test_the_same_figures(self):
        for link, cc, rate in [("geo", "vj", 0), ("geo,ber=1e-6", "cubic", 0), ("nasa250,ber=1e-6", "rate", 40_000_000), ("leo", "vegas", 0),
                               ("mars", "vegas-corruption", 0), ("moon,loss=0.01", "vj", 0)]:
            words = ["-t", "-s", "-n", "100", "--link", link, "--cc", cc, "--json"] + (["-R", str(rate)] if rate else [])
            doc = json.loads(run("scps_ttcp", *words).stdout)
            r = scps.transfer(link, cc, 819200, rate=rate)
            with self.subTest(link=link, cc=cc):
                self.assertEqual(round(r.seconds * 1e6), doc["end"]["timing"]["close_us"])
                self.assertEqual(r.sender["resent_segs"], doc["end"]["tcp"]["retransmits"])


if __name__ == "__main__":
    unittest.main()
