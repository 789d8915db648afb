/* SPDX-License-Identifier: MIT */
/* Adds marks to the tracks of the HTML page (out_html.c), and thins tracks when there are too many
 * marks. */
#include "trace/track.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

static bool keep_when_thinning(uint8_t kind)
{
    return kind != MARK_DATA && kind != MARK_ACK && kind != MARK_OWIN && kind != MARK_RTT;
}

/* a pause longer than 1/4096 of the time that a graph shows is visible on the page */
#define VISIBLE 4096

/* Returns true if a time from a to b without marks of this kind would be visible on the page as a
 * pause, and is longer than four times the mean time between the marks kept of this kind. */
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

/* Adds mark m (a segment, an acknowledgement or another item of the graphs) to track d, the marks
 * of one direction of a connection. Contiguous data is merged into the last data mark. Of other
 * marks of one kind, `step` - 1 are left out after each one that is kept; but the acknowledgements
 * on both sides of a visible pause are kept. level: how many times all tracks were thinned so far.
 * Precondition: the track has room for two more marks. */
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

void scps_tr_track_thin(struct track *d, unsigned level, bool all)
{
    const size_t n = d->n;
    memset(d->run, 0, sizeof d->run);
    d->n = 0;
    for (size_t i = 0; i < n; i++) {
        struct mark m = d->m[i];
        const bool thin = all || (!keep_when_thinning(m.kind) && m.kind != MARK_DATA);
        place(d, &m, thin ? 2 : 1, level);
    }
}

bool scps_tr_track_add(struct track *d, const struct mark *m, unsigned level)
{
    if (d->n + 2 > d->cap) {
        size_t cap = d->cap ? d->cap * 2 : 64;
        struct mark *v = realloc(d->m, cap * sizeof *v);
        if (!v)
            return false;
        d->m = v;
        d->cap = cap;
    }
    d->first = d->n ? d->first : m->t;
    d->latest = SCPS_MAX(d->latest, m->t);
    d->seen[m->kind]++;
    place(d, m, keep_when_thinning(m->kind) || m->kind == MARK_DATA ? 1 : 1u << level, level);
    return true;
}
