/* SPDX-License-Identifier: MIT */
/* One self-contained page: pick a connection and a direction, zoom into its time-sequence and outstanding-data graphs.
 * Plain JavaScript on two canvases, no network, no library.
 *
 * Marks are kept in memory, at most max_events of them.  When they would be more, the page becomes coarser by a factor of
 * two, once more each time, and evenly: what is there is halved, and what comes later is taken at the same rate.  A run of
 * contiguous segments becomes one slanted line; of acknowledgements, window samples and round trips one in so many stays.
 * Before a pause that could be seen the last one stays, too, and no line crosses it: otherwise acknowledgements would seem
 * to stop where only their marks are missing.  Resent segments, SACK, SNACK, SYN and FIN are never left out while anything
 * else can be.  The page says when that happened.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/flow.h"

#define DEFAULT_EVENTS 400000u

enum mark_kind {
    MARK_DATA,
    MARK_RESENT,
    MARK_REPAIR,
    MARK_OOO,
    MARK_ACK, /* y0: acknowledged, y1: right edge of the window */
    MARK_SACK,
    MARK_SNACK,
    MARK_SYNFIN,
    MARK_RST,
    MARK_PROBE,
    MARK_OWIN, /* y0: outstanding, y1: the receiver's window */
    MARK_RTT,  /* y0: µs */
    MARK_KINDS
};

struct mark {
    scps_time t;
    uint32_t dt; /* of merged segments: first to last */
    uint8_t kind, cause;
    uint16_t merged; /* segments beside the first */
    int64_t y0, y1;
};

struct run {          /* marks of one kind, as they come or are gone through again */
    uint32_t skipped; /* left out since the last one that stayed */
    uint32_t end;     /* index behind that one; 0: there is none */
};

struct track { /* one direction */
    struct mark *m;
    size_t n, cap;
    uint64_t rwin;
    scps_time first, latest;
    uint32_t seen[MARK_KINDS]; /* marks that came */
    struct run run[MARK_KINDS];
    struct mark
        ack; /* the last acknowledgement left out, if any was since the last one that stayed */
};

struct page_conn {
    uint32_t number;
    struct track d[2];
};

struct scps_trace_html {
    size_t max, total;
    unsigned level; /* how often everything was halved: one mark stands for 2^level */
    bool full;
    bool (*wanted)(void *ctx, uint32_t conn);
    void *ctx;
    struct page_conn **c;
    uint32_t n, cap;
    uint32_t *slot, nslot;
};

static const char *const cause_name[] = {"",        "snack",      "sack",      "dupack",
                                         "timeout", "tail_probe", "first_rtt", "unexplained"};
#define CAUSES (sizeof cause_name / sizeof *cause_name)

struct scps_trace_html *scps_trace_html_new(size_t max_events,
                                            bool (*wanted)(void *ctx, uint32_t conn), void *ctx)
{
    struct scps_trace_html *h = calloc(1, sizeof *h);
    if (!h)
        return NULL;
    h->max = max_events ? max_events : DEFAULT_EVENTS;
    h->wanted = wanted;
    h->ctx = ctx;
    return h;
}

static bool dear(uint8_t kind)
{
    return kind != MARK_DATA && kind != MARK_ACK && kind != MARK_OWIN && kind != MARK_RTT;
}

#define LEVELS  15u  /* then nothing gets coarser any more */
#define VISIBLE 4096 /* a pause longer than such a part of the track is seen on the page */

/* Would the time from a to b be seen as a pause? It is one if it is longer than four marks of its kind are apart. */
static bool is_pause(const struct track *d, uint8_t kind, unsigned level, scps_time a, scps_time b)
{
    const scps_dur span = d->latest - d->first, marks = d->seen[kind] >> (level + 2);
    return b - a > span / SCPS_CLAMP(marks, 1, VISIBLE);
}

static bool extends(const struct track *d, const struct mark *line, const struct mark *m,
                    unsigned level)
{
    scps_dur span = m->t + m->dt - line->t;
    return line->y1 == m->y0 && line->merged + m->merged + 1u < 1u << level &&
           !is_pause(d, MARK_DATA, level, line->t + line->dt, m->t) && span >= 0 &&
           span < UINT32_MAX;
}

/* Puts m behind the marks that are kept, or leaves it out: of its kind one in step stays. There is room for two. */
static void place(struct track *d, const struct mark *m, unsigned step, unsigned level)
{
    struct run *r = &d->run[m->kind];
    if (m->kind == MARK_DATA && r->end && extends(d, &d->m[r->end - 1], m, level)) {
        struct mark *line = &d->m[r->end - 1];
        line->y1 = m->y1;
        line->dt = (uint32_t)(m->t + m->dt - line->t);
        line->merged = (uint16_t)(line->merged + m->merged + 1);
        return;
    }
    const bool pause =
        m->kind == MARK_ACK && r->end &&
        is_pause(d, MARK_ACK, level, r->skipped ? d->ack.t : d->m[r->end - 1].t, m->t);
    if (pause && r->skipped)
        d->m[d->n++] = d->ack;
    if (!pause && r->end && r->skipped + 1 < step) {
        r->skipped++;
        if (m->kind == MARK_ACK)
            d->ack = *m;
        return;
    }
    r->skipped = 0;
    d->m[d->n++] = *m;
    r->end = (uint32_t)d->n;
}

