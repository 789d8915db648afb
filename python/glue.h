/* SPDX-License-Identifier: MIT */
/* What the Python module calls: plain functions over the public interface. python/build_ffi.py
 * gives this file to cffi, so it has no more C than cffi reads. */
#ifndef SCPS_PYTHON_GLUE_H
#define SCPS_PYTHON_GLUE_H

#include <stddef.h>
#include <stdint.h>

struct scps_conn;
struct scps_host;
struct scps_link;
struct scps_listener;
struct scps_netif;
struct scps_stack;

/* ---- settings of connections: the rows of <scps/settings.def> ---- */

int py_settings(void); /* how many there are */
const char *py_setting_name(int i);
int py_setting_kind(int i);          /* 0 flag, 1 count, 2 bytes, 3 rate, 4 time, 5 choice */
const char *py_setting_words(int i); /* of a choice, by value; NULL: none */
const char *py_setting_help(int i);

struct py_config;
struct py_config *py_config_new(void); /* the library's defaults; NULL: no memory */
void py_config_free(struct py_config *c);
/* value: in the field's unit. 0, or SCPS_ERR_RANGE with the bounds in msg. */
int py_config_set(struct py_config *c, int i, int64_t value, char *msg, size_t msglen);
int64_t py_config_get(const struct py_config *c, int i);
int py_config_cc(struct py_config *c, const char *text, char *msg, size_t msglen);

/* ---- figures of a connection: the numbers of struct scps_info ---- */

int py_figures(void);
const char *py_figure_name(int i);
int py_figure_unit(int i); /* 0 number, 1 µs, 2 flag */
void py_conn_figures(const struct scps_conn *c, int64_t *out);

/* ---- notes and packets, as they are kept ---- */

struct py_note {
    int64_t at;
    uint32_t host, conn, kind, zero;
    uint64_t arg[4];
};
struct py_packet {
    int64_t offered, left, arrival;
    uint64_t number;
    uint32_t direction, fate, ip_len, payload, seq, ack, flags, zero;
};

/* ---- one transfer, as scps_ttcp --link makes it ---- */

struct py_transfer;
struct py_transfer *py_transfer_new(void);
void py_transfer_free(struct py_transfer *t);
int py_transfer_set(struct py_transfer *t, int i, int64_t value, char *msg, size_t msglen);
int py_transfer_cc(struct py_transfer *t, const char *text, char *msg, size_t msglen);
int py_transfer_link(struct py_transfer *t, const char *spec, char *msg, size_t msglen);
/* rate: bit/s, 0: none; buffer: bytes, 0: chosen; chunk: bytes a write. */
void py_transfer_shape(struct py_transfer *t, uint64_t bytes, uint32_t chunk, uint64_t seed,
                       uint32_t mtu, uint64_t rate, uint32_t buffer, int ipv6, int hollow);
/* Begins it. pcap: a capture at the sender to write; NULL: none. note_mask: 1 << kind of the notes
 * to keep. 0, or an error with a line in msg. */
int py_transfer_begin(struct py_transfer *t, uint64_t note_mask, int packets, const char *pcap,
                      char *msg, size_t msglen);
/* Runs a slice of it. 1: there is more to do; 0: it is over, or timeout µs have passed. */
int py_transfer_run(struct py_transfer *t, int64_t timeout);
/* Takes its figures. 0, or an error with a line in msg. */
int py_transfer_end(struct py_transfer *t, char *msg, size_t msglen);
struct py_result {
    int64_t elapsed, delivered; /* FIN acknowledged; last byte read; µs, -1: never */
    uint64_t bytes, limit_bps, packets;
    int done, intact, err;
};
void py_transfer_result(const struct py_transfer *t, struct py_result *out);
/* end 0: the sender, 1: the receiver. */
void py_transfer_figures(const struct py_transfer *t, int end, int64_t *out);
const struct py_note *py_transfer_notes(const struct py_transfer *t, size_t *n);
const struct py_packet *py_transfer_packets(const struct py_transfer *t, size_t *n);

/* ---- asking whether to go on ---- */

typedef int py_go_on_fn(void *ctx); /* 0: stop */

/* ---- a simulated world ---- */

struct py_seen { /* an event */
    int kind, err;
    struct scps_conn *conn;
    struct scps_listener *listener;
};
typedef void py_event_fn(void *ctx, const struct py_seen *ev);
struct py_world;
struct py_world *py_world_new(void);
void py_world_free(struct py_world *w);
int64_t py_world_now(const struct py_world *w);
/* Runs for a slice of the time until `until`. *served is increased by the events served. 1: there
 * is more to do; 0: the end, or py_world_stop() was called. */
