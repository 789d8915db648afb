# SPDX-License-Identifier: MIT
"""Scenario files of scps_lab: runs of their cells, and sweeps over them."""
import os
import threading
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _arrays, _ini, _names
from ._errors import Made, ScpsError, Single, check_int, check_seconds, made, message
from ._ffi import ffi, lib
from ._go import Going, spread

if TYPE_CHECKING:
    import pandas

    Path = Union[str, "os.PathLike[str]"]

LAB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lab")
FILE_LEN = 1 << 20
NOMEM = lib.py_error_nomem()
COLUMNS = ("bytes", "start", "segments", "resent", "timeouts", "episodes", "errors", "queue_drops")
Notes = Union[None, bool, str, Iterable[str]]


def scenarios() -> Dict[str, str]:
    """Returns the names of the scenarios that are installed with the module, and what each is about."""
    found = {}
    for folder in ("scenarios", "campaigns"):
        for name in sorted(os.listdir(os.path.join(LAB, folder))):
            if name.endswith(".ini"):
                found[name[:-4]] = Scenario(os.path.join(LAB, folder, name)).about
    return found


def published(name: str) -> "pandas.DataFrame":
    """Returns the values that a published report prints: "nasa-single-flow" and the others of lab/published."""
    import pandas as pd

    if not isinstance(name, str):
        raise TypeError("name: a string is wanted, not %s" % type(name).__name__)
    names = sorted(f[:-4] for f in os.listdir(os.path.join(LAB, "published")) if f.endswith(".csv"))
    if name not in names:
        raise ValueError("%r is none of %s" % (name, ", ".join(names)))
    return pd.read_csv(os.path.join(LAB, "published", name + ".csv"))


def _value(key: str, value: Any) -> str:
    """Returns a value as the text that a scenario file has for it."""
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float, np.integer, np.floating)):
        return repr(value.item() if isinstance(value, np.generic) else value)
    raise TypeError("%s: a string, a number or a flag is wanted, not %s" % (key, type(value).__name__))


def _octets(text: str) -> bytes:
    if "\0" in text:
        raise ValueError("a NUL is in %r" % text)
    return text.encode("utf-8", "surrogateescape")


def _find(source: "Path") -> str:
    """Returns the path of a scenario file, found as scps_lab does: a name without slash or dot may be that of a
    scenario of this module."""
    path = os.fspath(source)
    if not isinstance(path, str):
        raise TypeError("source: a path or the name of a scenario is wanted, not %s" % type(path).__name__)
    if not os.path.isfile(path) and "/" not in path and "." not in path:
        for folder in ("scenarios", "campaigns"):
            shipped = os.path.join(LAB, folder, path + ".ini")
            if os.path.exists(shipped):
                return shipped
        raise FileNotFoundError("%s: no such file, nor a scenario that scps.scenarios() lists" % path)
    return path


class Flow(NamedTuple):
    """The results of one flow of a run."""

    name: str
    status: str       #: "ok", "timeout", or the error that ended it ("reset")
    start: float      #: seconds
    seconds: float    #: from the first SYN to the acknowledgement of the FIN, or to the end of the run
    mbps: float       #: of `bytes` in `seconds`; NaN unless ok
    bytes: int        #: that the receiver had by then
    missing: int      #: best effort: bytes given up
    records: int
    torn: int         #: best effort: records with holes
    info: Dict[str, Any]  #: the sender's figures of scps_info


