# SPDX-License-Identifier: MIT
"""A transfer: a virtual link, the options of scps_ttcp, and an amount of data; and what follows from them.

A case is written as one command line of scps_ttcp and nothing else, so that a reader repeats every run. Times are
microseconds, rates bit/s, sizes bytes."""
import copy
import math
import random
import shlex

TIMES = {"rtt", "jitter", "jitter-back", "reorder-delay"}
LOSS_DRIVEN = {"vj", "vegas", "vegas-corruption", "highspeed", "scalable", "cubic", "hybla"}
CONGESTION = {"vj", "vegas", "highspeed", "scalable", "cubic", "hybla"}  # controllers that take a loss for congestion
SMALLEST = 28  # bytes of an acknowledgement with a compressed header
# Approximate bytes that each framing adds to a packet
FRAMINGS = {None: 18, "none": 0, "ppp": 9, "hdlc": 7, "aal5": 64, "aos": 40, "tm": 40}


class Case:
    """link: keys of --link, numbers in the units above; "queue" is text, "burst" a pair of times, "outage" a list of
    pairs of times. "change": the time at which the round trip changes, and the factors of "rtt" before and after it. opts: options of scps_ttcp, None for those without a value. size, blocks: -l and -n."""

    def __init__(self, link, opts, size, blocks):
        self.link, self.opts, self.size, self.blocks = link, opts, size, blocks

    def copy(self):
        return copy.deepcopy(self)

    def spec(self):
        words = []
        for key, value in self.link.items():
            if key == "outage":
                words.append("outage=" + "+".join("%dus-%dus" % span for span in value))
            elif key == "burst":
                words.append("burst=%dus/%dus" % value)
            elif key == "change":
                at, factor = value
                words.append("delays=0s:%dus+%dus:%dus+%dus:%dus" % (max(1, self.rtt * factor[0] / 2), at,
                                                                     max(1, self.rtt * factor[0] / 2), at + 1,
                                                                     max(1, self.rtt * factor[1] / 2)))
            elif value is None:
                words.append(key)
            elif key in TIMES:
                words.append("%s=%dus" % (key, value))
            elif isinstance(value, float):
                words.append("%s=%.3g" % (key, value))
            else:
                words.append("%s=%s" % (key, value))
        return ",".join(words)

    def argv(self):
        words = ["-t", "-s"]
        if "--checksum-hints" not in self.opts:
            words.append("--hollow")
        words += ["--link", self.spec(), "-l", str(self.size), "-n", str(self.blocks)]
        for key, value in self.opts.items():
            words += [key] if value is None else [key, str(value)]
        return words

    def text(self, seed=None):
        """Returns the command line as text for people."""
        return shlex.join(["scps_ttcp"] + self.argv() + ([] if seed is None else ["--seed", str(seed)]))

    def near(self, seed):
        """The same case beside this one: round trip a twentieth longer or shorter at most, outages moved by two round trips at
        most and between half as long and as long, and on a link without jitter each packet late by less than the smallest
        packet's time on the line, so that none overtakes another. What is found at a fixed phase of a timer, a queue or an
        outage only is an accident of the draw; both runs of a pair are moved alike."""
        r = random.Random(seed)
        d = self.copy()
        stretch, move, length = r.uniform(0.95, 1.05), r.uniform(-2, 2), r.uniform(0.5, 1)
        d.link["rtt"] = int(self.link["rtt"] * stretch)
        if not {"jitter", "jitter-back"} & set(self.link):
            for key, rate in (("jitter", self.rate), ("jitter-back", self.rate_back)):
                d.link[key] = int(8e6 * self.frame(SMALLEST) / rate)

        def moved(spans):
            by = max(int(move * self.link["rtt"]), -spans[0][0])
            return [(a + by, a + by + max(1, int(length * (b - a)))) for a, b in spans]

        if "outage" in d.link:
            d.link["outage"] = moved(d.link["outage"])
        if "--outage" in d.opts:
            table, how = d.opts["--outage"].split(",")
            spans = [tuple(int(t[:-2]) for t in span.split("-")) for span in table.split("+")]
            d.opts["--outage"] = "+".join("%dus-%dus" % span for span in moved(spans)) + "," + how
        return d

    # What follows from link and options. Each is an estimate good to some percent, for bounds of 1.3 times and more.

    @property
    def rate(self):
        return self.link["rate"]

    @property
    def rate_back(self):
        return self.link.get("rate-back", self.rate)

    @property
    def rtt(self):
        return self.link["rtt"]

    @property
    def mtu(self):
        return int(self.opts.get("-m", 1500))

    @property
    def room(self):
        """Bytes that the path permits a segment for data and time stamps."""
        room = self.mtu - (60 if "-6" in self.opts else 40)
        return min(room, int(self.opts["--mss"])) if "--mss" in self.opts else room

    @property
    def payload(self):
        """The number of bytes of data in a full segment."""
        room = self.room
        if "-c" in self.opts:
            room = min(room, int(self.opts.get("--record-size", room)))
        return max(1, min(room - (0 if "-M" in self.opts else 12), self.size))

    @property
    def bytes(self):
        return self.size * self.blocks

    @property
    def segments(self):
        return max(1, math.ceil(self.bytes / self.payload))

    @property
    def packets(self):
        """Segments that the data takes. With -c a record ends its segment, and its last one holds an option of four bytes
        (docs/SCPS-TP.md section 3.1)."""
        if "-c" not in self.opts:
            return self.segments
        full = max(1, self.room - (0 if "-M" in self.opts else 12))
        record = min(int(self.opts.get("--record-size", self.size)), self.size)
        whole, rest = divmod(self.size, record)
        return self.blocks * (whole * math.ceil((record + 4) / full) + (math.ceil((rest + 4) / full) if rest else 0))

    def frame(self, length):
        return length + FRAMINGS.get(self.link.get("framing"), 18)

    def loss(self, length, back=False):
        """Returns the probability that errors destroy a packet of this length. Bursts count with their share of the
        time."""
        side = "-back" if back else ""

        def key(name):
            return self.link.get(name + side, self.link.get(name, 0))

        p = 1 - (1 - key("loss")) * (1 - key("ber")) ** (8 * self.frame(length))
        if "burst" in self.link:
            good, bad = self.link["burst"]
            line = 8e6 * self.frame(length) / (self.rate_back if back else self.rate)
            share = (bad + min(line, good)) / (good + bad)
            p = 1 - (1 - p) * (1 - min(1, share))
        return p

    @property
    def full(self):
        """The length of a full packet, bytes."""
        return self.payload + (60 if "-6" in self.opts else 40) + (0 if "-M" in self.opts else 12)

    @property
    def round_trip(self):
        """The round trip on an empty path: propagation, a full segment and its acknowledgement on the line, jitter in
        both directions, and the delay of the receiver's acknowledgement timer if it is used."""
        line = 8e6 * self.frame(self.full) / self.rate + 8e6 * self.frame(80) / self.rate_back
        late = self.link.get("jitter", 0) + self.link.get("jitter-back", self.link.get("jitter", 0))
        if "reorder" in self.link:
            late += self.link.get("reorder-delay", max(1000, 4 * 8e6 * self.frame(self.full) / self.rate))
        return self.rtt + line + late + (self.ack_delay if self.opts.get("-F") == 0 else 0)

    @property
    def bdp(self):
        return self.rate * self.rtt / 8e6

    @property
    def buffer(self):
        """The size given with -b, or the default over a link."""
        if "-b" in self.opts:
            return int(self.opts["-b"])
        return min(max(4 * self.bdp, 1 << 20), 256 << 20)

    @property
    def window(self):
        return min(self.buffer, 65535) if "--no-wscale" in self.opts else self.buffer

    def queue_bytes(self, back=False):
        """The size of the queue in a direction, bytes; a packet counts as a full one."""
        side = self.bdp * (self.rate_back / self.rate if back else 1)
        text = self.link.get("queue")
        if back:
            text = self.link.get("queue-back", text)
        if text is None:
            return max(side, 100000)
        if text.endswith("p"):
            if text.endswith("bdp"):
                return float(text[:-3]) * side
            return int(text[:-1]) * self.frame(self.full)
        return int(text)

    @property
    def queue(self):
        """The size of the queue in the forward direction, bytes."""
        return self.queue_bytes()

    @property
    def ack_delay(self):
        if self.opts.get("-F") == 1:
            return 0
        return 1000 * int(self.opts.get("-a", 150))

    @property
    def outages(self):
        """The total duration of the outages."""
        return sum(end - begin for begin, end in self.link.get("outage", []))

    @property
    def outage_cost(self):
        """Seconds that the outages may cost: twice their length, as backoff may have doubled it, for each a timeout (3 s after
        a lost SYN, RFC 6298 (5.7)) and the round trips in which the window grows again: twenty, or as many as congestion
        avoidance needs from the least threshold on (climb)."""
        return 2 * self.outages / 1e6 + len(self.link.get("outage", [])) * (4 + max(20, self.climb) * self.round_trip / 1e6)

    @property
    def controller(self):
        return self.opts.get("--cc", "vj").split(",")[0]

    @property
    def climb(self):
        """Round trips in which a window that a loss has cut to two segments, the least that RFC 5681 equation (4) leaves,
        grows until it holds it up no more: one segment each (section 3.1). That is when the path or the buffer is full,
        or all is sent: w segments are reached when w * w / 2 have been."""
        full = min(self.window, self.bdp + self.queue) / self.payload
        return min(math.sqrt(2 * self.segments), full) if self.controller in LOSS_DRIVEN else 0

    @property
    def return_load(self):
        """The time that the return line needs for an acknowledgement of every other full segment (each one with -F 1),
        as a multiple of limit() (RFC 3449 section 2.1)."""
        acks = self.segments / (1 if self.opts.get("-F") == 1 else 2)
        return acks * 8 * self.frame(80) / self.rate_back / self.limit()

    @property
    def released(self):
        """Seconds that an unpaced window takes at least because each acknowledgement, which the return line carries one after
        the other, releases segments back to back: of these the queue takes what it holds and the line one more."""
        paced = self.controller == "rate" or self.opts.get("-F") == 0 or {"--pacing", "-R", "--route-rate"} & set(self.opts)
        if paced or "queue" not in self.link:
            return 0
        text = str(self.link["queue"])
        held = text[:-1] if text.endswith("p") and not text.endswith("bdp") else self.queue * self.packets / self.bytes
        return self.packets / (float(held) + 1) * 8 * self.frame(28 if "-C" in self.opts else 40) / self.rate_back

    def limit(self):
        """Seconds that the physical limit takes, counting what holds every sender: line, window, losses, ping-pong, and what
        an acknowledgement can release."""
        p = min(self.loss(self.full), 0.95)
        rate = self.rate
        for key in ("-R", "--route-rate"):
            if key in self.opts:
                rate = min(rate, int(self.opts[key]))
        rtt, n = self.round_trip / 1e6, self.segments
        line = 8 * self.frame(self.full) * n / rate / (1 - p)
        if "-c" in self.opts:
            line = 8 * (self.bytes + self.packets * self.frame(self.full - self.payload)) / rate / (1 - p)
        held = n * self.payload / max(self.window, self.payload) * rtt
        pps = str(self.opts.get("--ack-budget", "")).removesuffix("pps")
        if pps.isdigit():  # no more than a window for each acknowledgement
            held = max(held, n * self.payload / max(self.window, self.payload) / int(pps))
        held = max(held, self.released)
        again = math.log(n) / -math.log(p) * rtt if p > 1e-9 else 0
        if "-e" in self.opts:
            line, held = 0, self.blocks * (rtt + 8 * self.size * (1 / rate + 1 / self.rate_back))
        return 2 * rtt + max(line, held) + again

    def goal(self, late=0):
        """Seconds within which a sender in order is done, generously: the limit; for controllers that take losses for
        congestion what the equation of Padhye et al. (RFC 5348 3.1) gives at the path's loss; slow start; and each
        outage twice. late: the share of segments that are only late and that the sender cannot tell from lost ones."""
        p = min(self.loss(self.full) + late, 0.95)
        q = min(self.loss(80, back=True), 0.95)
        rtt = self.round_trip / 1e6
        if self.segments < 50 or self.window < 5 * self.payload:
            rtt += self.ack_delay / 1e6
        pps = str(self.opts.get("--ack-budget", "")).removesuffix("pps")
        if pps.isdigit():  # an acknowledgement waits for its turn
            rtt += 1 / int(pps)
        rto = rtt + max(0.2, rtt / 4)
        slow = 2 * rtt * (1 + math.log2(1 + min(self.segments, self.window / self.payload)))
        time = self.limit() + slow
        if "--rtt" in self.opts:
            rto = max(rto, 1.25 * float(self.opts["--rtt"]))
        if self.controller in CONGESTION and p > 0:
            root = math.sqrt(2 * p / 3)
            per = rtt * root + rto * min(1, 3 * math.sqrt(3 * p / 8)) * p * (1 + 32 * p * p)
            time = max(time, self.segments * per)
        if (self.controller in CONGESTION or self.controller == "vegas-corruption") and self.queue < self.window:
            time += 2 * rtt * math.sqrt(2 * self.segments)  # one segment more each round trip, from one on
        if self.window < 5 * self.payload:  # too few for three duplicates: the timer repairs each loss of an exchange
            windows = self.segments * self.payload / self.window
            time += windows * (1 - (1 - p) ** (self.window / self.payload) * (1 - q)) * (rto + self.ack_delay / 1e6)
        if "outage" in self.link:
            time += len(self.link["outage"]) * self.climb * rtt
        if p + q > 0.001:
            time += 4 * rto / (1 - p) / (1 - q)  # the last segment, or a SYN
        return time + 2 * self.outages / 1e6
