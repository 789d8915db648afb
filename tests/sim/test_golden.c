/* SPDX-License-Identifier: MIT */
/* Every controller over every error rate and round trip, to the microsecond, compared with
 * golden.csv beside this file.
 *
 * The same seed gives the same history, so a number that changes shows that packets have changed.
 * That need not be wrong. If it is intended, check what this test prints, and write the table anew
 * from the top of the source tree:
 *
 *     SCPS_GOLDEN=write build/tests/test_golden
 *
 * A row is a transfer of 3 MB, hollow (counted, not stored), in packets of 1064 bytes over nasa10,
 * nasa250 or nasa500, with SNACK and SACK and the seed 1.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "simrun.h"

#define TABLE "tests/sim/golden.csv"
#define HEAD  "controller,recovery,link,acked_us,goodput_mbps,resent,timeouts\n"
#define SIZE  3000000

static enum scps_recovery_mode mode;

static void tune(struct scps_conn_config *c)
{
    c->snack = c->snack_long = true;
    c->recovery = mode;
}

static void cell(const char *cc, const char *link, char *row, size_t room)
{
    struct simrun r;

    simrun(&(struct simrun_config){.link = link,
                                   .seed = 1,
                                   .size = SIZE,
                                   .data = SIMRUN_HOLLOW,
                                   .cc = cc,
                                   .rate = strcmp(cc, "rate") ? 0 : 10000000,
                                   .buffers = 12500000,
                                   .mtu = 1064,
                                   .limit = SCPS_SEC(100000),
                                   .tune = tune},
           &r);
    if (r.err || !r.intact || r.acked < 0)
        fail_msg("%s over %s: error %d", cc, link, r.err);
    snprintf(row, room, "%s,%s,%s,%lld,%.3f,%u,%u\n", cc, scps_recovery_name(mode), link,
             (long long)r.acked, SIZE * 8.0 / (double)r.acked, r.sender.resent_segs,
             r.sender.timeouts);
    *strstr(row, ",ber=") = ';'; /* A column must not contain a comma. */
}

/* Compares the row with the table's next one, or writes it. Returns 1 if it has changed. */
static unsigned compare(FILE *f, bool write, const char *row)
{
    char want[200];

    if (write) {
        fputs(row, f);
        return 0;
    }
    if (!fgets(want, sizeof want, f))
        snprintf(want, sizeof want, "(nothing)\n");
    if (strcmp(row, want) == 0)
        return 0;
    print_message("-%s+%s", want, row);
    return 1;
}

static void golden(void **state)
{
    static const char *const link[] = {"nasa10", "nasa250", "nasa500"};
    static const char *const ber[] = {"0", "1e-7", "1e-6", "1e-5"};
    const char *how = getenv("SCPS_GOLDEN");
    bool write = how && strcmp(how, "write") == 0;
    FILE *f = fopen(TABLE, write ? "w" : "r");
    char row[200], spec[60];
    unsigned moved;
    (void)state;

    if (!f)
        fail_msg("%s: cannot be opened; run from the top of the source tree", TABLE);
    moved = compare(f, write, HEAD);
    for (size_t i = 0; scps_cc_at(i); i++)
        for (mode = SCPS_RECOVERY_CLASSIC; mode <= SCPS_RECOVERY_RACK; mode++)
            for (size_t l = 0; l < sizeof link / sizeof *link; l++)
                for (size_t b = 0; b < sizeof ber / sizeof *ber; b++) {
                    snprintf(spec, sizeof spec, "%s,ber=%s", link[l], ber[b]);
                    cell(scps_cc_at(i)->name, spec, row, sizeof row);
                    moved += compare(f, write, row);
                }
    if (!write && fgets(row, sizeof row, f)) {
        moved++;
        print_message("-%s", row);
    }
    fclose(f);
    if (moved)
        fail_msg("%u of the golden figures have moved. If that is meant, write them anew with "
                 "SCPS_GOLDEN=write build/tests/test_golden, and say why in the commit",
                 moved);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(golden)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
