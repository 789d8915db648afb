# SPDX-License-Identifier: MIT
"""The relations between two runs: the same run with one thing changed.

Each relation makes of a case a pair (better, other) and the seconds that the better one may take beyond the bound: it has the
feature, or the better link, and must not cost more than 1.3 times the other and three round trips. A fourth value says how many
times the other's packets the better run has to send. None: does not apply."""

import math
import random

from outlier.case import CONGESTION

HOLE_TIMER = 1050000  # microseconds after which a best-effort receiver gives up a hole, at the soonest


def without(case, *options):
    c = case.copy()
    for o in options:
        c.opts.pop(o, None)
    return c


def having(case, option, value=None):
    c = case.copy()
    c.opts[option] = value
    return c


def with_its_buffer(c):
    """Returns the case with its size of the buffers as an option (-b): the default depends on --rtt."""
    return having(c, "-b", int(c.buffer))


def feature(option, value=None, also=()):
    """Returns a relation between a case with an option, which enables a feature, and the case without it. also: options
    that have no meaning without the feature."""
    def pair(c):
        return having(c, option, c.opts.get(option, value)), without(c, option, *also), 0
    return pair


def default_feature(option, also=()):
    """Returns a relation between a case and the case with an option that disables a feature. also: options that have no
    meaning without the feature."""
    def pair(c):
        return without(c, option), having(without(c, *also), option), 0
    return pair


def linked(change):
    """Returns a relation between a case on a better link and the case itself. change(link, case) improves the link, or
    returns False if it cannot."""
    def pair(c):
        d = c.copy()
        return None if change(d.link, c) is False else (d, c, 0)
    return pair


def late_as_lost(c, blind=False):
    """Seconds that the throughput equation gives where each late segment counts as lost, since nothing tells the sender which
    of them it is: there are no time stamps (RFC 3522), or nothing is undone. blind: they prove nothing, either."""
    late = c.link.get("reorder", 0)
    blind = blind or "-M" in c.opts or "--no-undo" in c.opts
    return c.goal(late) if late and blind and c.controller in CONGESTION else 0


def snack(c):
    """A SNACK asks for repair at once: what is late by less than three segments counts as lost only with it."""
    better, other, _ = default_feature("-S", also=("--no-snack-long", "--snack-delay"))(c)
    return better, other, late_as_lost(better)


def sack(c):
    return None if c.opts.get("--recovery") == "rack" else default_feature("--no-sack")(c)


def rack(c):
    return None if "--no-sack" in c.opts else feature("--recovery", "rack")(c)


def snack_long(c):
    return None if "-S" in c.opts else default_feature("--no-snack-long")(c)


def wscale(c):
    return None if c.buffer <= 65535 else default_feature("--no-wscale")(c)


def ack_mode(to):
    """Compares acknowledging every other segment, the default, with another mode. Both senders are paced, as -F 0
    always is. An acknowledgement may wait for the timer, which counts as a part of the round trip, and again for each
    second loss, after which the window is one segment."""
    def pair(c):
        if "-e" in c.opts:
            return None
        better = having(without(c, "-F", "--holes-at-once", "--quick-acks"), "--pacing")
        return better, having(better, "-F", to), (3 + 0.5 * c.segments * c.loss(c.full)) * 1e-6 * better.ack_delay
    return pair


def holes_at_once(c):
    """The receiver reports a hole before the late segment arrives, which else fills it before the timer's acknowledgement."""
    if c.opts.get("-F") != 0:
        return None
    better, other, _ = feature("--holes-at-once")(c)
    return better, other, late_as_lost(better)


def buffer(c):
    """Compares a case with twice its buffer with the case itself."""
    return having(c, "-b", int(min(2 * c.buffer, 1 << 30))), having(c, "-b", int(c.buffer)), 0


def faster_return(link, c):
    if c.rate_back >= c.rate:
        return False
    link["rate-back"] = min(4 * c.rate_back, c.rate)


def fewer_errors(link, c):
    some = False
    for key in ("ber", "loss", "loss-back"):
        if key in link:
            link[key] /= 4
            some = True
    if "burst" in link:
        good, bad = link["burst"]
        link["burst"] = (4 * good, bad)
        some = True
    return some


def no_errors(link, c):
    there = [key for key in ("ber", "loss", "loss-back", "burst", "flip") if key in link]
    for key in there:
        del link[key]
    return bool(there)


def no_outage(link, c):
    return link.pop("outage", None) is not None


def outage_cost(c):
    """Compares a case with outages with the same case without them. The outages may cost what case.outage_cost
    allows."""
    if "outage" not in c.link:
        return None
    calm = c.copy()
    del calm.link["outage"]
    return c, calm, c.outage_cost


