/* SPDX-License-Identifier: MIT */
/* Writes the qlog of a connection (qlog.h).
 *
 * Observer events name octets by their offset in the stream, whereas qlog names packets by number.
 * So the outstanding segments are kept in the order of their offsets, each with the number of the
 * packet that carried it last:
 *
 *      una                            nxt
 *       | 17 | 18 | 31 | 20 | 21 | 22 | ...      31: resent, after 30
 *
 * Records are written without <scps/json.h>, which writes one document over several lines: here one
 * record is one line, and everything in it is a number or a word from a list in this file, except
 * the title, which <scps/json.h> writes.
 */
#include "common/qlog.h"

#include <scps/conn.h>
#include <scps/json.h>
#include <scps/scps.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define RS          '\x1e'
#define FLUSH_EVERY SCPS_MS(100)

struct segment {
    scps_off off;
    uint32_t len;
    bool acked; /* true: a SACK or SNACK option has reported the segment as received */
    uint64_t number;
};

/* Largest number of outstanding segments that are kept. A capture without acknowledgements exceeds
 * this number; the oldest segments are then removed. */
#define MOST (1u << 22)

struct qlog {
    FILE *f;
    bool failed, captured;
    scps_time t0, flushed;
    struct segment *seg; /* ring buffer of the outstanding segments, in the order of their octets */
    size_t room, first, n;
    /* packet numbers for the next packets that this end sends and receives */
    uint64_t sent, received;
    uint64_t cwnd, ssthresh, rate;
    /* phase of the congestion controller (enum scps_cc_phase) that was written last;
     * SCPS_PHASE_NONE: none yet */
    uint32_t cc_phase;
    bool recovering;
    const char *phase;
};

static void begin(struct qlog *q, scps_time at, const char *name)
{
    int64_t us = at > q->t0 ? at - q->t0 : 0;

    fprintf(q->f, "%c{\"time\":%" PRId64 ".%03d,\"name\":\"%s\",\"data\":{", RS, us / 1000,
            (int)(us % 1000), name);
}

static void end_event(struct qlog *q)
{
    fputs("}}\n", q->f);
}

/* Ends the record of an event. If the events come from a capture (q->captured), where the values of
 * this record are inferred from packets, first adds "inferred":true. */
static void end_inferred(struct qlog *q)
{
    if (q->captured)
        fputs(",\"inferred\":true", q->f);
    end_event(q);
}

struct qlog *qlog_begin(FILE *f, const struct qlog_head *h)
{
    struct qlog *q = calloc(1, sizeof *q);
    const char *end_is = h->server ? "server" : "client";

    if (!q)
        return NULL;
    *q = (struct qlog){.f = f, .t0 = h->t0, .flushed = h->t0, .cwnd = 1, .phase = ""};
    q->captured = h->captured;
    fprintf(f, "%c{\"qlog_version\":\"0.3\",\"qlog_format\":\"JSON-SEQ\",\"title\":", RS);
    scps_json_string(&(struct scps_json){.f = f, .indent = ""}, NULL, h->title);
    fputs(",\"trace\":{\"vantage_point\":{\"type\":\"", f);
    fprintf(f, h->captured ? "network\",\"flow\":\"%s" : "%s", end_is);
    fprintf(f,
            "\"},\"common_fields\":{\"protocol_type\":[\"TCP\"],\"time_format\":\"relative\","
            "\"reference_time\":%" PRId64 "}}}\n",
            h->t0_1970 / 1000);
    return q;
}

const char *qlog_refuses(const char *name)
{
    size_t n = strlen(name);
    struct stat st;

    if (!n)
        return "an empty name is none";
    if (!strcmp(name, "-"))
        return "it does not go to standard output, where the report goes: ./- is a file";
    if (name[n - 1] == '/' || !strcmp(name, ".") || !strcmp(name, "..") ||
        (n > 2 && (!strcmp(name + n - 2, "/.") || !strcmp(name + n - 3, "/.."))) ||
        (stat(name, &st) == 0 && S_ISDIR(st.st_mode)))
        return "this is a folder: give a name in it";
    return NULL;
}

