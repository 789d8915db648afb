/* SPDX-License-Identifier: MIT */
/* Duplicate acknowledgements without SACK: when they declare a segment lost (RFC 5681 section 3.2,
 * RFC 5827), and how much has left the network. */
#include "core/dupack.h"

#include "part_cases.h"

static void prepare(void)
{
    p.cfg.c.dupthresh = 3;
    p.s.snd.end = 100001; /* More data waits, and the window is wide. */
    p.s.snd.edge = 100001;
}

/* Returns how many duplicates declare the oldest segment lost; 0: five do not. */
static unsigned until_lost(void)
{
    struct scps_ack_result sum = {0};

    for (unsigned i = 1; i <= 5; i++) {
        scps_dupack_take(&p.s, false, &sum);
        if (p.s.tx->sb.lost)
            return i;
    }
    return 0;
}

/* RFC 5681 section 3.2: "the arrival of 3 duplicate ACKs [...] as an indication that a segment has
 * been lost". */
static void three_duplicates(void **state)
{
    (void)state;
    part_send(&p, 10, 1000);
    assert_int_equal(until_lost(), 3);
    assert_int_equal(p.s.tx->sb.lost, 1000);
    assert_int_equal(p.st.dupacks_in, 3);
}

/* RFC 5827 section 3.2: with few segments outstanding and no unsent data that may be sent, one
 * duplicate fewer than segments outstanding is enough. */
static void early_retransmit(void **state)
{
    static const struct {
        unsigned out, unsent, want;
    } cases[] = {{3, 0, 2}, {2, 0, 1}, {4, 0, 3},
                 {9, 0, 3}, {1, 0, 3}, /* A single segment causes no duplicates. */
                 {3, 9, 3}};
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(state);
        part_send(&p, cases[i].out, 1000);
        p.s.snd.end = p.s.snd.nxt + cases[i].unsent;
        assert_int_equal(until_lost(), cases[i].want);
        end(state);
    }
    begin(state); /* "or the advertised receive window does not permit new segments" */
    part_send(&p, 3, 1000);
    p.s.snd.edge = p.s.snd.nxt + 999;
    assert_int_equal(until_lost(), 2);
    end(state);
    begin(state);
    part_send(&p, 4, 1000);
    p.s.snd.edge = p.s.snd.nxt + 999;
    assert_int_equal(until_lost(), 3);
}

/* RFC 5681 section 3.2 (4): each duplicate shows that a segment has left the network. It stands for
 * the mean length of the segments outstanding, up to the MSS, and all together for no more than is
 * outstanding. */
static void bytes_of_each_duplicate(void **state)
{
    struct scps_ack_result sum = {0};
    (void)state;

    part_send(&p, 2, 1000);
    for (int i = 1; i <= 3; i++) {
        scps_dupack_take(&p.s, false, &sum);
        assert_int_equal(p.s.tx->rec.virtual_arrived, SCPS_MIN(i, 2) * 1000);
    }
    end(state);
    begin(state);
    part_send(&p, 10, 100);
    scps_dupack_take(&p.s, false, &sum);
    assert_int_equal(p.s.tx->rec.virtual_arrived, 100);
    scps_dupack_take(&p.s, true, &sum); /* The peer's SNACK reports what has arrived. */
    assert_int_equal(p.s.tx->rec.virtual_arrived, 100);
    p.s.tx->rec.episode = SCPS_EPISODE_RTO; /* After a timeout duplicates inflate nothing. */
    scps_dupack_take(&p.s, false, &sum);
    assert_int_equal(p.s.tx->rec.virtual_arrived, 100);
    p.s.tx->rec.frto = 1; /* RFC 5682 section 2.1 step 3a */
    scps_dupack_take(&p.s, false, &sum);
    assert_int_equal(p.s.tx->rec.virtual_arrived, 200);
}

/* With SACK duplicates are counted only, and in an episode they declare nothing lost again. */
static void sack_detects_the_losses(void **state)
{
    (void)state;
    part_send(&p, 10, 1000);
    p.s.agreed.opts = SCPS_AGREED_SACK;
    assert_int_equal(until_lost(), 0);
    assert_int_equal(p.s.tx->rec.dupacks, 5);
    assert_int_equal(p.s.tx->rec.virtual_arrived, 0);
    p.s.agreed.opts = 0;
    p.s.tx->rec.episode = SCPS_EPISODE_FAST;
    assert_int_equal(until_lost(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(three_duplicates),
        CASE(early_retransmit),
        CASE(bytes_of_each_duplicate),
        CASE(sack_detects_the_losses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
