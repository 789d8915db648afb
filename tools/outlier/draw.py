# SPDX-License-Identifier: MIT
"""Random cases: links that no preset has, options in any combination, faults at any phase."""
import math

from outlier.case import Case

LARGEST_LOSS = 0.3  # the highest chance with which a full segment, or an acknowledgement, is lost
# The highest chance that either is lost: beyond it the doubling of timeouts decides, and retries run out by chance
LARGEST_BOTH = 0.4


def log_uniform(r, low, high):
    return math.exp(r.uniform(math.log(low), math.log(high)))


def errors(r, link, full):
    """Draws errors of the line that destroy a full segment with a probability from 1e-4 to LARGEST_LOSS."""
    kind = r.random()
    if kind < 0.35:
        return
    p = log_uniform(r, 1e-4, LARGEST_LOSS)
    if kind < 0.60:
        link["ber"] = min(1e-3, -math.log1p(-p) / (8 * (full + 18)))
    elif kind < 0.75:
        link["loss"] = p
    elif kind < 0.88:
        segment = 8e6 * full / link["rate"]
        bad = min(log_uniform(r, 0.1 * segment + 1, max(link["rtt"] * 2, 10 * segment)), 1e10 * p)
        link["burst"] = (int(bad / p) + 1, int(bad) + 1)
    else:
        link["loss"] = p / 2
        link["loss-back"] = log_uniform(r, 1e-3, LARGEST_LOSS)
    if r.random() < 0.15:
        link["loss-back"] = log_uniform(r, 1e-3, LARGEST_LOSS)


def path(r):
    """Draws a link, the MTU, and whether many segments are to be in flight."""
    wide = r.random() < 0.02
    if wide:  # more than 65 535 segments in flight
        mtu = r.choice([128, 256, 576])
        rate = int(log_uniform(r, 2e7, 1e9))
        rtt = int(r.uniform(1.0, 3.0) * 65536 * mtu * 8e6 / rate)
    else:
        mtu = r.choice([128, 256, 296, 576, 576, 1006, 1280, 1500, 1500, 1500, 4470, 9000])
        rate = int(log_uniform(r, 1e4, 1e9))
        rtt = int(log_uniform(r, 200, 2.4e9))
    link = {"rate": rate, "rtt": rtt}
    if r.random() < 0.4:
        link["rate-back"] = max(200, int(rate / log_uniform(r, 1, 1000)))
    errors(r, link, mtu)
    if r.random() < 0.5:
        bdp = rate * rtt / 8e6
        if r.random() < 0.3 or bdp < 4 * mtu:
            link["queue"] = "%dp" % round(log_uniform(r, 2, 200))
        else:
            link["queue"] = "%.2gbdp" % max(log_uniform(r, 0.02, 4), 2.2 * mtu / bdp)
    if r.random() < 0.08:
        link["jitter"] = int(log_uniform(r, 10 + rtt / 100, rtt))
    if r.random() < 0.08:
        link["reorder"] = log_uniform(r, 1e-3, 0.3)
        if r.random() < 0.5:
            link["reorder-delay"] = int(log_uniform(r, 10 + rtt / 100, rtt))
    if r.random() < 0.06:
        link["dup"] = log_uniform(r, 1e-3, 0.3)
    if r.random() < 0.05:
        link["codel"] = None
    if r.random() < 0.10:
        link["framing"] = r.choice(["none", "ppp", "hdlc", "aal5", "aos", "tm"])
    return link, mtu, wide


