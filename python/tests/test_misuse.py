#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Closed objects, wrong types, threads, copies, interrupts: each is refused by name, and nothing crashes."""
import contextlib
import copy
import gc
import importlib
import inspect
import os
import pickle
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy as np

import scps

WRONG = [None, object(), [], {}, 1.5j, b"\xff", "", "\0", "x" * 5000, -1, 2 ** 70, 1e400, float("nan"), True, lambda: 0, np.zeros(3), "\ud800", -2 ** 63]


def pair(on=None, **kw):
    """A world with two hosts, a link, a listener and an open connection."""
    w = scps.World(**kw)
    a, b = w.host("a", on), w.host("b")
    link = w.link(a, "10.0.0.1", b, "10.0.0.2", "leo")
    listener = b.listen(7)
    conn = a.connect("10.0.0.2", 7)
    return w, a, b, link, listener, conn


def members(thing):
    """Names of the public methods and properties of an object's class."""
    return sorted(n for n in dir(type(thing)) if not n.startswith("_") and (callable(getattr(type(thing), n)) or isinstance(getattr(type(thing), n), property)))


# The arguments with which a method is called, if it needs any to reach the check.
ARGUMENTS = {"connect": ("10.0.0.2", 7), "listen": (8,), "write": (b"x",), "host": ("c",), "link": (0, "10.1.0.1", 1, "10.1.0.2"), "run": (1,),
             "notes_frame": ("cwnd",), "input": (b"x", 1.0), "output": (1.0,)}
# These members raise no error on a closed object: close() and the like, and the property `closed`.
QUIET = {"close", "abort", "closed"}


class Closed(unittest.TestCase):
    def use(self, thing, name, arguments):
        value = getattr(thing, name)
        if callable(value):
            value = value(*arguments)
        return list(value) if inspect.isgenerator(value) else value

    def all_raise(self, thing, hosts=None):
        for name in members(thing):
            arguments = ARGUMENTS.get(name, ())
            if name == "link" and hosts:
                arguments = (hosts[0], "10.1.0.1", hosts[1], "10.1.0.2")
            with self.subTest(kind=type(thing).__name__, member=name):
                if name in QUIET:
                    self.use(thing, name, ())
                else:
                    with self.assertRaises(scps.ClosedError) as said:
                        self.use(thing, name, arguments)
                    self.assertIn("is closed", str(said.exception))

    def test_a_closed_world(self):
        w, a, b, link, listener, conn = pair()
        w.run(1)
        accepted = listener.accept()
        w.close()
        for thing in (w, a, link, listener, conn, accepted):
            self.all_raise(thing, (a, b))

    def test_closed_handles(self):
        w, _, _, _, listener, conn = pair()
        w.run(1)
        accepted = listener.accept()
        for thing in (listener, conn, accepted):
            thing.close()
            self.all_raise(thing)
        w.run(5)
        w.close()

    def test_a_closed_stack(self):
        s = scps.Stack("10.0.0.2")
        listener, conn = s.listen(7), s.connect("10.0.0.3", 7)
        s.close()
        for thing in (s, listener, conn):
            self.all_raise(thing)

    def test_a_context_closes(self):
        with scps.World() as w, scps.Stack("10.0.0.1") as s:
            pass
        self.assertRaises(scps.ClosedError, w.run, 1)
        self.assertRaises(scps.ClosedError, s.output, 1.0)

    def test_aborted_connections(self):
        w, _, _, _, listener, conn = pair()
        w.run(1)
        other = listener.accept()
        conn.abort()
        conn.abort()
        w.run(1)
        self.assertRaises(scps.ScpsError, other.write, b"x")
        w.close()

    def test_a_connection_that_nobody_answers(self):
        heard = []
        w = scps.World()
        a, b = w.host("a", lambda host, ev: heard.append(ev)), w.host("b")
        w.link(a, "10.0.0.1", b, "10.0.0.2", "leo")
        c = a.connect("10.0.0.2", 9)
        w.run(10)
        self.assertEqual(heard[-1].kind, "error")
        self.assertIn("refused", heard[-1].error)
        for use in (c.read, lambda: c.write(b"x")):
            self.assertRaises(scps.ScpsError, use)
        c.close()
        w.run(10)
        w.close()


