/* SPDX-License-Identifier: MIT */
/* The pieces of memory (struct iovec) that one read or write call uses, and how to step through
 * them. */
#ifndef SCPS_SOCKET_VEC_H
#define SCPS_SOCKET_VEC_H

#include "socket/sock.h"

/* The longest transfer of one call, bytes, as in Linux, so that counts fit every return type. */
#define SCPS_MAX_RW  0x7ffff000u
#define SCPS_IOV_MAX 1024

struct vec {
    const struct scps_iovec *v;
    size_t n, total;
};

static inline int scps_vec_of(const struct scps_iovec *v, size_t n, struct vec *out)
{
    uint64_t total = 0;
    if (n > SCPS_IOV_MAX)
        return -EMSGSIZE;
    if (!v && n)
        return -EFAULT;
    for (size_t i = 0; i < n; i++) {
        if (v[i].iov_len > PTRDIFF_MAX)
            return -EINVAL;
        total = SCPS_MIN(total + v[i].iov_len, SCPS_MAX_RW);
    }
    *out = (struct vec){.v = v, .n = n, .total = (size_t)total};
    return 0;
}

/* Returns the rest of the piece that contains byte `at` of the whole transfer, beginning with that
 * byte. */
static inline struct scps_iovec scps_vec_piece(const struct vec *v, size_t at)
{
    size_t i = 0, before = 0;
    while (at - before >= v->v[i].iov_len)
        before += v->v[i++].iov_len;
    size_t off = at - before;
    struct scps_iovec p = {NULL, SCPS_MIN(v->v[i].iov_len - off, v->total - at)};
    if (v->v[i].iov_base)
        p.iov_base = (uint8_t *)v->v[i].iov_base + off;
    return p;
}

#endif