uint64_t qlog_mask(void)
{
    static const uint8_t kinds[] = {
        SCPS_NOTE_STATE,    SCPS_NOTE_SENT, SCPS_NOTE_ACKED,  SCPS_NOTE_SACKED, SCPS_NOTE_LOST,
        SCPS_NOTE_RTO,      SCPS_NOTE_CWND, SCPS_NOTE_HOLD,   SCPS_NOTE_PROBE,  SCPS_NOTE_RECOVERY,
        SCPS_NOTE_RECEIVED, SCPS_NOTE_DROP, SCPS_NOTE_OUTAGE, SCPS_NOTE_PHASE};
    uint64_t mask = 0;

    for (size_t i = 0; i < sizeof kinds; i++)
        mask |= UINT64_C(1) << kinds[i];
    return mask;
}

/* ---- functions of the list of outstanding segments and their packet numbers ---- */

static struct segment *at(const struct qlog *q, size_t i)
{
    return &q->seg[(q->first + i) & (q->room - 1)];
}

/* Returns the index of the first outstanding segment that ends above offset off; q->n: none. */
static size_t find_packet(const struct qlog *q, scps_off off)
{
    size_t lo = 0, hi = q->n;

    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (at(q, mid)->off + at(q, mid)->len <= off)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static bool grow(struct qlog *q)
{
    size_t room = q->room ? 2 * q->room : 1024;
    struct segment *seg = malloc(room * sizeof *seg);

    if (!seg)
        return false;
    for (size_t i = 0; i < q->n; i++)
        seg[i] = *at(q, i);
    free(q->seg);
    q->seg = seg;
    q->room = room;
    q->first = 0;
    return true;
}

/* Inserts a segment of len octets at offset off, which was just sent, at index i of the outstanding
 * segments. */
static void insert(struct qlog *q, size_t i, scps_off off, uint32_t len)
{
    if (q->n >= MOST) {
        q->first++;
        q->n--;
        i -= i > 0;
    }
    if (q->n == q->room && !grow(q)) {
        q->failed = true;
        return;
    }
    q->n++;
    for (size_t k = q->n - 1; k > i; k--)
        *at(q, k) = *at(q, k - 1);
    *at(q, i) = (struct segment){off, len, false, q->sent};
}

static void keep_segment(struct qlog *q, scps_off off, uint32_t len)
{
    size_t i;

    if (!len)
        return;
    if (!q->n || off >= at(q, q->n - 1)->off + at(q, q->n - 1)->len) {
        insert(q, q->n, off, len);
        return;
    }
    /* The data was sent before, perhaps in segments of other sizes, or the capture lacks its first
     * transmission. */
    i = find_packet(q, off);
    if (at(q, i)->off >= off + len) {
        insert(q, i, off, len);
        return;
    }
    for (; i < q->n && at(q, i)->off < off + len; i++)
        at(q, i)->number = q->sent;
}

/* ---- functions that write the records, one line of JSON for each ---- */

static void packet_sent(struct qlog *q, const struct scps_note *n)
{
    uint64_t len = n->arg[1];

    keep_segment(q, n->arg[0], (uint32_t)len);
    begin(q, n->at, "transport:packet_sent");
    fprintf(q->f,
            "\"header\":{\"packet_type\":\"1RTT\",\"packet_number\":%" PRIu64
            "},\"raw\":{\"length\":%" PRIu64 "},\"resent\":%s,\"frames\":[",
            q->sent++, len, n->arg[3] ? "true" : "false");
    if (len)
        fprintf(q->f,
                "{\"frame_type\":\"stream\",\"stream_id\":0,\"offset\":%" PRIu64
                ",\"length\":%" PRIu64 "}",
                n->arg[0], len);
    fputc(']', q->f);
    if (n->arg[3])
        end_inferred(q);
    else
        end_event(q);
}

static void begin_ack(struct qlog *q, const struct scps_note *n)
{
    begin(q, n->at, "transport:packet_received");
    fprintf(q->f,
            "\"header\":{\"packet_type\":\"1RTT\",\"packet_number\":%" PRIu64
            "},\"frames\":[{\"frame_type\":\"ack\",\"acked_ranges\":[",
            q->received++);
}

/* State for writing a list of ranges of packet numbers. from, to: first and last number of the
 * range that is being collected, valid if any is true. comma: true if the list has a range already,
 * so that the next one needs a comma before it. */
struct ranges {
    uint64_t from, to;
    bool any, comma;
};
static void range_out(struct qlog *q, struct ranges *r)
{
    if (r->any)
        fprintf(q->f, "%s[%" PRIu64 ",%" PRIu64 "]", r->comma ? "," : "", r->from, r->to);
    r->comma |= r->any;
    r->any = false;
}
static void range_add(struct qlog *q, struct ranges *r, uint64_t number)
{
    if (r->any && number == r->to + 1) {
        r->to = number;
        return;
    }
    if (r->any && number >= r->from && number <= r->to)
        return;
    range_out(q, r);
    *r = (struct ranges){number, number, true, r->comma};
}

void qlog_rtt(struct qlog *q, scps_time when, scps_dur rtt)
{
    begin(q, when, "recovery:metrics_updated");
    fprintf(q->f, "\"latest_rtt\":%" PRId64 ".%03u", rtt / 1000, (unsigned)(rtt % 1000));
    end_inferred(q);
}

void qlog_outstanding(struct qlog *q, scps_time when, uint64_t bytes)
{
    begin(q, when, "recovery:metrics_updated");
    fprintf(q->f, "\"bytes_in_flight\":%" PRIu64, bytes);
    end_inferred(q);
}

static void acked(struct qlog *q, const struct scps_note *n)
{
    scps_off una = n->arg[0];
    struct ranges r = {0};

    begin_ack(q, n);
    for (; q->n && at(q, 0)->off + at(q, 0)->len <= una; q->first++, q->n--)
        if (!at(q, 0)->acked)
            range_add(q, &r, at(q, 0)->number);
    range_out(q, &r);
    fputs("]}]", q->f);
    end_event(q);
    if ((int64_t)n->arg[2] > 0)
        qlog_rtt(q, n->at, (scps_dur)n->arg[2]);
}

static void sacked(struct qlog *q, const struct scps_note *n)
{
    struct ranges r = {0};

    begin_ack(q, n);
    for (size_t i = find_packet(q, n->arg[0]);
         i < q->n && at(q, i)->off + at(q, i)->len <= n->arg[1]; i++) {
        if (!at(q, i)->acked)
            range_add(q, &r, at(q, i)->number);
        at(q, i)->acked = true;
    }
    range_out(q, &r);
    fputs("]}]", q->f);
    end_event(q);
}

static const char *trigger(uint64_t evidence)
{
    switch (evidence) {
    case SCPS_BY_RTO:
        return "pto_expired";
    case SCPS_BY_RACK:
    case SCPS_BY_AGE:
        return "time_threshold";
    default:
        return "reordering_threshold";
    }
}

static void lost(struct qlog *q, const struct scps_note *n)
{
    scps_off to = n->arg[0] + n->arg[1];

    for (size_t i = find_packet(q, n->arg[0]); i < q->n && at(q, i)->off < to; i++) {
        begin(q, n->at, "recovery:packet_lost");
        fprintf(q->f,
                "\"header\":{\"packet_type\":\"1RTT\",\"packet_number\":%" PRIu64
                "},\"trigger\":\"%s\",\"cause\":\"%s\",\"evidence\":\"%s\"",
                at(q, i)->number, trigger(n->arg[3]),
                scps_loss_cause_name((enum scps_loss_cause)n->arg[2]),
                scps_evidence_name((enum scps_evidence)n->arg[3]));
        end_inferred(q);
    }
}

static void phase(struct qlog *q, const struct scps_note *n)
{
    const char *is = q->cc_phase             ? scps_cc_phase_name(q->cc_phase)
                     : q->recovering         ? "recovery"
                     : q->cwnd < q->ssthresh ? "slow_start"
                                             : "congestion_avoidance";

    if (!strcmp(is, q->phase))
        return;
    begin(q, n->at, "recovery:congestion_state_updated");
    if (*q->phase)
        fprintf(q->f, "\"old\":\"%s\",", q->phase);
    fprintf(q->f, "\"new\":\"%s\"", is);
    end_event(q);
    q->phase = is;
}

static void metrics(struct qlog *q, const struct scps_note *n)
{
    uint64_t cwnd = n->arg[0], ssthresh = n->arg[1], rate = n->arg[2];

    begin(q, n->at, "recovery:metrics_updated");
    fprintf(q->f, "\"bytes_in_flight\":%" PRIu64, n->arg[3]);
    if (cwnd != q->cwnd && cwnd != SCPS_CWND_OPEN)
        fprintf(q->f, ",\"congestion_window\":%" PRIu64, cwnd);
    if (ssthresh != q->ssthresh && ssthresh != UINT64_MAX)
        fprintf(q->f, ",\"ssthresh\":%" PRIu64, ssthresh);
    if (rate != q->rate)
        fprintf(q->f, ",\"pacing_rate\":%" PRIu64, 8 * rate);
    end_event(q);
    q->cwnd = cwnd;
    q->ssthresh = ssthresh;
    q->rate = rate;
    phase(q, n);
}

static void received(struct qlog *q, const struct scps_note *n)
{
    begin(q, n->at, "transport:packet_received");
    fprintf(q->f,
            "\"header\":{\"packet_type\":\"1RTT\",\"packet_number\":%" PRIu64
            "},\"raw\":{\"length\":%" PRIu64 "},\"frames\":[{\"frame_type\":\"stream\","
            "\"stream_id\":0,\"offset\":%" PRIu64 ",\"length\":%" PRIu64 "}]",
            q->received++, n->arg[1], n->arg[0], n->arg[1]);
    end_event(q);
}

static void others(struct qlog *q, const struct scps_note *n)
{
    static const char *const probe[] = {"zero_window", "keep_alive", "tail"};

    switch (n->kind) {
    case SCPS_NOTE_STATE:
        begin(q, n->at, "connectivity:connection_state_updated");
        fprintf(q->f, "\"old\":\"%s\",\"new\":\"%s\"", scps_state_name((enum scps_state)n->arg[0]),
                scps_state_name((enum scps_state)n->arg[1]));
        break;
    case SCPS_NOTE_RTO:
        begin(q, n->at, "recovery:loss_timer_updated");
        fprintf(q->f,
                "\"timer_type\":\"pto\",\"event_type\":\"expired\",\"rto\":%" PRIu64
                ".%03u,\"backoff\":%" PRIu64,
                n->arg[1] / 1000, (unsigned)(n->arg[1] % 1000), n->arg[2]);
        break;
    case SCPS_NOTE_HOLD:
        begin(q, n->at, "scps:hold");
        fprintf(q->f, "\"why\":\"%s\",\"bytes_in_flight\":%" PRIu64,
                scps_hold_name((enum scps_hold)n->arg[0]), n->arg[2]);
        break;
    case SCPS_NOTE_PROBE:
        begin(q, n->at, "scps:probe");
        fprintf(q->f, "\"kind\":\"%s\"", n->arg[0] < 3 ? probe[n->arg[0]] : "other");
        break;
    case SCPS_NOTE_OUTAGE:
        begin(q, n->at, "scps:outage");
        fprintf(q->f, "\"out\":%s,\"inferred\":%s", n->arg[0] ? "true" : "false",
                n->arg[1] ? "true" : "false");
        break;
    case SCPS_NOTE_DROP:
        begin(q, n->at, "transport:packet_dropped");
        fprintf(q->f, "\"raw\":{\"length\":%" PRIu64 "},\"trigger\":\"%s\"", n->arg[2],
                scps_drop_name((enum scps_drop)n->arg[0]));
        break;
    default:
        return;
    }
    end_event(q);
}

void qlog_note(struct qlog *q, const struct scps_note *n)
{
    switch (n->kind) {
    case SCPS_NOTE_SENT:
        packet_sent(q, n);
        break;
    case SCPS_NOTE_ACKED:
        acked(q, n);
        break;
    case SCPS_NOTE_SACKED:
        sacked(q, n);
        break;
    case SCPS_NOTE_LOST:
        lost(q, n);
        break;
    case SCPS_NOTE_CWND:
        metrics(q, n);
        break;
    case SCPS_NOTE_RECOVERY:
        q->recovering = n->arg[0] == 1;
        phase(q, n);
        break;
    case SCPS_NOTE_PHASE:
        q->cc_phase = (uint32_t)n->arg[0];
        phase(q, n);
        break;
    case SCPS_NOTE_RECEIVED:
        received(q, n);
        break;
    default:
        others(q, n);
        break;
    }
    if (n->at - q->flushed >= FLUSH_EVERY) {
        q->flushed = n->at;
        fflush(q->f);
    }
}

bool qlog_end(struct qlog *q)
{
    bool ok = !q->failed && fflush(q->f) == 0 && !ferror(q->f);

    free(q->seg);
    free(q);
    return ok;
}