class Wrong(unittest.TestCase):
    """Any argument is either accepted or raises a Python exception."""

    ALLOWED = (TypeError, ValueError, OverflowError, OSError, scps.ScpsError, AttributeError)

    def throw_at(self, call, n):
        """Calls with wrong values in each place; the others hold None."""
        for i in range(n):
            for value in WRONG:
                arguments = [value if k == i else None for k in range(n)]
                try:
                    call(*arguments)
                except self.ALLOWED:
                    pass

    def test_positional_arguments(self):
        w, a, _, link, listener, conn = pair()
        s = scps.Stack("10.0.0.9")
        for thing in (w, a, link, listener, conn, s):
            for name in members(thing):
                value = getattr(type(thing), name)
                if callable(value) and name not in QUIET | {"shutdown", "stop", "accept", "events"}:
                    self.throw_at(getattr(thing, name), len(inspect.signature(value).parameters) - 1)
        for value in (scps.Stack, scps.World, scps.Scenario, scps.Scenario.from_text, scps.read_capture, scps.published):
            self.throw_at(value, 2)
        w.run(1)
        w.close()
        s.close()

    def test_each_argument_of_transfer_is_named(self):
        """A wrong value of one argument is refused, and the message names the argument or the value."""
        good = {"size": 1000, "timeout": 10}
        for name in list(inspect.signature(scps.transfer).parameters)[:-1] + sorted(scps.settings()):
            if name in ("ipv6", "hollow", "trace"):
                continue  # any object has a truth value, so none is refused
            for value in (object(), [], 1.5j):
                if name == "notes" and value == []:
                    continue
                with self.subTest(name=name, value=value):
                    with self.assertRaises((TypeError, ValueError)) as said:
                        scps.transfer(**dict(good, **{name: value}))
                    self.assertIn(name, str(said.exception))

    def test_numbers_beyond_the_bounds_are_named(self):
        for name, value in [("size", 2 ** 63), ("seed", 2 ** 64), ("rate", 10 ** 15), ("mtu", 65536), ("buffer", 2 ** 31), ("chunk", 0), ("timeout", 1e13),
                            ("timeout", float("nan")), ("timeout", float("inf")), ("dupthresh", 2 ** 70), ("rto_min", 1e12), ("sndbuf", -5)]:
            with self.subTest(name=name, value=value):
                with self.assertRaises(ValueError) as said:
                    scps.transfer(**dict({"size": 1000}, **{name: value}))
                self.assertIn(name, str(said.exception))

    def test_numpy_numbers_are_numbers(self):
        r = scps.transfer("leo", size=np.int64(10_000), seed=np.uint32(3), timeout=np.float64(100), rto_min=np.float32(0.5), dupthresh=np.int8(3), snack=np.bool_(False))
        self.assertTrue(r.intact)

    def test_sweep(self):
        for error, given in [(TypeError, {"no_such": [1]}), (TypeError, {"size": ["1"]}), (ValueError, {"cc": ["vj", "cubi"]}), (TypeError, {"jobs": "2"}),
                             (ValueError, {"jobs": 0}), (TypeError, {"jobs": 2, "size": [1000, "x", 2000]})]:
            with self.subTest(given=given):
                self.assertRaises(error, scps.sweep, **given)
        self.assertEqual(len(scps.sweep(size=[], cc=["vj"])), 0)

    def test_endless_time(self):
        with scps.World() as w:
            for _ in range(3):
                w.run(9e12)  # the clock stops at its latest time

    def test_makers(self):
        for kind in (scps.Connection, scps.Listener, scps.Host, scps.Link, scps.Result, scps.Run, scps.Capture):
            with self.assertRaises(TypeError) as said:
                kind(None, None)
            self.assertIn("made by", str(said.exception))

    def test_copies(self):
        w, a, _, link, listener, conn = pair()
        s, r = scps.Stack("10.0.0.1"), scps.transfer(size=1000)
        for thing in (w, a, link, listener, conn, s, r, scps.Scenario("geo")):
            for how in (copy.copy, copy.deepcopy, pickle.dumps):
                with self.subTest(kind=type(thing).__name__, how=how.__name__):
                    self.assertRaises(TypeError, how, thing)
        w.close()

    def test_buffers(self):
        w, _, _, _, listener, conn = pair()
        w.run(1)
        for good in (b"x", bytearray(b"y"), memoryview(b"z"), np.arange(4, dtype="u1")):
            self.assertEqual(conn.write(good), len(good))
        for bad in ("text", 7, None, [1], np.arange(10, dtype="u1")[::2]):
            self.assertRaises((TypeError, ValueError), conn.write, bad)
        w.run(1)
        self.assertEqual(listener.accept().read(), b"xyz\0\1\2\3")
        w.close()


