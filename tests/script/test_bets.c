/* SPDX-License-Identifier: MIT */
/* Best effort (BETS, docs/SCPS-TP.md section 7): agreement, and the receiver, which gives up a hole
 * after a time. */
#include "bets.h"
#include "sanitized.h"

/* Asserts that reading stops at a hole: reads return SCPS_ERR_HOLE until the application calls
 * scps_conn_hole(), which returns the hole's place and length. */
static void takes_hole(struct script *t, uint64_t at, uint64_t len)
{
    struct scps_hole h;
    uint8_t b[10];
    size_t n;

    assert_int_equal(scps_conn_read(t->c, b, sizeof b, 0), SCPS_ERR_HOLE);
    assert_int_equal(scps_conn_read(t->c, b, 0, 0), SCPS_ERR_HOLE);
    assert_int_equal(scps_conn_readable(t->c), 0);
    assert_null(scps_conn_data(t->c, &n));
    assert_false(scps_conn_eof(t->c));
    assert_int_equal(scps_conn_hole(t->c, &h, SCPS_PEEK), 1);
    assert_int_equal(h.at, at);
    assert_int_equal(h.len, len);
    assert_int_equal(scps_conn_hole(t->c, &h, 0), 1);
    assert_int_equal(h.at, at);
    assert_int_equal(h.len, len);
    assert_int_equal(scps_conn_hole(t->c, &h, 0), 0);
    script_skip(t, (int64_t)len);
}

/* ---- the handshake ---- */

static void agreed(void **x)
{
    struct script *t = bets_of(x);
    script_connect(t, 0);
    expect_sent(t, .flags = SCPS_SYN, .has = SCPS_HAS_CAPS, .hasnt = SCPS_HAS_BETS_OK);
    assert_int_equal(t->last.caps, SCPS_CAP_BETS);
    peer_says(t, MS(100), .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    expect_sent(t, .from = 1);
    assert_int_equal(script_info(t).caps, SCPS_CAP_BETS);
    script_free(t);
}

/* With bets_legacy the SYN also has option 16; its options equal those of the reference
 * implementation, octet for octet. */
static void legacy_option_16(void **x)
{
    struct script *t = bets_of(x);
    t->cfg.bets_legacy = true;
    t->cfg.snack = true;
    t->peer.caps |= SCPS_CAP_SNACK1;
    script_listen(t);
    peer_says(t, MS(0), .flags = SCPS_SYN);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .has = SCPS_HAS_CAPS | SCPS_HAS_BETS_OK);
    assert_int_equal(t->last.caps, SCPS_CAP_BETS | SCPS_CAP_SNACK1);
    script_free(t);
}

/* If only one end offers best effort, it is not agreed: the receiver waits for a hole without
 * limit, and the sender resends a segment until the connection ends. */
static void not_agreed(void **x)
{
    struct script *t = bets_of(x);
    t->peer.caps = SCPS_CAP_SNACK1;
    t->cfg.data_retries = 4;
    script_established(t, MS(100));
    assert_int_equal(script_info(t).caps, 0);
    peer_says(t, MS(200), .seq = 101, .len = 100);
    expect_sent(t, .ack = 1);
    script_run(t, SEC(1000));
    assert_int_equal(script_info(t).holes, 0);
    app_writes(t, SEC(1000), 100);
    script_run(t, SEC(1200));
    script_forget_sent(t);
    script_forget_events(t);
    expect_state(t, SCPS_CLOSED);
    assert_int_equal(scps_conn_error(t->c), SCPS_ERR_TIMEDOUT);
    assert_int_equal(given_up(t, NULL), 0);
    script_free(t);
    t = bets_of(x); /* Now only the peer offers it. */
    t->cfg.bets = false;
    t->cfg.snack = true;
    t->peer.caps |= SCPS_CAP_SNACK1;
    script_established(t, MS(100));
    assert_int_equal(script_info(t).caps, SCPS_CAP_SNACK1);
    script_free(t);
}

/* ---- the receiver ---- */