class Run(Made):
    """One run of a cell (a combination of swept values): its flows, and the arrays that were requested."""

    _by = "Scenario.run()"
    cell: Dict[str, str]  #: the values of what is swept
    number: int
    flows: List[Flow]
    hosts: List[str]      #: that notes come from, by the number that they have there
    notes: npt.NDArray[np.void]
    trace: npt.NDArray[np.void]

    def __init__(self, scenario: "Scenario", cell: int, number: int, job: Any):
        n = ffi.new("size_t *")
        row, numbers = ffi.new("struct py_row *"), ffi.new("int64_t[]", len(_names.FIGURES))
        self.cell, self.number, self.flows, self.hosts = scenario._cell_values(cell), number, [], []
        self._rows = []
        for i in range(lib.py_job_flows(job)):
            lib.py_job_row(job, i, row)
            lib.py_job_figures(job, i, numbers)
            name, status = _names.text(row.flow), _names.text(row.status)
            mbps = row.mbps if status == "ok" else float("nan")
            self.flows.append(Flow(name, status, row.start / 1e6, row.took / 1e6, mbps, row.bytes, row.missing, row.records, row.torn,
                                   _names.figures(numbers)))
            self._rows.append({"cell": lib.py_cell_number(scenario._pointer, cell), "run": number, "flow": name, **self.cell,
                               "status": status, "seconds": row.took / 1e6, "mbps": mbps,
                               **{k: row.start / 1e6 if k == "start" else getattr(row, k) for k in COLUMNS}})
        while lib.py_job_host(job, len(self.hosts)) != ffi.NULL:
            self.hosts.append(_names.text(lib.py_job_host(job, len(self.hosts))))
        self.notes = _arrays.copied(lib.py_job_notes(job, n), n[0], _arrays.NOTE)
        self.trace = _arrays.copied(lib.py_job_packets(job, n), n[0], _arrays.PACKET)
        self._samples = _arrays.copied(lib.py_job_samples(job, n), n[0], _arrays.SAMPLE)

    def __repr__(self) -> str:
        return "<Run %d: %s>" % (self.number, ", ".join("%s %s, %.6g Mbit/s" % (f.name, f.status, f.mbps) for f in self.flows))

    def frame(self) -> "pandas.DataFrame":
        """A row for each flow, with the columns of scps_lab's rows.csv."""
        import pandas as pd

        return pd.DataFrame(self._rows)

    def notes_frame(self, kind: str) -> "pandas.DataFrame":
        """Returns the observer events of one kind, with a column for each of their arguments."""
        frame = _arrays.notes_frame(self.notes, kind)
        frame["host"] = [self.hosts[i] if i < len(self.hosts) else "" for i in frame["host"]]
        return frame

    def trace_frame(self) -> "pandas.DataFrame":
        """Returns every packet of the first link (direction 0: from its host a to its host b) and its fate."""
        return _arrays.packets_frame(self.trace)

    def samples(self) -> "pandas.DataFrame":
        """Returns the state of the flows each `every` seconds, as scps_lab run --series writes them; srtt is in seconds."""
        import pandas as pd

        s, names = self._samples, np.array([f.name for f in self.flows], dtype=object)
        columns: Dict[str, Any] = {"time": s["at"] / 1e6, "flow": names[s["flow"]]}
        for name in ("acked", "received", "cwnd", "inflight", "rate_bps", "resent"):
            columns[name] = s[name].astype("i8")
        columns["srtt"] = s["srtt"] / 1e6
        return pd.DataFrame(columns)


