// SPDX-License-Identifier: MIT
// Draws the three plots of the page that scps_trace --html writes: time-sequence graph, outstanding
// data, round-trip times.
//
// The variable DATA has the marks and figures of all connections; out_html.c writes it before this
// script. The address page.html#zoom=x0,x1[,y0,y1] opens the page with this part of the graph: x in
// seconds, y in octets.

// out_html.c numbers the kinds of marks and the causes of retransmissions. Each kind has a name,
// words and a colour; each cause has words and a letter.
const K = Object.fromEntries(DATA.kinds.map((kind, i) => [ kind[0], i ]));
const NAME = DATA.kinds.map(kind => kind[1]), COL = DATA.kinds.map(kind => kind[2]);
const CAUSE = DATA.causes.map(cause => cause[0]), LETTER = DATA.causes.map(cause => cause[1]);
const KEYS = [
  [ K.DATA, 'data' ], [ K.RESENT, 'sent again' ], [ K.REPAIR, 'repair, out of order' ],
  [ K.ACK, 'acknowledged' ], [ 'win', 'window', '#d9a400' ], [ K.SACK, 'SACK' ],
  [ K.SNACK, 'SNACK' ]
];
const off = {};
let track = null, view = null, full = null, drag = null;

// Returns the marks of one direction as columns: kind, time in seconds, duration in seconds, two
// ordinates, cause. In DATA each mark is six numbers: the time is the difference to the previous
// mark in µs, the second ordinate the difference to the first.
function decode(a) {
  const n = a.length / 6, m = {
    n,
    k : new Uint8Array(n),
    t : new Float64Array(n),
    dt : new Float64Array(n),
    y0 : new Float64Array(n),
    y1 : new Float64Array(n),
    c : new Uint8Array(n)
  };
  let t = 0;
  for (let i = 0, j = 0; i < n; i++, j += 6) {
    t += a[j + 1];
    m.k[i] = a[j];
    m.t[i] = t / 1e6;
    m.dt[i] = a[j + 2] / 1e6;
    m.y0[i] = a[j + 3];
    m.y1[i] = a[j + 3] + a[j + 4];
    m.c[i] = a[j + 5];
  }
  return m;
}

// Returns the smallest view that shows all marks, with a margin. Its members o and r are the upper
// ends of the vertical axes of the plots of outstanding data (octets) and of round-trip times (µs).
function bounds(m) {
  let x0 = Infinity, x1 = -Infinity, y0 = Infinity, y1 = -Infinity, o = 0, r = 0;
  for (let i = 0; i < m.n; i++) {
    x0 = Math.min(x0, m.t[i]);
    x1 = Math.max(x1, m.t[i] + m.dt[i]);
    const k = m.k[i];
    if (k == K.OWIN)
      o = Math.max(o, m.y0[i]);
    else if (k == K.RTT)
      r = Math.max(r, m.y0[i]);
    else if (k == K.ACK) {
      y0 = Math.min(y0, m.y0[i]);
      y1 = Math.max(y1, m.y0[i]);
    } else {
      y0 = Math.min(y0, m.y0[i]);
      y1 = Math.max(y1, m.y1[i]);
    }
  }
  if (!(x1 >= x0)) {
    x0 = 0;
    x1 = 1;
  }
  if (!(y1 >= y0)) {
    y0 = 0;
    y1 = 1;
  }
  const px = (x1 - x0 || 1) * .02, py = (y1 - y0 || 1) * .04;
  return {x0 : x0 - px, x1 : x1 + px, y0 : y0 - py, y1 : y1 + py, o : o || 1, r : r || 1};
}

// Shows the connection and the direction that the user has chosen.
function pick() {
  const c = DATA.conns[+conn.value];
  const d = +dir.value;
  track = decode(c.d[d]);
  full = bounds(track);
  view = Object.assign({}, full);
  figures(c, d);
  draw();
}

// Makes a canvas as wide as the page, with one point for each pixel of the screen, and clears it.
// Returns its context, width and height.
function size(cv) {
  const r = window.devicePixelRatio || 1, w = cv.clientWidth, h = +cv.getAttribute('height');
  if (!cv.dataset.h)
    cv.dataset.h = h;
  const H = +cv.dataset.h;
  if (cv.width != w * r || cv.height != H * r) {
    cv.width = w * r;
    cv.height = H * r;
    cv.style.height = H + 'px';
  }
  const g = cv.getContext('2d');
  g.setTransform(r, 0, 0, r, 0, 0);
  g.clearRect(0, 0, w, H);
  return [ g, w, H ];
}
const L = 78, B = 24, TOP = 8;

