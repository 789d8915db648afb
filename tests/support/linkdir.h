/* SPDX-License-Identifier: MIT */
/* One direction of a link for a test, after cmocka.h. */
#ifndef SCPS_TEST_LINKDIR_H
#define SCPS_TEST_LINKDIR_H

#include <stdlib.h>

#include "sim/link.h"

static inline struct scps_linkdir *open_link(struct scps_link_config cfg)
{
    struct scps_linkdir *d = malloc(sizeof *d);
    struct scps_alloc a = scps_alloc_default();

    assert_non_null(d);
    assert_int_equal(scps_linkdir_init(d, &cfg, 0, &a), 0);
    return d;
}

static inline void close_link(struct scps_linkdir *d)
{
    scps_linkdir_fini(d);
    free(d);
}

#endif