/* In every ack_mode the acknowledgement that passes a hole is sent at once. The application passes
 * the hole and reads the octets behind it. */
static void a_hole_is_given_up(void **x)
{
    for (int mode = 0; mode < 3; mode++) {
        struct script *t = bets_of(x);
        t->cfg.ack_mode = (enum scps_ack_mode)mode;
        t->cfg.ack_delay = SEC(5);
        script_established(t, MS(100));
        script_forget_events(t);
        peer_says(t, MS(200), .seq = 101, .len = 100);
        script_forget_sent(t);
        script_run(t, MS(200) + WAIT - 1);
        expect_quiet(t, ANY_HOLD);
        expect_no_event(t);
        expect_sent(t, .at = MS(200) + WAIT, .ack = 201, .wnd = 20000 - 200);
        expect_event(t, SCPS_EV_READABLE);
        expect_event(t, SCPS_EV_HOLE);
        takes_hole(t, 0, 100);
        app_reads(t, MS(900), 100);
        struct scps_info i = script_info(t);
        assert_int_equal(i.holes, 1);
        assert_int_equal(i.bytes_missing, 100);
        assert_int_equal(i.bytes_received, 100);
        assert_int_equal(t->notes[SCPS_NOTE_GAVE_UP], 1);
        peer_says(t, MS(1000), .seq = 201, .len = 100);
        app_reads(t, MS(1000), 100);
        script_run(t, SEC(7));
        script_forget_sent(t);
        script_free(t);
    }
}

/* The receiver's wait for a hole begins when the application has read all data before it. If data
 * in order arrives meanwhile, the wait begins anew. */
static void only_when_the_reader_waits(void **x)
{
    struct script *t = bets_of(x);
    script_established(t, MS(100));
    peer_says(t, MS(200), .len = 100);
    peer_says(t, MS(200), .seq = 301, .len = 100);
    script_forget_sent(t);
    script_run(t, SEC(10));
    expect_quiet(t, ANY_HOLD);
    app_reads(t, SEC(10), 50);
    script_run(t, SEC(20));
    expect_quiet(t, ANY_HOLD);
    app_reads(t, SEC(20), 50);
    script_run(t, SEC(20) + WAIT / 2);
    peer_says(t, SEC(20) + WAIT / 2, .seq = 101, .len = 100); /* A part of the hole is filled. */
    script_forget_sent(t);
    app_reads(t, SEC(20) + WAIT / 2, 100);
    script_run(t, SEC(20) + WAIT + WAIT / 2 - 1);
    expect_quiet(t, ANY_HOLD);
    expect_sent(t, .at = SEC(20) + WAIT + WAIT / 2, .ack = 401);
    takes_hole(t, 200, 100);
    app_reads(t, SEC(21), 100);
    script_free(t);
}

/* A hole that is filled before bets_timeout is not reported. */
static void filled_in_time(void **x)
{
    struct script *t = bets_of(x);
    script_established(t, MS(100));
    peer_says(t, MS(200), .seq = 101, .len = 100);
    peer_says(t, MS(200) + WAIT - 1, .seq = 1, .len = 100);
    script_forget_sent(t);
    app_reads(t, SEC(1), 200);
    script_run(t, SEC(10));
    expect_quiet(t, SCPS_HOLD_APP);
    assert_int_equal(script_info(t).holes, 0);
    script_free(t);
}

/* All holes that were known when the wait began are given up together; a hole found later has a
 * wait of its own. */