class Locales(unittest.TestCase):
    def test_a_decimal_comma(self):
        """A program that has set its locale gives and gets the same numbers."""
        code = ("import locale, scps, sys\n"
                "if sys.argv[1:]:\n    locale.setlocale(locale.LC_ALL, sys.argv[1])\n    assert locale.localeconv()['decimal_point'] == ','\n"
                "w = scps.World()\n"
                "l = w.link(w.host('a'), '10.0.0.1', w.host('b'), '10.0.0.2', 'rate=1.5mbit,rtt=0.5s,ber=1.5e-6')\n"
                "s = scps.Scenario.from_text('[link]\\nrtt = 1.5s\\nber = 1.5e-6\\n[flow]\\nsize = 0.1mb\\n')\n"
                "r = scps.transfer('rate=1.5mbit,rtt=0.5s,ber=1.5e-6', 'bbr', size=200000, rto_min=0.5)\n"
                "print(r.seconds, r.sender, s.hash, s.run().flows, s.links())\n")
        with tempfile.TemporaryDirectory() as d:
            made = shutil.which("localedef") and subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", os.path.join(d, "de_DE.UTF-8")],
                                                                capture_output=True).returncode < 2
            if not made or not os.path.exists(os.path.join(d, "de_DE.UTF-8")):
                self.skipTest("the distribution's package locales is not installed")
            said = [subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, env=dict(os.environ, LOCPATH=d))
                    for words in ([], ["de_DE.UTF-8"])]
        self.assertEqual(said[0].returncode, 0, said[0].stderr)
        self.assertEqual(said[1].returncode, 0, said[1].stderr)
        self.assertEqual(said[0].stdout, said[1].stdout)


