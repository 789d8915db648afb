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


def defined_in(source):
    """What a C file defines for itself: its static names, its macros, the tags of its types."""
    with open(source, encoding="utf-8") as f:
        found = re.findall(r"^(?:static [^][(=;\n]*|#define \w+|(?:struct|union|enum) \w+ \{)", f.read(), re.M)
    return {re.split(r"[ *]", text.rstrip(" {"))[-1] for text in found}


def in_groups(sources, folder):
    """Pairs of a C file and its further options. The sources of the library and of the programs, which the build with CMake compiles
    one by one, become files that include up to 30 sources of one folder which have no name in common; that takes less time."""
    groups = {}  # by folder: pairs of the sources of a group and the names that they define
    made = []
    for source in sources:
        if not source.startswith(("src/", "apps/")):
            made.append((source, []))
            continue
        names = defined_in(source)
        of_folder = groups.setdefault(os.path.dirname(source), [])
        members, taken = next((g for g in of_folder if len(g[0]) < 30 and not g[1] & names), ([], set()))
        if not members:
            of_folder.append((members, taken))
        members.append(source)
        taken |= names
    for of, (members, _) in ((of, g) for of, of_folder in groups.items() for g in of_folder):
        path = os.path.join(folder, "group%d.c" % len(made))
        with open(path, "w", encoding="utf-8") as f:
            f.writelines('#include "%s"\n' % os.path.abspath(source) for source in members)
        # in these folders the tests spend little time
        made.append((path, ["-O0"] if of.startswith("apps/") or of in ("src/trace", "src/cctest") else []))
    return made


class Parallel(build_ext):
    def build_extension(self, ext):
        compile_all = self.compiler.compile

        def side_by_side(sources, extra_postargs=None, **kw):
            hasty = os.environ.get("SCPS_HASTY")
            units = in_groups(sources, self.build_temp) if hasty else [(s, []) for s in sources]
            options = extra_postargs or []
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                done = pool.map(lambda unit: compile_all([unit[0]], extra_postargs=options + unit[1], **kw), units)
                return [o for objects in done for o in objects]

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
