/* SPDX-License-Identifier: MIT */
/* Conversations: a whole stack in virtual time talks to a peer that the test plays, segment by
 * segment.
 *
 *      struct script *t = script_new(4);
 *      script_established(t, MS(100));                  // handshake from 0 to 100 ms
 *      app_writes(t, MS(200), 3000);
 *      expect_sent(t, .at = MS(200), .from = 1, .len = 1000);
 *      ...
 *      peer_says(t, MS(300), .ack = 3001);
 *      expect_event(t, SCPS_EV_DRAINED);
 *      expect_quiet(t, SCPS_HOLD_APP);
 *      script_free(t);
 *
 * Times are microseconds since the script began; they only go forward.  Whatever the test does at a
 * time, every timer due before it is served first, at its own moment, and each packet the stack
 * sends is queued with the time it was sent.  expect_sent takes them from that queue in order; a
 * packet nobody expected fails the test where the next one is expected, or in script_free.
 *
 * Sequence numbers are relative: 0 is the SYN of whoever sends the stream, 1 its first octet.  Zero
 * in a field means "as usual" (peer_says) or "any" (expect_sent, but see len); ZERO says that zero
 * is meant.
 *
 * Where both offered compressed headers, the peer's segments go that way after its SYN, and the
 * stack's are compared as what they stand for.
 *
 * Each packet that leaves is checked on the way: headers and checksum, addresses, the octets of the
 * stream against the pattern the application wrote, and that neither the acknowledgement nor the
 * right edge of the window moves back. A failure prints the whole conversation.
 */
#ifndef SCPS_TESTS_SCRIPT_H
#define SCPS_TESTS_SCRIPT_H

#include <scps/conn.h>
#include <scps/stack.h>
#include <scps/wire.h>

#include "cmocka_all.h"

#define MS(n)   SCPS_MS(n)
#define SEC(n)  SCPS_SEC(n)
#define ZERO    INT32_MIN /* where zero is meant */
#define NO_FLAG 0x8000    /* a segment without any flag */

struct script_range {
    int64_t left, right; /* relative, [left, right) */
};

/* A segment of the peer's. What is left out is filled in as a well-behaved peer would. */
struct script_say {
    bool as_usual;  /* nothing: lets a call name no field */
    int64_t seq;    /* default: its next octet */
    int64_t ack;    /* default: the same as last time */
    int32_t len;    /* octets of its stream, after the pattern */
    uint16_t flags; /* default: ACK; PSH too with data. NO_FLAG: none */
    int32_t wnd;    /* as on the wire; default: the same as last time */
    uint16_t urg;
    struct script_range sack[SCPS_SACK_MAX]; /* of our stream */
    struct {
        uint16_t offset, size;
    } snack[1]; /* units of the MSS; size 0: none */
    uint8_t snack_vec[8], snack_vec_len;
    /* options of a SYN, instead of the peer's own (script.peer) */
    bool bare;            /* no option at all, timestamps included */
    int64_t tsval, tsecr; /* default: its clock in ms, the newest value it has seen */
    uint8_t tos;
    uint8_t outer_ecn; /* of the tunnel's header, beside the packet */
    bool record, corruption;
    uint16_t port; /* default: its own; of another flow seq and ack are absolute */
    bool as_tcp;   /* not compressed, though agreed */
    bool raw;      /* seq and ack are absolute */
    bool bad_checksum;
    scps_dur late; /* the packet arrived this much earlier than it is handed in */
    bool more;     /* it is not the last of a batch: the stack is asked for output behind that */
};

/* A segment of the stack's, as it should be. */
struct script_want {
    bool as_usual;
    scps_time at;       /* when it left; the script runs up to there. 0: any time */
    scps_dur slack;     /* and up to this much later */
    int64_t from;       /* first octet */
    int32_t len;        /* always compared */
    uint16_t flags;     /* exactly these, PSH aside; 0: ACK and perhaps PSH. NO_FLAG: none */
    bool push, no_push; /* PSH must, must not be there */
    int64_t ack;
    int32_t wnd;                             /* as on the wire */
    struct script_range sack[SCPS_SACK_MAX]; /* of the peer's stream, exactly these */
    bool no_sack;
    struct {
        uint16_t offset, size;
    } snack[1];
    bool no_snack;
    uint16_t has, hasnt; /* options that must, must not be there */
    uint16_t port;       /* the flow's; default: the peer's */
    uint32_t wire;       /* length of the packet */
    bool compressed;     /* it came with a compressed header; else it must not have */
    bool any_len;
};

struct script_syn { /* what the peer's SYN offers */
    uint16_t mss;   /* 0: no option */
    bool sack, ts;
    int wscale;   /* -1: none */
    uint8_t caps; /* 0: no capabilities option */
    /* With SCPS_CAP_COM: what it sends under, and the checksum's protocol (0: 105). */
    uint8_t conn_id, comp_proto;
};

struct script {
    /* to change before opening */
    struct scps_stack_config stack_cfg;
    struct scps_conn_config cfg; /* no timestamps, no window scale, MSS 1000: round numbers */
    struct script_syn peer;      /* MSS 1000, SACK */
    int32_t peer_wnd;            /* 65535 */
    uint32_t mtu;                /* 1500 */
    uint32_t peer_isn;
    unsigned backlog;
    bool window_may_shrink; /* do not check the right edge */

    struct scps_stack *st;
    struct scps_conn *c;
    struct scps_listener *l;
    struct scps_netif nif;
    struct scps_endpoint us, them;
    struct scps_seg last; /* the segment last expected, as it was; no data */
    uint64_t notes[SCPS_NOTE_COUNT];
    struct script_priv *p;
};

