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
 * The file is a JSON text sequence (RFC 7464): each record is one line, after an octet RS.
 */
#include "common/qlog.h"

#include <scps/conn.h>
#include <scps/json.h>
#include <scps/scps.h>

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
    struct scps_json j; /* the record being written */
    char text[1024];    /* text of that record that is not in the file yet */
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

/* Begins a record. */
static void begin_record(struct scps_json *j)
{
    fputc(RS, j->f);
    j->comma = false;
    scps_json_open(j, NULL, '{');
}

/* Begins the record of an event, up to the first item of its data. */
static void begin(struct qlog *q, scps_time at, const char *name)
{
    begin_record(&q->j);
    scps_json_milliseconds(&q->j, "time", at - q->t0);
    scps_json_string(&q->j, "name", name);
    scps_json_open(&q->j, "data", '{');
}

static void end_event(struct qlog *q)
{
    scps_json_close(&q->j, '}');
    scps_json_close(&q->j, '}');
}

/* Ends the record of an event. If the events come from a capture (q->captured), where the values of
 * this record are inferred from packets, first adds "inferred":true. */
static void end_inferred(struct qlog *q)
{
    if (q->captured)
        scps_json_bool(&q->j, "inferred", true);
    end_event(q);
}

struct qlog *qlog_begin(FILE *f, const struct qlog_head *h)
{
    struct qlog *q = calloc(1, sizeof *q);
    const char *end_is = h->server ? "server" : "client";
    struct scps_json *j;

