/* SPDX-License-Identifier: MIT */
/* Applications that send or receive one stream. They use only the public interface, so they work
 * the same in virtual and in real time. Tests, the simulator and programs share them. */
#ifndef SCPS_TRAFFIC_H
#define SCPS_TRAFFIC_H

#include <scps/conn.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Fills buf with len bytes of the ttcp pattern (0x20 to 0x7e repeating), as it stands at position
 * pos of the stream. */
SCPS_API void scps_pattern_fill(void *buf, size_t len, uint64_t pos);
/* Returns true if the len bytes at buf are those of the ttcp pattern from position pos on. */
SCPS_API bool scps_pattern_check(const void *buf, size_t len, uint64_t pos);

/* Sends one stream and shuts down. The caller owns the structure and passes it every event of its
 * connection. */
struct scps_bulk_source {
    /* The caller sets the fields from here to `ctx` before scps_bulk_source_start(). */
    uint64_t total; /* bytes to send; UINT64_MAX: until refill returns 0 */
    size_t chunk;   /* bytes passed to each call of scps_conn_write(); 0: 64 KiB */
    /* true: the source passes NULL to scps_conn_write(), for a hollow connection (bytes are
     * counted, not stored) */
    bool hollow;
    size_t record; /* length of each record, bytes; the last may be shorter; 0: no records */
    /* The caller's function that provides the bytes to send: it puts up to len bytes at buf and
     * returns how many. 0: the stream ends here. SCPS_ERR_AGAIN: there are no bytes yet; when there
     * are, the caller calls scps_bulk_source_run(). Another error: the connection is aborted.
     * refill NULL: the ttcp pattern is sent. */
    int64_t (*refill)(void *ctx, void *buf, size_t len);
    void *ctx;
    /* The source sets the fields from here to `err`, and the caller reads them. */
    struct scps_conn *conn;
    uint64_t written; /* bytes that the send buffer has accepted */
    bool finished; /* true: all bytes were written, and the connection is shut down for sending */
    /* true: the peer has acknowledged the FIN of this end (SCPS_EV_DRAINED came after the
     * shutdown) */
    bool closed;
    int err; /* SCPS_ERR_* that ended the stream; 0: none */
    /* private to the source */
    uint8_t *buf;
    size_t fill, used;
    bool eof;
};
/* Starts the source on c. Writing begins when the connection is established. Returns 0, or
 * SCPS_ERR_NOMEM. */
SCPS_API int scps_bulk_source_start(struct scps_bulk_source *s, struct scps_conn *c);
/* Writes more of the stream to the connection, and sets `finished`, `closed` and `err`. Call it for
 * every event of the stack; an event of another connection has no effect. */
SCPS_API void scps_bulk_source_event(struct scps_bulk_source *s, const struct scps_event *ev);
/* Continues a transfer that stopped because refill returned SCPS_ERR_AGAIN (no bytes yet). Call it
 * when refill has bytes again. */
SCPS_API void scps_bulk_source_run(struct scps_bulk_source *s);
/* Frees the buffer of the source; the connection stays open. */
SCPS_API void scps_bulk_source_fini(struct scps_bulk_source *s);

/* Reads one stream to its end. */
struct scps_bulk_sink {
    /* The caller's function that gets the bytes read from the connection, len of them at data. data
     * NULL: the connection is hollow (scps_conn_config.hollow: it counts the bytes of its stream
     * instead of storing them, and each stands for a zero). Returns 0, or an error that aborts the
     * connection. take NULL: the bytes are discarded. */
    int (*take)(void *ctx, const void *data, size_t len);
    /* The caller's function that receives each hole: a range of the stream that the receiver with
     * best effort gave up, so that it is never read. Called before `take` gets the bytes behind the
     * hole. NULL: holes are only counted. */
    void (*hole)(void *ctx, const struct scps_hole *h);
    void *ctx;
    struct scps_conn *conn;
    uint64_t received;
    /* records read to their end; the end of the stream ends the last one */
    uint64_t records;
    uint64_t record_min, record_max; /* shortest and longest record, bytes; 0 before the first */
    uint64_t record;                 /* bytes read so far of the record that is being read */
    /* records made incomplete because best effort gave up bytes of them; `records` does not count
     * these */
    uint64_t torn;
    /* With best effort: number of holes (ranges of the stream that this receiver gave up, so that
     * they are never read), and bytes missing in them */
    uint64_t holes, missing;
    bool eof;
    int err;
};
/* Begins to read connection c: reads what has arrived, and keeps c for scps_bulk_sink_event(). c
 * NULL (scps_accept() returned no connection): does nothing. */
SCPS_API void scps_bulk_sink_start(struct scps_bulk_sink *s, struct scps_conn *c);
/* Reads what has arrived, and sets `eof` and `err`. Call it for every event of the stack; an event
 * of another connection has no effect. */
SCPS_API void scps_bulk_sink_event(struct scps_bulk_sink *s, const struct scps_event *ev);

#ifdef __cplusplus
}
#endif
#endif