/* all: even what is never left out otherwise. What is written never overtakes what is read. */
static void halve_track(struct track *d, unsigned level, bool all)
{
    const size_t n = d->n;
    memset(d->run, 0, sizeof d->run);
    d->n = 0;
    for (size_t i = 0; i < n; i++) {
        struct mark m = d->m[i];
        const bool thin = all || (!dear(m.kind) && m.kind != MARK_DATA);
        place(d, &m, thin ? 2 : 1, level);
    }
}

static void halve(struct scps_trace_html *h)
{
    size_t before = h->total;
    if (h->level < LEVELS)
        h->level++;
    for (int round = 0; round < 2 && h->total > before - before / 4; round++) {
        h->total = 0;
        for (uint32_t i = 0; i < h->n; i++)
            for (int d = 0; d < 2; d++) {
                halve_track(&h->c[i]->d[d], h->level, round == 1);
                h->total += h->c[i]->d[d].n;
            }
    }
}

static void add(struct scps_trace_html *h, struct track *d, enum mark_kind kind, scps_time t,
                int64_t y0, int64_t y1, uint8_t cause)
{
    if (h->total + 2 > h->max)
        halve(h);
    if (h->total + 2 > h->max) { /* one of each kind in so many tracks */
        h->full = true;
        return;
    }
    if (d->n + 2 > d->cap) {
        size_t cap = d->cap ? d->cap * 2 : 64;
        struct mark *m = realloc(d->m, cap * sizeof *m);
        if (!m) {
            h->full = true;
            return;
        }
        d->m = m;
        d->cap = cap;
    }
    struct mark m = {.t = t, .kind = (uint8_t)kind, .cause = cause, .y0 = y0, .y1 = y1};
    const size_t before = d->n;
    d->first = before ? d->first : t;
    d->latest = SCPS_MAX(d->latest, t);
    d->seen[kind]++;
    place(d, &m, dear(m.kind) || kind == MARK_DATA ? 1 : 1u << h->level, h->level);
    h->total += d->n - before;
}

static struct page_conn *find(struct scps_trace_html *h, uint32_t n)
{
    if (n >= h->nslot) {
        uint32_t cap = h->nslot ? h->nslot * 2 : 256;
        while (cap <= n)
            cap *= 2;
        uint32_t *v = realloc(h->slot, cap * sizeof *v);
        if (!v)
            return NULL;
        memset(v + h->nslot, 0, (cap - h->nslot) * sizeof *v);
        h->slot = v;
        h->nslot = cap;
    }
    if (h->slot[n] == UINT32_MAX)
        return NULL;
    if (h->slot[n])
        return h->c[h->slot[n] - 1];
    if ((h->wanted && !h->wanted(h->ctx, n)) || h->n >= h->max / 16) {
        h->slot[n] = UINT32_MAX;
        return NULL;
    }
    if (h->n == h->cap) {
        uint32_t cap = h->cap ? h->cap * 2 : 16;
        struct page_conn **v = realloc(h->c, cap * sizeof *v);
        if (!v)
            return NULL;
        h->c = v;
        h->cap = cap;
    }
    struct page_conn *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->number = n;
    h->c[h->n++] = c;
    h->slot[n] = h->n;
    return c;
}

static void sacks(struct scps_trace_html *h, struct track *d, const struct scps_trace_seen *s)
{
    for (uint32_t i = 0; s->opt && i < s->opt_len;) {
        uint8_t kind = s->opt[i];
        if (kind == 0)
            return;
        if (kind == 1) {
            i++;
            continue;
        }
        if (i + 2 > s->opt_len || s->opt[i + 1] < 2 || i + s->opt[i + 1] > s->opt_len)
            return;
        uint32_t n = s->opt[i + 1] - 2u;
        const uint8_t *b = s->opt + i + 2;
        if (kind == SCPS_OPT_SACK)
            for (; n >= 8; b += 8, n -= 8)
                add(h, d, MARK_SACK, s->pkt->at,
                    (int64_t)s->ack_off + (int32_t)(scps_get32(b) - s->ack),
                    (int64_t)s->ack_off + (int32_t)(scps_get32(b + 4) - s->ack), 0);
        i += s->opt[i + 1];
    }
}

