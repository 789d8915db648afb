/* SPDX-License-Identifier: MIT */
/* Reads random seeds from the kernel, with which a stack on a real network must be opened. */
#include <scps/error.h>
#include <scps/io.h>

#include <errno.h>
#include <sys/random.h>

int scps_entropy(void *buf, size_t len)
{
    uint8_t *p = buf;
    while (len) {
        ssize_t n = getrandom(p, len, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return SCPS_ERR_SYSTEM;
        p += n;
        len -= (size_t)n;
    }
    return 0;
}