static void several_holes(void **x)
{
    struct script *t = bets_of(x);
    script_established(t, MS(100));
    peer_says(t, MS(200), .seq = 401, .len = 100);
    /* This hole becomes known just after the wait began, so it is given up one wait later. */
    peer_says(t, MS(200), .seq = 201, .len = 100);
    peer_says(t, MS(300), .seq = 601, .len = 100);
    script_forget_sent(t);
    expect_sent(t, .at = MS(200) + WAIT, .ack = 301);
    takes_hole(t, 0, 200);
    app_reads(t, MS(700), 100);
    /* This hole was known when the wait for the first one began, so it is given up at the same
     * time. */
    expect_sent(t, .at = MS(700), .ack = 501);
    takes_hole(t, 300, 100);
    app_reads(t, MS(700), 100);
    script_run(t, MS(700) + WAIT - 1);
    expect_quiet(t, ANY_HOLD);
    expect_sent(t, .at = MS(700) + WAIT, .ack = 701);
    takes_hole(t, 500, 100);
    app_reads(t, SEC(2), 100);
    assert_int_equal(script_info(t).bytes_missing, 400);
    script_free(t);
}

/* Until the application calls scps_conn_hole(), late octets still fill the hole: its beginning, its
 * end, or all of it. */
static void late_octets(void **x)
{
    struct script *t = bets_of(x);
    struct scps_hole h;
    script_established(t, MS(100));
    peer_says(t, MS(200), .seq = 1001, .len = 100);
    script_run(t, MS(200) + WAIT);
    script_forget_sent(t);
    /* Octets in the middle of the hole are dropped. */
    peer_says(t, SEC(1), .seq = 401, .len = 100);
    assert_int_equal(script_info(t).bytes_missing, 1000);
    peer_says(t, SEC(1), .seq = 1, .len = 100);
    peer_says(t, SEC(1), .seq = 901, .len = 150); /* The second half of the hole is filled. */
    peer_says(t, SEC(1), .seq = 51, .len = 150);
    script_forget_sent(t);
    assert_int_equal(script_info(t).bytes_missing, 700);
    app_reads(t, SEC(2), 150);
    /* A part of these octets has been read, and a part fills the hole. */
    peer_says(t, SEC(2), .seq = 1, .len = 1000);
    script_forget_sent(t);
    assert_int_equal(script_info(t).bytes_missing, 0);
    assert_int_equal(script_info(t).holes, 0);
    assert_int_equal(scps_conn_hole(t->c, &h, 0), 0);
    app_reads(t, SEC(3), 950);
    assert_int_equal(script_info(t).bytes_received, 1100);
    peer_says(t, SEC(4), .seq = 1301, .len = 100);
    script_run(t, SEC(4) + WAIT);
    takes_hole(t, 1100, 200);
    peer_says(t, SEC(5), .seq = 1101, .len = 200); /* The octets come after scps_conn_hole(). */
    script_forget_sent(t);
    app_reads(t, SEC(5), 100);
    assert_int_equal(script_info(t).bytes_missing, 200);
    script_free(t);
}

/* RFC 2883 section 4: a DSACK reports octets that were received twice. Octets of a hole that was
 * given up may arrive for the first time below RCV.NXT, so no DSACK reports them, also if PAWS
 * rejects their segment (RFC 7323 section 5.3 R1). Octets above the hole are reported as before. */
static void no_dsack_of_a_hole(void **x)
{
    for (int paws = 0; paws < 2; paws++) {
        struct script *t = bets_of(x);
        t->cfg.timestamps = t->peer.ts = paws;
        script_established(t, MS(100));
        peer_says(t, MS(200), .seq = 101, .len = 100, .tsval = 3000000);
        expect_sent(t, .at = MS(200), .ack = 1, .sack = {{101, 201}});
        expect_sent(t, .at = MS(200) + WAIT, .ack = 201);
        takes_hole(t, 0, 100);
        app_reads(t, MS(800), 100);
        peer_says(t, MS(800), .seq = 201, .len = 100, .tsval = 3000600);
        script_run(t, MS(1000));
        script_forget_sent(t);
        peer_says(t, MS(1100), .seq = 1, .len = 100, .tsval = 3000600 - paws);
        expect_sent(t, .at = MS(1100), .ack = 301, .no_sack = true);
        peer_says(t, MS(1200), .seq = 101, .len = 100, .tsval = 3000600 - paws);
        expect_sent(t, .at = MS(1200), .ack = 301, .sack = {{101, 201}});
        assert_int_equal(script_info(t).paws_drops, 2 * paws);
        assert_int_equal(script_info(t).dsacks_out, 1);
        script_free(t);
    }
}

