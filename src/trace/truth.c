/* SPDX-License-Identifier: MIT */
/* Compares the ground truth of a channel with the capture: whether a retransmission was necessary,
 * and what happened to the earlier copy.
 *
 * The log is CSV with a header line that gives its columns (docs/SCPS_TRACE.md, "The ground-truth
 * log"). The columns used here are time_us, fate, cause, seq, payload, and src, dst, sport, dport
 * as far as they exist. Rows without payload are skipped, because pure acknowledgements are not
 * retransmitted.
 *
 * A retransmission is matched with the row of its flow, sequence number and length that is nearest
 * in time and not matched yet. It was necessary if an octet of it had been delivered by no earlier
 * row.
 */
#include "trace/flow.h"
#include "trace/why.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum fate { FATE_DELIVERED, FATE_CORRUPTED, FATE_QUEUE, FATE_OUTAGE, FATE_OTHER };

/* a line of the ground-truth log, in which the link wrote the fate of each packet: a packet with
 * TCP payload that was offered to the link */
struct row {
    uint64_t flow;
    scps_time at;
    uint32_t seq, len;
    uint8_t fate, matched;
};

struct truth { /* the ground-truth log: what happened to each packet on the link */
    struct row *row;
    size_t n, cap;
    uint32_t longest; /* TCP payload of the longest packet in the log, bytes */
    bool has_src, has_dst, has_sport, has_dport;
};

enum {
    COL_TIME,
    COL_FATE,
    COL_CAUSE,
    COL_SEQ,
    COL_LEN,
    COL_SRC,
    COL_DST,
    COL_SPORT,
    COL_DPORT,
    COLS
};

static const char *const column[COLS] = {"time_us", "fate", "cause", "seq",  "payload",
                                         "src",     "dst",  "sport", "dport"};

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static uint64_t mix_addr(uint64_t h, const uint8_t b[16])
{
    uint64_t v[2];
    memcpy(v, b, 16);
    return mix(mix(h, v[0]), v[1]);
}

static uint64_t flow_id(const struct truth *u, const uint8_t src[16], const uint8_t dst[16],
                        uint16_t sport, uint16_t dport)
{
    uint64_t h = 1;
    if (u->has_src)
        h = mix_addr(h, src);
    if (u->has_dst)
        h = mix_addr(h, dst);
    if (u->has_sport)
        h = mix(h, sport);
    if (u->has_dport)
        h = mix(h, dport);
    return h;
}

static int by_place(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->flow != y->flow)
        return x->flow < y->flow ? -1 : 1;
    if (x->seq != y->seq)
        return x->seq < y->seq ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* Splits the line of CSV at its commas, in place: f[] gets at most max fields. Returns their
 * number. */
static int split(char *line, char **f, int max)
{
    int n = 0;
    line[strcspn(line, "\r\n")] = '\0';
    for (char *p = line; n < max; p++) {
        f[n++] = p;
        if (!(p = strchr(p, ',')))
            break;
        *p = '\0';
    }
    return n;
}

static enum fate fate_of(const char *fate, const char *cause)
{
    static const struct {
        const char *word;
        enum fate fate;
    } causes[] = {
        {"ber", FATE_CORRUPTED},     {"corruption", FATE_CORRUPTED}, {"flip", FATE_CORRUPTED},
        {"flipped", FATE_CORRUPTED}, {"burst", FATE_CORRUPTED},      {"vector", FATE_CORRUPTED},
        {"bits", FATE_CORRUPTED},    {"queue", FATE_QUEUE},          {"codel", FATE_QUEUE},
        {"outage", FATE_OUTAGE},     {"down", FATE_OUTAGE}};
    if (!strcmp(fate, "delivered") || !strcmp(fate, "duplicated") || !strcmp(fate, "duplicate") ||
        !strcmp(fate, "reordered"))
        return FATE_DELIVERED;
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
        if (!strcmp(cause, causes[i].word))
            return causes[i].fate;
    return FATE_OTHER;
}