    if (!q)
        return NULL;
    *q = (struct qlog){.j = {.f = f, .room = q->text, .size = sizeof q->text},
                       .t0 = h->t0,
                       .flushed = h->t0,
                       .cwnd = 1,
                       .phase = ""};
    q->captured = h->captured;
    j = &q->j;
    begin_record(j);
    scps_json_string(j, "qlog_version", "0.3");
    scps_json_string(j, "qlog_format", "JSON-SEQ");
    scps_json_string(j, "title", h->title);
    scps_json_open(j, "trace", '{');
    scps_json_open(j, "vantage_point", '{');
    scps_json_string(j, "type", h->captured ? "network" : end_is);
    if (h->captured)
        scps_json_string(j, "flow", end_is);
    scps_json_close(j, '}');
    scps_json_open(j, "common_fields", '{');
    scps_json_open(j, "protocol_type", '[');
    scps_json_string(j, NULL, "TCP");
    scps_json_close(j, ']');
    scps_json_string(j, "time_format", "relative");
    scps_json_int(j, "reference_time", h->t0_1970 / 1000);
    scps_json_close(j, '}');
    scps_json_close(j, '}');
    scps_json_close(j, '}');
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

static void packet_header(struct qlog *q, uint64_t number)
{
    scps_json_open(&q->j, "header", '{');
    scps_json_string(&q->j, "packet_type", "1RTT");
    scps_json_uint(&q->j, "packet_number", number);
    scps_json_close(&q->j, '}');
}

static void raw_length(struct qlog *q, uint64_t len)
{
    scps_json_open(&q->j, "raw", '{');
    scps_json_uint(&q->j, "length", len);
    scps_json_close(&q->j, '}');
}

/* Writes the list of frames of a packet with len octets of data at offset off. */
static void data_frames(struct qlog *q, scps_off off, uint64_t len)
{
    scps_json_open(&q->j, "frames", '[');
    if (len) {
        scps_json_open(&q->j, NULL, '{');
        scps_json_string(&q->j, "frame_type", "stream");
        scps_json_uint(&q->j, "stream_id", 0);
        scps_json_uint(&q->j, "offset", off);
        scps_json_uint(&q->j, "length", len);
        scps_json_close(&q->j, '}');
    }
    scps_json_close(&q->j, ']');
}

static void packet_sent(struct qlog *q, const struct scps_note *n)
{
    uint64_t len = n->arg[1];

    keep_segment(q, n->arg[0], (uint32_t)len);
    begin(q, n->at, "transport:packet_sent");
    packet_header(q, q->sent++);
    raw_length(q, len);
    scps_json_bool(&q->j, "resent", n->arg[3] != 0);
    data_frames(q, n->arg[0], len);
    if (n->arg[3])
        end_inferred(q);
    else
        end_event(q);
}

static void begin_ack(struct qlog *q, const struct scps_note *n)
{
    begin(q, n->at, "transport:packet_received");
    packet_header(q, q->received++);
    scps_json_open(&q->j, "frames", '[');
    scps_json_open(&q->j, NULL, '{');
    scps_json_string(&q->j, "frame_type", "ack");
    scps_json_open(&q->j, "acked_ranges", '[');
}

static void end_ack(struct qlog *q)
{
    scps_json_close(&q->j, ']');
    scps_json_close(&q->j, '}');
    scps_json_close(&q->j, ']');
    end_event(q);
}

/* State for writing a list of ranges of packet numbers: first and last number of the range that is
 * being collected, valid if any is true. */
struct ranges {
    uint64_t from, to;
    bool any;
};
static void range_out(struct qlog *q, struct ranges *r)
{
    if (!r->any)
        return;
    scps_json_open(&q->j, NULL, '[');
    scps_json_uint(&q->j, NULL, r->from);
    scps_json_uint(&q->j, NULL, r->to);
    scps_json_close(&q->j, ']');
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
    *r = (struct ranges){number, number, true};
}

void qlog_rtt(struct qlog *q, scps_time when, scps_dur rtt)
{
    begin(q, when, "recovery:metrics_updated");
    scps_json_milliseconds(&q->j, "latest_rtt", rtt);
    end_inferred(q);
}

void qlog_outstanding(struct qlog *q, scps_time when, uint64_t bytes)
{
    begin(q, when, "recovery:metrics_updated");
    scps_json_uint(&q->j, "bytes_in_flight", bytes);
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
    end_ack(q);
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
    end_ack(q);
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
        packet_header(q, at(q, i)->number);
        scps_json_string(&q->j, "trigger", trigger(n->arg[3]));
        scps_json_string(&q->j, "cause", scps_loss_cause_name((enum scps_loss_cause)n->arg[2]));
        scps_json_string(&q->j, "evidence", scps_evidence_name((enum scps_evidence)n->arg[3]));
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
        scps_json_string(&q->j, "old", q->phase);
    scps_json_string(&q->j, "new", is);
    end_event(q);
    q->phase = is;
}

static void metrics(struct qlog *q, const struct scps_note *n)
{
    uint64_t cwnd = n->arg[0], ssthresh = n->arg[1], rate = n->arg[2];

    begin(q, n->at, "recovery:metrics_updated");
    scps_json_uint(&q->j, "bytes_in_flight", n->arg[3]);
    if (cwnd != q->cwnd && cwnd != SCPS_CWND_OPEN)
        scps_json_uint(&q->j, "congestion_window", cwnd);
    if (ssthresh != q->ssthresh && ssthresh != UINT64_MAX)
        scps_json_uint(&q->j, "ssthresh", ssthresh);
    if (rate != q->rate)
        scps_json_uint(&q->j, "pacing_rate", 8 * rate);
    end_event(q);
    q->cwnd = cwnd;
    q->ssthresh = ssthresh;
    q->rate = rate;
    phase(q, n);
}

static void received(struct qlog *q, const struct scps_note *n)
{
    begin(q, n->at, "transport:packet_received");
    packet_header(q, q->received++);
    raw_length(q, n->arg[1]);
    data_frames(q, n->arg[0], n->arg[1]);
    end_event(q);
}

static void others(struct qlog *q, const struct scps_note *n)
{
    static const char *const probe[] = {"zero_window", "keep_alive", "tail"};
    struct scps_json *j = &q->j;

    switch (n->kind) {
    case SCPS_NOTE_STATE:
        begin(q, n->at, "connectivity:connection_state_updated");
        scps_json_string(j, "old", scps_state_name((enum scps_state)n->arg[0]));
        scps_json_string(j, "new", scps_state_name((enum scps_state)n->arg[1]));
        break;
    case SCPS_NOTE_RTO:
        begin(q, n->at, "recovery:loss_timer_updated");
        scps_json_string(j, "timer_type", "pto");
        scps_json_string(j, "event_type", "expired");
        scps_json_milliseconds(j, "rto", (scps_dur)n->arg[1]);
        scps_json_uint(j, "backoff", n->arg[2]);
        break;
    case SCPS_NOTE_HOLD:
        begin(q, n->at, "scps:hold");
        scps_json_string(j, "why", scps_hold_name((enum scps_hold)n->arg[0]));
        scps_json_uint(j, "bytes_in_flight", n->arg[2]);
        break;
    case SCPS_NOTE_PROBE:
        begin(q, n->at, "scps:probe");
        scps_json_string(j, "kind", n->arg[0] < 3 ? probe[n->arg[0]] : "other");
        break;
    case SCPS_NOTE_OUTAGE:
        begin(q, n->at, "scps:outage");
        scps_json_bool(j, "out", n->arg[0] != 0);
        scps_json_bool(j, "inferred", n->arg[1] != 0);
        break;
    case SCPS_NOTE_DROP:
        begin(q, n->at, "transport:packet_dropped");
        raw_length(q, n->arg[2]);
        scps_json_string(j, "trigger", scps_drop_name((enum scps_drop)n->arg[0]));
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
        fflush(q->j.f);
    }
}

bool qlog_end(struct qlog *q)
{
    bool ok = !q->failed && fflush(q->j.f) == 0 && !ferror(q->j.f);

    free(q->seg);
    free(q);
    return ok;
}