// Returns a round distance (1, 2 or 5 times a power of 10) with which about n ticks are between a
// and b.
function nice(a, b, n) {
  const s = (b - a) / n, p = Math.pow(10, Math.floor(Math.log10(s))), f = s / p;
  return (f < 1.5 ? 1 : f < 3.5 ? 2 : f < 7.5 ? 5 : 10) * p;
}

// Returns the number v as text, from 10000 on in units of k, M or G.
function fmt(v) {
  const a = Math.abs(v);
  return a >= 1e9   ? (v / 1e9).toPrecision(4) + 'G'
         : a >= 1e6 ? (v / 1e6).toPrecision(4) + 'M'
         : a >= 1e4 ? (v / 1e3).toPrecision(4) + 'k'
                    : String(+v.toPrecision(6));
}

// Draws ticks and labels, and clips later drawing to the plot. Returns two functions, which convert
// a time and an ordinate to pixels.
function axes(g, w, h, y0, y1, label) {
  const X = t => L + (t - view.x0) / (view.x1 - view.x0) * (w - L - 8),
        Y = v => h - B - (v - y0) / (y1 - y0) * (h - B - TOP);
  g.strokeStyle = '#e3e6ec';
  g.fillStyle = '#444';
  g.lineWidth = 1;
  g.font = '11px system-ui,sans-serif';
  const sx = nice(view.x0, view.x1, 10), sy = nice(y0, y1, h / 60);
  g.beginPath();
  for (let v = Math.ceil(view.x0 / sx) * sx; v <= view.x1; v += sx) {
    g.moveTo(X(v), TOP);
    g.lineTo(X(v), h - B);
    g.textAlign = 'center';
    g.fillText(fmt(+v.toPrecision(10)) + ' s', X(v), h - 8);
  }
  for (let v = Math.ceil(y0 / sy) * sy; v <= y1; v += sy) {
    g.moveTo(L, Y(v));
    g.lineTo(w - 8, Y(v));
    g.textAlign = 'right';
    g.fillText(fmt(v), L - 6, Y(v) + 4);
  }
  g.stroke();
  g.save();
  g.translate(12, h / 2);
  g.rotate(-Math.PI / 2);
  g.textAlign = 'center';
  g.fillText(label, 0, 0);
  g.restore();
  g.save();
  g.beginPath();
  g.rect(L, TOP, w - L - 8, h - B - TOP);
  g.clip();
  return [ X, Y ];
}

// Draws the time-sequence graph, with the marks that tcptrace uses.
function drawTsg() {
  const [g, w, h] = size(tsg);
  const [X, Y] = axes(g, w, h, view.y0, view.y1, 'sequence offset, bytes');
  const m = track, seg = (k, f) => {
    if (off[k])
      return;
    g.strokeStyle = COL[k];
    g.fillStyle = COL[k];
    f();
  };
  const vis = i => m.t[i] <= view.x1 && m.t[i] + m.dt[i] >= view.x0;
  if (!off.win || !off[K.ACK]) {
    let la = -1;
    const pa = new Path2D(), pw = new Path2D();
    for (let i = 0; i < m.n; i++) {
      if (m.k[i] != K.ACK)
        continue;
      if (la >= 0 && m.t[i] >= view.x0 && m.t[la] <= view.x1) {
        const x0 = X(m.t[la]), x1 = X(m.t[i]);
        pa.moveTo(x0, Y(m.y0[la]));
        pa.lineTo(x1, Y(m.y0[la]));
        pa.lineTo(x1, Y(m.y0[i]));
        pw.moveTo(x0, Y(m.y1[la]));
        pw.lineTo(x1, Y(m.y1[la]));
        pw.lineTo(x1, Y(m.y1[i]));
      }
      la = i;
    }
    g.lineWidth = 1.2;
    if (!off.win) {
      g.strokeStyle = '#d9a400';
      g.stroke(pw);
    }
    if (!off[K.ACK]) {
      g.strokeStyle = COL[K.ACK];
      g.stroke(pa);
    }
  }
  const groups = [
    [ K.SACK, 1.5 ], [ K.SNACK, 2.5 ], [ K.DATA, 1.6 ], [ K.OOO, 2 ], [ K.REPAIR, 2.4 ],
    [ K.PROBE, 2 ], [ K.RESENT, 2.6 ], [ K.SYNFIN, 3 ], [ K.RST, 3 ]
  ];
  for (const [k, lw] of groups) {
    if (off[k == K.OOO ? K.REPAIR : k])
      continue;
    g.strokeStyle = COL[k];
    g.fillStyle = COL[k];
    g.lineWidth = lw;
    const p = new Path2D();
    let few = 0;
    for (let i = 0; i < m.n; i++)
      if (m.k[i] == k && vis(i))
        few++;
    for (let i = 0; i < m.n; i++) {
      if (m.k[i] != k || !vis(i))
        continue;
      const x = X(m.t[i]), x1 = X(m.t[i] + m.dt[i]), y0 = Y(m.y0[i]), y1 = Y(m.y1[i]);
      p.moveTo(x, y0);
      p.lineTo(x1, Math.abs(y1 - y0) < 1 ? y0 - 1 : y1);
      if ((k == K.SACK || k == K.SNACK) && few < 4000) {
        p.moveTo(x - 2, y0);
        p.lineTo(x + 2, y0);
        p.moveTo(x - 2, y1);
        p.lineTo(x + 2, y1);
      }
      if (few < 400 && (k == K.RESENT || k == K.REPAIR)) {
        g.textAlign = 'left';
        g.font = '10px sans-serif';
        g.fillText(LETTER[m.c[i]] || (m.c[i] ? '?' : 'R'), x + 3, y1);
      }
      if (k == K.SYNFIN || k == K.RST) {
        g.fillRect(x - 3, y0 - 3, 6, 6);
      }
    }
    g.stroke(p);
  }
  g.restore();
}

