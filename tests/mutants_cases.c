/* SPDX-License-Identifier: MIT */
/* Runs of a test program only the cases that the environment variable SCPS_CASES names, with
 * commas between them.
 *
 * tools/mutants links this into each test program with -Wl,--wrap=_cmocka_run_group_tests, since a
 * change of the code is judged by the cases that tests/mutants.txt names. A case that is run once
 * for IPv4 and once for IPv6 has one name. Without the variable all cases run. Exit status 3: a
 * case that is named does not exist.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* weak: the programs of the build that are no tests are linked without cmocka */
int __real__cmocka_run_group_tests(const char *, const struct CMUnitTest *, size_t,
                                   CMFixtureFunction, CMFixtureFunction) __attribute__((weak));
int __wrap__cmocka_run_group_tests(const char *, const struct CMUnitTest *, size_t,
                                   CMFixtureFunction, CMFixtureFunction);

static bool is_named(const char *name, const char *wanted, size_t len)
{
    return strncmp(name, wanted, len) == 0 && (!name[len] || strncmp(name + len, " (IPv", 5) == 0);
}

int __wrap__cmocka_run_group_tests(const char *group, const struct CMUnitTest *tests, size_t count,
                                   CMFixtureFunction setup, CMFixtureFunction teardown)
{
    const char *names = getenv("SCPS_CASES");
    struct CMUnitTest *chosen;
    size_t n = 0;
    int rc;

    if (!names || !*names)
        return __real__cmocka_run_group_tests(group, tests, count, setup, teardown);
    chosen = calloc(count + 1, sizeof *chosen);
    if (!chosen)
        abort();
    for (const char *at = names; *at;) {
        size_t len = strcspn(at, ","), before = n;
        for (size_t i = 0; i < count && n < count; i++)
            if (is_named(tests[i].name, at, len))
                chosen[n++] = tests[i];
        if (n == before) {
            printf("no case %.*s\n", (int)len, at);
            exit(3);
        }
        at += len + (at[len] == ',');
    }
    rc = __real__cmocka_run_group_tests(group, chosen, n, setup, teardown);
    free(chosen);
    return rc;
}