/* A FIN lies beyond a hole: the hole is reported, the data behind it is read, then the stream
 * ends. */
static void fin_beyond_a_hole(void **x)
{
    struct script *t = bets_of(x);
    script_established(t, MS(100));
    script_forget_events(t);
    peer_says(t, MS(200), .seq = 101, .len = 100, .flags = SCPS_FIN | SCPS_ACK);
    script_forget_sent(t);
    expect_sent(t, .at = MS(200) + WAIT, .ack = 202);
    expect_state(t, SCPS_CLOSE_WAIT);
    takes_hole(t, 0, 100);
    app_reads(t, SEC(1), 100);
    assert_true(scps_conn_eof(t->c));
    app_reads(t, SEC(1), 0);
    script_free(t);
}

/* Only the FIN lies behind the hole: octets that arrive late are still delivered after the FIN. */
static void fin_alone_beyond_a_hole(void **x)
{
    struct script *t = bets_of(x);
    script_established(t, MS(100));
    peer_says(t, MS(200), .len = 50);
    app_reads(t, MS(200), 50);
    script_forget_sent(t);
    peer_says(t, MS(300), .seq = 10051, .flags = SCPS_FIN | SCPS_ACK);
    script_forget_sent(t);
    expect_sent(t, .at = MS(300) + WAIT, .ack = 10052);
    peer_says(t, SEC(1), .seq = 51, .len = 1000);
    script_forget_sent(t);
    app_reads(t, SEC(1), 1000);
    takes_hole(t, 1050, 9000);
    app_reads(t, SEC(2), 0);
    script_free(t);
}

/* A hole before a FIN is filled before its time is over, and the application reads only after that
 * time. Nothing is missing, so nothing is given up: the stream ends at the FIN, and the
 * acknowledgement number stays there. */
static void a_fin_early_then_repaired(void **x)
{
    /* In the second run octets before the FIN arrived out of order, too. */
    for (int behind = 0; behind < 2; behind++) {
        struct script *t = bets_of(x);
        script_established(t, MS(100));
        if (behind)
            peer_says(t, MS(200), .seq = 101, .len = 100);
        peer_says(t, MS(200), .seq = behind ? 201 : 101, .flags = SCPS_FIN | SCPS_ACK);
        script_forget_sent(t);
        peer_says(t, MS(300), .seq = 1, .len = 100);
        expect_sent(t, .ack = behind ? 202 : 102);
        script_run(t, MS(200) + 3 * WAIT);
        expect_quiet(t, ANY_HOLD);
        assert_int_equal(script_info(t).holes, 0);
        assert_int_equal(script_info(t).bytes_missing, 0);
        assert_int_equal(scps_conn_readable(t->c), behind ? 200 : 100);
        app_reads(t, SEC(5), behind ? 200 : 100);
        assert_true(scps_conn_eof(t->c));
        app_reads(t, SEC(5), 0);
        peer_says(t, SEC(6), .seq = behind ? 201 : 101, .flags = SCPS_FIN | SCPS_ACK);
        expect_sent(t, .ack = behind ? 202 : 102);
        script_free(t);
    }
}

/* RFC 9293 section 3.10.7.4, seventh and eighth check: data beyond a FIN is ignored. Octets that a
 * faulty peer has sent there do not make a hole, so nothing is given up for them. */
static void octets_beyond_the_fin(void **x)
{
    /* In the second run the FIN itself lies beyond a hole. */
    for (int hole = 0; hole < 2; hole++) {
        struct script *t = bets_of(x);
        script_established(t, MS(100));
        peer_says(t, MS(200), .seq = 201, .len = 100);
        if (hole)
            peer_says(t, MS(210), .seq = 101, .flags = SCPS_FIN | SCPS_ACK);
        else
            peer_says(t, MS(210), .seq = 1, .len = 100, .flags = SCPS_FIN | SCPS_ACK);
        script_forget_sent(t);
        if (hole) {
            expect_sent(t, .at = MS(200) + WAIT, .ack = 102);
            takes_hole(t, 0, 100);
        } else {
            app_reads(t, MS(220), 100);
        }
        expect_state(t, SCPS_CLOSE_WAIT);
        script_run(t, SEC(5));
        expect_quiet(t, ANY_HOLD);
        assert_int_equal(script_info(t).holes, hole);
        app_reads(t, SEC(5), 0);
        script_free(t);
    }
}

