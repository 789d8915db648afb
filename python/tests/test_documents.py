#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is written of the module is so: the README's examples, the notebook, the type hints."""
import ast
import doctest
import glob
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import scps
from programs import ROOT

README = os.path.join(ROOT, "python", "README.md")
NOTEBOOKS = glob.glob(os.path.join(ROOT, "python", "examples", "*.ipynb"))

TYPED = """
import scps
r: scps.Result = scps.transfer("geo", size=1000)
seconds: float = r.seconds
with scps.World() as w:
    h: scps.Host = w.host("a", lambda host, ev: print(host.name, ev.kind))
    c: scps.Connection = h.connect("10.0.0.2", 7, cc="vj", rto_min=1.0)
    n: int = c.write(b"x")
run: scps.Run = scps.Scenario("geo", {"link.rtt": "250ms"}).run(notes=["cwnd"])
rows: float = scps.read_capture("x.pcap").flows()["rtt_avg"].mean()
"""
UNTYPED = ["scps.transfer(link=7)", "scps.transfer('geo').no_such", "scps.World().host(7)", "scps.Scenario(7)", "scps.Stack('10.0.0.1').input('x', 1.0)",
           "scps.read_capture(7)", "scps.sweep(jobs='2')", "x: str = scps.transfer().seconds"]


def lacks(*modules):
    missing = [m for m in modules if importlib.util.find_spec(m) is None]
    return "%s: not installed" % ", ".join(missing) if missing else None


class Readme(unittest.TestCase):
    def test_examples(self):
        here = os.getcwd()
        with tempfile.TemporaryDirectory() as d:
            os.chdir(d)  # examples write files
            try:
                failed, run = doctest.testfile(README, module_relative=False, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
            finally:
                os.chdir(here)
        self.assertEqual(failed, 0)
        self.assertGreater(run, 35)

    def test_every_name_is_described(self):
        with open(README, encoding="utf-8") as f:
            text = f.read()
        for name in ("transfer", "sweep", "Scenario", "scenarios", "published", "read_capture", "figures", "World", "Stack", "settings", "controllers",
                     "presets", "ScpsError", "ClosedError"):
            self.assertIn("scps." + name, text)
        for name in scps.__all__:
            self.assertTrue(getattr(scps, name).__doc__, name)


class Notebooks(unittest.TestCase):
    def test_they_run_and_give_what_they_show(self):
        why = lacks("nbclient", "nbformat", "ipykernel", "matplotlib")
        if why:
            self.skipTest(why)
        import nbclient
        import nbformat

        self.assertTrue(NOTEBOOKS)
        for path in NOTEBOOKS:
            with self.subTest(notebook=os.path.basename(path)), tempfile.TemporaryDirectory() as d:
                shown = nbformat.read(path, as_version=4)
                nbformat.validate(shown)
                run = nbformat.read(path, as_version=4)
                nbclient.NotebookClient(run, timeout=600, kernel_name="python3", resources={"metadata": {"path": d}}).execute()
                pictures = 0
                for a, b in zip(shown.cells, run.cells):
                    self.assertEqual(self.texts(a), self.texts(b), a.get("source"))
                    pictures += sum("image/png" in o.get("data", {}) for o in b.get("outputs", []))
                self.assertGreaterEqual(pictures, 2)

    @staticmethod
    def texts(cell):
        return [o.get("text") or o["data"].get("text/plain") for o in cell.get("outputs", []) if o["output_type"] != "display_data"]

    def test_the_figure_is_ten_lines(self):
        import json

        with open(os.path.join(ROOT, "python", "examples", "nasa_figure.ipynb"), encoding="utf-8") as f:
            cells = ["".join(c["source"]) for c in json.load(f)["cells"] if c["cell_type"] == "code"]
        figure = [c for c in cells if "published" in c]
        self.assertEqual(len(figure), 1)
        self.assertLessEqual(len(figure[0].splitlines()), 11)  # the import among them
        ast.parse(figure[0])


class Wheel(unittest.TestCase):
    def test_it_needs_no_library(self):
        from scps import _ffi

        done = subprocess.run(["ldd", _ffi.__file__], capture_output=True, text=True, check=True)
        needs = {line.split()[0].split("/")[-1].split(".")[0].split("-")[0] for line in done.stdout.splitlines()}
        self.assertLessEqual(needs, {"libc", "libm", "libdl", "libpthread", "linux", "ld"}, done.stdout)

    def test_it_has_its_data(self):
        folder = os.path.dirname(scps.__file__)
        for name in ("py.typed", "_ffi.pyi", "lab/scenarios/geo.ini", "lab/campaigns/nasa-single-flow.ini", "lab/published/nasa-single-flow.csv"):
            self.assertTrue(os.path.exists(os.path.join(folder, name)), name)


class Types(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        why = lacks("mypy")
        if why:
            raise unittest.SkipTest(why)
        cls.dir = tempfile.mkdtemp()

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.dir)

    def mypy(self, *words):
        return subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", "cache", *words], capture_output=True, text=True, cwd=self.dir)

    def user(self, text):
        with open(os.path.join(self.dir, "user.py"), "w", encoding="utf-8") as f:
            f.write(text)
        return self.mypy("user.py")

    def test_the_module(self):
        done = self.mypy("-p", "scps")
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_a_program_of_a_user(self):
        done = self.user(TYPED)
        self.assertEqual(done.returncode, 0, done.stdout)
        done = self.user("import scps\n" + "\n".join(UNTYPED) + "\n")
        for i, text in enumerate(UNTYPED, 2):
            self.assertIn("user.py:%d: error" % i, done.stdout, text)


if __name__ == "__main__":
    unittest.main()