#define FIELDS 64

struct reader { /* state of the reader of the ground-truth log */
    const char *path;
    char *msg;
    FILE *in;
    long line; /* number of the present line, from 1 */
    /* for each column, the index of its field in a row; -1: the log lacks the column */
    int at[COLS];
    char *f[FIELDS]; /* fields of the line; they point into `text` */
    char text[1024];
};

/* Writes to r->msg the file, the line's number and what is wrong with it. Returns
 * SCPS_ERR_INVAL. */
static int fail(struct reader *r, const char *what)
{
    snprintf(r->msg, SCPS_TRACE_MSGLEN, "%s: line %ld%s", r->path, r->line, what);
    return SCPS_ERR_INVAL;
}

/* Reads the first line of the log, which names the columns, and sets r->at[c] to the position of
 * each column c in a line. Returns 0, or SCPS_ERR_INVAL with a message if a needed column is
 * missing. */
static int read_header(struct reader *r)
{
    int n = fgets(r->text, sizeof r->text, r->in) ? split(r->text, r->f, FIELDS) : 0;
    for (int c = 0; c < COLS; c++) {
        r->at[c] = -1;
        for (int i = 0; i < n; i++)
            if (!strcmp(r->f[i], column[c]))
                r->at[c] = i;
    }
    for (int c = COL_TIME; c <= COL_LEN; c++)
        if (r->at[c] < 0) {
            snprintf(r->msg, SCPS_TRACE_MSGLEN,
                     "%s: not a ground-truth log: its first line names no column '%s'", r->path,
                     column[c]);
            return SCPS_ERR_INVAL;
        }
    return 0;
}

/* Returns the text of column col in the present row; NULL: the log lacks this column. */
static const char *field(const struct reader *r, int col)
{
    return r->at[col] < 0 ? NULL : r->f[r->at[col]];
}

static uint16_t port(const struct reader *r, int col)
{
    const char *s = field(r, col);
    return s ? (uint16_t)strtoul(s, NULL, 10) : 0;
}

static bool address(const struct reader *r, int col, struct scps_addr *out)
{
    const char *s = field(r, col);
    return !s || scps_addr_parse(s, out) == 0;
}

/* Parses the line that was read, the row of one packet in the ground-truth log, into *out. Returns
 * 1; 0 if the packet has no TCP payload, or one of an impossible length, so that no data segment of
 * the capture can be that packet; or an error (SCPS_ERR_*) with a message. */
static int read_row(struct reader *r, const struct truth *u, struct row *out)
{
    int n = split(r->text, r->f, FIELDS);
    for (int c = 0; c < COLS; c++)
        if (r->at[c] >= n)
            return fail(r, " has too few fields");
    char *e1, *e2, *e3;
    *out = (struct row){.at = strtoll(field(r, COL_TIME), &e1, 10),
                        .seq = (uint32_t)strtoull(field(r, COL_SEQ), &e2, 10),
                        .len = (uint32_t)strtoull(field(r, COL_LEN), &e3, 10),
                        .fate = (uint8_t)fate_of(field(r, COL_FATE), field(r, COL_CAUSE))};
    if (e1 == field(r, COL_TIME) || *e1 || *e2 || *e3)
        return fail(r, ": a number is expected in time_us, seq and payload");
    if (!out->len || out->len > 1u << 20)
        return 0;
    struct scps_addr src = {0}, dst = {0};
    if (!address(r, COL_SRC, &src) || !address(r, COL_DST, &dst))
        return fail(r, ": an address is expected in src and dst");
    out->flow = flow_id(u, src.b, dst.b, port(r, COL_SPORT), port(r, COL_DPORT));
    return 1;
}