void scps_trace_html_see(struct scps_trace_html *h, const struct scps_trace_seen *s)
{
    struct page_conn *c = find(h, s->conn);
    if (!c)
        return;
    struct track *d = &c->d[s->b2a], *o = &c->d[!s->b2a];
    scps_time t = s->pkt->at;
    int64_t y = (int64_t)s->off, e = y + s->len;
    uint8_t cause = 0;
    for (size_t i = 1; s->cause && i < CAUSES; i++)
        if (!strcmp(s->cause, cause_name[i]))
            cause = (uint8_t)i;
    if (s->len)
        add(h, d,
            s->rexmit         ? MARK_RESENT
            : s->cause        ? MARK_REPAIR
            : s->out_of_order ? MARK_OOO
            : s->probe        ? MARK_PROBE
                              : MARK_DATA,
            t, y, e, cause);
    if (s->flags & (SCPS_SYN | SCPS_FIN))
        add(h, d, MARK_SYNFIN, t, e, e + 1, s->rexmit);
    if (s->flags & SCPS_RST)
        add(h, d, MARK_RST, t, y, y, 0);
    if ((s->flags & SCPS_ACK) && !(s->flags & SCPS_RST)) {
        add(h, o, MARK_ACK, t, (int64_t)s->ack_off, (int64_t)(s->ack_off + s->win), 0);
        sacks(h, o, s);
        if (s->snack_to > s->snack_from)
            add(h, o, MARK_SNACK, t, (int64_t)s->snack_from, (int64_t)s->snack_to, 0);
    }
    if (s->rtt >= 0)
        add(h, o, MARK_RTT, t, s->rtt, 0, 0);
    if (s->len && !s->rexmit && !s->out_of_order)
        add(h, d, MARK_OWIN, t, (int64_t)s->owin, (int64_t)o->rwin, 0);
    d->rwin = s->win;
}

/* ---- the page -------------------------------------------------------------------------------------------------- */

static void html_text(FILE *f, const char *s)
{
    for (; *s; s++)
        switch (*s) {
        case '<':
            fputs("&lt;", f);
            break;
        case '>':
            fputs("&gt;", f);
            break;
        case '&':
            fputs("&amp;", f);
            break;
        case '"':
            fputs("&quot;", f);
            break;
        default:
            fputc((unsigned char)*s < 0x20 ? '?' : *s, f);
        }
}

/* kind, dt of t, dt, y0, y1-y0, cause: flat, so that the browser reads one array of integers. */
static void write_track(FILE *f, const struct track *d, scps_time t0)
{
    scps_time t = t0;
    fputc('[', f);
    for (size_t i = 0; i < d->n; i++) {
        const struct mark *m = &d->m[i];
        fprintf(f, "%s%u,%" PRId64 ",%" PRIu32 ",%" PRId64 ",%" PRId64 ",%u", i ? "," : "", m->kind,
                m->t - t, m->dt, m->y0, m->y1 - m->y0, m->cause);
        t = m->t;
    }
    fputc(']', f);
}

static const char head[] = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                           "<meta name=\"viewport\" content=\"width=device-width\">\n<title>";
static const char style[] =
    "</title>\n<style>\n"
    "body{font:14px system-ui,sans-serif;margin:0;color:#1a1a1a;background:#fff}\n"
    "header{padding:8px 14px;background:#14202e;color:#fff}header h1{font-size:16px;margin:0;"
    "display:inline}\n"
    "header span{opacity:.8;margin-left:12px}\n"
    "#bar{padding:6px 14px;background:#eef1f5;display:flex;gap:14px;flex-wrap:wrap;"
    "align-items:center}\n"
    "#bar select,#bar button{font:inherit}\n"
    ".key{display:inline-flex;align-items:center;gap:4px;cursor:pointer;user-select:none}"
    ".key i{width:14px;height:4px;display:inline-block}.key.off{opacity:.35}\n"
    ".plot{position:relative;margin:4px 14px;border:1px solid #ccd}\n"
    "canvas{display:block;width:100%;cursor:crosshair}\n"
    "#tip{position:fixed;pointer-events:none;background:#fffff0;border:1px solid #999;"
    "padding:3px 7px;font-size:12px;display:none;white-space:pre;z-index:9}\n"
    "table{border-collapse:collapse;margin:8px 14px;font-size:13px}td,th{padding:1px 10px;"
    "text-align:right;border-bottom:1px solid "
    "#e5e8ee}td:first-child,th:first-child{text-align:left}\n"
    "#note{color:#a05000}\n"
    "</style></head><body>\n<header><h1>scps_trace</h1><span>";
static const char body[] =
    "</span></header>\n<div id=\"bar\"><select id=\"conn\"></select>"
    "<select id=\"dir\"><option value=\"0\">a &rarr; b</option><option value=\"1\">b &rarr; "
    "a</option></select>"
    "<button id=\"reset\">whole</button><span id=\"keys\"></span>"
    "<span>drag: zoom in &middot; wheel: zoom &middot; shift+drag: move &middot; double click: "
    "whole</span><span id=\"note\"></span></div>\n"
    "<div class=\"plot\"><canvas id=\"tsg\" height=\"460\"></canvas></div>\n"
    "<div class=\"plot\"><canvas id=\"owin\" height=\"230\"></canvas></div>\n"
    "<div class=\"plot\"><canvas id=\"rtt\" height=\"150\"></canvas></div>\n"
    "<div id=\"tip\"></div><table id=\"figures\"></table>\n<script>\n\"use strict\";\nconst DATA=";
