# SPDX-License-Identifier: MIT
"""Runs a case with scps_ttcp and keeps what judges need."""
import json
import shlex
import subprocess

WALL = 300  # seconds of real time after which a run counts as stuck


class Result:
    """outcome: "done", "failed" (the connection ended early), "endless" (virtual time exceeded the limit), "stuck"
    (real time did), or "crash". seconds: duration in virtual time. share: the part of the data that was delivered, less than 1
    where best effort has given up some."""

    def __init__(self, outcome, seconds=0.0, needless=0, resent=0, sent=0, timeouts=0, limit=0.0, why="", share=1.0):
        self.outcome, self.seconds, self.needless, self.resent = outcome, seconds, needless, resent
        self.sent, self.timeouts, self.limit, self.why = sent, timeouts, limit, why
        self.share = share

    @property
    def done(self):
        return self.outcome == "done"

    @property
    def whole(self):
        """The duration in proportion for all data: a run in which best effort gives up data is not better for being shorter."""
        return self.seconds / self.share


class Runner:
    def __init__(self, program):
        self.program, self.runs = program, 0

    def run(self, case, seed, cap):
        """Runs one transfer, for at most cap seconds of virtual time. Raises ValueError if scps_ttcp refuses the
        command line."""
        return self.run_words(case.argv() + ["--seed", str(seed)], cap, case.payload, case.bytes)

    def run_words(self, words, cap, payload=0, size=0):
        """Runs a command line. payload: bytes in a segment, to subtract the copies that the link makes, which are not
        the sender's fault."""
        argv = [self.program] + words + ["--timeout", "%d" % (cap + 1), "--json"]
        self.runs += 1
        try:
            p = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=WALL)
        except subprocess.TimeoutExpired:
            return Result("stuck", why="no end after %d s of real time" % WALL)
        error = p.stderr.decode(errors="replace").strip()
        if p.returncode == 2:
            raise ValueError("%s\n    %s" % (error, shlex.join(argv)))
        if p.returncode not in (0, 1, 3, 124):
            return Result("crash", why="status %d: %s" % (p.returncode, error[-300:]))
        end = json.loads(p.stdout)["end"]
        parts = end["streams"] if "tcp" not in end else [end]  # --bidir: a stream for each direction of one connection
        tcp, peer, scps = parts[0]["tcp"], parts[0]["tcp_peer"], parts[0]["scps"]
        copies = end["link"]["forward"]["duplicated"] * payload
        twice = peer["bytes_duplicate"] + (tcp["bytes_duplicate"] if len(parts) > 1 else 0)
        bps = scps.get("physical_limit_bps", 0)
        holes = scps.get("holes", {}).get("bytes", 0)
        share = 1 - holes / scps["enqueued_bytes"] if 0 < holes < scps["enqueued_bytes"] else 1.0
        outcome = {0: "done", 124: "endless"}.get(p.returncode, "failed")
        return Result(outcome, end["scps"]["elapsed_us"] / 1e6, max(0, twice - copies), tcp["bytes_resent"],
                      tcp["bytes_sent"], tcp["timeouts"], 8 * size / bps if bps else 0.0,
                      "" if outcome == "done" else error[-200:], share)
