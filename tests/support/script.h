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
#define ZERO    INT32_MIN /* stands for zero in a field where 0 means "as usual" or "any" */
#define NO_FLAG 0x8000    /* a segment without any flag */

struct script_range {
    int64_t left, right; /* relative sequence numbers, [left, right) */
};

/* A segment that the peer sends. Fields that the test leaves out get the values of a well-behaved
 * peer. */
struct script_say {
    bool as_usual;  /* has no effect: allows a call that sets no other field */
    int64_t seq;    /* relative sequence number; default: the next octet of the peer's stream */
    int64_t ack;    /* relative acknowledgement number; default: that of the peer's last segment */
    int32_t len;    /* octets of payload, from the pattern of the peer's stream */
    uint16_t flags; /* flags; default: ACK, and PSH with data. NO_FLAG: none */
    int32_t wnd;    /* window field as on the wire; default: that of the peer's last segment */
    uint16_t urg;
    struct script_range sack[SCPS_SACK_MAX]; /* SACK blocks: ranges of the stack's stream */
    struct {
        uint16_t offset, size;
    } snack[1]; /* one SNACK, in units of the MSS; size 0: none */
    uint8_t snack_vec[8], snack_vec_len;
    /* options of a SYN, in place of those in script.peer */
    bool bare; /* the segment has no options, not even timestamps */
    /* default: tsval is the peer's clock in ms, tsecr the newest TSval that the peer has
     * received */
    int64_t tsval, tsecr;
    uint8_t tos;
    uint8_t outer_ecn; /* ECN field of the outer header, when the packet comes out of a tunnel */
    bool record, corruption;
    /* source port; default: the peer's. With another port, seq and ack are absolute numbers */
    uint16_t port;
    bool as_tcp; /* true: the header is not compressed, although both ends agreed on compression */
    bool raw;    /* true: seq and ack are absolute numbers */
    bool bad_checksum;
    scps_dur late; /* time by which the packet arrived earlier than it is handed in, µs */
    /* true: more packets of the batch follow, so the stack is not asked for output yet */
    bool more;
};

/* A segment that the stack must send. */
struct script_want {
    bool as_usual;
    scps_time at;   /* time at which the stack sent it; the script runs until then. 0: any time */
    scps_dur slack; /* time after `at` that is still allowed, µs */
    int64_t from;   /* relative sequence number of its first octet */
    int32_t len;    /* octets of payload, which are always compared */
    uint16_t flags; /* the flags, except PSH; 0: ACK, with or without PSH. NO_FLAG: none */
    bool push, no_push; /* PSH must be set; PSH must not be set */
    int64_t ack;
    int32_t wnd; /* window field as on the wire */
    /* the SACK blocks: ranges of the peer's stream, in this order */
    struct script_range sack[SCPS_SACK_MAX];
    bool no_sack;
    struct {
        uint16_t offset, size;
    } snack[1];
    bool no_snack;
    uint16_t has, hasnt; /* options that must be present; options that must not */
    uint16_t port;       /* destination port; default: the peer's */
    uint32_t wire;       /* length of the packet, octets */
    bool compressed;     /* true: its header is compressed; false: it is not */
    bool any_len;
};

struct script_syn { /* options of the peer's SYN */
    uint16_t mss;   /* MSS; 0: no option */
    bool sack, ts;
    int wscale;   /* shift count of the window scale; -1: no option */
    uint8_t caps; /* SCPS capabilities; 0: no option */
    /* With SCPS_CAP_COM: connection id under which the peer sends, and protocol number in its
     * checksums (0: 105). */
    uint8_t conn_id, comp_proto;
};

struct script {
    /* The test may change these fields before it opens a connection. */
    struct scps_stack_config stack_cfg;
    /* default: no timestamps, no window scale and an MSS of 1000, so that numbers are round */
    struct scps_conn_config cfg;
    struct script_syn peer; /* default: MSS 1000 and SACK */
    int32_t peer_wnd;       /* window of the peer's segments; default 65535 */
    uint32_t mtu;           /* default 1500 */
    uint32_t peer_isn;
    unsigned backlog;
    /* true: the right edge of the window may move back (RFC 9293 section 3.8.6) */
    bool window_may_shrink;

    struct scps_stack *st;
    struct scps_conn *c;
    struct scps_listener *l;
    struct scps_netif nif;
    struct scps_endpoint us, them;
    /* the last segment that the test expected, as it was sent; without data */
    struct scps_seg last;
    uint64_t notes[SCPS_NOTE_COUNT];
    struct script_priv *p;
};

/* Opens a script. version: 4 or 6, the IP version. */
struct script *script_new(uint8_t version);
/* Frees all. The test fails if the stack has sent packets that it did not expect. */
void script_free_(struct script *t, const char *file, int line);

/* Opens the stack, unless it is open. The functions that open connections call this one. */
void script_start(struct script *t);
/* Starts an active open at `at`. The test has to expect the SYN. */
void script_connect(struct script *t, scps_time at);
/* Listens on t->us. */
void script_listen(struct script *t);
/* Completes an active open, which takes until rtt. The test need not expect its segments and
 * events. */