static const char script[] =
    ";\n"
    "const K={DATA:0,RESENT:1,REPAIR:2,OOO:3,ACK:4,SACK:5,SNACK:6,SYNFIN:7,RST:8,PROBE:9,OWIN:10,"
    "RTT:11};\n"
    "const NAME=['data','sent again','repair (lost before the capture point)','out of order',"
    "'acknowledged','SACK','SNACK','SYN, FIN','reset','zero-window probe','outstanding','round "
    "trip'];\n"
    "const CAUSE=['','SNACK','SACK','three duplicate ACKs','timeout','tail probe','first RTT','no "
    "reason seen'];\n"
    "const COL=['#1a1a1a','#d62728','#e377c2','#c2185b','#2e8b57','#8e44ad','#1f5fd0','#e67e22',"
    "'#000','#e67e22','#d62728','#555'];\n"
    "const KEYS=[[K.DATA,'data'],[K.RESENT,'sent again'],[K.REPAIR,'repair, out of order'],[K.ACK,"
    "'acknowledged'],['win','window','#d9a400'],[K.SACK,'SACK'],[K.SNACK,'SNACK']];\n"
    "const off={};let track=null,view=null,full=null,drag=null;\n"
    "function decode(a){const n=a.length/6,m={n,k:new Uint8Array(n),t:new Float64Array(n),dt:new "
    "Float64Array(n),y0:new Float64Array(n),y1:new Float64Array(n),c:new Uint8Array(n)};"
    "let t=0;for(let i=0,j=0;i<n;i++,j+=6){t+=a[j+1];m.k[i]=a[j];m.t[i]=t/1e6;m.dt[i]=a[j+2]/1e6;"
    "m.y0[i]=a[j+3];m.y1[i]=a[j+3]+a[j+4];m.c[i]=a[j+5];}return m;}\n"
    "function bounds(m){let x0=Infinity,x1=-Infinity,y0=Infinity,y1=-Infinity,o=0,r=0;"
    "for(let i=0;i<m.n;i++){x0=Math.min(x0,m.t[i]);x1=Math.max(x1,m.t[i]+m.dt[i]);const k=m.k[i];"
    "if(k==K.OWIN)o=Math.max(o,m.y0[i]);else if(k==K.RTT)r=Math.max(r,m.y0[i]);"
    "else if(k==K.ACK){y0=Math.min(y0,m.y0[i]);y1=Math.max(y1,m.y0[i]);}"
    "else{y0=Math.min(y0,m.y0[i]);y1=Math.max(y1,m.y1[i]);}}"
    "if(!(x1>=x0)){x0=0;x1=1;}if(!(y1>=y0)){y0=0;y1=1;}const px=(x1-x0||1)*.02,py=(y1-y0||1)*.04;"
    "return{x0:x0-px,x1:x1+px,y0:y0-py,y1:y1+py,o:o||1,r:r||1};}\n"
    "function pick(){const c=DATA.conns[+conn.value];const d=+dir.value;track=decode(c.d[d]);"
    "full=bounds(track);view=Object.assign({},full);figures(c,d);draw();}\n"
    "function size(cv){const r=window.devicePixelRatio||1,w=cv.clientWidth,h=+cv.getAttribute("
    "'height');if(!cv.dataset.h)cv.dataset.h=h;const H=+cv.dataset.h;if(cv.width!=w*r||cv.height!="
    "H*r){cv.width=w*r;cv.height=H*r;cv.style.height=H+'px';}const g=cv.getContext('2d');"
    "g.setTransform(r,0,0,r,0,0);g.clearRect(0,0,w,H);return[g,w,H];}\n"
    "const L=78,B=24,TOP=8;\n"
    "function nice(a,b,n){const s=(b-a)/n,p=Math.pow(10,Math.floor(Math.log10(s))),f=s/p;return("
    "f<1.5?1:f<3.5?2:f<7.5?5:10)*p;}\n"
    "function fmt(v){const a=Math.abs(v);return a>=1e9?(v/1e9).toPrecision(4)+'G':a>=1e6?(v/1e6)."
    "toPrecision(4)+'M':a>=1e4?(v/1e3).toPrecision(4)+'k':String(+v.toPrecision(6));}\n"
    "function axes(g,w,h,y0,y1,label){const X=t=>L+(t-view.x0)/(view.x1-view.x0)*(w-L-8),Y=v=>h-B-("
    "v-y0)/(y1-y0)*(h-B-TOP);g.strokeStyle='#e3e6ec';g.fillStyle='#444';g.lineWidth=1;g.font='11px "
    "system-ui,sans-serif';const sx=nice(view.x0,view.x1,10),sy=nice(y0,y1,h/60);g.beginPath();"
    "for(let v=Math.ceil(view.x0/sx)*sx;v<=view.x1;v+=sx){g.moveTo(X(v),TOP);g.lineTo(X(v),h-B);"
    "g.textAlign='center';g.fillText(fmt(+v.toPrecision(10))+' s',X(v),h-8);}"
    "for(let v=Math.ceil(y0/sy)*sy;v<=y1;v+=sy){g.moveTo(L,Y(v));g.lineTo(w-8,Y(v));g.textAlign="
    "'right';g.fillText(fmt(v),L-6,Y(v)+4);}g.stroke();g.save();g.translate(12,h/2);g.rotate(-Math."
    "PI/2);g.textAlign='center';g.fillText(label,0,0);g.restore();g.save();g.beginPath();g.rect(L,"
    "TOP,w-L-8,h-B-TOP);g.clip();return[X,Y];}\n"
    "function drawTsg(){const[g,w,h]=size(tsg);const[X,Y]=axes(g,w,h,view.y0,view.y1,'sequence "
    "offset, bytes');const m=track,seg=(k,f)=>{if(off[k])return;g.strokeStyle=COL[k];g.fillStyle="
    "COL[k];f();};\n"
    "const vis=i=>m.t[i]<=view.x1&&m.t[i]+m.dt[i]>=view.x0;\n"
    "if(!off.win||!off[K.ACK]){let la=-1;const pa=new Path2D(),pw=new Path2D();for(let i=0;i<m.n;"
    "i++){if(m.k[i]!=K.ACK)continue;if(la>=0&&m.t[i]>=view.x0&&m.t[la]<=view.x1){const "
    "x0=X(m.t[la])"
    ",x1=X(m.t[i]);pa.moveTo(x0,Y(m.y0[la]));pa.lineTo(x1,Y(m.y0[la]));pa.lineTo(x1,Y(m.y0[i]));"
    "pw.moveTo(x0,Y(m.y1[la]));pw.lineTo(x1,Y(m.y1[la]));pw.lineTo(x1,Y(m.y1[i]));}la=i;}"
    "g.lineWidth=1.2;if(!off.win){g.strokeStyle='#d9a400';g.stroke(pw);}if(!off[K.ACK]){"
    "g.strokeStyle=COL[K.ACK];g.stroke(pa);}}\n"
    "const groups=[[K.SACK,1.5],[K.SNACK,2.5],[K.DATA,1.6],[K.OOO,2],[K.REPAIR,2.4],[K.PROBE,2],["
    "K.RESENT,2.6],[K.SYNFIN,3],[K.RST,3]];\n"
    "for(const[k,lw]of groups){if(off[k==K.OOO?K.REPAIR:k])continue;g.strokeStyle=COL[k];"
    "g.fillStyle=COL[k];g.lineWidth=lw;const p=new Path2D();let few=0;for(let i=0;i<m.n;i++)if(m.k["
    "i]==k&&vis(i))few++;for(let i=0;i<m.n;i++){if(m.k[i]!=k||!vis(i))continue;const "
    "x=X(m.t[i]),x1="
    "X(m.t[i]+m.dt[i]),y0=Y(m.y0[i]),y1=Y(m.y1[i]);p.moveTo(x,y0);p.lineTo(x1,Math.abs(y1-y0)<1?y0-"
    "1:y1);if((k==K.SACK||k==K.SNACK)&&few<4000){p.moveTo(x-2,y0);p.lineTo(x+2,y0);p.moveTo(x-2,y1)"
    ";p.lineTo(x+2,y1);}if(few<400&&(k==K.RESENT||k==K.REPAIR)){g.textAlign='left';g.font='10px "
    "sans-serif';g.fillText(['','n','s','3','t','p','f','?'][m.c[i]]||'R',x+3,y1);}if(k==K.SYNFIN||"
    "k==K.RST){g.fillRect(x-3,y0-3,6,6);}}g.stroke(p);}\n"
    "g.restore();}\n"
    "function curve(g,X,Y,f,c,lw){g.strokeStyle=c;g.lineWidth=lw;g.beginPath();let "
    "on=false;f((t,v,s"
    ")=>{const x=X(t),y=Y(v);if(!on){g.moveTo(x,y);on=true;}else{if(s){g.lineTo(x,s);}g.lineTo(x,y)"
    ";}});g.stroke();}\n"
    "function drawOwin(){const[g,w,h]=size(owin);const m=track;let top=full.o*1.18,rmax=0;for(let "
    "i=0;i<m.n;i++)if(m.k[i]==K.OWIN)rmax=Math.max(rmax,m.y1[i]);if(rmax<full.o*3)top=Math.max(top,"
    "rmax*1.05);const[X,Y]=axes(g,w,h,0,top,'outstanding, bytes');\n"
    "if(!off.win)curve(g,X,Y,e=>{for(let i=0;i<m.n;i++)if(m.k[i]==K.OWIN)e(m.t[i],m.y1[i]);},"
    "'#d9a400',1.3);\n"
    "curve(g,X,Y,e=>{for(let i=0;i<m.n;i++)if(m.k[i]==K.OWIN)e(m.t[i],m.y0[i]);},'#d62728',1.2);\n"
    "curve(g,X,Y,e=>{let s=0,n=0;for(let "
    "i=0;i<m.n;i++)if(m.k[i]==K.OWIN){s+=m.y0[i];n++;e(m.t[i],s/"
    "n);}},'#1f5fd0',1.8);\n"
    "curve(g,X,Y,e=>{let a=0,f=-1,pt=0,pv=0;for(let "
    "i=0;i<m.n;i++)if(m.k[i]==K.OWIN){if(f<0)f=m.t[i]"
    ";else "
    "a+=pv*(m.t[i]-pt);pt=m.t[i];pv=m.y0[i];e(m.t[i],m.t[i]>f?a/(m.t[i]-f):0);}},'#2e8b57',1.8"
    ");\n"
    "g.restore();g.font='11px system-ui,sans-serif';g.textAlign='left';let "
    "x=L+8;for(const[c,s]of[['"
    "#d62728','outstanding'],['#1f5fd0','average'],['#2e8b57','weighted average'],['#d9a400',"
    "'receiver\\u2019s "
    "window']]){g.fillStyle=c;g.fillRect(x,14,14,4);g.fillStyle='#333';g.fillText("
    "s,x+18,20);x+=g.measureText(s).width+40;}}\n"
    "function drawRtt(){const[g,w,h]=size(rtt);const "
    "m=track;const[X,Y]=axes(g,w,h,0,full.r*1.1/1e3,"
    "'RTT, ms');g.fillStyle='#1f5fd0';for(let i=0;i<m.n;i++)if(m.k[i]==K.RTT&&m.t[i]>=view.x0&&m.t["
    "i]<=view.x1)g.fillRect(X(m.t[i])-1,Y(m.y0[i]/1e3)-1,2.2,2.2);g.restore();}\n"
    "function "
    "draw(){if(!track)return;document.body.dataset.view=[view.x0,view.x1,view.y0,view.y1].join("
    "','),document.body.dataset.marks=track.n;drawTsg();drawOwin();drawRtt();if(drag&&drag.box){"
    "const "
    "g=drag"
    ".cv.getContext('2d');g.fillStyle='rgba(30,90,200,.15)';g.strokeStyle='#1f5fd0';g.lineWidth=1;"
    "const "
    "b=drag.box;g.fillRect(b[0],b[1],b[2]-b[0],b[3]-b[1]);g.strokeRect(b[0],b[1],b[2]-b[0],b[3"
    "]-b[1]);}}\n"
    "function tx(cv,x){return view.x0+(x-L)/(cv.clientWidth-L-8)*(view.x1-view.x0);}\n"
    "function ty(cv,y){const h=+cv.dataset.h;return view.y0+(h-B-y)/(h-B-TOP)*(view.y1-view.y0);}\n"
    "function zoom(cv,x,y,f){const "
    "t=tx(cv,x);view.x0=t-(t-view.x0)*f;view.x1=t+(view.x1-t)*f;if(cv="
    "=tsg){const v=ty(cv,y);view.y0=v-(v-view.y0)*f;view.y1=v+(view.y1-v)*f;}draw();}\n"
    "function tip(cv,ev,x,y){let best=-1,bd=100;const "
    "m=track,sx=(cv.clientWidth-L-8)/(view.x1-view."
    "x0),h=+cv.dataset.h,sy=(h-B-TOP)/(view.y1-view.y0),t=tx(cv,x),v=ty(cv,y);if(cv==tsg)for(let "
    "i=0"
    ";i<m.n;i++){const k=m.k[i];if(k>K.PROBE)continue;const "
    "yy=k==K.ACK?m.y0[i]:Math.min(Math.max(v,m"
    ".y0[i]),m.y1[i]);const "
    "dx=(Math.min(Math.max(t,m.t[i]),m.t[i]+m.dt[i])-t)*sx,dy=(yy-v)*sy,d=dx*"
    "dx+dy*dy;if(d<bd){bd=d;best=i;}}const el=document.getElementById('tip');if(best<0){el.style."
    "display='none';return;}const k=m.k[best];el.textContent=NAME[k]+(m.c[best]&&k!=K.SYNFIN?': '+"
    "CAUSE[m.c[best]]:'')+'\\n'+m.t[best].toFixed(6)+' s   '+(k==K.ACK?'ack '+m.y0[best]+'  window "
    "to "
    "'+m.y1[best]:m.y0[best]+' .. '+m.y1[best]+' ('+(m.y1[best]-m.y0[best])+' "
    "bytes)');el.style.left="
    "Math.min(ev.clientX+14,innerWidth-300)+'px';el.style.top=(ev.clientY+12)+'px';el.style."
    "display="
    "'block';}\n"
    "for(const cv of[tsg,owin,rtt]){const at=ev=>{const r=cv.getBoundingClientRect();return[ev."
    "clientX-r.left,ev.clientY-r.top];};\n"
    "cv.addEventListener('wheel',ev=>{ev.preventDefault();const[x,y]=at(ev);zoom(cv,x,y,ev.deltaY>"
    "0?"
    "1.25:.8);},{passive:false});\n"
    "cv.addEventListener('mousedown',ev=>{const[x,y]=at(ev);drag={cv,x,y,v:Object.assign({},view),"
    "move:ev.shiftKey||ev.button==1};ev.preventDefault();});\n"
    "cv.addEventListener('mousemove',ev=>{const[x,y]=at(ev);if(!drag){tip(cv,ev,x,y);return;}if("
    "drag"
    ".move){const "
    "d=(drag.v.x1-drag.v.x0)*(x-drag.x)/(cv.clientWidth-L-8),e=(drag.v.y1-drag.v.y0)*(y-"
    "drag.y)/"
    "(+cv.dataset.h-B-TOP);view.x0=drag.v.x0-d;view.x1=drag.v.x1-d;if(cv==tsg){view.y0=drag."
    "v.y0+e;view.y1=drag.v.y1+e;}}else "
    "drag.box=[drag.x,cv==tsg?drag.y:TOP,x,cv==tsg?y:+cv.dataset.h"
    "-B];draw();});\n"
    "cv.addEventListener('dblclick',()=>{view=Object.assign({},full);draw();});\n"
    "cv.addEventListener('mouseleave',()=>{document.getElementById('tip').style.display='none';});}"
    "\n"
    "window.addEventListener('mouseup',()=>{if(drag&&drag.box){const b=drag.box,cv=drag.cv;if(Math."
    "abs(b[2]-b[0])>5){const x0=tx(cv,Math.min(b[0],b[2])),x1=tx(cv,Math.max(b[0],b[2]));let "
    "y0=view."
    "y0,y1=view.y1;if(cv==tsg&&Math.abs(b[3]-b[1])>5){y0=ty(cv,Math.max(b[1],b[3]));y1=ty(cv,Math."
    "min("
    "b[1],b[3]));}view.x0=x0;view.x1=x1;view.y0=y0;view.y1=y1;}}drag=null;draw();});\n"
    "function figures(c,d){const a=c.figures[d];let s='<tr><th>figure</th><th>value</th></tr>';for("
    "const[k,v]of a)s+='<tr><td>'+k+'</td><td>'+v+'</td></tr>';document.getElementById('figures')."
    "innerHTML=s;}\n"
    "const conn=document.getElementById('conn'),dir=document.getElementById('dir');\n"
    "DATA.conns.forEach((c,i)=>{const o=document.createElement('option');o.value=i;o.textContent=c."
    "name;conn.appendChild(o);});\n"
    "conn.onchange=()=>{dir.value=DATA.conns[+conn.value].heavy;pick();};dir.onchange=pick;\n"
    "document.getElementById('reset').onclick=()=>{view=Object.assign({},full);draw();};\n"
    "for(const[k,n,c]of KEYS){const s=document.createElement('span');s.className='key';const i="
    "document.createElement('i');i.style.background=c||COL[k];s.append(i,n);s.onclick=()=>{off[k]=!"
    "off"
    "[k];s.classList.toggle('off');draw();};document.getElementById('keys').append(s,' ');}\n"
    "if(DATA.note)document.getElementById('note').textContent=DATA.note;\n"
    "window.addEventListener('resize',draw);\n"
    "window.scpsTrace={view:()=>view,full:()=>full,marks:()=>track?track.n:0,zoom:(x0,x1,y0,y1)=>{"
    "view.x0=x0;view.x1=x1;view.y0=y0;view.y1=y1;draw();}};\n"
    "if(DATA.conns.length){conn.value=0;dir.value=DATA.conns[0].heavy;pick();}\n"
    /* page.html#zoom=x0,x1[,y0,y1] opens zoomed: seconds and octets */
    "const z=(location.hash.match(/zoom=([-\\d.,e]+)/)||[])[1];if(z&&view){const "
    "v=z.split(',').map("
    "Number);view.x0=v[0];view.x1=v[1];if(v.length>3){view.y0=v[2];view.y1=v[3];}draw();}\n"
    "</script></body></html>\n";