// Draws one polyline of colour c and line width lw, pixels. f calls its argument with the time and
// the ordinate of each point.
function curve(g, X, Y, f, c, lw) {
  g.strokeStyle = c;
  g.lineWidth = lw;
  g.beginPath();
  let on = false;
  f((t, v, s) => {
    const x = X(t), y = Y(v);
    if (!on) {
      g.moveTo(x, y);
      on = true;
    } else {
      if (s) {
        g.lineTo(x, s);
      }
      g.lineTo(x, y);
    }
  });
  g.stroke();
}

// Draws the outstanding data, its averages, and the receiver's window.
function drawOwin() {
  const [g, w, h] = size(owin);
  const m = track;
  let top = full.o * 1.18, rmax = 0;
  for (let i = 0; i < m.n; i++)
    if (m.k[i] == K.OWIN)
      rmax = Math.max(rmax, m.y1[i]);
  if (rmax < full.o * 3)
    top = Math.max(top, rmax * 1.05);
  const [X, Y] = axes(g, w, h, 0, top, 'outstanding, bytes');
  if (!off.win)
    curve(g, X, Y, e => {
      for (let i = 0; i < m.n; i++)
        if (m.k[i] == K.OWIN)
          e(m.t[i], m.y1[i]);
    }, '#d9a400', 1.3);
  curve(g, X, Y, e => {
    for (let i = 0; i < m.n; i++)
      if (m.k[i] == K.OWIN)
        e(m.t[i], m.y0[i]);
  }, '#d62728', 1.2);
  curve(g, X, Y, e => {
    let s = 0, n = 0;
    for (let i = 0; i < m.n; i++)
      if (m.k[i] == K.OWIN) {
        s += m.y0[i];
        n++;
        e(m.t[i], s / n);
      }
  }, '#1f5fd0', 1.8);
  curve(g, X, Y, e => {
    let a = 0, f = -1, pt = 0, pv = 0;
    for (let i = 0; i < m.n; i++)
      if (m.k[i] == K.OWIN) {
        if (f < 0)
          f = m.t[i];
        else
          a += pv * (m.t[i] - pt);
        pt = m.t[i];
        pv = m.y0[i];
        e(m.t[i], m.t[i] > f ? a / (m.t[i] - f) : 0);
      }
  }, '#2e8b57', 1.8);
  g.restore();
  g.font = '11px system-ui,sans-serif';
  g.textAlign = 'left';
  let x = L + 8;
  for (const [c, s] of [[ '#d62728', 'outstanding' ], [ '#1f5fd0', 'average' ],
                        [ '#2e8b57', 'weighted average' ],
                        [ '#d9a400', 'receiver\u2019s window' ]]) {
    g.fillStyle = c;
    g.fillRect(x, 14, 14, 4);
    g.fillStyle = '#333';
    g.fillText(s, x + 18, 20);
    x += g.measureText(s).width + 40;
  }
}