/* version 4 or 6. */
struct script *script_new(uint8_t version);
/* Fails if packets are left that nobody expected; frees all. */
void script_free_(struct script *t, const char *file, int line);

/* Makes the stack, if that has not happened. The openers do it themselves. */
void script_start(struct script *t);
/* Starts an active open at `at`: the SYN is not yet expected. */
void script_connect(struct script *t, scps_time at);
/* Listens on t->us. */
void script_listen(struct script *t);
/* A whole active open that takes until rtt; its segments and events are used up. */
void script_established_(struct script *t, scps_dur rtt, const char *file, int line);
/* A whole passive open, accepted. */
void script_accepted_(struct script *t, scps_dur rtt, const char *file, int line);

/* Lets time pass. */
void script_run(struct script *t, scps_time until);
scps_time script_now(const struct script *t);
/* Throws away what was sent so far; returns how many segments. */
unsigned script_forget_sent(struct script *t);
unsigned script_sent_count(const struct script *t);
void script_forget_events(struct script *t);
struct scps_info script_info(const struct script *t);

void script_peer_says(struct script *t, scps_time at, const struct script_say *s, const char *file,
                      int line);
/* An ICMP error about our newest segment: type and code of the script's family, rest: the four
 * octets after the checksum. seq: relative, of the segment quoted; ZERO: the oldest outstanding. */
void script_peer_icmp(struct script *t, scps_time at, uint8_t type, uint8_t code, uint32_t rest,
                      int64_t seq, const char *file, int line);
/* Any packet at all. */
int script_input(struct script *t, scps_time at, const uint8_t *p, size_t len);
void script_expect_sent(struct script *t, const struct script_want *w, const char *file, int line);
void script_expect_quiet(struct script *t, int hold, const char *file, int line);
void script_expect_event(struct script *t, enum scps_event_kind kind, int err, const char *file,
                         int line);
void script_expect_state(struct script *t, enum scps_state s, const char *file, int line);
void script_app_writes(struct script *t, scps_time at, int64_t n, unsigned flags, const char *file,
                       int line);
/* The application passed over n octets of the peer's stream. */
void script_skip(struct script *t, int64_t n);
void script_app_reads(struct script *t, scps_time at, int64_t n, const char *file, int line);
/* The next packet sent is not TCP: hands it over. Returns its length. */
size_t script_expect_other(struct script *t, uint8_t *p, size_t cap, const char *file, int line);
void script_fail(struct script *t, const char *file, int line, const char *fmt, ...);
void script_comment(struct script *t, const char *fmt, ...);

#define script_free(t)             script_free_(t, __FILE__, __LINE__)
#define script_established(t, rtt) script_established_(t, rtt, __FILE__, __LINE__)
#define script_accepted(t, rtt)    script_accepted_(t, rtt, __FILE__, __LINE__)
#define peer_says(t, at, ...)                                                                      \
    script_peer_says(t, at, &(struct script_say){.as_usual = true, __VA_ARGS__}, __FILE__, __LINE__)
#define peer_icmp(t, at, type, code, rest, seq)                                                    \
    script_peer_icmp(t, at, type, code, rest, seq, __FILE__, __LINE__)
#define expect_sent(t, ...)                                                                        \
    script_expect_sent(t, &(struct script_want){.as_usual = true, __VA_ARGS__}, __FILE__, __LINE__)
/* Nothing was sent that was not expected, and this is what holds the sender; ANY_HOLD: whatever
 * does. */
#define ANY_HOLD              (-1)
#define expect_quiet(t, hold) script_expect_quiet(t, hold, __FILE__, __LINE__)
/* The oldest thing the application has not heard is this. */
#define expect_event(t, kind)     script_expect_event(t, kind, 0, __FILE__, __LINE__)
#define expect_error(t, err)      script_expect_event(t, SCPS_EV_ERROR, err, __FILE__, __LINE__)
#define expect_no_event(t)        script_expect_event(t, SCPS_EV_COUNT, 0, __FILE__, __LINE__)
#define expect_state(t, s)        script_expect_state(t, s, __FILE__, __LINE__)
#define app_writes(t, at, n)      script_app_writes(t, at, n, 0, __FILE__, __LINE__)
#define app_writes_more(t, at, n) script_app_writes(t, at, n, SCPS_MORE, __FILE__, __LINE__)
/* How many a conversation begins: a round trip of 100 ms, and n octets that leave at once, in so
 * many packets. */
#define script_flight(t, at, n, packets)                                                           \
    do {                                                                                           \
        script_established(t, MS(100));                                                            \
        app_writes(t, at, n);                                                                      \
        assert_int_equal(script_forget_sent(t), packets);                                          \
    } while (0)
/* Reads exactly n octets and compares them; 0: the end of the stream. */
#define app_reads(t, at, n)     script_app_reads(t, at, n, __FILE__, __LINE__)
#define expect_other(t, p, cap) script_expect_other(t, p, cap, __FILE__, __LINE__)
/* A test of each family: void name(void **x) starts with struct script *t = script_of(x). */
#define SCRIPT_TEST(name)                                                                          \
    {#name " (IPv4)", name, NULL, NULL, (void *)(uintptr_t)4},                                     \
    {                                                                                              \
#name " (IPv6)", name, NULL, NULL, (void *)(uintptr_t)6                                    \
    }
static inline struct script *script_of(void **x)
{
    return script_new((uint8_t)(uintptr_t)*x);
}
#define expect_that(t, cond)                                                                       \
    ((cond) ? (void)0 : script_fail(t, __FILE__, __LINE__, "does not hold: %s", #cond))

#endif
