/* SPDX-License-Identifier: MIT */
/* The fixture of tests whose cases begin with a sender without a connection (part.h): each case
 * begins at time START with `p` in the state that prepare() makes, and what it has allocated is
 * freed at its end. The including test defines prepare(). */
#ifndef SCPS_TEST_PART_CASES_H
#define SCPS_TEST_PART_CASES_H

#include "cmocka_all.h"
#include "part.h"

#define START SCPS_SEC(10)

static struct part p;

/* Sets the fields of p that all cases of the test have in common, after part_init(). */
static void prepare(void);

static int end(void **state)
{
    (void)state;
    part_fini(&p);
    return 0;
}

/* A case may begin again; what was set up before is freed. */
static int begin(void **state)
{
    if (p.s.tx)
        end(state);
    part_init(&p, START);
    prepare();
    return 0;
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)

#endif
