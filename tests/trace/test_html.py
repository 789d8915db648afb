# SPDX-License-Identifier: MIT
"""The interactive page: no network, valid data, and in headless Chromium it draws, zooms and answers the mouse.
Skips (77) where Chromium is not installed. Usage: test_html.py SCPS_TRACE [DIRECTORY for the screenshots]"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zlib

import capgen
import cases
import checks
from checks import check
from compare import SKIP


def chromium():
    for n in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(n):
            return n
    return None


def browse(d, page, *args):
    p = subprocess.run([chromium(), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                        "--disable-dev-shm-usage", "--user-data-dir=" + d + "/profile", "--window-size=1300,1000",
                        "--virtual-time-budget=2000", *args, page], capture_output=True, timeout=600)
    return p.stdout.decode(errors="replace")


def pixels(path):
    """Returns the width, the height and the number of colours of a PNG (8-bit RGB or RGBA, not interlaced). A blank
    picture has one colour."""
    b = open(path, "rb").read()
    at, data, w, h, ch = 8, b"", 0, 0, 3
    while at < len(b):
        n, kind = int.from_bytes(b[at:at + 4], "big"), b[at + 4:at + 8]
        body = b[at + 8:at + 8 + n]
        if kind == b"IHDR":
            w, h, ch = int.from_bytes(body[:4], "big"), int.from_bytes(body[4:8], "big"), 4 if body[9] == 6 else 3
        elif kind == b"IDAT":
            data += body
        at += 12 + n
    raw = zlib.decompress(data)
    return w, h, len(set(raw[i] for i in range(0, len(raw), 7))), zlib.crc32(raw)


def view(dom):
    m = re.search(r'data-view="([^"]*)"', dom)
    return [float(x) for x in m.group(1).split(",")] if m else None


def acknowledged(page):
    """Returns the first connection's acknowledgements as the page draws them, [(time, octets)]: a step function that is
    constant until the next mark."""
    track, t, marks = page["conns"][0]["d"][0], 0, []
    for i in range(0, len(track), 6):
        t += track[i + 1]
        if track[i] == 4:
            marks.append((t / 1e6, track[i + 3]))
    return marks


def drawn(marks, t):
    return max((y for x, y in marks if x <= t), default=0)


def thinned(program, d):
    """A page has room for a fiftieth of the marks of 15 000 segments, among which there is a pause of 5 s. What the
    page draws as acknowledged had been acknowledged at that time, within one part in thirty, and the pause is drawn at
    its place with its length."""
    c = capgen.Capture(capgen.RAW)
    t = capgen.Talk(c, rtt=0.1).open()
    n, at = 15000, []
    for i in range(n):
        t.send(t.a, 1000)
        at.append(t.t)
        t.acked(t.b)
        if i == 6000:
            t.t += 5
    t.close()
    path = c.write(d + "/long.pcap")
    begin = c.packets[0][0] / 1e9
    for most in (1000, 10000):
        subprocess.run([program, "-q", "--html", d + "/t.html", "--html-marks", str(most), path], check=True)
        page = json.loads(re.search(r"const DATA = (\{.*?\})\s*;\n// SPDX", open(d + "/t.html").read(), re.S).group(1))
        marks = acknowledged(page)
        worst = max(abs(drawn(marks, at[i] - begin) - 1000 * (i + 1)) for i in range(n)) / 1000
        check("acknowledgements of a page with %d marks: within %d segments" % (most, n // 30), worst <= n // 30, worst)
        gaps = sorted((b[0] - a[0], a[0] + begin - at[6000]) for a, b in zip(marks, marks[1:]))
        check("one pause, of 5 s, in its place", 5 <= gaps[-1][0] < 5.1 and abs(gaps[-1][1]) < 0.01 and gaps[-2][0] < 0.5, gaps[-3:])
        check("at most %d marks" % most, sum(len(x) for c in page["conns"] for x in c["d"]) <= 6 * most)
        marks = [x[i:i + 6] for c in page["conns"] for x in c["d"] for i in range(0, len(x), 6)]
        check("every mark has a kind and a cause that the page names",
              all(m[0] < len(page["kinds"]) and m[5] < len(page["causes"]) for m in marks) and
              [k[0] for k in page["kinds"]][4] == "ACK" and page["causes"][1] == ["SNACK", "n"])
        check("a row for resends without a reason", any(x[0] == "no reason seen" for x in page["conns"][0]["figures"][0]))


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as d:
        cap = cases.reordered().write(d + "/r.pcap")
        subprocess.run([program, "-q", "--html", d + "/p.html", cap], check=True)
        text = open(d + "/p.html").read()
        check("no network", not re.search(r"(src|href)\s*=|https?://|fetch\(|XMLHttp|import\s", text),
              re.findall(r"https?://\S+", text)[:3])
        data = json.loads(re.search(r"const DATA = (\{.*?\})\s*;\n// SPDX", text, re.S).group(1))
        check("the data are in the page once", text.count('"conns":[') == 1)
        check("one connection", len(data["conns"]) == 1)
        marks = [data["conns"][0]["d"][0][i:i + 6] for i in range(0, len(data["conns"][0]["d"][0]), 6)]
        check("every data segment is there", sum(m[0] in (0, 1, 2, 3, 9) for m in marks) == 200, len(marks))
        # few marks allowed: merged, and said
        subprocess.run([program, "-q", "--html", d + "/few.html", "--html-marks", "1000", cases.many(200).write(d + "/m")],
                       check=True)
        few = json.loads(re.search(r"const DATA = (\{.*?\})\s*;\n// SPDX", open(d + "/few.html").read(), re.S).group(1))
        check("merged", "merged" in few["note"] and sum(len(t) for c in few["conns"] for t in c["d"]) / 6 <= 1000)
        thinned(program, d)
        if not chromium():
            print("skipped: no browser: install chromium to look at the page itself (%d failures before)" % checks.failures)
            return checks.failures or SKIP
        page = "file://" + d + "/p.html"
        dom = browse(d, page, "--dump-dom")
        whole = view(dom)
        check("it draws", whole is not None and 'data-marks="%d"' % len(marks) in dom, dom[-300:])
        check("figures", "<td>data packets</td><td>200 </td>" in dom)
        browse(d, page, "--screenshot=" + d + "/whole.png")
        browse(d, page + "#zoom=0.1,0.2,10000,60000", "--screenshot=" + d + "/zoomed.png")
        z = view(browse(d, page + "#zoom=0.1,0.2,10000,60000", "--dump-dom"))
        check("zoomed", z == [0.1, 0.2, 10000, 60000], z)
        a, b = pixels(d + "/whole.png"), pixels(d + "/zoomed.png")
        check("pictures", a[:2] == b[:2] and a[2] > 20 and b[2] > 20 and a[3] != b[3], (a, b))
        # the mouse: the wheel zooms to half the width and less, a drag zooms to its box, a double click goes back
        mouse = """<script>
