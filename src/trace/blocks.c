/* SPDX-License-Identifier: MIT */
/* Blocks: the ranges of acknowledged data of one direction, in order of their sequence numbers.
 * Adjacent ranges of a quadrant (2^30 octets of sequence space) are merged. At most MAX_BLOCKS are
 * recorded; beyond that the lowest is discarded, and counted.
 */
#include "trace/flow.h"

#define MAX_BLOCKS 1024u

uint32_t scps_tr_blocks_find(const struct segs *s, uint64_t pos)
{
    uint32_t lo = 0, hi = s->nb;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2u;
        if (s->b[mid].end > pos)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

static bool blocks_adjoin(const struct block *a, const struct block *b)
{
    return a->end == b->first && TR_QUAD(a->first) == TR_QUAD(b->first);
}

static void merge(struct block *a, const struct block *b)
{
    a->end = SCPS_MAX(a->end, b->end);
    a->acked = b->acked;
    a->at = SCPS_MAX(a->at, b->at);
}

void scps_tr_blocks_add(struct scps_trace *t, struct segs *s, const struct seg *x)
{
    struct block n = {.first = x->first, .end = scps_tr_seg_end(x), .at = x->at, .acked = 1};
    if (TR_LIKELY(s->nb && s->b[s->nb - 1].end == n.first &&
                  TR_QUAD(s->b[s->nb - 1].first) == TR_QUAD(n.first))) {
        merge(&s->b[s->nb - 1], &n);
        return;
    }
    uint32_t i = scps_tr_blocks_find(s, n.first);
    if (i > 0 && blocks_adjoin(&s->b[i - 1], &n)) {
        merge(&s->b[--i], &n);
    } else {
        if (s->nb == s->capb) {
            if (s->capb >= MAX_BLOCKS) {
                t->tot.segments_forgotten++;
                /* The new block would be the lowest one of a full array, which drops its lowest
                 * block, so it is not inserted. */
                if (i == 0)
                    return;
                memmove(s->b, s->b + 1, (s->nb - 1u) * sizeof *s->b);
                s->nb--;
                i--;
            } else {
                uint32_t cap = s->capb ? s->capb * 2u : 1u;
                void *p = scps_tr_grow(t, s->b, s->capb * sizeof *s->b, cap * sizeof *s->b);
                if (!p)
                    return;
                s->b = p;
                s->capb = (uint16_t)cap;
            }
        }
        memmove(s->b + i + 1, s->b + i, (s->nb - i) * sizeof *s->b);
        s->b[i] = n;
        s->nb++;
    }
    if (i + 1u < s->nb && blocks_adjoin(&s->b[i], &s->b[i + 1])) {
        merge(&s->b[i], &s->b[i + 1]);
        memmove(s->b + i + 1, s->b + i + 2, (s->nb - i - 2u) * sizeof *s->b);
        s->nb--;
    }
}

scps_time scps_tr_blocks_latest_in(const struct segs *s, uint64_t q)
{
    scps_time at = 0;
    for (uint32_t i = 0; i < s->nb; i++)
        if (TR_QUAD(s->b[i].first) == q)
            at = SCPS_MAX(at, s->b[i].at);
    return at;
}

scps_time scps_tr_blocks_discard(struct segs *s, uint64_t q)
{
    uint32_t i = 0;

    while (i < s->nb && TR_QUAD(s->b[i].first) + 1 < q)
        i++;
    if (i)
        memmove(s->b, s->b + i, (s->nb - i) * sizeof *s->b);
    s->nb = (uint16_t)(s->nb - i);
    return scps_tr_blocks_latest_in(s, q);
}
