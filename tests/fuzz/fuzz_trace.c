/* SPDX-License-Identifier: MIT */
/* Fuzz target: whole capture files, and every kind of report. Whatever the octets are, reading
 * ends, memory stays within its limit, the counters agree with each other, and the reports can be
 * written.
 *
 * The input is a capture file. The limits are so small that connections are evicted from memory. A
 * second pass over the same octets, in which a function sees every packet, must give the same
 * report.
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <scps/analyze.h>

#include "fuzz.h"

#define MEMORY (3u << 20)

struct seen {
    FILE *out, *list;
    uint64_t evicted, packets;
};

static void on_evict(void *ctx, const struct scps_trace_conn *c)
{
    struct seen *s = ctx;
    MUST(c->evicted);
    scps_trace_json_conn(s->out, c, s->evicted++);
}

static void on_packet(void *ctx, const struct scps_trace_seen *v)
{
    struct seen *s = ctx;
    s->packets++;
    MUST(v->conn > 0);
    if (s->packets < 200)
        scps_trace_text_packet(s->list, v, v->pkt->at);
}

static char *analyse(const char *path, bool watch, size_t *len)
{
    char *text = NULL, *list = NULL, msg[SCPS_TRACE_MSGLEN];
    size_t list_len;
    struct seen seen = {.out = open_memstream(&text, len),
                        .list = open_memstream(&list, &list_len)};
    struct scps_trace_config cfg = {.max_memory = MEMORY,
                                    .max_conns = 40,
                                    .on_evict = on_evict,
                                    .on_packet = watch ? on_packet : NULL,
                                    .ctx = &seen};
    MUST(seen.out && seen.list);
    struct scps_trace *t = scps_trace_new(&cfg);
    MUST(t);
    int r = scps_trace_read(t, path, msg);
    MUST(r <= 1 && r != SCPS_ERR_SYSTEM);
    MUST((r == 0) == (msg[0] == '\0'));
    scps_trace_finish(t);

    struct scps_trace_totals o;
    scps_trace_get_totals(t, &o);
    /* A captured frame may hold several packets, of at least 20 octets each. */
    MUST(o.tcp_packets <= o.bytes / 20);
    MUST(!watch || seen.packets == o.tcp_packets);
    uint64_t peak;
    scps_trace_memory(t, &peak);
    /* The evidence of a connection may exceed the limit until the next eviction. */
    MUST(peak <= 2 * MEMORY + (4u << 20));
    uint32_t n = scps_trace_conns(t);
    MUST(o.conns == n + o.evicted && seen.evicted == o.evicted);
    scps_trace_csv_header(seen.out, ',', 7);
    for (uint32_t i = 0; i < n; i++) {
        struct scps_trace_conn c;
        MUST(scps_trace_conn_info(t, i, &c) == 0);
        const struct scps_trace_dir *d[2] = {&c.a2b, &c.b2a};
        MUST(c.packets == c.a2b.total_packets + c.b2a.total_packets);
        for (int k = 0; k < 2; k++) {
            /* As in tcptrace, a SYN or FIN that is repeated with another sequence number counts as
             * one octet. */
            MUST(d[k]->unique_bytes_sent <=
                 d[k]->actual_data_bytes + d[k]->syn_pkts_sent + d[k]->fin_pkts_sent);
            MUST(d[k]->actual_data_pkts <= d[k]->total_packets);
            MUST(d[k]->rexmt_data_pkts <= d[k]->total_packets);
            MUST(d[k]->pure_acks_sent <= d[k]->ack_pkts_sent);
        }
        scps_trace_json_conn(seen.out, &c, i);
        scps_trace_csv_row(seen.out, &c, ',', 7);
        scps_trace_text_brief(seen.out, &c, 40);
        scps_trace_text_long(seen.out, &c, "file", 7);
    }
    scps_trace_json_end(seen.out, t, &path, 1, msg);
    scps_trace_free(t);
    fclose(seen.out);
    fclose(seen.list);
    free(list);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    int fd = memfd_create("capture", MFD_CLOEXEC);
    if (fd < 0)
        return 0;
    MUST(write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    size_t n1, n2;
    char *a = analyse(path, false, &n1), *b = analyse(path, true, &n2);
    MUST(n1 == n2 && memcmp(a, b, n1) == 0);
    free(a);
    free(b);
    close(fd);
    return 0;
}