const r=tsg.getBoundingClientRect(),e=(t,x,y,m)=>tsg.dispatchEvent(new (t=='wheel'?WheelEvent:MouseEvent)(t,
 Object.assign({clientX:r.left+x,clientY:r.top+y,bubbles:true,cancelable:true},m)));
const w=()=>scpsTrace.view().x1-scpsTrace.view().x0,w0=w();
for(let i=0;i<4;i++)e('wheel',600,200,{deltaY:-100});const w1=w();
e('dblclick',600,200);const w2=w();
e('mousedown',300,100);e('mousemove',500,300);e('mouseup',500,300);const w3=w();
e('mousemove',600,200);
document.body.dataset.mouse=[w0,w1,w2,w3].join(',');</script></body>"""
        open(d + "/mouse.html", "w").write(text.replace("</body>", mouse))
        m = re.search(r'data-mouse="([^"]*)"', browse(d, "file://" + d + "/mouse.html", "--dump-dom"))
        v = [float(x) for x in m.group(1).split(",")] if m else [1, 1, 0, 1]
        check("mouse", v[1] < v[0] * .5 and abs(v[2] - v[0]) < 1e-9 and v[3] < v[0] * .3, v)
        if len(sys.argv) > 2:
            for n in ("whole.png", "zoomed.png"):
                shutil.copy(d + "/" + n, sys.argv[2])
    print("%d failures" % checks.failures)
    return checks.failures > 0


sys.exit(main())