def gone(*keys):
    def change(link, c):
        there = [k for k in keys if k in link]
        for k in there:
            del link[k]
        return bool(there)
    return change


def keep_queues(link, c):
    """Gives the link the queues of the case in bytes, each direction its own, so that they stay when its rate or its round
    trip changes. A number of packets stays by itself."""
    if c.link.get("queue", "bdp").endswith("bdp"):
        link["queue"], link["queue-back"] = "%d" % c.queue, "%d" % max(1, c.queue_bytes(back=True))


def faster_line(link, c):
    link.setdefault("rate-back", link["rate"])
    if "-R" in c.opts or "--route-rate" in c.opts:
        return False
    link["rate"] *= 2
    keep_queues(link, c)


def shorter(link, c):
    link["rtt"] //= 2
    keep_queues(link, c)


def shorter_for_a_time(first):
    """Compares a path that is 2 to 200 times shorter before (first) or after some moment of the transfer with a path that is
    always as long. A controller that has left slow start on the shorter path grows slowly on the longer one, as RFC 5681
    section 3.1 has it; Vegas and a configured rate do not."""
    def change(link, c):
        if first and c.controller not in ("vegas", "vegas-corruption", "rate"):
            return False
        r = random.Random(c.text())
        short = 1 / math.exp(r.uniform(math.log(2), math.log(200)))
        at = int(2 * link["rtt"] + r.uniform(0, 0.7) * c.limit() * 1e6)
        keep_queues(link, c)
        link["change"] = (at, (short, 1) if first else (1, short))
    return linked(change)


def two_way(c):
    """Compares a connection that carries the data in both directions at once with one that carries it in one direction, over a
    link that is the same in both. Then acknowledgements wait and are lost in the queues of the data. Either direction may take
    the time that the throughput equation gives at the path's loss rate."""
    if {"-e", "-E", "-Q", "--checksum-hints"} & set(c.opts) or "flip" in c.link:
        return None
    plain = c.copy()
    for key in [k for k in plain.link if k.endswith("-back")]:
        del plain.link[key]
    return having(plain, "--bidir"), plain, plain.goal() if plain.loss(plain.full) else 0


def longer_queue(link, c):
    """Doubles the queue of each direction, in the unit in which it is given."""
    text = link.get("queue")
    if text is None:
        return False
    if text.endswith("bdp"):
        link["queue"] = "%gbdp" % (2 * float(text[:-3]))
    else:
        link["queue"] = "%d%s" % (2 * int(text.rstrip("p")), "p" if text.endswith("p") else "")


def outage_after(c):
    """Allows for the window probes, which are sent after 5, 6, 12, 24 ... seconds: the first one may be this late, and
    the last one this long after the end of the outage."""
    if "outage" not in c.link:
        return None
    better, other, _ = feature("--outage-after", 2)(c)
    return better, other, 6 * len(c.link["outage"]) + c.outages / 1e6


def outage_told(how):
    def pair(c):
        if "outage" not in c.link:
            return None
        told = c.copy()
        spans = told.link.pop("outage")
        told.opts["--outage"] = "+".join("%dus-%dus" % s for s in spans) + "," + how
        return told, c, 0
    return pair


def hints(c):
    if "flip" not in c.link or c.bytes > 30e6:
        return None
    return feature("--checksum-hints")(c)


def corruption_cause(c):
    """Applies if errors are the only cause of losses and the sender keeps within the rate of the line."""
    if c.controller in ("rate", "vegas-corruption") or "-R" not in c.opts or not c.loss(c.full) or "codel" in c.link:
        return None
    return feature("--loss-cause", "corruption")(c)


def pacing(c):
    """Compares a paced sender with one that sends its window at once. Bursts of errors hit a paced window in each round
    trip, but the other one only if it is sent during a burst. So the paced sender may take the time that the throughput
    equation gives at the path's loss rate."""
    paced, plain, _ = feature("--pacing")(c)
    return paced, plain, paced.goal() if "burst" in c.link else 0


def hystart(c):
    name = c.controller
    if name not in ("vj", "cubic", "highspeed", "scalable", "hybla"):
        return None
    return having(c, "--cc", name + ",slow-start=hystart"), having(c, "--cc", name + ",slow-start=standard"), 0


def larger_first(c):
    if "--initial-window" in c.opts:
        return without(c, "--initial-window"), having(c, "--initial-window", 2), 0
    return c.copy(), having(c, "--initial-window", 2), 0


def first_window(c):
    return feature("--first-window", int(min(c.buffer, 1 << 28)))(c)


