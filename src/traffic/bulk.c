/* SPDX-License-Identifier: MIT */
/* A source that writes one stream of data to a connection and then shuts it down for sending, and a
 * sink that reads one connection to its end.
 *
 * Both are driven by the events of their connection: the source writes whenever there may be room,
 * until a write accepts less than it was given; the sink reads whenever there may be data. Neither
 * opens or closes the connection, and neither depends on whether time is real or virtual.
 *
 * Without a function refill the source sends a fixed pattern that repeats after PERIOD octets. The
 * pattern is not generated for each write: the buffer holds CHUNK octets of it and one period more,
 * and a write begins in the buffer at the offset (octets written so far) modulo PERIOD.
 */
#include <scps/traffic.h>

#include <scps/error.h>
#include <stdlib.h>

#define CHUNK  65536
#define PERIOD 95

/* Returns true if the handshake is complete, so that the connection can be written to. */
static bool established(const struct scps_conn *c)
{
    enum scps_state st = scps_conn_state(c);

    return st != SCPS_SYN_SENT && st != SCPS_SYN_RECEIVED;
}

static bool fin_acked(const struct scps_conn *c)
{
    enum scps_state st = scps_conn_state(c);

    return st == SCPS_FIN_WAIT_2 || st == SCPS_TIME_WAIT || st == SCPS_CLOSED;
}

static size_t chunk_of(const struct scps_bulk_source *s)
{
    return s->chunk ? s->chunk : CHUNK;
}

int scps_bulk_source_start(struct scps_bulk_source *s, struct scps_conn *c)
{
    s->conn = c;
    s->written = 0;
    s->finished = s->closed = s->eof = false;
    s->err = 0;
    s->buf = NULL;
    s->fill = s->used = 0;
    if (!s->hollow || s->refill) {
        s->buf = malloc(chunk_of(s) + PERIOD);
        if (!s->buf)
            return SCPS_ERR_NOMEM;
        if (!s->refill)
            scps_pattern_fill(s->buf, chunk_of(s) + PERIOD, 0);
    }
    if (established(c))
        scps_bulk_source_run(s);
    return 0;
}

/* Sets *p to the next bytes that the source has to write (NULL: they are counted, not stored).
 * Returns their number; 0: the stream has ended; negative: the error of the function refill. */
static int64_t next_bytes(struct scps_bulk_source *s, const uint8_t **p)
{
    uint64_t left = s->total - s->written;
    size_t chunk = chunk_of(s);
    int64_t n;

    /* The connection did not accept all bytes of the last write, so those left are next. */
    if (s->used < s->fill) {
        *p = s->hollow ? NULL : s->buf + s->used;
        return (int64_t)(s->fill - s->used);
    }
    if (s->eof || left == 0)
        return 0;
    if (left < chunk)
        chunk = (size_t)left;
    if (!s->refill) {
        *p = s->hollow ? NULL : s->buf + s->written % PERIOD;
        return (int64_t)chunk;
    }
    n = s->refill(s->ctx, s->buf, chunk);
    s->used = 0;
    s->fill = n > 0 ? (size_t)n : 0;
    if (n == 0)
        s->eof = true;
    *p = s->hollow ? NULL : s->buf;
    return n;
}

/* Returns how many of the next n bytes may be written at once, because they belong to one record.
 * Sets *flags to SCPS_EOR if the record ends with them, otherwise to 0. */
static size_t one_record(const struct scps_bulk_source *s, size_t n, unsigned *flags)
{
    size_t left;

    *flags = 0;
    if (!s->record)
        return n;
    left = s->record - (size_t)(s->written % s->record);
    n = n < left ? n : left;
    if (n == left || s->written + n == s->total)
        *flags = SCPS_EOR;
    return n;
}

void scps_bulk_source_run(struct scps_bulk_source *s)
{
    const uint8_t *p = NULL;
    unsigned flags;

    while (s->conn && !s->err && !s->finished) {
        int64_t n = next_bytes(s, &p), wrote;

        if (n == SCPS_ERR_AGAIN)
            return;
        if (n < 0) {
            s->err = (int)n;
            scps_conn_abort(s->conn);
            s->conn = NULL;
            return;
        }
        if (n == 0) {
            wrote = scps_conn_shutdown(s->conn);
            if (wrote == 0)
                s->finished = true;
            else
                s->err = (int)wrote;
            return;
        }
        n = (int64_t)one_record(s, (size_t)n, &flags);
        wrote = scps_conn_write(s->conn, p, (size_t)n, flags);
        /* The send buffer has no space, or there is no memory. As soon as a write can succeed, the
         * event SCPS_EV_WRITABLE comes, and this function is called again. */
        if (wrote == SCPS_ERR_AGAIN || wrote == SCPS_ERR_NOMEM)
            return;
        if (wrote < 0) {
            s->err = (int)wrote;
            return;
        }
        s->written += (uint64_t)wrote;
        if (s->refill)
            s->used += (size_t)wrote;
    }
}