static void figure(FILE *f, bool *any, const char *name, double v, const char *unit)
{
    if (v != v)
        return;
    fprintf(f, "%s[\"%s\",\"%.10g %s\"]", *any ? "," : "", name, v, unit);
    *any = true;
}

static void figures(FILE *f, const struct scps_trace_dir *d)
{
    bool any = false;
    fputc('[', f);
    figure(f, &any, "packets", (double)d->total_packets, "");
    figure(f, &any, "data packets", (double)d->actual_data_pkts, "");
    figure(f, &any, "unique bytes", (double)d->unique_bytes_sent, "bytes");
    figure(f, &any, "sent again", (double)d->rexmt_data_pkts, "packets");
    figure(f, &any, "sent again", (double)d->rexmt_data_bytes, "bytes");
    figure(f, &any, "repairs of earlier losses", (double)d->repaired_unseen_pkts, "packets");
    figure(f, &any, "asked for by SNACK", (double)d->resent_snack, "packets");
    figure(f, &any, "asked for by SACK", (double)d->resent_sack, "packets");
    figure(f, &any, "three duplicate ACKs", (double)d->resent_dupack, "packets");
    figure(f, &any, "timeout", (double)d->resent_timeout, "packets");
    figure(f, &any, "tail probe", (double)d->resent_tail_probe, "packets");
    figure(f, &any, "within the first RTT", (double)d->resent_first_rtt, "packets");
    figure(f, &any, "no reason seen", (double)d->resent_unexplained, "packets");
    figure(f, &any, "spurious", (double)d->resent_spurious, "packets");
    figure(f, &any, "throughput", d->throughput, "B/s");
    figure(f, &any, "goodput", d->goodput, "B/s");
    figure(f, &any, "RTT min", d->rtt_min, "ms");
    figure(f, &any, "RTT average", d->rtt_avg, "ms");
    figure(f, &any, "RTT 99 %", d->rtt_p99, "ms");
    figure(f, &any, "outstanding max", (double)d->max_outstanding, "bytes");
    figure(f, &any, "window limited", d->window_limited, "of the time");
    figure(f, &any, "application limited", d->app_limited, "of the time");
    figure(f, &any, "congestion limited", d->congestion_limited, "of the time");
    fprintf(f, "%s[\"controller hint\",\"%s\"]]", any ? "," : "", d->controller_hint);
}

