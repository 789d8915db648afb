# SPDX-License-Identifier: MIT
"""The extension scps._ffi: the library, what scps_ttcp makes of options, and glue.h over both."""
import glob
import os
import re
import sysconfig

from cffi import FFI

PARTS = ("base", "wire", "core", "cc", "stack", "sim", "traffic", "cctest")

# The analyser, without libpcap and without the writers of reports and pictures.
TRACE = [f for f in sorted(glob.glob("src/trace/*.c")) if not re.search(r"/(libpcap|out_\w+|plotkind|xplot|packets)\.c$", f)]

# What the programs make of options and of scenario files; inih is not needed, as _ini.py cuts the files up.
APPS = (["apps/common/%s.c" % f for f in ("cells", "flow_settings", "plugin", "qlog", "scenario_data", "scenario_keys", "scenario_lines",
                                          "settings", "setup", "setup_keys", "setup_pairs", "text")] +
        ["apps/scps_lab/%s.c" % f for f in ("job", "model", "paths", "result", "writer")] +
        ["apps/scps_ttcp/%s.c" % f for f in ("conn_config", "fields", "units")])

# With SCPS_HASTY in the environment the C code is compiled in a third of the time (setup.py, in_groups()), and runs slower.
HASTY = bool(os.environ.get("SCPS_HASTY"))
OPTIMISE = "-O1" if HASTY else "-O3"
# Optimised across files, as the programs are: a third of the time. Only gcc is asked for it.
GCC = "gcc" in os.path.basename(sysconfig.get_config_var("CC") or "") + os.environ.get("CC", "")
LTO = ["-flto=auto"] if GCC and not HASTY else []

with open(os.path.join("python", "glue.h"), encoding="utf-8") as f:
    HEADER = f.read()

ffi = FFI()
ffi.cdef(re.sub(r"^#.*$", "", HEADER, flags=re.M) + 'extern "Python" void py_on_event(void *ctx, const struct py_seen *ev);\n'
         'extern "Python" int py_go_on(void *ctx);\n')
ffi.set_source(
    "scps._ffi", '#include "glue.h"\n#include <scps/scps.h>\n#include <scps/sim.h>\n',
    sources=[s for part in PARTS for s in sorted(glob.glob("src/%s/*.c" % part))] + TRACE + sorted(glob.glob("python/glue_*.c")) + APPS,
    include_dirs=["include", "src", "apps", "python"], define_macros=[("NDEBUG", None), ("_GNU_SOURCE", ""), ("SCPS_API", "")],
    extra_compile_args=["-std=c11", OPTIMISE, "-g0", "-fvisibility=hidden", "-fno-semantic-interposition", "-fno-wrapv", "-ffp-contract=off",
                        "-Wno-unused"] + LTO, extra_link_args=["-O3"] + LTO if LTO else [], libraries=["m", "dl"])