static int add_row(struct scps_trace *t, struct truth *u, const struct row *row)
{
    if (u->n == u->cap) {
        size_t cap = u->cap ? u->cap * 2 : 4096;
        void *p = scps_tr_grow(t, u->row, u->cap * sizeof *row, cap * sizeof *row);
        if (!p)
            return SCPS_ERR_NOMEM;
        u->row = p;
        u->cap = cap;
    }
    u->longest = SCPS_MAX(u->longest, row->len);
    u->row[u->n++] = *row;
    return 0;
}

static int read_all(struct scps_trace *t, struct reader *r, struct truth *u)
{
    int e = read_header(r);
    if (e < 0)
        return e;
    u->has_src = r->at[COL_SRC] >= 0;
    u->has_dst = r->at[COL_DST] >= 0;
    u->has_sport = r->at[COL_SPORT] >= 0;
    u->has_dport = r->at[COL_DPORT] >= 0;
    for (r->line = 2; fgets(r->text, sizeof r->text, r->in); r->line++) {
        struct row row;
        if (r->text[0] == '#' || r->text[0] == '\n')
            continue;
        e = read_row(r, u, &row);
        if (e < 0)
            return e;
        if (e > 0 && add_row(t, u, &row) < 0) {
            snprintf(r->msg, SCPS_TRACE_MSGLEN, "%s: out of memory", r->path);
            return SCPS_ERR_NOMEM;
        }
    }
    if (u->n)
        qsort(u->row, u->n, sizeof *u->row, by_place);
    return 0;
}

static void truth_free(struct scps_trace *t, struct truth *u)
{
    scps_tr_free(t, u->row, u->cap * sizeof *u->row);
    scps_tr_free(t, u, sizeof *u);
}

int64_t scps_trace_truth(struct scps_trace *t, const char *path, char msg[SCPS_TRACE_MSGLEN])
{
    struct reader r = {.path = path, .msg = msg, .in = fopen(path, "r")};
    if (!r.in) {
        snprintf(msg, SCPS_TRACE_MSGLEN,
                 "%s: %s: give a file that --truth of another program wrote", path,
                 strerror(errno));
        return SCPS_ERR_SYSTEM;
    }
    struct truth *u = scps_tr_alloc(t, sizeof *u);
    int e = u ? read_all(t, &r, u) : SCPS_ERR_NOMEM;
    fclose(r.in);
    if (e < 0) {
        if (u)
            truth_free(t, u);
        return e;
    }
    scps_tr_truth_free(t);
    t->truth = u;
    return (int64_t)u->n;
}

void scps_tr_truth_free(struct scps_trace *t)
{
    if (!t->truth)
        return;
    truth_free(t, t->truth);
    t->truth = NULL;
}

/* Returns the index of the first row of the ground-truth file (one row for each packet, sorted by
 * flow, then by sequence number) that has this flow and a sequence number of at least seq; if there
 * is none, that of the first row of a later flow. */