// Draws the samples of the round-trip time.
function drawRtt() {
  const [g, w, h] = size(rtt);
  const m = track;
  const [X, Y] = axes(g, w, h, 0, full.r * 1.1 / 1e3, 'RTT, ms');
  g.fillStyle = '#1f5fd0';
  for (let i = 0; i < m.n; i++)
    if (m.k[i] == K.RTT && m.t[i] >= view.x0 && m.t[i] <= view.x1)
      g.fillRect(X(m.t[i]) - 1, Y(m.y0[i] / 1e3) - 1, 2.2, 2.2);
  g.restore();
}

// Draws all three plots, and the box that the user is dragging. It also writes the view into the
// dataset of the body, where tests read it.
function draw() {
  if (!track)
    return;
  document.body.dataset.view = [ view.x0, view.x1, view.y0, view.y1 ].join(','),
  document.body.dataset.marks = track.n;
  drawTsg();
  drawOwin();
  drawRtt();
  if (drag && drag.box) {
    const g = drag.cv.getContext('2d');
    g.fillStyle = 'rgba(30,90,200,.15)';
    g.strokeStyle = '#1f5fd0';
    g.lineWidth = 1;
    const b = drag.box;
    g.fillRect(b[0], b[1], b[2] - b[0], b[3] - b[1]);
    g.strokeRect(b[0], b[1], b[2] - b[0], b[3] - b[1]);
  }
}

// Converts a horizontal position on a canvas, pixels, to a time, seconds.
function tx(cv, x) {
  return view.x0 + (x - L) / (cv.clientWidth - L - 8) * (view.x1 - view.x0);
}

// Converts a vertical position on the time-sequence graph, pixels, to an offset in the stream,
// octets.
function ty(cv, y) {
  const h = +cv.dataset.h;
  return view.y0 + (h - B - y) / (h - B - TOP) * (view.y1 - view.y0);
}

// Multiplies the visible range by f around the point (x, y) of a canvas, pixels. On the lower plots
// only the time changes.
function zoom(cv, x, y, f) {
  const t = tx(cv, x);
  view.x0 = t - (t - view.x0) * f;
  view.x1 = t + (view.x1 - t) * f;
  if (cv == tsg) {
    const v = ty(cv, y);
    view.y0 = v - (v - view.y0) * f;
    view.y1 = v + (view.y1 - v) * f;
  }
  draw();
}

// Shows a text that describes the mark nearest to the pointer, if one is within 10 pixels.
function tip(cv, ev, x, y) {
  let best = -1, bd = 100;
  const m = track, sx = (cv.clientWidth - L - 8) / (view.x1 - view.x0), h = +cv.dataset.h,
        sy = (h - B - TOP) / (view.y1 - view.y0), t = tx(cv, x), v = ty(cv, y);
  if (cv == tsg)
    for (let i = 0; i < m.n; i++) {
      const k = m.k[i];
      if (k > K.PROBE)
        continue;
      const yy = k == K.ACK ? m.y0[i] : Math.min(Math.max(v, m.y0[i]), m.y1[i]);
      const dx = (Math.min(Math.max(t, m.t[i]), m.t[i] + m.dt[i]) - t) * sx, dy = (yy - v) * sy,
            d = dx * dx + dy * dy;
      if (d < bd) {
        bd = d;
        best = i;
      }
    }
  const el = document.getElementById('tip');
  if (best < 0) {
    el.style.display = 'none';
    return;
  }
  const k = m.k[best];
  el.textContent = NAME[k] + (m.c[best] && k != K.SYNFIN ? ': ' + CAUSE[m.c[best]] : '') + '\n' +
                   m.t[best].toFixed(6) + ' s   ' +
                   (k == K.ACK ? 'ack ' + m.y0[best] + '  window to ' + m.y1[best]
                               : m.y0[best] + ' .. ' + m.y1[best] + ' (' +
                                     (m.y1[best] - m.y0[best]) + ' bytes)');
  el.style.left = Math.min(ev.clientX + 14, innerWidth - 300) + 'px';
  el.style.top = (ev.clientY + 12) + 'px';
  el.style.display = 'block';
}

