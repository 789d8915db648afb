/* SPDX-License-Identifier: MIT */
/* RFC 9293 section 3.7.1, RFC 6691: options reduce the payload of a segment. SACK blocks are
 * carried by data where there is room, otherwise by an acknowledgement of their own. */
#include "script.h"

static void full_segments(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    peer_says(t, SEC(1), .seq = 1001, .len = 1000); /* Octets 1 to 1000 are missing. */
    app_writes(t, SEC(1), 2000);
    expect_sent(t, .at = SEC(1), .ack = 1, .sack = {{1001, 2001}});
    expect_sent(t, .at = SEC(1), .from = 1, .len = 1000, .ack = 1, .no_sack = true);
    expect_sent(t, .at = SEC(1), .from = 1001, .len = 1000, .ack = 1, .no_sack = true);
    script_free(t);
}

/* Data and a SACK report become due at the same time: the data leaves first, and the report is not
 * lost. */
static void sack_and_data_due_together(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    app_writes(t, SEC(1), 20000);
    for (int i = 0; i < 10; i++)
        expect_sent(t, .at = SEC(1), .from = 1 + 1000 * i, .len = 1000);
    /* The segment leaves a hole and opens the peer's window: data and a report are due. */
    peer_says(t, SEC(1) + MS(100), .ack = 2001, .seq = 1001, .len = 1000);
    unsigned full = 0;
    bool said = false;
    while (script_sent_count(t)) {
        expect_sent(t, .any_len = true);
        expect_that(t, t->last.len + (t->last.nsack ? 4 + 8 * t->last.nsack : 0) <= 1000);
        full += t->last.len == 1000;
        said |= t->last.nsack == 1;
    }
    expect_that(t, full >= 2);
    expect_that(t, said);
    script_free(t);
}

static void room_for_some_of_the_blocks(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    peer_says(t, SEC(1), .seq = 1001, .len = 1000);
    expect_sent(t, .ack = 1, .sack = {{1001, 2001}});
    peer_says(t, SEC(1), .seq = 3001, .len = 1000);
    expect_sent(t, .ack = 1, .sack = {{3001, 4001}, {1001, 2001}});
    app_writes(t, SEC(2), 985); /* One SACK block takes 12 octets, two take 20. */
    expect_sent(t, .at = SEC(2), .from = 1, .len = 985, .ack = 1, .sack = {{3001, 4001}});
    peer_says(t, SEC(2) + MS(100), .seq = 4001, .ack = 986);
    app_writes(t, SEC(3), 980);
    expect_sent(t, .at = SEC(3), .from = 986, .len = 980, .ack = 1,
                .sack = {{3001, 4001}, {1001, 2001}});
    script_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(full_segments),
        SCRIPT_TEST(sack_and_data_due_together),
        SCRIPT_TEST(room_for_some_of_the_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