void scps_bulk_source_event(struct scps_bulk_source *s, const struct scps_event *ev)
{
    if (!s->conn || ev->conn != s->conn)
        return;
    switch (ev->kind) {
    case SCPS_EV_CONNECTED:
    case SCPS_EV_WRITABLE:
        scps_bulk_source_run(s);
        break;
    /* SCPS_EV_DRAINED may have been queued before the source shut the connection down, when all
     * data so far, but not yet the FIN, was acknowledged. So the source is done only if the FIN was
     * acknowledged, too. */
    case SCPS_EV_DRAINED:
    case SCPS_EV_CLOSED:
        if (s->finished && fin_acked(s->conn))
            s->closed = true;
        break;
    case SCPS_EV_ERROR:
        s->err = ev->err;
        break;
    default:
        break;
    }
}

void scps_bulk_source_fini(struct scps_bulk_source *s)
{
    free(s->buf);
    s->buf = NULL;
}

/* Reads the next bytes of the connection and passes them to the function s->take, if that is not
 * NULL. Returns how many (> 0). If take() does not return 0, returns its result; if
 * scps_conn_read() reads nothing, returns 0 (end of the stream) or its SCPS_ERR_* (such as
 * SCPS_ERR_AGAIN). */
static int64_t sink_read(struct scps_bulk_sink *s)
{
    const uint8_t *p;
    size_t len;
    int64_t n;
    int rc;

    if (!s->take)
        return scps_conn_read(s->conn, NULL, SIZE_MAX / 2, 0);
    p = scps_conn_data(s->conn, &len);
    if (p) {
        rc = s->take(s->ctx, p, len);
        return rc != 0 ? rc : scps_conn_read(s->conn, NULL, len, 0);
    }
    /* The bytes cannot be read in place: the connection is hollow (bytes are counted, not stored),
     * or there are none left. */
    n = scps_conn_read(s->conn, NULL, SIZE_MAX / 2, 0);
    if (n <= 0)
        return n;
    rc = s->take(s->ctx, NULL, (size_t)n);
    return rc != 0 ? rc : n;
}

static void end_record(struct scps_bulk_sink *s, bool torn)
{
    if (torn) {
        s->torn++;
        s->record = 0;
        return;
    }
    if (!s->records || s->record < s->record_min)
        s->record_min = s->record;
    if (s->record > s->record_max)
        s->record_max = s->record;
    s->records++;
    s->record = 0;
}

static void took(struct scps_bulk_sink *s, uint64_t n)
{
    unsigned record = scps_conn_record(s->conn);

    s->received += n;
    s->record += n;
    if (record & SCPS_RECORD_END)
        end_record(s, record & SCPS_RECORD_TORN);
}

/* Called when the next bytes are missing, because the peer sends with best effort (SCPS-TP BETS:
 * lost data need not be resent) and this end has given them up: counts and reports the hole, so
 * that reading continues behind it. Does nothing if the missing bytes have arrived in the
 * meantime. */
static void over_hole(struct scps_bulk_sink *s)
{
    struct scps_hole h;

    if (!scps_conn_hole(s->conn, &h, 0))
        return;
    s->holes++;
    s->missing += h.len;
    if (s->hole)
        s->hole(s->ctx, &h);
}

static void at_end(struct scps_bulk_sink *s)
{
    s->eof = true;
    if (s->records && s->record)
        end_record(s, scps_conn_record(s->conn) & SCPS_RECORD_TORN);
}

static void sink_run(struct scps_bulk_sink *s)
{
    while (!s->eof && !s->err) {
        int64_t n = sink_read(s);

        if (n > 0)
            took(s, (uint64_t)n);
        else if (n == 0)
            at_end(s);
        else if (n == SCPS_ERR_AGAIN)
            return;
        else if (n == SCPS_ERR_HOLE)
            over_hole(s);
        else
            s->err = (int)n;
    }
}

void scps_bulk_sink_start(struct scps_bulk_sink *s, struct scps_conn *c)
{
    s->conn = c;
    s->received = 0;
    s->records = s->record_min = s->record_max = s->record = 0;
    s->torn = s->holes = s->missing = 0;
    s->eof = false;
    s->err = 0;
    /* No event comes for data that arrived before the connection was accepted, so it is read
     * now. */
    if (c)
        sink_run(s);
}

void scps_bulk_sink_event(struct scps_bulk_sink *s, const struct scps_event *ev)
{
    if (!s->conn || ev->conn != s->conn)
        return;
    switch (ev->kind) {
    case SCPS_EV_READABLE:
    case SCPS_EV_HOLE:
    case SCPS_EV_PEER_CLOSED:
        sink_run(s);
        break;
    /* Data that arrived before the error can still be read. */
    case SCPS_EV_ERROR:
        sink_run(s);
        if (!s->eof && !s->err)
            s->err = ev->err;
        break;
    default:
        break;
    }
}
