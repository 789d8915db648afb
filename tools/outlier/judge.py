# SPDX-License-Identifier: MIT
"""What counts as an outlier, and when a suspicion is confirmed.

Random loss makes single runs differ, so that one pair above the bound is a candidate and no more. It is confirmed with fresh
seeds on both sides: the median is above the bound, and a rank test says that this is no accident."""
import math
import statistics

FACTOR = 1.3       # a feature or a better link must not take more than this factor
ROUND_TRIPS = 3    # and this many round trips longer
WORST = 10         # a factor above this is among the worst
NEEDLESS = 0.2     # the share of the data that may arrive twice
NEEDLESS_SEGS = 20  # and this many segments besides
CAP = 200          # a transfer is endless after this many times its goal
CAP_MORE = 1000    # and this many seconds
TIMERS = 0.7       # seconds that a lost last segment may take: a timeout and two delayed ACKs, however short the path
FIRST_SEEDS, SEEDS = 5, 20
SURE = 2.0         # a rank sum this many standard deviations away is no accident


def cap(case):
    return CAP * case.goal() + CAP_MORE


class Pair:
    """better and other are cases; extra: seconds allowed beyond the bound; packets: how many times the other's packets the
    better run has to send. Where the other is done before the first outage begins, the better one may be a timer later and
    meet it: that may cost what an outage may cost."""

    def __init__(self, relation, better, other, extra, packets=1):
        self.relation, self.better, self.other, self.packets = relation, better, other, packets
        self.extra = extra + ROUND_TRIPS * max(better.round_trip, other.round_trip) / 1e6
        spans = better.link.get("outage") if "outage" in other.link else None
        self.outage = spans[0][0] / 1e6 if spans else 0.0
        self.outage_cost = better.outage_cost if spans else 0.0

    def allowed(self, other):
        """Returns the seconds that are allowed in addition to the factor, if the other run takes `other` seconds."""
        return self.extra + (self.outage_cost if other < self.outage else 0.0)

    def bound(self, seconds, factor=FACTOR):
        return factor * self.packets * seconds + self.allowed(seconds)

    def factor(self, better, other):
        """How many times the other's time for as many packets the better one takes beyond what is allowed on top."""
        return (better - self.allowed(other)) / (self.packets * other) if other > 0 else 0.0

    def worst(self, better, other):
        """Is it among the worst, by more than the timers of a last segment?"""
        return better > self.bound(other, WORST) + TIMERS

    def suspicious(self, better, other):
        if better.done and other.done:
            return better.seconds > self.bound(other.whole)
        return other.done


def rank_test(high, low):
    """Returns by how many standard deviations the ranks of the values `high` exceed those of `low` (Mann and
    Whitney)."""
    n, m = len(high), len(low)
    u = sum((a > b) + 0.5 * (a == b) for a in high for b in low)
    return (u - n * m / 2) / math.sqrt(n * m * (n + m + 1) / 12)


class Finding:
    """kind: slow, tail or fails of pairs; failed, endless, stuck, crash, late or needless of single runs. better is the case
    judged, other None for single runs; seed one that shows it; factor how many times the bound's base it takes; more how many
    seconds above the bound; worst: it is a pair that does not end, or is among the worst."""

    def __init__(self, kind, relation, better, other, factor, seed, text, more=float("inf"), worst=False):
        self.kind, self.relation, self.better, self.other = kind, relation, better, other
        self.factor, self.seed, self.text, self.more, self.worst = factor, seed, text, more, worst

    def commands(self):
        """Returns the command lines that show the finding: that of the judged run, and that of the other run or
        None."""
        return (self.better.near(self.seed).text(self.seed),
                self.other.near(self.seed).text(self.seed) if self.other else None)


def times(runner, case, seeds):
    return [runner.run(case.near(s), s, cap(case)) for s in seeds]


def confirm_pair(runner, pair, first_factor, seeds=SEEDS, begin=1001):
    """Returns a Finding, or None if the pair is within the bound."""
    some = range(begin, begin + FIRST_SEEDS)
    more = range(begin + FIRST_SEEDS, begin + seeds)
    better, other = times(runner, pair.better, some), times(runner, pair.other, some)

    def seconds(results, case):
        return [x.seconds if x.done else cap(case) for x in results]

    def whole(results, case):
        return [x.whole if x.done else cap(case) for x in results]

    def medians():
        return (statistics.median(seconds(better, pair.better)), statistics.median(whole(other, pair.other)))

    a, b = medians()
    if a <= pair.bound(b) and first_factor <= WORST and all(x.done for x in better):
        return None
    better += times(runner, pair.better, more)
    other += times(runner, pair.other, more)
    lost = [s for s, x in zip(range(begin, begin + seeds), better) if not x.done]
    lost_other = sum(not x.done for x in other)
    if len(lost) >= 3 and len(lost) >= 3 * lost_other:
        bad = next(x for x in better if not x.done)
        return Finding("fails", pair.relation, pair.better, pair.other, float("inf"), lost[0],
                       "%d of %d do not end well, of the other %d: %s" % (len(lost), seeds, lost_other, bad.why or bad.outcome), worst=True)
    if lost_other > seeds // 2:
        return None
    a, b = medians()
    x, y = seconds(better, pair.better), whole(other, pair.other)
    nearest = min(range(seeds), key=lambda i: abs(x[i] - a)) + begin
    text = "median of %d seeds %.6g s for %.6g s" % (seeds, a, b)
    if a > pair.bound(b) and rank_test(x, [pair.bound(t) for t in y]) > SURE:
        return Finding("slow", pair.relation, pair.better, pair.other, pair.factor(a, b), nearest, text,
                       a - pair.bound(b), pair.worst(a, b))
    far = [i for i, t in enumerate(x) if t > pair.bound(max(y), WORST) + 3 * pair.extra + TIMERS]
    if len(far) >= 2:
        return Finding("tail", pair.relation, pair.better, pair.other, pair.factor(max(x), max(y)), begin + far[0],
                       "%d of %d seeds take more than %d times the slowest of the other: up to %.6g s for %.6g s"
                       % (len(far), seeds, WORST, max(x), max(y)), worst=True)
    return None


def single_kind(case, result):
    """Returns the kind of fault that one run alone shows, or None."""
    if not result.done:
        return result.outcome
    if result.seconds > WORST * case.goal() + TIMERS:
        return "late"
    share = NEEDLESS + case.link.get("reorder", 0)  # segments that are reordered may be resent, too
    if result.needless > share * case.bytes + NEEDLESS_SEGS * case.payload:
        return "needless"
    return None


def confirm_single(runner, case, kind, seeds=10, begin=1001):
    """Returns a Finding if three of ten fresh seeds show the same fault, or one of them a crash; otherwise None."""
    span = range(begin, begin + seeds)
    results = times(runner, case, span)
    bad = [(s, x) for s, x in zip(span, results) if single_kind(case, x) == kind]
    if len(bad) < (1 if kind in ("crash", "stuck") else 3):
        return None
    seed, x = bad[0]
    factor = {"late": x.seconds / case.goal(), "needless": x.needless / case.bytes}.get(kind, float("inf"))
    text = {"late": "%.6g s, goal %.6g s" % (x.seconds, case.goal()),
            "needless": "%d of %d bytes arrived twice" % (x.needless, case.bytes)}.get(kind, x.why)
    return Finding(kind, "single", case, None, factor, seed, "%d of %d seeds: %s" % (len(bad), seeds, text))