void script_established_(struct script *t, scps_dur rtt, const char *file, int line);
/* Completes a passive open, and accepts the connection. */
void script_accepted_(struct script *t, scps_dur rtt, const char *file, int line);

/* Lets virtual time pass until `until`, µs. */
void script_run(struct script *t, scps_time until);
scps_time script_now(const struct script *t);
/* Drops the packets that the stack has sent and the test has not expected. Returns their number. */
unsigned script_forget_sent(struct script *t);
unsigned script_sent_count(const struct script *t);
void script_forget_events(struct script *t);
struct scps_info script_info(const struct script *t);

void script_peer_says(struct script *t, scps_time at, const struct script_say *s, const char *file,
                      int line);
/* Hands in an ICMP error about the stack's newest segment. type, code: those of the script's IP
 * version; rest: the four octets behind the checksum; seq: relative sequence number of the quoted
 * segment; ZERO: the oldest outstanding. */
void script_peer_icmp(struct script *t, scps_time at, uint8_t type, uint8_t code, uint32_t rest,
                      int64_t seq, const char *file, int line);
/* Hands in any packet. Returns what scps_stack_input() returns. */
int script_input(struct script *t, scps_time at, const uint8_t *p, size_t len);
void script_expect_sent(struct script *t, const struct script_want *w, const char *file, int line);
void script_expect_quiet(struct script *t, int hold, const char *file, int line);
void script_expect_event(struct script *t, enum scps_event_kind kind, int err, const char *file,
                         int line);
void script_expect_state(struct script *t, enum scps_state s, const char *file, int line);
void script_app_writes(struct script *t, scps_time at, int64_t n, unsigned flags, const char *file,
                       int line);
/* Opens a connection at 100 ms on which both ends use the Timestamps option, writes n octets at
 * 200 ms, and requires that the first `count` segments sent have 988 octets each. Returns the TSval
 * of the last of them (RFC 7323 section 3.2). */
uint32_t script_timed_flight_(struct script *t, int64_t n, unsigned count, const char *file,
                              int line);
/* Records that the application has skipped n octets of the peer's stream. */
void script_skip(struct script *t, int64_t n);
void script_app_reads(struct script *t, scps_time at, int64_t n, const char *file, int line);
/* Requires that the next packet sent is not TCP, and copies it to p. Returns its length. */
size_t script_expect_other(struct script *t, uint8_t *p, size_t cap, const char *file, int line);
void script_fail(struct script *t, const char *file, int line, const char *fmt, ...);
void script_comment(struct script *t, const char *fmt, ...);

#define script_free(t)                   script_free_(t, __FILE__, __LINE__)
#define script_established(t, rtt)       script_established_(t, rtt, __FILE__, __LINE__)
#define script_timed_flight(t, n, count) script_timed_flight_(t, n, count, __FILE__, __LINE__)
#define script_accepted(t, rtt)          script_accepted_(t, rtt, __FILE__, __LINE__)
#define peer_says(t, at, ...)                                                                      \
    script_peer_says(t, at, &(struct script_say){.as_usual = true, __VA_ARGS__}, __FILE__, __LINE__)
#define peer_icmp(t, at, type, code, rest, seq)                                                    \
    script_peer_icmp(t, at, type, code, rest, seq, __FILE__, __LINE__)
#define expect_sent(t, ...)                                                                        \
    script_expect_sent(t, &(struct script_want){.as_usual = true, __VA_ARGS__}, __FILE__, __LINE__)
/* Requires that the stack has sent nothing that the test has not expected, and that `hold` is the
 * reason why it sends nothing now; ANY_HOLD: any reason. */
#define ANY_HOLD              (-1)
#define expect_quiet(t, hold) script_expect_quiet(t, hold, __FILE__, __LINE__)
/* Requires that the oldest event that the application has not received is this one. */
#define expect_event(t, kind)     script_expect_event(t, kind, 0, __FILE__, __LINE__)
#define expect_error(t, err)      script_expect_event(t, SCPS_EV_ERROR, err, __FILE__, __LINE__)
#define expect_no_event(t)        script_expect_event(t, SCPS_EV_COUNT, 0, __FILE__, __LINE__)
#define expect_state(t, s)        script_expect_state(t, s, __FILE__, __LINE__)
#define app_writes(t, at, n)      script_app_writes(t, at, n, 0, __FILE__, __LINE__)
#define app_writes_more(t, at, n) script_app_writes(t, at, n, SCPS_MORE, __FILE__, __LINE__)
/* Begins a conversation: opens a connection with a round trip of 100 ms and writes n octets, which
 * the stack sends at once in so many packets. */
#define script_flight(t, at, n, packets)                                                           \
    do {                                                                                           \
        script_established(t, MS(100));                                                            \
        app_writes(t, at, n);                                                                      \
        assert_int_equal(script_forget_sent(t), packets);                                          \
    } while (0)
/* Reads exactly n octets and compares them with the pattern; n 0: requires the end of the
 * stream. */
#define app_reads(t, at, n)     script_app_reads(t, at, n, __FILE__, __LINE__)
#define expect_other(t, p, cap) script_expect_other(t, p, cap, __FILE__, __LINE__)
/* Entry for a test that runs once for each IP version. void name(void **x) begins with struct
 * script *t = script_of(x). */
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
