# SPDX-License-Identifier: MIT
"""What pyproject.toml cannot say: the version of <scps/scps.h>, C files that are compiled side by side, and the scenarios that
ship with scps_lab, which become data of the package."""
import os
import re
import shutil
from concurrent.futures import ThreadPoolExecutor

from setuptools import setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

with open("include/scps/scps.h", encoding="utf-8") as f:
    VERSION = re.search(r'SCPS_VERSION "(.*?)"', f.read()).group(1)


class Parallel(build_ext):
    def build_extension(self, ext):
        compile_all = self.compiler.compile

        def side_by_side(sources, **kw):
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                return [o for done in pool.map(lambda s: compile_all([s], **kw), sources) for o in done]

        self.compiler.compile = side_by_side
        super().build_extension(ext)


class WithScenarios(build_py):
    def run(self):
        super().run()
        for folder in ("scenarios", "campaigns", "published"):
            to = os.path.join(self.build_lib, "scps", "lab", folder)
            shutil.rmtree(to, ignore_errors=True)
            shutil.copytree(os.path.join("lab", folder), to)


setup(version=VERSION, cffi_modules=["python/build_ffi.py:ffi"], cmdclass={"build_ext": Parallel, "build_py": WithScenarios})