int py_world_run(struct py_world *w, int64_t until, uint64_t *served);
void py_world_stop(struct py_world *w);
struct scps_host *py_world_host(struct py_world *w, const char *name, uint64_t seed,
                                uint64_t note_mask, py_event_fn *fn, void *ctx);
/* 0, or an error with a line in msg. */
int py_world_link(struct py_world *w, struct scps_host *a, const char *addr_a, struct scps_host *b,
                  const char *addr_b, unsigned prefix, uint32_t mtu, const char *spec,
                  uint64_t seed, struct scps_link **out, char *msg, size_t msglen);
void py_link_stats(struct scps_link *l, int dir, uint64_t *out); /* 7 numbers, py_link_stat_name */
const char *py_link_stat_name(int i);
const struct py_note *py_world_notes(const struct py_world *w, size_t *n);
void scps_host_kick(struct scps_host *h);
struct scps_stack *scps_host_stack(const struct scps_host *h);

/* ---- scenarios of scps_lab ---- */

struct py_scenario;
/* A scenario that begins; text: all of its file; published: the folder of published values. NULL:
 * no memory. */
struct py_scenario *py_scenario_new(const char *path, const char *text, const char *published);
void py_scenario_free(struct py_scenario *s);
/* Takes a line of its file. continued: it begins with a blank. 0, or an error: SCPS_ERR_INVAL with
 * a message. */
int py_scenario_line(struct py_scenario *s, int line, int continued, const char *section,
                     const char *key, const char *value);
/* Takes a line that begins a section. Returns 0, or an error as py_scenario_line() does. */
int py_scenario_section(struct py_scenario *s, int line, const char *section);
void py_scenario_refuse(struct py_scenario *s, int line, const char *why);
/* The end of the file: applies texts KEY=VALUE, makes the cells. Errors as of a line; after one,
 * only py_scenario_message() and py_scenario_free(). */
int py_scenario_end(struct py_scenario *s, char *const *over, size_t n);
const char *py_scenario_message(const struct py_scenario *s);
struct py_scenario_facts {
    const char *name, *about, *published;
    uint64_t runs, seed, hash;
    int64_t timeout;
    size_t axes, cells;
};
void py_scenario_facts(const struct py_scenario *s, struct py_scenario_facts *out);
const char *py_scenario_axis(const struct py_scenario *s, size_t axis);
const char *py_scenario_value(const struct py_scenario *s, size_t axis, size_t i); /* NULL: end */
uint64_t py_cell_number(const struct py_scenario *s, size_t cell);
const char *py_cell_id(const struct py_scenario *s, size_t cell);
const char *py_cell_value(const struct py_scenario *s, size_t cell, size_t axis);
const char *py_cell_link(const struct py_scenario *s, size_t cell, size_t link, const char **spec);

struct py_job;
struct py_sample {
    int64_t at, srtt;
    uint64_t acked, received, cwnd, inflight, rate_bps, resent;
    uint32_t flow, zero;
};
struct py_job_wishes {
    const char *pcap, *qlog; /* NULL: none */
    uint64_t note_mask;
    int64_t every; /* µs between samples; 0: none */
    int packets;
};
struct py_row {
    const char *flow, *status;
    int64_t start, took;
    double mbps;
    uint64_t bytes, missing, records, torn, segments, resent, timeouts, episodes, errors,
        queue_drops;
};
struct py_job *py_job_new(void);
void py_job_free(struct py_job *j);
/* Runs a cell once. number: of the run, from 1. fn is called now and then. 0, or an error with a
 * line in msg. */
int py_job_run(struct py_job *j, const struct py_scenario *s, size_t cell, unsigned number,
               const struct py_job_wishes *want, py_go_on_fn *fn, void *ctx, char *msg,
               size_t msglen);
size_t py_job_flows(const struct py_job *j);
void py_job_row(const struct py_job *j, size_t flow, struct py_row *out);
void py_job_figures(const struct py_job *j, size_t flow, int64_t *out);
const char *py_job_host(const struct py_job *j, uint32_t i);
const struct py_note *py_job_notes(const struct py_job *j, size_t *n);
const struct py_packet *py_job_packets(const struct py_job *j, size_t *n);
const struct py_sample *py_job_samples(const struct py_job *j, size_t *n);

/* ---- captures, as scps_trace reads them ---- */

