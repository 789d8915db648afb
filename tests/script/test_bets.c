/* SPDX-License-Identifier: MIT */
/* Best effort (BETS, docs/SCPS-TP.md section 7): the receiver gives up a hole after a time, and the
 * sender a segment after a number of retransmissions. */
#include "script.h"

#define WAIT MS(500)

static struct script *bets_of(void **x)
{
    struct script *t = script_of(x);
    t->cfg.bets = true;
    t->cfg.bets_timeout = WAIT;
    t->cfg.bets_retries = 2;
    t->peer.caps = SCPS_CAP_BETS;
    return t;
}

#define app_writes_record(t, at, n) script_app_writes(t, at, n, SCPS_EOR, __FILE__, __LINE__)

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

static unsigned given_up(struct script *t, struct scps_hole *h)
{
    return (unsigned)scps_conn_given_up(t->c, h, 4);
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
static void the_legacy_option(void **x)
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

/* Tries every order of the events up to the given depth: parts that arrive early, late, twice or
 * never; a FIN before them or with them; reads at any time; and time that passes. In the end the
 * stream always has its full length. */
static void every_order(void **x)
{
    const unsigned depth = 6;
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

static void signal_link(struct script *t, scps_time at, enum scps_signal_kind kind)
{
    struct scps_signal s = {.kind = kind, .until = SCPS_NEVER};
    scps_time epoch = scps_stack_now(t->st) - script_now(t);
    scps_stack_signal(t->st, at + epoch, &s);
}

/* During a link outage nothing can be resent, so the wait for a hole stops; it begins anew when the
 * link is up. */
static void no_time_in_an_outage(void **x)
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

/* ---- the sender ---- */

/* A segment that was resent bets_retries times and is lost again is given up, and the sender
 * continues. */
static void a_segment_is_given_up(void **x)
{
    struct script *t = bets_of(x);
    struct scps_hole h[4];
    t->cfg.init_cwnd_segs = 10;
    script_established(t, MS(100)); /* The RTO is 300 ms. */
    app_writes(t, MS(200), 1000);
    script_forget_events(t);
    expect_sent(t, .at = MS(200), .from = 1, .len = 1000);
    expect_sent(t, .at = MS(500), .from = 1, .len = 1000);
    expect_sent(t, .at = MS(1100), .from = 1, .len = 1000);
    script_run(t, MS(2299));
    assert_int_equal(given_up(t, h), 0);
    script_run(t, MS(2300));
    expect_quiet(t, SCPS_HOLD_APP);
    expect_event(t, SCPS_EV_DRAINED);
    expect_event(t, SCPS_EV_GAVE_UP);
    assert_int_equal(given_up(t, h), 1);
    assert_int_equal(h[0].at, 0);
    assert_int_equal(h[0].len, 1000);
    struct scps_info i = script_info(t);
    assert_int_equal(i.bytes_given_up, 1000);
    assert_int_equal(i.bytes_acked, 0);
    assert_int_equal(i.outstanding, 0);
    app_writes(t, SEC(3), 500);
    expect_sent(t, .at = SEC(3), .from = 1001, .len = 500);
    peer_says(t, SEC(4), .ack = 1501); /* The peer itself has passed the hole. */
    i = script_info(t);
    assert_int_equal(i.bytes_acked, 500);
    assert_int_equal(i.outstanding, 0);
    script_run(t, SEC(100));
    expect_quiet(t, SCPS_HOLD_APP);
    script_free(t);
}

/* Adjacent segments that are given up are one range. Octets behind them that the peer has reported
 * by SACK are passed, too, and do not belong to the range. */
static void ranges(void **x)
{
    struct script *t = bets_of(x);
    struct scps_hole h[4];
    script_flight(t, MS(200), 6000, 6);
    peer_says(t, MS(300), .ack = 1, .sack = {{2001, 4001}, {5001, 6001}});
    script_run(t, SEC(60)); /* Octets 1 to 2000 and 4001 to 5000 never reach the peer. */
    script_forget_sent(t);
    script_forget_events(t);
    assert_int_equal(given_up(t, h), 2);
    assert_int_equal(h[0].at, 0);
    assert_int_equal(h[0].len, 2000);
    assert_int_equal(h[1].at, 4000);
    assert_int_equal(h[1].len, 1000);
    struct scps_info i = script_info(t);
    assert_int_equal(i.outstanding, 0);
    assert_int_equal(i.inflight, 0);
    assert_int_equal(i.lost, 0);
    assert_int_equal(i.sacked, 0);
    assert_int_equal(i.bytes_given_up, 3000);
    assert_int_equal(i.bytes_acked, 3000);
    assert_false(i.in_recovery);
    /* The acknowledgement number is below what the sender has given up: it is neither old nor new,
     * and no duplicate. */
    peer_says(t, SEC(61), .ack = 1, .sack = {{2001, 4001}, {5001, 6001}});
    assert_int_equal(script_info(t).dsacks_in, 0);
    app_writes(t, SEC(61), 1000);
    expect_sent(t, .from = 6001, .len = 1000);
    peer_says(t, SEC(61) + MS(100), .ack = 1, .sack = {{5001, 7001}, {2001, 4001}});
    /* Octets that the peer has reported behind SND.UNA are passed as well. */
    assert_int_equal(script_info(t).sacked, 0);
    assert_int_equal(script_info(t).outstanding, 0);
    peer_says(t, SEC(62), .ack = 7001);
    assert_int_equal(script_info(t).bytes_acked, 4000);
    script_free(t);
}

/* The peer's window is counted from its acknowledgement number, below what the sender has given
 * up. */
static void the_window_of_a_peer_that_lags(void **x)
{
    struct script *t = bets_of(x);
    t->peer_wnd = 3000;
    script_flight(t, MS(200), 6000, 3);
    peer_says(t, MS(300), .ack = 1, .sack = {{1001, 3001}});
    script_run(t, SEC(2)); /* The first segment is given up; the window ends at 3001. */
    script_forget_sent(t);
    assert_int_equal(script_info(t).bytes_given_up, 1000);
    expect_quiet(t, SCPS_HOLD_PEER_WINDOW);
    peer_says(t, SEC(2), .ack = 1, .wnd = 4500);
    expect_sent(t, .from = 3001, .len = 1000);
    peer_says(t, SEC(2) + MS(100), .ack = 4001, .wnd = 3000);
    expect_sent(t, .at = SEC(2) + MS(100), .from = 4001, .len = 1000);
    expect_sent(t, .at = SEC(2) + MS(100), .from = 5001, .len = 1000);
    peer_says(t, SEC(2) + MS(200), .ack = 6001);
    script_free(t);
}

/* The peer's application has not passed the hole and its window is closed: the window is probed as
 * usual. */
static void probes_of_a_peer_that_lags(void **x)
{
    struct script *t = bets_of(x);
    t->peer_wnd = 2000;
    t->cfg.persist_max = SEC(1);
    script_flight(t, MS(200), 3000, 2);
    peer_says(t, MS(300), .ack = 1, .sack = {{1001, 2001}});
    script_run(t, MS(2300));
    assert_int_equal(script_info(t).bytes_given_up, 1000);
    script_forget_sent(t);
    for (int i = 0; i < 50; i++) { /* The probes go on without end. */
        scps_time at = script_now(t) + SEC(2);
        script_run(t, at);
        expect_that(t, script_sent_count(t) >= 1);
        script_forget_sent(t);
        peer_says(t, at, .ack = 1, .wnd = 2000);
        script_forget_sent(t);
    }
    expect_state(t, SCPS_ESTABLISHED);
    peer_says(t, script_now(t) + MS(10), .ack = 2001, .wnd = 2000);
    expect_sent(t, .from = 2001, .len = 1); /* This octet was sent in probes only. */
    peer_says(t, script_now(t) + MS(10), .ack = 2002, .wnd = 2000);
    expect_sent(t, .from = 2002, .len = 999, .push = true);
    peer_says(t, script_now(t) + MS(10), .ack = 3001, .wnd = 2000);
    assert_int_equal(script_info(t).outstanding, 0);
    script_free(t);
}

/* If the whole window is lost again and again, the segment at its right edge is not given up:
 * behind the window nothing is acceptable, so the peer would never learn of the hole and the window
 * would never move. */
static void the_edge_of_the_window_is_kept(void **x)
{
    struct script *t = bets_of(x);
    t->peer_wnd = 3000;
    t->cfg.persist_max = t->cfg.rto_max = SEC(1);
    script_flight(t, MS(200), 6000, 3);
    script_run(t, SEC(30));
    assert_int_equal(script_info(t).bytes_given_up, 2000);
    assert_int_equal(script_info(t).outstanding, 1000);
    assert_in_range(script_forget_sent(t), 20, 60);
    peer_says(t, SEC(30), .ack = 1, .sack = {{2001, 3001}});
    script_forget_sent(t);
    /* The peer's timer has expired and it has passed the hole. */
    peer_says(t, SEC(30) + MS(500), .ack = 3001);
    expect_sent(t, .at = SEC(30) + MS(500), .from = 3001, .len = 1000);
    peer_says(t, SEC(31), .ack = 4001);
    script_forget_sent(t);
    peer_says(t, SEC(31) + MS(100), .ack = 6001);
    assert_int_equal(script_info(t).outstanding, 0);
    script_free(t);
}

/* RFC 9293 section 3.8.3 (c): if the peer is silent, R2 ends the connection, even if the segment at
 * the window's edge could be given up. */
static void the_edge_of_the_window_is_not_waited_for_in_vain(void **x)
{
    struct script *t = bets_of(x);
    t->peer_wnd = 1000;
    script_flight(t, MS(200), 2000, 1);
    script_run(t, SEC(90));
    script_forget_sent(t);
    expect_state(t, SCPS_ESTABLISHED);
    script_run(t, SEC(2000));
    script_forget_sent(t);
    script_forget_events(t);
    assert_int_equal(scps_conn_error(t->c), SCPS_ERR_TIMEDOUT);
    script_free(t);
}

/* RFC 5961 section 5.2: SND.UNA - MAX.SND.WND =< SEG.ACK. For a peer that has not yet passed what
 * this end gave up, SND.UNA is what the peer has acknowledged: a delayed segment of it is accepted
 * with its data. */
static void the_ack_of_a_peer_that_lags(void **x)
{
    struct script *t = bets_of(x);
    t->peer_wnd = 4000;
    t->cfg.rto_max = SEC(1);
    script_flight(t, MS(200), 8000, 4);
    peer_says(t, MS(300), .ack = 4001);
    script_run(t, SEC(10));
    script_forget_sent(t);
    assert_int_equal(script_info(t).bytes_given_up, 3000);
    peer_says(t, SEC(10), .ack = 1001, .len = 100);
    assert_int_equal(scps_conn_readable(t->c), 100);
    script_run(t, SEC(11));
    script_forget_sent(t);
    script_free(t);
}

/* RFC 9293 section 3.8.6.1: the octet of a window probe lies beyond the window, so the peer refuses
 * it. When the window opens, the probes and their time do not count as retransmissions of that
 * octet; otherwise best effort would give up octets on a path that loses none. */
static void what_was_only_probed(void **x)
{
    for (int life = 0; life < 2; life++) {
        struct script *t = bets_of(x);
        t->peer_wnd = 1000;
        t->cfg.persist_max = SEC(1);
        t->cfg.bets_lifetime = life ? MS(800) : 0;
        script_flight(t, MS(200), 2000, 1);
        for (int i = 0; i < 10; i++) {
            peer_says(t, MS(300) + SEC(2 * i), .ack = 1001, .wnd = ZERO);
            script_run(t, SEC(2 * i + 2));
            expect_that(t, script_sent_count(t) >= 1);
            script_forget_sent(t);
        }
        peer_says(t, SEC(20) + MS(100), .ack = 1001, .wnd = 2000);
        assert_int_equal(script_info(t).bytes_given_up, 0);
        expect_sent(t, .at = SEC(20) + MS(100), .from = 1001, .len = 1);
        peer_says(t, SEC(20) + MS(200), .ack = 1002);
        expect_sent(t, .at = SEC(20) + MS(200), .from = 1002, .len = 999, .push = true);
        peer_says(t, SEC(20) + MS(300), .ack = 2001);
        assert_int_equal(script_info(t).bytes_given_up, 0);
        assert_int_equal(script_info(t).outstanding, 0);
        script_free(t);
    }
}

/* A SACK that reports the octet of a window probe, which lies beyond the window, is false: RFC 9293
 * section 3.10.7.4, first step, makes the peer refuse that octet. SND.UNA stays within the window,
 * because otherwise the peer would refuse each acknowledgement that follows. */
static void a_report_beyond_the_window(void **x)
{
    struct script *t = bets_of(x);
    t->peer_wnd = 2000;
    t->cfg.persist_max = SEC(1);
    script_flight(t, MS(200), 3000, 2);
    peer_says(t, MS(300), .ack = 1, .sack = {{1001, 2001}});
    script_run(t, SEC(5));
    assert_int_equal(script_info(t).bytes_given_up, 1000);
    expect_that(t, script_sent_count(t) >= 2); /* One of these is a window probe. */
    script_forget_sent(t);
    peer_says(t, SEC(5), .ack = 1, .sack = {{1001, 2002}}, .wnd = 2000);
    script_forget_sent(t);
    peer_says(t, SEC(5) + MS(10), .ack = 1, .len = 1000);
    peer_says(t, SEC(5) + MS(10), .ack = 1, .len = 1000);
    expect_sent(t, .at = SEC(5) + MS(10), .from = 2001, .ack = 2001);
    script_forget_sent(t);
    script_free(t);
}

/* SEG.ACK is "the next sequence number the sender of the segment is expecting" (RFC 9293 section
 * 3.4). A peer that acknowledges all that this end gave up, and reports the octets at SND.UNA as
 * arrived, contradicts itself, as with SNACK units that differ: the acknowledgement counts. SND.UNA
 * stays, and the window ends SND.WND octets after SEG.ACK. */
static void a_report_of_what_the_peer_expects(void **x)
{
    struct script *t = bets_of(x);
    t->peer_wnd = 4000;
    script_flight(t, MS(200), 8000, 4);
    peer_says(t, MS(300), .ack = 1, .sack = {{2001, 3001}});
    script_run(t, SEC(30));
    assert_int_equal(script_info(t).bytes_given_up, 2000);
    script_forget_sent(t);
    peer_says(t, SEC(30), .ack = 3001, .wnd = 4000, .sack = {{3001, 4001}});
    script_run(t, SEC(30) + MS(1));
    assert_int_equal(script_info(t).outstanding + script_info(t).unsent, 8000 - 3000);
    script_forget_sent(t);
    script_free(t);
}

/* With bets_lifetime, data that has been at SND.UNA for that time is given up before the
 * retransmission timer expires. */
static void lifetime(void **x)
{
    struct script *t = bets_of(x);
    t->cfg.bets_lifetime = MS(800);
    t->cfg.bets_retries = 200;
    script_flight(t, MS(200), 2000, 2);
    peer_says(t, MS(300), .ack = 1, .sack = {{1001, 2001}});
    script_run(t, MS(999));
    assert_int_equal(script_info(t).bytes_given_up, 0);
    script_run(t, MS(1000));
    assert_int_equal(script_info(t).bytes_given_up, 1000);
    assert_int_equal(script_info(t).outstanding, 0);
    assert_int_equal(script_info(t).bytes_acked, 1000);
    script_forget_sent(t);
    script_free(t);
}

/* All data that had been sent when SND.UNA last moved is given up together; data sent after that
 * has the full lifetime. */
static void lifetimes_run_together(void **x)
{
    struct script *t = bets_of(x);
    t->cfg.bets_lifetime = MS(800);
    t->cfg.bets_retries = 200;
    script_flight(t, MS(200), 5000, 5);
    peer_says(t, MS(300), .ack = 1001);
    app_writes(t, MS(400), 1000);
    script_run(t, MS(1099));
    script_forget_sent(t);
    assert_int_equal(script_info(t).bytes_given_up, 0);
    script_run(t, MS(1100));
    assert_int_equal(script_info(t).bytes_given_up, 4000);
    assert_int_equal(script_info(t).outstanding, 1000);
    script_run(t, MS(1899));
    assert_int_equal(script_info(t).bytes_given_up, 4000);
    script_run(t, MS(1900));
    assert_int_equal(script_info(t).bytes_given_up, 5000);
    assert_int_equal(script_info(t).inflight, 0);
    assert_int_equal(script_info(t).lost, 0);
    script_forget_sent(t);
    script_free(t);
}

/* A FIN is never given up: the data of its segment is, and the FIN alone is resent until R2 ends
 * the connection. */
static void a_fin_is_reliable(void **x)
{
    struct script *t = bets_of(x);
    t->cfg.data_retries = 5;
    script_established(t, MS(100));
    scps_conn_cork(t->c, true);
    app_writes(t, MS(200), 500);
    assert_int_equal(scps_conn_shutdown(t->c), 0);
    scps_conn_cork(t->c, false);
    expect_sent(t, .at = MS(200), .from = 1, .len = 500, .flags = SCPS_FIN | SCPS_ACK);
    expect_sent(t, .at = MS(500), .from = 1, .len = 500, .flags = SCPS_FIN | SCPS_ACK);
    expect_sent(t, .at = MS(1100), .from = 1, .len = 500, .flags = SCPS_FIN | SCPS_ACK);
    script_run(t, MS(2300));
    assert_int_equal(script_info(t).bytes_given_up, 500);
    for (int i = 0; i < 5; i++) {
        script_run(t, script_now(t) + SEC(60));
        if (i == 0) {
            expect_sent(t, .at = MS(2300), .from = 501, .flags = SCPS_FIN | SCPS_ACK);
            script_forget_events(t);
        }
    }
    assert_int_equal(script_forget_sent(t), 6); /* The FIN is sent five more times, then a reset. */
    expect_state(t, SCPS_CLOSED);
    assert_int_equal(scps_conn_error(t->c), SCPS_ERR_TIMEDOUT);
    script_free(t);
}

/* RFC 9293 section 3.8.3: R2 counts from the first timeout of a silence. Data that was given up
 * earlier does not count, however long ago, so a FIN that remains has the full time. */
static void a_fin_after_a_pause(void **x)
{
    struct script *t = bets_of(x);
    t->cfg.data_retries = 5; /* R2 is 100 s. */
    script_established(t, MS(100));
    app_writes(t, MS(200), 500);
    script_run(t, SEC(99));
    assert_int_equal(script_forget_sent(t), 3);
    assert_int_equal(script_info(t).bytes_given_up, 500);
    script_forget_events(t);
    assert_int_equal(scps_conn_shutdown(t->c), 0);
    expect_sent(t, .at = SEC(99), .from = 501, .flags = SCPS_FIN | SCPS_ACK);
    script_run(t, SEC(99) + SEC(90));
    expect_state(t, SCPS_FIN_WAIT_1);
    assert_true(script_forget_sent(t) > 3);
    script_free(t);
}

/* The time spent on data before it was given up does not count towards R2 of the FIN. */
static void a_fin_has_its_own_time(void **x)
{
    struct script *t = bets_of(x);
    t->cfg.data_retries = 5; /* R2 is 100 s. */
    t->cfg.bets_retries = 9;
    script_established(t, MS(100));
    scps_conn_cork(t->c, true);
    app_writes(t, MS(200), 500);
    assert_int_equal(scps_conn_shutdown(t->c), 0);
    scps_conn_cork(t->c, false);
    script_run(t, SEC(196));
    assert_int_equal(script_info(t).bytes_given_up, 0);
    script_run(t, SEC(197));
    assert_int_equal(script_info(t).bytes_given_up, 500);
    script_run(t, SEC(296));
    expect_state(t, SCPS_FIN_WAIT_1);
    script_run(t, SEC(400));
    expect_state(t, SCPS_CLOSED);
    script_forget_sent(t);
    script_forget_events(t);
    script_free(t);
}

/* If the peer answers, the connection ends in order although a hole was given up. */
static void a_fin_behind_a_hole(void **x)
{
    struct script *t = bets_of(x);
    script_established(t, MS(100));
    app_writes(t, MS(200), 1500);
    assert_int_equal(scps_conn_shutdown(t->c), 0);
    assert_int_equal(script_forget_sent(t), 2);
    peer_says(t, MS(300), .ack = 1, .sack = {{1001, 1502}});
    script_run(t, SEC(5));
    assert_int_equal(script_info(t).bytes_given_up, 1000);
    script_forget_sent(t);
    /* SACK reports that the FIN has arrived; only a cumulative acknowledgement makes that sure. */
    script_run(t, SEC(30));
    script_forget_sent(t);
    expect_state(t, SCPS_FIN_WAIT_1);
    peer_says(t, SEC(30), .ack = 1502);
    expect_state(t, SCPS_FIN_WAIT_2);
    assert_int_equal(script_info(t).bytes_acked, 500);
    script_free(t);
}

/* SACK and SNACK about data that was given up have no effect. */
static void reports_of_what_is_gone(void **x)
{
    struct script *t = bets_of(x);
    t->cfg.snack = true;
    t->peer.caps |= SCPS_CAP_SNACK1;
    script_flight(t, MS(200), 3000, 3);
    scps_time at = MS(300);
    for (int i = 0; i < 3; i++, at += SEC(1)) { /* The first segment is missing each time. */
        peer_says(t, at, .ack = 1, .sack = {{1001, 3001}}, .snack = {{0, 1}});
        script_forget_sent(t);
    }
    script_run(t, SEC(10));
    script_forget_sent(t);
    assert_int_equal(script_info(t).bytes_given_up, 1000);
    peer_says(t, SEC(10), .ack = 1, .sack = {{1001, 3001}}, .snack = {{0, 1}});
    expect_quiet(t, SCPS_HOLD_APP);
    app_writes(t, SEC(11), 1000);
    expect_sent(t, .from = 3001, .len = 1000);
    peer_says(t, SEC(11) + MS(100), .ack = 1, .sack = {{1001, 3001}}, .snack = {{0, 1}});
    peer_says(t, SEC(11) + MS(200), .ack = 4001);
    assert_int_equal(script_info(t).outstanding, 0);
    assert_int_equal(script_info(t).bytes_given_up, 1000);
    script_free(t);
}

/* During an outage of the link no tries are counted. */
static void no_tries_in_an_outage(void **x)
{
    struct script *t = bets_of(x);
    t->cfg.bets_lifetime = SEC(3);
    script_established(t, MS(100));
    app_writes(t, MS(200), 1000);
    expect_sent(t, .at = MS(200), .from = 1, .len = 1000);
    script_run(t, MS(300));
    signal_link(t, MS(300), SCPS_SIGNAL_LINK_DOWN);
    script_run(t, SEC(1000));
    script_forget_sent(t);
    signal_link(t, SEC(1000), SCPS_SIGNAL_LINK_UP);
    expect_sent(t, .at = SEC(1000), .from = 1, .len = 1000);
    assert_int_equal(script_info(t).bytes_given_up, 0);
    peer_says(t, SEC(1000) + MS(100), .ack = 1001);
    assert_int_equal(script_info(t).bytes_acked, 1000);
    script_free(t);
}

/* The sequence number of a probe is below the data that the peer has, not only below what was given
 * up: otherwise it could lie in the peer's window, and the peer need not answer. */
static void a_probe_is_behind_the_peer(void **x)
{
    struct script *t = bets_of(x);
    t->cfg.bets_lifetime = SEC(3);
    script_established(t, MS(100));
    app_writes(t, MS(200), 1000);
    app_writes(t, MS(300), 1000);
    script_run(t, MS(3250));
    script_forget_sent(t);
    assert_int_equal(script_info(t).bytes_given_up, 1000);
    signal_link(t, MS(3250), SCPS_SIGNAL_LINK_DOWN);
    expect_sent(t, .at = MS(8250), .from = ZERO, .ack = 1);
    script_free(t);
}

/* The peer's acknowledgement number is remembered although everything was given up and the send
 * buffer was freed: two timeouts later new data leaves, the link goes down, and the probe is still
 * below what the peer has acknowledged. */
static void a_lag_is_not_forgotten(void **x)
{
    struct script *t = bets_of(x);
    t->cfg.bets_lifetime = SEC(3);
    script_established(t, MS(100));
    app_writes(t, MS(200), 1000);
    script_run(t, SEC(30));
    script_forget_sent(t);
    assert_int_equal(script_info(t).bytes_given_up, 1000);
    app_writes(t, SEC(30), 1000);
    expect_sent(t, .at = SEC(30), .from = 1001, .len = 1000);
    peer_says(t, SEC(30) + MS(100), .ack = 1, .sack = {{1001, 2001}});
    /* The segment is accepted, and the data that it reports is passed. */
    assert_int_equal(script_info(t).outstanding, 0);
    signal_link(t, SEC(30) + MS(200), SCPS_SIGNAL_LINK_DOWN);
    expect_sent(t, .at = SEC(35) + MS(200), .from = ZERO, .ack = 1);
    script_free(t);
}

/* The time for which the receiver waited for a hole is not part of a round trip, whatever time
 * stamp its acknowledgement echoes. */
static void a_jump_is_no_round_trip(void **x)
{
    struct script *t = bets_of(x);
    t->cfg.timestamps = t->peer.ts = true;
    script_established(t, MS(100));
    app_writes(t, MS(200), 4000);
    script_forget_sent(t);
    int64_t echo = t->last.tsval;
    peer_says(t, MS(300), .ack = 1, .sack = {{1001, 2001}});
    script_forget_sent(t);
    scps_dur srtt = script_info(t).srtt, rto = script_info(t).rto;
    peer_says(t, SEC(30), .ack = 5001 - 1000, .tsecr = echo);
    script_forget_sent(t);
    assert_in_range(script_info(t).srtt, 1, srtt);
    assert_in_range(script_info(t).rto, 1, rto);
    script_free(t);
}

/* The path has become longer than all retransmissions together: each segment is given up before its
 * acknowledgement arrives. Several such acknowledgements show how long the round trip is: RFC 6298
 * section 5.7 wants it measured again after a timeout, RFC 8961 section 4 (2) at least once per
 * round trip. */
static void answers_to_what_was_given_up(void **x)
{
    struct script *t = bets_of(x);
    int64_t echo[9];
    t->cfg.timestamps = t->peer.ts = true;
    t->cfg.loss_cause = SCPS_LOSS_CORRUPTION; /* Timeouts do not back off. */
    t->cfg.nodelay = true;
    script_established(t, MS(100)); /* The RTO is 300 ms. */
    for (unsigned i = 0; i < 9; i++) {
        script_run(t, SEC(10 + i));
        script_forget_sent(t);
        app_writes(t, SEC(10 + i), 500);
        expect_sent(t, .at = SEC(10 + i), .from = 1 + 500 * i, .len = 500);
        echo[i] = t->last.tsval;
        if (i >= 5)
            peer_says(t, SEC(10 + i) + MS(100), .ack = 501 + 500 * (i - 5), .tsecr = echo[i - 5]);
    }
    assert_in_range(script_info(t).rto, SEC(5), SEC(12));
    script_run(t, SEC(19)); /* The running timer was started with the old RTO. */
    script_forget_sent(t);
    script_run(t, SEC(23));
    expect_quiet(t, SCPS_HOLD_APP);
    peer_says(t, SEC(23) + MS(100), .ack = 501 + 500 * 8, .tsecr = echo[8]);
    script_run(t, SEC(60));
    script_free(t);
}

/* The path has become shorter, but each segment is given up before its acknowledgement arrives all
 * the same. These acknowledgements show the shorter round trip; otherwise pacing would keep that of
 * the handshake. */
static void answers_of_a_shorter_path(void **x)
{
    struct script *t = bets_of(x);
    t->cfg.timestamps = t->peer.ts = true;
    t->cfg.bets_lifetime = SEC(1);
    t->cfg.expected_rtt = SEC(20);
    t->cfg.nodelay = true;
    script_established(t, SEC(20));
    for (unsigned i = 0; i < 20; i++) {
        script_run(t, SEC(30 + 3 * i));
        script_forget_sent(t);
        app_writes(t, SEC(30 + 3 * i), 500);
        expect_sent(t, .at = SEC(30 + 3 * i), .from = 1 + 500 * i, .len = 500);
        peer_says(t, SEC(32 + 3 * i), .ack = 501 + 500 * i, .tsecr = t->last.tsval);
    }
    assert_int_equal(script_info(t).bytes_given_up, 20 * 500);
    assert_in_range(script_info(t).srtt, SEC(2), SEC(5));
    script_run(t, SEC(100));
    script_free(t);
}

/* The acknowledgement with which the receiver passes a hole is processed like any other by the
 * sender, with records, too. */
static void the_peer_jumps(void **x)
{
    struct script *t = bets_of(x);
    t->cfg.records = true;
    script_established(t, MS(100));
    app_writes_record(t, MS(200), 1500);
    app_writes_record(t, MS(200), 500);
    assert_int_equal(script_forget_sent(t), 3);
    peer_says(t, MS(300), .ack = 1, .sack = {{1501, 2001}});
    peer_says(t, MS(310), .ack = 2001);
    script_forget_sent(t);
    expect_quiet(t, SCPS_HOLD_APP);
    assert_int_equal(script_info(t).outstanding, 0);
    assert_int_equal(script_info(t).bytes_given_up, 0);
    peer_says(t, MS(320), .ack = 9000); /* The octets acknowledged here were never sent. */
    script_forget_sent(t);
    assert_int_equal(script_info(t).bytes_acked, 2000);
    script_free(t);
}

/* Sends ten segments; duplicate ACKs at 300 ms report the first as missing, and it is resent. At
 * time `at` an acknowledgement of the first four arrives that echoes the time stamp of the first
 * transmission. Returns the number of losses that were found to be spurious. */
static uint64_t jumps_at(struct script *t, scps_time at)
{
    uint64_t half, spurious;
    int64_t echo;

    t->cfg.timestamps = t->peer.ts = true;
    t->cfg.bets_retries = 32;
    script_established(t, MS(100));
    app_writes(t, MS(200), 9880);
    for (int i = 0; i < 10; i++)
        expect_sent(t, .from = 1 + 988 * i, .len = 988);
    echo = t->last.tsval;
    for (int i = 2; i <= 4; i++)
        peer_says(t, MS(300), .ack = 1, .sack = {{989, i * 988 + 1}}, .tsecr = echo);
    expect_sent(t, .at = MS(300), .from = 1, .len = 988);
    half = script_info(t).ssthresh;
    assert_true(half <= 9880 / 2);
    script_run(t, at);
    script_forget_sent(t);
    peer_says(t, at, .ack = 4 * 988 + 1, .tsecr = echo);
    spurious = script_info(t).spurious;
    if (spurious) {
        assert_true(script_info(t).cwnd >= 9880);
    } else {
        assert_true(script_info(t).ssthresh <= half);
        assert_true(script_info(t).cwnd <= half);
    }
    script_forget_sent(t);
    script_free(t);
    return spurious;
}

/* RFC 5681 section 3.2 step 2: "When the third duplicate ACK is received, a TCP MUST set ssthresh
 * to no more than the value given in equation (4)." When the peer passes the hole, it echoes a time
 * stamp from before it (RFC 7323 section 4.3), older than the retransmission, which is still on its
 * way. RFC 3522 section 3.2 would take that for the arrival of the original, which is wrong here.
 * The peer passes the hole when its timer expires, and the timer starts when data behind the hole
 * arrives: not before a round trip and the timer's time after the first transmission. */
static void a_jump_is_no_late_arrival(void **x)
{
    struct script *t = bets_of(x);

    assert_int_equal(jumps_at(t, MS(200) + MS(100) + WAIT), 0);
    t = bets_of(x);
    t->cfg.bets_timeout = 0;
    assert_int_equal(jumps_at(t, MS(200) + MS(100) + 0x100001), 0);
    t = bets_of(x);
    t->cfg.bets_timeout = SEC(5); /* The peer may have configured another timeout. */
    assert_int_equal(jumps_at(t, MS(200) + MS(100) + 0x100001), 0);
}

/* RFC 3522 section 3.2 step 5: an acknowledgement that comes sooner than the peer's timer could
 * expire shows that the original was only late, so the window is restored. */
static void a_late_arrival_is_no_jump(void **x)
{
    struct script *t = bets_of(x);

    assert_int_equal(jumps_at(t, MS(320)), 1);
    t = bets_of(x);
    assert_int_equal(jumps_at(t, MS(200) + MS(100) + WAIT - 1), 1);
    t = bets_of(x);
    t->cfg.bets_timeout = 0;
    assert_int_equal(jumps_at(t, MS(200) + MS(100) + 0x100001 - 1), 1);
}

/* This end gives up [1, 989), sends [1977, 2965) twice, and then the peer acknowledges all of it
 * with a TSecr that is the TSval of the given-up data, or (same_tick) the TSval that [1977, 2965)
 * had first. Returns the number of episodes that proved spurious. */
static uint64_t jump_over_given_up(struct script *t, bool same_tick)
{
    t->cfg.bets_timeout = 0;
    t->cfg.bets_retries = 1;
    t->cfg.timestamps = t->peer.ts = true;
    script_established(t, MS(100));
    app_writes(t, MS(200), 2 * 988);
    expect_sent(t, .from = 1, .len = 988);
    expect_sent(t, .from = 989, .len = 988);
    int64_t echo = t->last.tsval;
    peer_says(t, MS(300), .ack = 1, .sack = {{989, 1977}}, .tsecr = echo);
    script_run(t, SEC(3));
    script_forget_sent(t);
    assert_int_equal(script_info(t).bytes_given_up, 988);
    assert_int_equal(script_info(t).outstanding, 0);
    app_writes(t, SEC(3), 988);
    expect_sent(t, .at = SEC(3), .from = 1977, .len = 988);
    if (same_tick)
        echo = t->last.tsval;
    expect_sent(t, .at = SEC(3) + MS(600), .from = 1977, .len = 988);
    peer_says(t, SEC(3) + MS(700), .ack = 2965, .tsecr = echo);
    uint64_t spurious = script_info(t).spurious;
    script_forget_sent(t);
    script_free(t);
    return spurious;
}

/* RFC 3522 section 3.2 would restore the window when the peer echoes a time stamp from before the
 * retransmission. That proves nothing while the peer may still wait for data that this end has
 * given up: when the peer passes that hole, it echoes what it had stored before (RFC 7323 section
 * 4.3), whichever copy of the next segment has arrived. The stored TSval may be older than the
 * first copy, or from the same tick of the clock of time stamps. */
static void a_jump_over_what_was_given_up(void **x)
{
    assert_int_equal(jump_over_given_up(bets_of(x), false), 0);
    assert_int_equal(jump_over_given_up(bets_of(x), true), 0);
}

/* RFC 5682 section 2.1 step 3b would also take an acknowledgement of segments that were not resent
 * for their arrival. */
static void nor_after_a_timeout(void **x)
{
    struct script *t = bets_of(x);
    t->peer.sack = false;
    script_flight(t, MS(200), 20000, 10);
    expect_sent(t, .at = MS(500), .from = 1, .len = 1000);
    uint64_t half = script_info(t).ssthresh;
    peer_says(t, MS(600), .ack = 1001);
    script_forget_sent(t);
    peer_says(t, MS(610), .ack = 9001);
    assert_int_equal(script_info(t).spurious, 0);
    assert_int_equal(script_info(t).ssthresh, half);
    script_forget_sent(t);
    script_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(agreed),
        SCRIPT_TEST(the_legacy_option),
        SCRIPT_TEST(not_agreed),
        SCRIPT_TEST(a_hole_is_given_up),
        SCRIPT_TEST(only_when_the_reader_waits),
        SCRIPT_TEST(filled_in_time),
        SCRIPT_TEST(several_holes),
        SCRIPT_TEST(late_octets),
        SCRIPT_TEST(fin_beyond_a_hole),
        SCRIPT_TEST(fin_alone_beyond_a_hole),
        SCRIPT_TEST(a_fin_early_then_repaired),
        SCRIPT_TEST(octets_beyond_the_fin),
        SCRIPT_TEST(every_order),
        SCRIPT_TEST(records_with_holes),
        SCRIPT_TEST(no_time_in_an_outage),
        SCRIPT_TEST(default_wait),
        SCRIPT_TEST(after_a_reset),
        SCRIPT_TEST(closing_at_a_hole),
        SCRIPT_TEST(a_segment_is_given_up),
        SCRIPT_TEST(ranges),
        SCRIPT_TEST(the_window_of_a_peer_that_lags),
        SCRIPT_TEST(probes_of_a_peer_that_lags),
        SCRIPT_TEST(the_edge_of_the_window_is_kept),
        SCRIPT_TEST(the_edge_of_the_window_is_not_waited_for_in_vain),
        SCRIPT_TEST(the_ack_of_a_peer_that_lags),
        SCRIPT_TEST(what_was_only_probed),
        SCRIPT_TEST(a_report_beyond_the_window),
        SCRIPT_TEST(a_report_of_what_the_peer_expects),
        SCRIPT_TEST(lifetime),
        SCRIPT_TEST(lifetimes_run_together),
        SCRIPT_TEST(a_fin_is_reliable),
        SCRIPT_TEST(a_fin_after_a_pause),
        SCRIPT_TEST(a_fin_has_its_own_time),
        SCRIPT_TEST(a_fin_behind_a_hole),
        SCRIPT_TEST(reports_of_what_is_gone),
        SCRIPT_TEST(no_tries_in_an_outage),
        SCRIPT_TEST(a_probe_is_behind_the_peer),
        SCRIPT_TEST(a_lag_is_not_forgotten),
        SCRIPT_TEST(a_jump_is_no_round_trip),
        SCRIPT_TEST(answers_to_what_was_given_up),
        SCRIPT_TEST(answers_of_a_shorter_path),
        SCRIPT_TEST(the_peer_jumps),
        SCRIPT_TEST(a_jump_is_no_late_arrival),
        SCRIPT_TEST(a_late_arrival_is_no_jump),
        SCRIPT_TEST(a_jump_over_what_was_given_up),
        SCRIPT_TEST(nor_after_a_timeout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
