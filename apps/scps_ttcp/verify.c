/* SPDX-License-Identifier: MIT */
/* A ring of bytes by which what a receiver reads is compared with what the sender in the same
 * process wrote.
 *
 *     write -> [ start ... start+len ) -> read: must be the same bytes
 *
 * The ring never holds more than the bytes between the two ends: the contents of the connection's
 * two buffers and of one call. So its size does not depend on the length of the transfer. The bytes
 * themselves are compared, not a hash, so the position of the first difference is known.
 */
#include "scps_ttcp/verify.h"

#include <scps/error.h>

#include <stdlib.h>
#include <string.h>

#define FIRST_CAP ((size_t)1 << 16)

void ttcp_verify_fini(struct ttcp_verify *v)
{
    free(v->ring);
    memset(v, 0, sizeof(*v));
}

static int grow(struct ttcp_verify *v, size_t need)
{
    size_t cap = v->cap != 0 ? v->cap : FIRST_CAP, first;
    uint8_t *ring;

    while (cap < need) {
        if (cap > SIZE_MAX / 2)
            return SCPS_ERR_NOMEM;
        cap *= 2;
    }
    if (cap == v->cap)
        return 0;
    ring = malloc(cap);
    if (ring == NULL)
        return SCPS_ERR_NOMEM;
    first = v->cap - v->start < v->len ? v->cap - v->start : v->len;
    if (v->len > 0) {
        memcpy(ring, v->ring + v->start, first);
        memcpy(ring + first, v->ring, v->len - first);
    }
    free(v->ring);
    v->ring = ring;
    v->cap = cap;
    v->start = 0;
    return 0;
}

int ttcp_verify_sent(struct ttcp_verify *v, const void *data, size_t len)
{
    const uint8_t *p = data;
    size_t at, first;

    if (len > SIZE_MAX - v->len || grow(v, v->len + len) != 0)
        return SCPS_ERR_NOMEM;
    at = (v->start + v->len) & (v->cap - 1);
    first = v->cap - at < len ? v->cap - at : len;
    memcpy(v->ring + at, p, first);
    memcpy(v->ring, p + first, len - first);
    v->len += len;
    return 0;
}

/* Returns how many bytes at a and b, from the first on and at most n, are equal. */
static size_t same(const uint8_t *a, const uint8_t *b, size_t n)
{
    size_t i = 0;

    if (memcmp(a, b, n) == 0)
        return n;
    while (a[i] == b[i])
        i++;
    return i;
}

bool ttcp_verify_got(struct ttcp_verify *v, const void *data, size_t len)
{
    const uint8_t *p = data;

    while (len > 0 && !v->differs) {
        size_t n = v->cap - v->start, equal;

        if (n > v->len)
            n = v->len;
        if (n > len)
            n = len;
        equal = n > 0 ? same(v->ring + v->start, p, n) : 0;
        v->matched += equal;
        if (equal < n || n == 0) {
            v->differs = true;
            break;
        }
        v->start = (v->start + n) & (v->cap - 1);
        v->len -= n;
        p += n;
        len -= n;
    }
    return !v->differs;
}

bool ttcp_verify_skip(struct ttcp_verify *v, uint64_t len)
{
    if (len > v->len)
        v->differs = true;
    if (v->differs)
        return false;
    v->start = (v->start + (size_t)len) & (v->cap - 1);
    v->len -= (size_t)len;
    v->skipped += len;
    return true;
}