// Mouse events: dragging a box or turning the wheel zooms, dragging with the shift key moves the
// view, a double click shows all marks.
for (const cv of [tsg, owin, rtt]) {
  const at = ev => {
    const r = cv.getBoundingClientRect();
    return [ ev.clientX - r.left, ev.clientY - r.top ];
  };
  cv.addEventListener('wheel', ev => {
    ev.preventDefault();
    const [x, y] = at(ev);
    zoom(cv, x, y, ev.deltaY > 0 ? 1.25 : .8);
  }, {passive : false});
  cv.addEventListener('mousedown', ev => {
    const [x, y] = at(ev);
    drag = {cv, x, y, v : Object.assign({}, view), move : ev.shiftKey || ev.button == 1};
    ev.preventDefault();
  });
  cv.addEventListener('mousemove', ev => {
    const [x, y] = at(ev);
    if (!drag) {
      tip(cv, ev, x, y);
      return;
    }
    if (drag.move) {
      const d = (drag.v.x1 - drag.v.x0) * (x - drag.x) / (cv.clientWidth - L - 8),
            e = (drag.v.y1 - drag.v.y0) * (y - drag.y) / (+cv.dataset.h - B - TOP);
      view.x0 = drag.v.x0 - d;
      view.x1 = drag.v.x1 - d;
      if (cv == tsg) {
        view.y0 = drag.v.y0 + e;
        view.y1 = drag.v.y1 + e;
      }
    } else
      drag.box = [ drag.x, cv == tsg ? drag.y : TOP, x, cv == tsg ? y : +cv.dataset.h - B ];
    draw();
  });
  cv.addEventListener('dblclick', () => {
    view = Object.assign({}, full);
    draw();
  });
  cv.addEventListener('mouseleave',
                      () => { document.getElementById('tip').style.display = 'none'; });
}
window.addEventListener('mouseup', () => {
  if (drag && drag.box) {
    const b = drag.box, cv = drag.cv;
    if (Math.abs(b[2] - b[0]) > 5) {
      const x0 = tx(cv, Math.min(b[0], b[2])), x1 = tx(cv, Math.max(b[0], b[2]));
      let y0 = view.y0, y1 = view.y1;
      if (cv == tsg && Math.abs(b[3] - b[1]) > 5) {
        y0 = ty(cv, Math.max(b[1], b[3]));
        y1 = ty(cv, Math.min(b[1], b[3]));
      }
      view.x0 = x0;
      view.x1 = x1;
      view.y0 = y0;
      view.y1 = y1;
    }
  }
  drag = null;
  draw();
});

// Writes the table of the figures of direction d of connection c.
function figures(c, d) {
  const a = c.figures[d];
  let s = '<tr><th>figure</th><th>value</th></tr>';
  for (const [k, v] of a)
    s += '<tr><td>' + k + '</td><td>' + v + '</td></tr>';
  document.getElementById('figures').innerHTML = s;
}
const conn = document.getElementById('conn'), dir = document.getElementById('dir');
DATA.conns.forEach((c, i) => {
  const o = document.createElement('option');
  o.value = i;
  o.textContent = c.name;
  conn.appendChild(o);
});
conn.onchange = () => {
  dir.value = DATA.conns[+conn.value].heavy;
  pick();
};
dir.onchange = pick;
document.getElementById('reset').onclick = () => {
  view = Object.assign({}, full);
  draw();
};
for (const [k, n, c] of KEYS) {
  const s = document.createElement('span');
  s.className = 'key';
  const i = document.createElement('i');
  i.style.background = c || COL[k];
  s.append(i, n);
  s.onclick = () => {
    off[k] = !off[k];
    s.classList.toggle('off');
    draw();
  };
  document.getElementById('keys').append(s, ' ');
}
if (DATA.note)
  document.getElementById('note').textContent = DATA.note;
window.addEventListener('resize', draw);
window.scpsTrace = {
  view : () => view,
  full : () => full,
  marks : () => track ? track.n : 0,
  zoom : (x0, x1, y0, y1) => {
    view.x0 = x0;
    view.x1 = x1;
    view.y0 = y0;
    view.y1 = y1;
    draw();
  }
};
if (DATA.conns.length) {
  conn.value = 0;
  dir.value = DATA.conns[0].heavy;
  pick();
}
const z = (location.hash.match(/zoom=([-\d.,e]+)/) || [])[1];
if (z && view) {
  const v = z.split(',').map(Number);
  view.x0 = v[0];
  view.x1 = v[1];
  if (v.length > 3) {
    view.y0 = v[2];
    view.y1 = v[3];
  }
  draw();
}