struct py_segment {
    int64_t at, rtt; /* rtt: -1: none */
    uint64_t packet, off, ack_off, win, owin, snack_from, snack_to;
    uint32_t conn, seq, ack, len;
    uint16_t flags;
    uint8_t proto, direction, cause, resent, out_of_order, probe, hardware_dup, keepalive;
    uint8_t spurious, zero[5];
};
struct py_traced {
    int64_t first, last;
    uint32_t number, end, port_a, port_b;
    int evicted, began_before;
    char host_a[64], host_b[64], scps_agreed[32];
};
struct py_capture;
struct py_capture *py_capture_new(int segments, py_go_on_fn *go_on, void *ctx);
void py_capture_free(struct py_capture *c);
/* Room for 256 characters at msg. Results of both as of scps_trace_read(). */
int py_capture_truth(struct py_capture *c, const char *path, char *msg);
int py_capture_read(struct py_capture *c, const char *path, char *msg);
int py_capture_end(struct py_capture *c); /* 0, or SCPS_ERR_NOMEM */
const struct py_segment *py_capture_segments(const struct py_capture *c, size_t *n);
const char *py_capture_count_name(size_t i);
void py_capture_totals(const struct py_capture *c, int64_t *first, int64_t *last, uint64_t *counts);
size_t py_capture_conns(const struct py_capture *c);
void py_capture_conn(const struct py_capture *c, size_t i, struct py_traced *out);
/* Figures of directions: 2 * i is a2b of connection i, 2 * i + 1 is b2a. kind: 'U' a count, 'N' one
 * that may be absent, 'D' a number, 'S' words. */
const char *py_traced_name(size_t figure, int *kind, const char **words, const char **unit);
void py_traced_counts(const struct py_capture *c, size_t figure, uint64_t *out);
void py_traced_numbers(const struct py_capture *c, size_t figure, double *out);
const char *py_traced_words(const struct py_capture *c, size_t figure, size_t i);

/* ---- a stack, and what is on it ---- */

struct scps_stack *py_stack_new(uint64_t seed_low, uint64_t seed_high, int64_t now);
void scps_stack_free(struct scps_stack *st);
struct scps_netif *py_netif_new(uint32_t mtu);
void py_netif_free(struct scps_netif *nif);
int py_stack_add_netif(struct scps_stack *st, struct scps_netif *nif);
int py_stack_add_addr(struct scps_stack *st, struct scps_netif *nif, const char *addr,
                      unsigned prefix);
int py_stack_input(struct scps_stack *st, struct scps_netif *nif, const char *data, size_t len,
                   int64_t at);
/* Room for 65535 + 128 bytes at out. The packet's length; 0: none now; an error. */
int64_t py_stack_output(struct scps_stack *st, struct scps_netif *nif, int64_t now, char *out);
int64_t scps_stack_deadline(const struct scps_stack *st);
void scps_stack_advance(struct scps_stack *st, int64_t now);
int py_stack_event(struct scps_stack *st, struct py_seen *out);

struct scps_listener *py_listen(struct scps_stack *st, const struct py_config *c, uint16_t port,
                                unsigned backlog, int *err);
struct scps_conn *py_connect(struct scps_stack *st, const struct py_config *c, const char *addr,
                             uint16_t port, int *err);
struct scps_conn *scps_accept(struct scps_listener *l);
void scps_listener_close(struct scps_listener *l);
int64_t scps_conn_write(struct scps_conn *c, const void *buf, size_t len, unsigned flags);
int64_t scps_conn_read(struct scps_conn *c, void *buf, size_t len, unsigned flags);
int scps_conn_shutdown(struct scps_conn *c);
void scps_conn_close(struct scps_conn *c);
void scps_conn_abort(struct scps_conn *c);
int scps_conn_error(const struct scps_conn *c);
uint32_t scps_conn_id(const struct scps_conn *c);
unsigned scps_conn_record(const struct scps_conn *c);
/* Steps over the hole at which reading stopped: out[0] gets its position in the stream, out[1] its
 * length. Returns 1, or 0 if there is none. */
int py_conn_hole(struct scps_conn *c, uint64_t *out);
/* Writes the first max ranges of written data that best effort gave up, as position and length, to
 * out, which has 2 * max elements. Returns how many there are; max is at most 4096. */
size_t py_conn_given_up(const struct scps_conn *c, uint64_t *out, size_t max);
const char *py_conn_state(const struct scps_conn *c);

/* ---- names; NULL beyond the last ---- */

const char *py_note_kind(int kind);
const char *py_note_arg(int kind, unsigned i);
const char *py_fate(int fate);
const char *py_cause(int cause);
const char *py_drop(int drop);
const char *py_event_kind(int kind);
const char *py_error(int err);
const char *py_controller(int i);
const char *py_preset(int i);
const char *py_version(void);
int py_error_again(void);
int py_error_hole(void);
int py_error_nomem(void);
int py_error_system(void);

#endif