class Scenario(Single):
    """A scenario file, scps_scenario(5): links, flows, and the values that are swept. It does not change, and threads may share it.

    source     a path, or the name of a scenario that ships: see scps.scenarios()
    overrides  {"link.rtt": "250ms", "scenario.runs": 3}, as scps_lab --set; a list sweeps over its values
    """

    def __init__(self, source: "Path", overrides: Optional[Mapping[str, Any]] = None):
        path = _find(source)
        with open(path, "rb") as f:
            text = f.read(FILE_LEN + 1)
        self._read(path, text, overrides)

    @classmethod
    def from_text(cls, text: str, overrides: Optional[Mapping[str, Any]] = None, name: str = "text") -> "Scenario":
        """Returns a Scenario from the text of a file; `name` stands for it in messages, and files in it ("@loss.csv") are found
        beside it."""
        for what, given in (("text", text), ("name", name)):
            if not isinstance(given, str):
                raise TypeError("%s: a string is wanted, not %s" % (what, type(given).__name__))
        self = cls.__new__(cls)
        self._read(name, text.encode("utf-8", "surrogateescape"), overrides)
        return self

    def _read(self, path: str, text: bytes, overrides: Optional[Mapping[str, Any]]) -> None:
        if len(text) > FILE_LEN:
            raise ValueError("%s: it is longer than 1 MiB: give a scenario file" % path)
        if b"\0" in text:
            raise ValueError("%s: it holds a NUL octet, so it is no text: give a scenario file" % path)
        single, swept = self._overrides(overrides)
        published = os.fsencode(os.path.join(LAB, "published"))
        self._pointer = ffi.gc(lib.py_scenario_new(os.fsencode(path), text, published), lib.py_scenario_free)
        if self._pointer == ffi.NULL:
            raise MemoryError
        for line in _ini.lines(text):
            if line.key is None:
                lib.py_scenario_refuse(self._pointer, line.number, line.value)
                self._refused()
            if line.begins:
                self._check(lib.py_scenario_section(self._pointer, line.number, line.section))
                continue
            self._check(lib.py_scenario_line(self._pointer, line.number, line.continued, line.section, line.key, line.value))
        for key, values in swept.items():
            if key not in self._swept(text):
                self._check(lib.py_scenario_line(self._pointer, 0, False, b"sweep", _octets(key), _octets(values)))
            else:
                single[key] = values
        over = [ffi.new("char[]", _octets("%s=%s" % pair)) for pair in single.items()]
        self._check(lib.py_scenario_end(self._pointer, over, len(over)))
        facts = ffi.new("struct py_scenario_facts *")
        lib.py_scenario_facts(self._pointer, facts)
        self.name = _names.text(facts.name)
        self.about = _names.text(facts.about) if facts.about else ""
        self.published = _names.text(facts.published) if facts.published else ""
        self.runs, self.seed, self.timeout = int(facts.runs), int(facts.seed), facts.timeout / 1e6
        self.hash = "%016x" % facts.hash
        self._cells = int(facts.cells)
        self.axes = {_names.text(lib.py_scenario_axis(self._pointer, i)): self._axis(i) for i in range(facts.axes)}

    @staticmethod
    def _swept(text: bytes) -> List[str]:
        return [line.key.decode("utf-8", "surrogateescape") for line in _ini.lines(text) if line.section == b"sweep" and line.key]

    @staticmethod
    def _overrides(given: Optional[Mapping[str, Any]]) -> Any:
        single: Dict[str, str] = {}
        swept: Dict[str, str] = {}
        if given is not None and not isinstance(given, Mapping):
            raise TypeError("overrides: a dictionary is wanted, not %s" % type(given).__name__)
        for key, value in (given or {}).items():
            if not isinstance(key, str):
                raise TypeError("overrides: keys are strings such as 'link.rtt', not %s" % type(key).__name__)
            if isinstance(value, (list, tuple, range, np.ndarray)):
                swept[key] = ", ".join(_value(key, v) for v in value)
            else:
                single[key] = _value(key, value)
            _octets(key + (swept.get(key) or single.get(key) or ""))
        return single, swept

    def _refused(self) -> None:
        raise ValueError(message(lib.py_scenario_message(self._pointer)).replace("--set ", "overrides: ", 1))

    def _check(self, err: int) -> None:
        if err == NOMEM:
            raise MemoryError
        if err != 0:
            self._refused()

    def _axis(self, axis: int) -> List[str]:
        values: List[str] = []
        while lib.py_scenario_value(self._pointer, axis, len(values)) != ffi.NULL:
            values.append(_names.text(lib.py_scenario_value(self._pointer, axis, len(values))))
        return values

    def _cell_values(self, cell: int) -> Dict[str, str]:
        return {key: _names.text(lib.py_cell_value(self._pointer, cell, i)) for i, key in enumerate(self.axes)}

    def __repr__(self) -> str:
        return "<Scenario %s: %d cells, %d runs each>" % (self.name, self._cells, self.runs)

    def __len__(self) -> int:
        """How many cells there are: combinations of what is swept that no [case] skips."""
        return self._cells

    def cells(self) -> List[Dict[str, str]]:
        """The values of what is swept, for each cell in order."""
        return [self._cell_values(i) for i in range(self._cells)]

    def links(self, cell: int = 0) -> Dict[str, str]:
        """The links of a cell: name and SPEC, as scps.transfer() takes it."""
        cell = check_int("cell", cell, 0, self._cells - 1)
        spec = ffi.new("const char **")
        found: Dict[str, str] = {}
        while lib.py_cell_link(self._pointer, cell, len(found), spec) != ffi.NULL:
            name = _names.text(lib.py_cell_link(self._pointer, cell, len(found), spec))
            found[name] = _names.text(spec[0])
        return found

    def run(self, run: int = 1, cell: int = 0, *, notes: Notes = None, trace: bool = False, every: float = 0.0,
            pcap: "Optional[Path]" = None, qlog: "Optional[Path]" = None) -> Run:
        """Runs a cell once, with the seed that this run has in a sweep.

        run    its number, from 1
        cell   its position in cells()
        notes  kinds of observer events to keep (docs/EVENTS.md), or True for all
        trace  keep the fate of each packet of the first link
        every  seconds between samples; 0: none
        pcap   a capture of the first link to write; qlog: the beginning of the names of the qlog files, one for each flow
        """
        wishes = {"notes": _names.note_mask(notes), "trace": bool(trace), "every": check_seconds("every", every),
                  "pcap": _names.path("pcap", pcap), "qlog": _names.path("qlog", qlog)}
        return self._run(check_int("cell", cell, 0, self._cells - 1), check_int("run", run, 1, 1_000_000), wishes, None)

    def _run(self, cell: int, number: int, wishes: Dict[str, Any], stop: Optional[threading.Event]) -> Run:
        want, buf = ffi.new("struct py_job_wishes *"), ffi.new("char[512]")
        going = Going(stop)
        job = ffi.gc(lib.py_job_new(), lib.py_job_free)
        if job == ffi.NULL:
            raise MemoryError
        want.note_mask, want.packets, want.every = wishes.get("notes", 0), wishes.get("trace", False), wishes.get("every", 0)
        want.pcap, want.qlog = wishes.get("pcap", ffi.NULL), wishes.get("qlog", ffi.NULL)
        err = lib.py_job_run(job, self._pointer, cell, number, want, lib.py_go_on, going.handle, buf, 512)
        if err != 0:
            going.check()
            if err == NOMEM:
                raise MemoryError
            raise ScpsError(err, message(buf))
        return made(Run, self, cell, number, job)

    def sweep(self, jobs: int = 1, runs: Optional[int] = None) -> "pandas.DataFrame":
        """Every run of every cell: a row for each flow, with the columns and the values of scps_lab sweep.

        jobs  threads that share the work; the rows are the same for any number
        runs  of each cell; None: as many as the file says
        """
        import pandas as pd

        jobs = check_int("jobs", jobs, 1, 1024)
        runs = self.runs if runs is None else check_int("runs", runs, 1, 1_000_000)
        todo = [(cell, number) for cell in range(self._cells) for number in range(1, runs + 1)]
        return pd.DataFrame([row for run in spread(lambda t, stop: self._run(t[0], t[1], {}, stop), todo, jobs) for row in run._rows])