/* ---- every order of a short stream ---- */

enum { ONE, TWO, FIN_ALONE, TWO_FIN, READ, TIME, EVENTS }; /* The events that may happen next. */

#define PART 10 /* The number of octets in a part; the stream is two parts and a FIN. */

/* Reads all that can be read, and passes holes. Returns the position that the reader has
 * reached. */
static int64_t reads_all(struct script *t, int64_t at)
{
    uint8_t b[4 * PART];
    struct scps_hole h;
    int64_t n;

    for (;;) {
        n = scps_conn_read(t->c, b, sizeof b, 0);
        if (n == SCPS_ERR_HOLE) {
            assert_int_equal(scps_conn_hole(t->c, &h, 0), 1);
            assert_int_equal(h.at, at);
            assert_in_range(h.len, 1, 2 * PART - at);
            at += (int64_t)h.len;
            continue;
        }
        if (n <= 0)
            break;
        /* The octets follow the pattern of the script's peer, whose first octet is 1. */
        for (int64_t i = 0; i < n; i++)
            assert_int_equal(b[i], (uint8_t)((at + i + 1) * 17 + 2));
        at += n;
    }
    assert_true(at <= 2 * PART);
    assert_int_equal(n, scps_conn_eof(t->c) ? 0 : SCPS_ERR_AGAIN);
    return at;
}

/* Makes one event happen, and asserts what must hold after it. */
static void happens(struct script *t, int what, int64_t *read)
{
    scps_time at = script_now(t) + MS(1);

    switch (what) {
    case ONE:
        peer_says(t, at, .seq = 1, .len = PART);
        break;
    case TWO:
        peer_says(t, at, .seq = 1 + PART, .len = PART);
        break;
    case FIN_ALONE:
        peer_says(t, at, .seq = 1 + 2 * PART, .flags = SCPS_FIN | SCPS_ACK);
        break;
    case TWO_FIN:
        peer_says(t, at, .seq = 1 + PART, .len = PART, .flags = SCPS_FIN | SCPS_ACK);
        break;
    case READ:
        *read = reads_all(t, *read);
        break;
    case TIME:
        script_run(t, at + WAIT);
        break;
    }
    /* script_inspect() has checked that no acknowledgement number went back. */
    script_forget_sent(t);
    struct scps_info i = script_info(t);
    assert_true(scps_conn_readable(t->c) <= (uint64_t)(2 * PART - *read));
    assert_true(i.bytes_missing <= 2 * PART);
    assert_true(i.holes <= 2);
}

/* Tries every order of as many events as `depth`: parts that arrive early, late, twice or never; a
 * FIN before them or with them; reads at any time; and time that passes. In the end the stream
 * always has its full length. The build with the sanitizers, which looks for faults of memory and
 * takes five times the time, tries the orders of five events. */
static void every_order_of_events(void **x)
{
    const unsigned depth = SCPS_SANITIZED ? 5 : 6;
    unsigned all = 1;

    for (unsigned i = 0; i < depth; i++)
        all *= EVENTS;
    for (unsigned n = 0; n < all; n++) {
        struct script *t = bets_of(x);
        int64_t read = 0;
        script_established(t, MS(100));
        for (unsigned i = 0, rest = n; i < depth; i++, rest /= EVENTS)
            happens(t, (int)(rest % EVENTS), &read);
        happens(t, FIN_ALONE, &read);
        for (int i = 0; i < 4; i++)
            happens(t, i % 2 ? TIME : READ, &read);
        read = reads_all(t, read);
        assert_int_equal(read, 2 * PART);
        assert_true(scps_conn_eof(t->c));
        script_forget_sent(t);
        script_free(t);
    }
}