def bets(c):
    """What is late by more than the peer's timer for a hole cannot be told from a hole that the peer gave up."""
    if "-e" in c.opts:
        return None
    better, other, _ = feature("-E", also=("--bets-retries",))(c)
    return better, other, late_as_lost(better, True) if c.link.get("reorder-delay", 0) > HOLE_TIMER else 0


def records(c):
    """A record ends its segment: with many packets for one, the queue, the return line and the headers count more of them."""
    if "-e" in c.opts:
        return None
    better, other, _ = feature("-c", also=("--record-size",))(c)
    return better, other, 0, max(1, better.limit() / other.limit())


def ack_budget(c):
    """Compares the default ACK budget of a slow return link with no budget."""
    if c.rate_back * 50 >= c.rate:
        return None
    return without(c, "--ack-budget"), having(c, "--ack-budget", "none"), 0


def quick_acks(c):
    return feature("--quick-acks", 16)(c) if c.opts.get("-F", 2) == 2 else None


def expected_rtt(c):
    if "--rtt" not in c.opts:
        return None
    guessed = with_its_buffer(c)
    return without(guessed, "--rtt"), guessed, 0


def rtt_unknown(c):
    """Compares a sender that is not given the round trip (--rtt 0) with one that is. It resends the SYN each second and more
    (RFC 6298 section 2.1), and data after 3 s (section 5.7), until it has measured the round trip; then that has to be undone
    (RFC 5682, RFC 3522). Nine SYNs span 247 s. In half of the cases the end that listens sends the data."""
    if not 1e6 < c.rtt < 2e8 or "--no-undo" in c.opts or "outage" in c.link:
        return None
    known = with_its_buffer(without(c, "--rtt"))
    if random.Random(c.text()).random() < 0.5:
        known = having(known, "-Q")
    return having(known, "--rtt", 0), known, 4


def less_data(c):
    if c.blocks < 2:
        return None
    half = c.copy()
    half.blocks = c.blocks // 2
    return half, c.copy(), 0


def patience(c):
    """Compares a user timeout that never expires with the case itself."""
    return feature("--user-timeout", 10000000)(c)


def window_beside_reno(c):
    """Compares CUBIC and Scalable, with the lower bounds of their windows, and Hybla and HighSpeed with VJ. None of
    them is meant to be slower."""
    name = c.controller
    if name not in ("cubic", "highspeed", "hybla") or "," in c.opts["--cc"]:
        return None
    return c.copy(), having(c, "--cc", "vj"), 0


# name: (weight of being drawn, what makes the pair)
RELATIONS = {
    "snack": (3, snack),
    "sack": (2, sack),
    "undo": (3, default_feature("--no-undo")),
    "rack": (3, rack),
    "timestamps": (3, default_feature("-M")),
    "compression": (3, feature("-C")),
    "dsack": (1, default_feature("--no-dsack")),
    "limited-transmit": (1, default_feature("--no-limited-transmit")),
    "snack-long": (2, snack_long),
    "wscale": (1, wscale),
    "ecn": (1, feature("--ecn")),
    "acks-each": (2, ack_mode(1)),
    "acks-timer": (2, ack_mode(0)),
    "holes-at-once": (1, holes_at_once),
    "quick-acks": (1, quick_acks),
    "ack-budget": (3, ack_budget),
    "buffer": (3, buffer),
    "return": (3, linked(faster_return)),
    "line": (2, linked(faster_line)),
    "shorter": (2, linked(shorter)),
    "queue": (2, linked(longer_queue)),
    "errors": (3, linked(fewer_errors)),
    "no-errors": (3, linked(no_errors)),
    "jitter": (2, linked(gone("jitter", "jitter-back"))),
    "reordering": (2, linked(gone("reorder", "reorder-delay"))),
    "duplicates": (2, linked(gone("dup"))),
    "no-outage": (2, linked(no_outage)),
    "outage-cost": (4, outage_cost),
    "outage-after": (3, outage_after),
    "outage-signal": (2, outage_told("signal")),
    "outage-plan": (2, outage_told("plan")),
    "hints": (2, hints),
    "corruption": (2, corruption_cause),
    "pacing": (1, pacing),
    "hystart": (1, hystart),
    "initial-window": (1, larger_first),
    "first-window": (1, first_window),
    "bets": (2, bets),
    "records": (1, records),
    "rtt-known": (1, expected_rtt),
    "half": (2, less_data),
    "patience": (1, patience),
    "reno": (1, window_beside_reno),
    # These are drawn only by name, so that the pairs of a seed stay the same as in earlier versions.
    "shorter-first": (0, shorter_for_a_time(True)),
    "shorter-later": (0, shorter_for_a_time(False)),
    "two-way": (0, two_way),
    "rtt-unknown": (0, rtt_unknown),
}