static void free_all(struct scps_trace_html *h)
{
    for (uint32_t i = 0; i < h->n; i++) {
        free(h->c[i]->d[0].m);
        free(h->c[i]->d[1].m);
        free(h->c[i]);
    }
    free(h->c);
    free(h->slot);
    free(h);
}

int scps_trace_html_finish(struct scps_trace_html *h, const struct scps_trace *t, const char *path,
                           const char *title, char msg[SCPS_TRACE_MSGLEN])
{
    if (!t) {
        free_all(h);
        return 0;
    }
    FILE *f = fopen(path, "w");
    int ret = 0;
    if (!f) {
        snprintf(msg, SCPS_TRACE_MSGLEN, "%.180s: %s", path, strerror(errno));
        free_all(h);
        return SCPS_ERR_SYSTEM;
    }
    fputs(head, f);
    html_text(f, title);
    fputs(style, f);
    html_text(f, title);
    fputs(body, f);
    fputs("{\"note\":\"", f);
    if (h->level || h->full)
        fprintf(f, "%s merged %u times to stay below %zu",
                h->full ? "no room: incomplete; neighbouring marks" : "neighbouring marks",
                h->level, h->max);
    fputs("\",\"conns\":[", f);
    bool any = false;
    for (uint32_t i = 0; i < scps_trace_conns(t); i++) {
        struct scps_trace_conn c;
        scps_trace_conn_info(t, i, &c);
        if (c.number >= h->nslot || !h->slot[c.number] || h->slot[c.number] == UINT32_MAX)
            continue;
        const struct page_conn *p = h->c[h->slot[c.number] - 1];
        char a[SCPS_ADDR_STRLEN], b[SCPS_ADDR_STRLEN];
        fprintf(f,
                "%s\n{\"number\":%" PRIu32 ",\"name\":\"%" PRIu32
                ": %s port %u \\u2192 %s port %u\",\"heavy\":%d,\"figures\":[",
                any ? "," : "", c.number, c.number, scps_addr_format(&c.a.addr, a), c.a.port,
                scps_addr_format(&c.b.addr, b), c.b.port,
                c.b2a.actual_data_bytes > c.a2b.actual_data_bytes);
        figures(f, &c.a2b);
        fputc(',', f);
        figures(f, &c.b2a);
        fputs("],\"d\":[", f);
        write_track(f, &p->d[0], c.first);
        fputc(',', f);
        write_track(f, &p->d[1], c.first);
        fputs("]}", f);
        any = true;
    }
    fputs("]}", f);
    fputs(script, f);
    errno = 0;
    bool failed = ferror(f);
    if (fclose(f) != 0 || failed) {
        snprintf(msg, SCPS_TRACE_MSGLEN, "%.180s: %s", path,
                 errno ? strerror(errno) : "output error");
        ret = SCPS_ERR_SYSTEM;
    }
    free_all(h);
    return ret;
}
