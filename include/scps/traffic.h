/* SPDX-License-Identifier: MIT */
/* Workloads on the public API, the same in virtual and real time: shared by tests, simulator and
 * programs. */
#ifndef SCPS_TRAFFIC_H
#define SCPS_TRAFFIC_H

#include <scps/conn.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Fills len bytes of the ttcp pattern (0x20 to 0x7e repeating) as they stand at stream position
 * pos. */
SCPS_API void scps_pattern_fill(void *buf, size_t len, uint64_t pos);
/* Returns true if these len bytes are those of the pattern from position pos on. */
SCPS_API bool scps_pattern_check(const void *buf, size_t len, uint64_t pos);

/* Sends one stream and shuts down. Embedded by value; feed it every event of its connection. */
struct scps_bulk_source {
    /* The caller sets the fields of this group before scps_bulk_source_start. */
    uint64_t total; /* bytes to send; UINT64_MAX: until refill returns 0 */
    size_t chunk;   /* bytes of each write call; 0: 64 KiB */
    bool hollow;    /* write NULL */
    size_t record;  /* length of each record, bytes; the last may be shorter; 0: no records */
    /* Puts up to len bytes at buf; returns how many, 0 at the end, SCPS_ERR_AGAIN to be asked again
     * by scps_bulk_source_run, another error to abort. NULL: the ttcp pattern. */
    int64_t (*refill)(void *ctx, void *buf, size_t len);
    void *ctx;
    /* results */
    struct scps_conn *conn;
    uint64_t written; /* bytes that the send buffer has accepted */
    bool finished;    /* all written and shut down */
    bool closed;      /* our FIN has been acknowledged (SCPS_EV_DRAINED after shutdown) */
    int err;          /* the error that ended it; 0 */
    /* private */
    uint8_t *buf;
    size_t fill, used;
    bool eof;
};
/* SCPS_ERR_NOMEM or 0. Writing begins when the connection is established, or at once when it is. */
SCPS_API int scps_bulk_source_start(struct scps_bulk_source *s, struct scps_conn *c);
SCPS_API void scps_bulk_source_event(struct scps_bulk_source *s, const struct scps_event *ev);
/* Continues after refill returned SCPS_ERR_AGAIN. */
SCPS_API void scps_bulk_source_run(struct scps_bulk_source *s);
/* Frees the buffer; the connection stays open. */
SCPS_API void scps_bulk_source_fini(struct scps_bulk_source *s);

/* Reads one stream to its end. */
struct scps_bulk_sink {
    /* Called with len bytes that were read; NULL: they are discarded. data NULL: hollow bytes.
     * Returns 0, or an error to abort. */
    int (*take)(void *ctx, const void *data, size_t len);
    /* Best effort: called for each hole before the bytes behind it. May be NULL. */
    void (*hole)(void *ctx, const struct scps_hole *h);
    void *ctx;
    struct scps_conn *conn;
    uint64_t received;
    /* records read to their end; the end of the stream ends the last one */
    uint64_t records;
    uint64_t record_min, record_max; /* bytes; 0 before the first */
    uint64_t record;                 /* bytes of the record being read */
    /* records with missing bytes, which no other counter includes */
    uint64_t torn;
    uint64_t holes, missing; /* best effort: number of holes, and bytes in them */
    bool eof;
    int err;
};
/* Attaches the sink to c and reads what has arrived. c NULL (nothing was accepted): does
 * nothing. */
SCPS_API void scps_bulk_sink_start(struct scps_bulk_sink *s, struct scps_conn *c);
SCPS_API void scps_bulk_sink_event(struct scps_bulk_sink *s, const struct scps_event *ev);

#ifdef __cplusplus
}
#endif
#endif