/* A record with missing octets is reported as such; the boundaries that are known keep their
 * positions. */
static void records_with_holes(void **x)
{
    struct script *t = bets_of(x);
    t->cfg.records = true;
    script_established(t, MS(100));
    peer_says(t, MS(200), .seq = 1, .len = 100, .record = true);
    peer_says(t, MS(200), .seq = 101, .len = 50);
    /* Octets 151 to 250 are missing. */
    peer_says(t, MS(200), .seq = 251, .len = 50, .record = true);
    peer_says(t, MS(200), .seq = 301, .len = 100, .record = true);
    app_reads(t, MS(300), 100);
    expect_that(t, scps_conn_record(t->c) == SCPS_RECORD_END);
    app_reads(t, MS(300), 50);
    expect_that(t, scps_conn_record(t->c) == 0);
    script_run(t, SEC(1));
    takes_hole(t, 150, 100);
    expect_that(t, scps_conn_record(t->c) == SCPS_RECORD_TORN);
    app_reads(t, SEC(1), 50);
    expect_that(t, scps_conn_record(t->c) == (SCPS_RECORD_END | SCPS_RECORD_TORN));
    app_reads(t, SEC(1), 100);
    expect_that(t, scps_conn_record(t->c) == SCPS_RECORD_END);
    /* A hole lies directly behind the end of a record: the next record may have lost its beginning,
     * and whole records may be missing. */
    peer_says(t, SEC(2), .seq = 501, .len = 100, .record = true);
    script_run(t, SEC(3));
    takes_hole(t, 400, 100);
    expect_that(t, scps_conn_record(t->c) == SCPS_RECORD_TORN);
    app_reads(t, SEC(3), 100);
    expect_that(t, scps_conn_record(t->c) == (SCPS_RECORD_END | SCPS_RECORD_TORN));
    /* A segment that arrives late still brings the end of its record. */
    peer_says(t, SEC(4), .seq = 701, .len = 100, .record = true);
    script_run(t, SEC(5));
    peer_says(t, SEC(5), .seq = 601, .len = 100, .record = true);
    app_reads(t, SEC(5), 100);
    expect_that(t, scps_conn_record(t->c) == SCPS_RECORD_END);
    app_reads(t, SEC(5), 100);
    expect_that(t, scps_conn_record(t->c) == SCPS_RECORD_END);
    script_forget_sent(t);
    script_free(t);
}

/* During a link outage nothing can be resent, so the wait for a hole stops; it begins anew when the
 * link is up. */
static void an_outage_stops_the_wait(void **x)
{
    struct script *t = bets_of(x);
    script_established(t, MS(100));
    peer_says(t, MS(200), .seq = 101, .len = 100);
    script_run(t, MS(300));
    signal_link(t, MS(300), SCPS_SIGNAL_LINK_DOWN);
    script_run(t, SEC(100));
    script_forget_sent(t); /* These are the probes of the outage. */
    assert_int_equal(script_info(t).holes, 0);
    signal_link(t, SEC(100), SCPS_SIGNAL_LINK_UP);
    script_run(t, SEC(100) + WAIT - 1);
    script_forget_sent(t);
    assert_int_equal(script_info(t).holes, 0);
    expect_sent(t, .at = SEC(100) + WAIT, .ack = 201);
    takes_hole(t, 0, 100);
    app_reads(t, SEC(101), 100);
    script_free(t);
}

/* Without a configured bets_timeout the receiver waits as long as the reference implementation, or
 * two round trips. */
static void default_wait(void **x)
{
    struct script *t = bets_of(x);
    t->cfg.bets_timeout = 0;
    script_established(t, MS(900)); /* From here on a round trip is known. */
    peer_says(t, SEC(1), .seq = 101, .len = 100);
    script_forget_sent(t);
    expect_sent(t, .at = SEC(1) + MS(1800), .ack = 201);
    script_free(t);
    t = bets_of(x);
    t->cfg.bets_timeout = 0;
    script_established(t, MS(100));
    peer_says(t, SEC(1), .seq = 101, .len = 100);
    script_forget_sent(t);
    expect_sent(t, .at = SEC(1) + 0x100001, .ack = 201);
    script_free(t);
}