static size_t seek(const struct truth *u, uint64_t flow, uint32_t seq)
{
    size_t lo = 0, hi = u->n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        const struct row *r = &u->row[mid];
        if (r->flow < flow || (r->flow == flow && r->seq < seq))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

struct cover {
    /* The range [from, to) of a retransmission's payload, counted from its first octet (0), that an
     * earlier copy has delivered. */
    uint32_t from, to;
};

/* Row `self` of the ground-truth log, in which each row is a packet that was offered to the link,
 * is a retransmission. Examines the packets of the same flow that were offered before and have
 * sequence numbers in [lo, hi]. Adds the octets of `self` that they delivered to the ranges c[] (n
 * so far, at most max): if these cover `self`, the retransmission was unnecessary. Sets *lost to
 * the latest of the packets that was not delivered. Returns the new n. */
static unsigned earlier(const struct truth *u, uint64_t flow, uint32_t lo, uint32_t hi,
                        const struct row *self, struct cover *c, unsigned n, unsigned max,
                        const struct row **lost)
{
    for (size_t i = seek(u, flow, lo); i < u->n; i++) {
        const struct row *r = &u->row[i];
        if (r->flow != flow || r->seq > hi)
            break;
        int64_t from = (int32_t)(r->seq - self->seq), to = from + r->len;
        if (r == self || r->at > self->at || to <= 0 || from >= self->len)
            continue;
        if (r->at == self->at && r > self)
            continue;
        if (r->fate == FATE_DELIVERED) {
            if (n < max)
                c[n++] = (struct cover){.from = (uint32_t)SCPS_MAX(from, 0),
                                        .to = (uint32_t)SCPS_MIN(to, (int64_t)self->len)};
        } else if (!*lost || r->at > (*lost)->at) {
            *lost = r;
        }
    }
    return n;
}

/* Returns the row of the log for the packet that was captured at `now`, µs: of those rows with its
 * flow, sequence number and length that were not matched with another packet, the one nearest in
 * time; NULL: there is none. */
static struct row *row_of(struct truth *u, uint64_t flow, uint32_t seq, uint32_t len, scps_time now)
{
    struct row *found = NULL;
    scps_dur best = 0;
    for (size_t i = seek(u, flow, seq); i < u->n; i++) {
        struct row *r = &u->row[i];
        if (r->flow != flow || r->seq != seq)
            break;
        scps_dur d = r->at > now ? r->at - now : now - r->at;
        if (r->len == len && !r->matched && (!found || d < best)) {
            found = r;
            best = d;
        }
    }
    return found;
}

/* Returns how many octets of a payload, from its first on, the n ranges c[] cover without a gap;
 * len or more: all of them. */
static uint32_t covered(const struct cover *c, unsigned n, uint32_t len)
{
    uint32_t have = 0;
    for (bool more = true; more && have < len;) {
        more = false;
        for (unsigned i = 0; i < n; i++)
            if (c[i].from <= have && c[i].to > have) {
                have = c[i].to;
                more = true;
            }
    }
    return have;
}

void scps_tr_truth_judge(struct scps_trace *t, const struct flow *f, int dir, struct conn_dir *h,
                         uint32_t seq, uint32_t len)
{
    struct truth *u = t->truth;
    if (!h->why)
        /* There is no memory for the counters of causes, so the retransmission is not examined. */
        return;
    const struct flow_key *k = &f->key;
    uint64_t flow =
        dir ? flow_id(u, k->b, k->a, k->pb, k->pa) : flow_id(u, k->a, k->b, k->pa, k->pb);
    struct row *self = row_of(u, flow, seq, len, t->now);
    if (!self) {
        h->why->truth_unmatched++;
        return;
    }
    self->matched = 1;
    struct cover c[256];
    const struct row *lost = NULL;
    unsigned n = 0;
    uint32_t lo = seq - (u->longest - 1), hi = seq + len - 1;
    if (lo <= seq && seq <= hi) {
        n = earlier(u, flow, lo, hi, self, c, n, 256, &lost);
    } else { /* The range wraps around 2^32, so it is examined in two parts. */
        n = earlier(u, flow, lo,
                    lo <= seq  ? UINT32_MAX
                    : seq < lo ? UINT32_MAX
                               : seq,
                    self, c, n, 256, &lost);
        n = earlier(u, flow, 0, hi, self, c, n, 256, &lost);
    }
    if (covered(c, n, len) >= len) {
        h->why->truth[1]++;
        return;
    }
    h->why->truth[0]++;
    if (!lost)
        /* The log has no lost packet with octets of this retransmission. It was necessary, because
         * some of its octets are in no packet that was delivered before, so they were lost outside
         * the link that the log describes. */
        h->why->truth[5]++;
    else
        h->why->truth[lost->fate == FATE_CORRUPTED ? 2
                      : lost->fate == FATE_QUEUE   ? 3
                      : lost->fate == FATE_OUTAGE  ? 4
                                                   : 5]++;
}