def options(r, link, mtu):
    rate, rtt = link["rate"], link["rtt"]
    bdp = rate * rtt / 8e6
    o = {"-m": mtu} if mtu != 1500 else {}
    cc = r.choice(["vj", "vj", "vj", "rate", "rate", "rate", "vegas", "vegas-corruption", "vegas-corruption",
                   "highspeed", "scalable", "cubic", "cubic", "hybla"])
    limited = cc == "rate" or (cc == "vegas-corruption" and r.random() < 0.6) or r.random() < 0.04
    params = ""
    if cc in ("vj", "highspeed", "scalable", "hybla") and r.random() < 0.15:
        params = ",slow-start=hystart"
    if cc == "cubic" and r.random() < 0.15:
        params = ",slow-start=standard"
    if cc != "vj" or params or r.random() < 0.3:
        o["--cc"] = cc + params
    if limited:
        o["-R"] = int(rate * r.choice([0.5, 0.8, 0.9, 0.95, 0.97]))
    if r.random() < 0.45:
        o["-b"] = int(min(max(log_uniform(r, 0.1, 10) * bdp, 2.5 * mtu, 2000), 1 << 30))

    def maybe(chance, *words):
        if r.random() < chance:
            o[words[0]] = words[1] if len(words) > 1 else None

    maybe(0.25, "-S")
    maybe(0.15, "--no-sack")
    maybe(0.20, "-M")
    maybe(0.20, "-C")
    maybe(0.12, "--no-undo")
    maybe(0.06, "--ecn")
    maybe(0.06, "--no-limited-transmit")
    maybe(0.05, "--no-dsack")
    maybe(0.04, "--no-wscale")
    if "-S" not in o:
        maybe(0.06, "--no-snack-long")
        maybe(0.04, "--snack-delay", "%.6f" % log_uniform(r, 1e-4, max(2e-4, rtt / 1e6)))
    maybe(0.04, "--dupthresh", r.choice([1, 2, 5, 10, 50]))
    maybe(0.05, "--initial-window", r.choice([1, 2, 3, 4, 20, 40, 100]))
    maybe(0.06, "--pacing")
    maybe(0.04, "--rto-max", r.choice([60, 100, 300]) if rtt < 1e7 else int(8 * rtt / 1e6))
    maybe(0.05, "--outage-after", r.choice([1, 2, 3, 5]))
    maybe(0.03, "--keepalive")
    maybe(0.05, "-D")
    if mtu >= 1280:
        maybe(0.06, "-6")
    maybe(0.03, "-Q")
    maybe(0.02, "--syn-retries", 15)
    maybe(0.02, "--ack-budget", r.choice(["none", "%dpps" % r.choice([5, 20, 100])]))
    maybe(0.03, "--no-corruption")
    maybe(0.03, "--caps-tries", r.choice([0, 1, 10]))
    maybe(0.03, "--first-window", int(min(max(bdp, 65535), 1 << 28)))
    maybe(0.02, "--rtt", "%.6f" % max(0.001, rtt / 1e6 * log_uniform(r, 0.3, 3)))
    if "--no-sack" not in o:
        maybe(0.20, "--recovery", "rack")
    if r.random() < 0.30:
        o["-F"] = r.choice([0, 0, 1, 1, 2])
        if o["-F"] == 0:
            maybe(0.5, "--holes-at-once")
        if o["-F"] == 2:
            maybe(0.5, "--quick-acks", r.choice([4, 16, 64, 255]))
        if o["-F"] != 1:
            maybe(0.3, "-a", r.choice([5, 20, 50, 100, 400]))
    if r.random() < 0.08:
        o["-c"] = None
        maybe(0.5, "--record-size", r.choice([100, 1000, 10000]))
    if r.random() < 0.08 and "-e" not in o:
        o["-E"] = None
        maybe(0.2, "--bets-retries", r.choice([3, 8, 100]))
    if "ber" in link and r.random() < 0.10:
        link["flip"] = None
        o["--checksum-hints"] = None
    if cc in ("vj", "cubic", "hybla", "highspeed", "scalable") and r.random() < 0.04:
        o["--loss-cause"] = "corruption"
    if r.random() < 0.03:
        o["--route-rate"] = int(rate * r.choice([0.5, 0.9, 0.97]))
    return o


def undetected(c):
    """Returns the approximate number of packets that arrive damaged with a correct Internet checksum. That needs two
    errors in opposite directions in the same bit of two 16-bit words, a probability of 1/32."""
    return c.segments * (8 * c.full * c.link.get("ber", 0)) ** 2 / 2 / 32


def case(r):
    """Draws a case whose losses permit a transfer, with about 20 000 segments at most (more if they are in flight
    together)."""
    while True:
        link, mtu, wide = path(r)
        opts = options(r, link, mtu)
        size = r.choice([8192, 8192, 8192, 1024, max(16, mtu - 52), max(16, mtu - 40)])
        c = Case(link, opts, size, 1)
        if wide:
            n = min(c.bdp / c.payload * r.uniform(0.8, 2), 300000)
        else:
            n = log_uniform(r, 1, 20000)
        if "-E" not in opts and r.random() < 0.03:
            opts["-e"] = None
            link.pop("rate-back", None)  # -R is the rate of both ends
            n = min(n, 300)
        c.blocks = max(1, round(n * c.payload / size))
        p, q = c.loss(c.full), c.loss(90, back=True)
        if max(p, q, c.loss(60)) > LARGEST_LOSS or 1 - (1 - p) * (1 - q) > LARGEST_BOTH:
            continue
        if "--checksum-hints" in opts and c.bytes > 30e6:
            continue
        if "flip" in link and undetected(c) > 0.02:
            link.pop("flip")
            opts.pop("--checksum-hints", None)
        return c


def outage(r, c, seconds):
    """Draws outages for a case that takes this many seconds without them. They begin at any time of the transfer and
    last from far below a round trip to 100 s, or some round trips if these are longer."""
    spans, end = [], 0
    for _ in range(r.choice([1, 1, 1, 2, 3])):
        begin = int(r.random() ** 1.5 * seconds * 1e6)
        length = int(log_uniform(r, 1000 + c.round_trip / 20, max(9e7, 3 * c.round_trip)))
        spans.append((begin, begin + length))
    merged = []
    for begin, end in sorted(spans):
        if merged and begin <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    d = c.copy()
    d.link["outage"] = merged
    return d