/* The SYN was resent, so that its answer gives no RTT sample (RFC 6298 section 3), and no data is
 * sent that could give one: the handshake was no shorter than a round trip. */
static void default_wait_after_a_resent_syn(void **x)
{
    struct script *t = bets_of(x);
    t->cfg.bets_timeout = 0;
    script_connect(t, 0);
    expect_sent(t, .flags = SCPS_SYN);
    expect_sent(t, .at = SEC(1), .flags = SCPS_SYN);
    peer_says(t, MS(1300), .seq = ZERO, .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    expect_event(t, SCPS_EV_CONNECTED);
    script_forget_sent(t);
    peer_says(t, SEC(2), .seq = 101, .len = 100);
    script_forget_sent(t);
    expect_sent(t, .at = SEC(2) + MS(2600), .ack = 201);
    script_free(t);
}

/* When the peer resets the connection, the data before and behind a hole can still be read; no
 * further hole is given up. */
static void after_a_reset(void **x)
{
    struct script *t = bets_of(x);
    script_established(t, MS(100));
    peer_says(t, MS(200), .seq = 101, .len = 100);
    script_run(t, SEC(1));
    peer_says(t, SEC(1), .seq = 201, .flags = SCPS_RST);
    script_forget_sent(t);
    script_run(t, SEC(100));
    takes_hole(t, 0, 100);
    app_reads(t, SEC(100), 100);
    assert_int_equal(scps_conn_read(t->c, NULL, 1, 0), SCPS_ERR_RESET);
    script_free(t);
}

/* A hole does not count as unread data: an application that closes at a hole ends the connection in
 * order. If octets behind the hole are unread, the peer gets a reset (RFC 9293 section 3.6.1). */
static void closing_at_a_hole(void **x)
{
    for (int behind = 0; behind < 2; behind++) {
        struct script *t = bets_of(x);
        script_established(t, MS(100));
        if (behind)
            peer_says(t, MS(200), .seq = 101, .len = 100);
        else
            peer_says(t, MS(200), .seq = 101, .flags = SCPS_FIN | SCPS_ACK);
        script_run(t, SEC(1));
        script_forget_sent(t);
        assert_int_equal(script_info(t).holes, 1);
        scps_conn_close(t->c);
        t->c = NULL;
        if (behind)
            expect_sent(t, .from = 1, .flags = SCPS_RST | SCPS_ACK);
        else
            expect_sent(t, .from = 1, .flags = SCPS_FIN | SCPS_ACK);
        script_run(t, SEC(1));
        script_forget_sent(t);
        script_free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(agreed),
        SCRIPT_TEST(legacy_option_16),
        SCRIPT_TEST(not_agreed),
        SCRIPT_TEST(a_hole_is_given_up),
        SCRIPT_TEST(only_when_the_reader_waits),
        SCRIPT_TEST(filled_in_time),
        SCRIPT_TEST(several_holes),
        SCRIPT_TEST(late_octets),
        SCRIPT_TEST(no_dsack_of_a_hole),
        SCRIPT_TEST(fin_beyond_a_hole),
        SCRIPT_TEST(fin_alone_beyond_a_hole),
        SCRIPT_TEST(a_fin_early_then_repaired),
        SCRIPT_TEST(octets_beyond_the_fin),
        SCRIPT_TEST(every_order_of_events),
        SCRIPT_TEST(records_with_holes),
        SCRIPT_TEST(an_outage_stops_the_wait),
        SCRIPT_TEST(default_wait),
        SCRIPT_TEST(default_wait_after_a_resent_syn),
        SCRIPT_TEST(after_a_reset),
        SCRIPT_TEST(closing_at_a_hole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
