/* SPDX-License-Identifier: MIT */
/* Disjoint ranges in ascending order, in the middle of one array.
 *
 *      v:  [ free | r0 r1 r2 ... | free ]
 *            head   n
 *
 * Between two ranges there is always at least one octet that is in neither, because adjacent ranges
 * are merged. Trimming (the removal of all octets below an offset) advances head. So does the
 * merging of several ranges into one, if fewer ranges lie below them than above: those below are
 * moved up. When an append reaches the end of the array, the ranges are moved to its start if half
 * of it is free; otherwise the array is doubled. When a range is inserted in the lower half and
 * there are no free places below the ranges, the ranges are moved up so that half of all free
 * places are below them. Trimming and appending cost O(1) an operation on average, adding ranges in
 * descending order O(log n).
 */
#include "base/rangeset.h"

#include <scps/error.h>
#include <string.h>

void scps_rangeset_init(struct scps_rangeset *s, uint32_t max)
{
    s->v = NULL;
    s->head = s->n = s->cap = 0;
    s->max = max;
}

void scps_rangeset_fini(struct scps_rangeset *s, const struct scps_alloc *a)
{
    if (s->v)
        a->free(a->ctx, s->v, s->cap * sizeof *s->v);
    scps_rangeset_init(s, s->max);
}

int scps_rangeset_reserve(struct scps_rangeset *s, const struct scps_alloc *a)
{
    uint32_t places = scps_rangeset_places(s->max);

    s->v = a->alloc(a->ctx, places * sizeof *s->v);
    if (!s->v)
        return SCPS_ERR_NOMEM;
    s->cap = places;
    return 0;
}

/* Moves all ranges, so that the first one is at v[head]. */
static void slide(struct scps_rangeset *s, uint32_t head)
{
    memmove(s->v + head, s->v + s->head, s->n * sizeof *s->v);
    s->head = head;
}

/* Makes sure that there is a free place after the last range. */
static int room_behind(struct scps_rangeset *s, const struct scps_alloc *a)
{
    if (s->head + s->n < s->cap)
        return 0;
    if (s->n < s->cap && (s->n <= s->cap / 2 || s->cap & 1)) {
        slide(s, 0);
        return 0;
    }
    uint64_t cap = s->cap ? 2 * (uint64_t)s->cap : 8;
    if (cap > UINT32_MAX || cap > SIZE_MAX / sizeof *s->v)
        return SCPS_ERR_NOMEM;
    struct scps_range *v = a->alloc(a->ctx, (size_t)cap * sizeof *v);
    if (!v)
        return SCPS_ERR_NOMEM;
    if (s->v) {
        memcpy(v, s->v + s->head, s->n * sizeof *v);
        a->free(a->ctx, s->v, s->cap * sizeof *v);
    }
    s->v = v;
    s->head = 0;
    s->cap = (uint32_t)cap;
    return 0;
}

static int insert(struct scps_rangeset *s, const struct scps_alloc *a, uint32_t i,
                  struct scps_range r)
{
    if (s->n >= s->max)
        return SCPS_ERR_LIMIT;
    /* The new range gets index i. If i is in the lower half, the i ranges below it are moved one
     * place down, which is cheaper than to move the ranges above it. */
    if (i < s->n / 2 && !s->head)
        slide(s, (s->cap - s->n + 1) / 2);
    if (i < s->n / 2 && s->head) {
        s->head--;
        memmove(s->v + s->head, s->v + s->head + 1, i * sizeof r);
    } else {
        int err = room_behind(s, a);
        if (err)
            return err;
        struct scps_range *at = s->v + s->head + i;
        memmove(at + 1, at, (s->n - i) * sizeof r);
    }
    s->v[s->head + i] = r;
    s->n++;
    return 1;
}

/* Returns the index of the first range that ends at or above off. */
static uint32_t lower(const struct scps_rangeset *s, scps_off off)
{
    return off ? scps_rangeset_find(s, off - 1) : 0;
}

int scps_rangeset_add(struct scps_rangeset *s, const struct scps_alloc *a, scps_off from,
                      scps_off to, struct scps_range *merged)
{
    struct scps_range r = {from, to};
    int rc;

    if (from >= to)
        return 0;
    /* The new range begins where the last range ends, so the last range is extended. */
    if (s->n && s->v[s->head + s->n - 1].to == from) {
        struct scps_range *last = &s->v[s->head + s->n - 1];
        last->to = to;
        if (merged)
            *merged = *last;
        return 1;
    }
    /* The new range is merged with ranges i to j - 1, which overlap or touch it. */
    uint32_t i = lower(s, from), j = i;
    while (j < s->n && scps_rangeset_at(s, j)->from <= to)
        j++;
    if (i == j) {
        rc = insert(s, a, i, r);
        if (rc < 0)
            return rc;
    } else {
        struct scps_range *v = s->v + s->head;
        struct scps_range all = {v[i].from < from ? v[i].from : from,
                                 v[j - 1].to > to ? v[j - 1].to : to};
        rc = j - i > 1 || v[i].from != all.from || v[i].to != all.to;
        uint32_t gone = j - i - 1;
        r = all;
        if (gone && i < s->n - j) {
            /* Fewer ranges lie below the merged ones than above, so those below are moved. */
            memmove(v + gone, v, i * sizeof r);
            s->head += gone;
            i = j - 1;
        } else if (gone) {
            memmove(v + i + 1, v + j, (s->n - j) * sizeof r);
        }
        v[i] = all;
        s->n -= gone;
    }
    if (merged)
        *merged = r;
    return rc;
}

void scps_rangeset_trim(struct scps_rangeset *s, scps_off off)
{
    uint32_t gone = scps_rangeset_find(s, off);
    s->head += gone;
    s->n -= gone;
    if (!s->n)
        s->head = 0;
    else if (s->v[s->head].from < off)
        s->v[s->head].from = off;
}

uint32_t scps_rangeset_find(const struct scps_rangeset *s, scps_off off)
{
    if (!s->n || scps_rangeset_at(s, 0)->to > off)
        return 0;
    /* Binary search: range lo ends at or below off, as tested above; range hi ends above off,
     * unless the next test returns n. The first range that ends above off is from lo + 1 to hi. */
    uint32_t lo = 0, hi = s->n - 1;
    if (scps_rangeset_at(s, hi)->to <= off)
        return s->n;
    /* The last range is tried first, because most searches are for new data. */
    if (scps_rangeset_at(s, hi - 1)->to <= off)
        return hi;
    while (hi - lo > 1) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (scps_rangeset_at(s, mid)->to > off)
            hi = mid;
        else
            lo = mid;
    }
    return hi;
}

uint64_t scps_rangeset_total(const struct scps_rangeset *s)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->n; i++)
        sum += scps_rangeset_at(s, i)->to - scps_rangeset_at(s, i)->from;
    return sum;
}