class Threads(unittest.TestCase):
    def test_the_lock_is_released(self):
        """While one thread is in a long call, another one runs Python."""
        s = scps.Scenario("geo", {"flow.size": "400mb", "link.ber": "0"})
        for call in (lambda: scps.transfer("rate=1gbit,rtt=20ms", size=300_000_000, hollow=True), s.run, self.long_world):
            done = threading.Event()
            t = threading.Thread(target=lambda: (call(), done.set()))
            t.start()
            turns = 0
            while not done.is_set():
                turns += 1
                time.sleep(0.001)
            t.join()
            self.assertGreater(turns, 5)

    def long_world(self):
        w = scps.World()
        left = [4000]

        def on(host, ev):
            if ev.kind == "accept":
                ev.listener.accept()
            elif ev.kind in ("connected", "writable") and left[0] > 0:
                while ev.conn.write(bytes(65536)) == 65536 and left[0] > 0:
                    left[0] -= 1
            elif ev.kind == "readable":
                while ev.conn.read(1 << 20):
                    pass

        a, b = w.host("a", on), w.host("b", on)
        w.link(a, "10.0.0.1", b, "10.0.0.2", "rate=1gbit,rtt=20ms")
        b.listen(7)
        a.connect("10.0.0.2", 7)
        w.run(3)
        w.close()

    def test_two_worlds_in_two_threads(self):
        seen = {}

        def one(n):
            got = []
            w = scps.World(seed=1)

            def on(host, ev):
                if ev.kind == "accept":
                    ev.listener.accept()
                elif ev.kind == "connected":
                    ev.conn.write(b"%d" % n * 1000)
                elif ev.kind == "readable":
                    got.append((round(w.now, 6), ev.conn.read()))

            a, b = w.host("a", on), w.host("b", on)
            w.link(a, "10.0.0.1", b, "10.0.0.2", "leo,ber=1e-5")
            b.listen(7)
            a.connect("10.0.0.2", 7)
            for _ in range(200):
                w.run(0.01)
            w.close()
            seen[n] = got

        threads = [threading.Thread(target=one, args=(n,)) for n in range(6)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(len(seen), 6)
        times = {tuple(at for at, _ in got) for got in seen.values()}
        self.assertEqual(len(times), 1)  # the same seed, the same moments
        for n, got in seen.items():
            self.assertEqual(b"".join(data for _, data in got), b"%d" % n * 1000)

    def test_one_object_from_two_threads(self):
        """Every member of every object refuses the second thread by name while the first one is inside."""
        things, said = [], {}

        def intrude():
            for thing in things:
                for name in members(thing):
                    if name == "closed":
                        continue
                    arguments = ARGUMENTS.get(name, ())
                    if name == "link":
                        arguments = (things[1], "10.1.0.1", things[1], "10.1.0.2")
                    try:
                        value = getattr(thing, name)
                        value = value(*arguments) if callable(value) else value
                        said[type(thing).__name__, name] = "no error"
                    except RuntimeError as e:
                        said[type(thing).__name__, name] = str(e)

        def on(host, ev):
            if not said:
                t = threading.Thread(target=intrude)
                t.start()
                t.join()

        w, a, _, link, listener, conn = pair(on)
        things += [w, a, link, listener, conn]
        w.run(1)
        self.assertGreater(len(said), 15)
        for what, words in said.items():
            self.assertIn("the world is in use by another thread", words, what)
        w.run(1)
        w.close()

    def test_many_threads_at_one_world(self):
        """They get results or the refusal, and the world works afterwards."""
        w, a, _, link, listener, conn = pair()
        refused, stop = [], time.monotonic() + 1

        def storm(seed):
            r = random.Random(seed)
            while time.monotonic() < stop:
                try:
                    r.choice([lambda: w.run(0.001), lambda: conn.write(b"x" * 100), conn.info, link.stats, listener.accept, lambda: w.now, conn.read,
                              lambda: a.connect("10.0.0.2", 7).close(), lambda: w.notes])()
                except RuntimeError:
                    refused.append(1)
                except scps.ScpsError:
                    pass

        threads = [threading.Thread(target=storm, args=(n,)) for n in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        w.run(1)
        self.assertEqual(conn.state, "ESTABLISHED")
        w.close()

    def test_an_interrupt_ends_a_long_call(self):
        s = scps.Scenario("geo", {"flow.size": "900gb", "link.ber": "0"})
        with contextlib.suppress(ImportError):
            importlib.import_module("pandas")  # which sweeps import: an interrupt there would leave half of it behind
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        with scps.World() as w:
            def on(host, ev):
                if ev.kind in ("connected", "writable"):
                    while ev.conn.write(bytes(65536)) == 65536:
                        pass
                elif ev.kind == "accept":
                    ev.listener.accept()
                elif ev.kind == "readable":
                    while ev.conn.read(1 << 20):
                        pass

            a, b = w.host("a", on), w.host("b", on)
            w.link(a, "10.0.0.1", b, "10.0.0.2", "rate=1gbit,rtt=20ms")
            b.listen(7)
            a.connect("10.0.0.2", 7)
            for call in (lambda: scps.transfer("rate=1gbit,rtt=20ms", size=10 ** 15, hollow=True), lambda: scps.sweep(size=[10 ** 15] * 3, hollow=True, jobs=2),
                         s.run, lambda: s.sweep(jobs=2, runs=3), lambda: w.run(1e6)):
                timer = threading.Timer(0.4, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT))
                begun = time.monotonic()
                timer.start()
                self.assertRaises(KeyboardInterrupt, call)
                timer.join()
                self.assertLess(time.monotonic() - begun, 30)
            w.run(0)

    def test_an_interrupt_before_a_handler_has_begun(self):
        """run() raises the interrupt wherever it comes, also where no line of Python could have caught it."""
        w, *_ = pair(lambda host, event: None)

        def strike(frame, what, _):
            if what == "call" and frame.f_code.co_name == "py_on_event":
                sys.setprofile(None)
                raise KeyboardInterrupt

        sys.setprofile(strike)
        try:
            self.assertRaises(KeyboardInterrupt, w.run, 10)
        finally:
            sys.setprofile(None)
        w.run(1)
        w.close()

    def test_random_uses(self):
        """Objects of a few worlds, used, closed and forgotten in any order."""
        r = random.Random(5)
        for _ in range(60):
            w, a, b, link, listener, conn = pair(seed=r.randrange(9))
            w.hosts = [a, b]
            things = [w, a, b, link, listener, conn]

            def on(host, ev, things=things, r=r):
                things.extend(x for x in (ev.conn, ev.listener) if x is not None and x not in things)
                if r.random() < 0.3:
                    poke(r.choice(things))

            def poke(thing, r=r, things=things):
                name = r.choice(members(thing))
                if (name in ("close", "abort") and r.random() < 0.7) or name == "stop":
                    return
                try:
                    value = getattr(thing, name)
                    made = value(*ARGUMENTS.get(name, ())) if callable(value) else value
                    if isinstance(made, (scps.Connection, scps.Listener, scps.Host)):
                        things.append(made)
                except (scps.ScpsError, RuntimeError, TypeError, ValueError):
                    pass

            a.on_event = b.on_event = on
            for _ in range(60):
                poke(r.choice(things))
            del things[:]
            if r.random() < 0.5:
                gc.collect()

    def test_memory_that_runs_out(self):
        """Lack of memory raises MemoryError and does not end the process."""
        code = ("import resource, scps\n"
                "resource.setrlimit(resource.RLIMIT_AS, (1 << 29, 1 << 29))\n"
                "big = {'link.rtt': ['%dms' % i for i in range(1, 21)], 'link.rate': ['%dmbit' % i for i in range(1, 21)],\n"
                "       'link.mtu': list(range(1000, 1050)), 'flow.size': list(range(1, 21))}\n"
                "try:\n    scps.Scenario.from_text('[flow]', big)\n"
                "except MemoryError:\n    print('MemoryError')\n"
                "print(scps.transfer(size=1000).intact)\n")
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=dict(os.environ, OPENBLAS_NUM_THREADS="1"))
        self.assertEqual(done.stdout.split(), ["MemoryError", "True"], done.stderr)


if __name__ == "__main__":
    unittest.main()
