/* SPDX-License-Identifier: MIT */
/* Fuzz target: descriptions of links, and the channel that each describes. The first line of the
 * input is a description, the rest is the contents of every file that it names by '@', and the
 * packets. A channel whose description is accepted must run, count every packet, and deliver none
 * too early. */
#include "fuzz.h"

#include <scps/sim.h>

#include <stdlib.h>
#include <string.h>

struct input {
    const uint8_t *p;
    size_t n;
};

static char *read_file(void *ctx, const char *name, size_t *len, char *why, size_t whylen)
{
    const struct input *in = ctx;
    char *data = malloc(in->n + 1);

    (void)name;
    (void)why;
    (void)whylen;
    MUST(data);
    memcpy(data, in->p, in->n);
    *len = in->n;
    return data;
}

static void done(void *ctx, char *data)
{
    (void)ctx;
    free(data);
}

static void count(void *ctx, const struct scps_verdict *v)
{
    uint64_t *told = ctx;
    char line[SCPS_TRUTH_LINELEN];

    ++*told;
    MUST(v->arrival == SCPS_NEVER || v->arrival >= v->offered);
    MUST(scps_truth_line(v, 0, 0, line) < sizeof line);
}

static void drive(const struct scps_link_config *cfg, const struct input *in)
{
    struct scps_channel *ch = scps_channel_new(cfg, 0, NULL);
    uint8_t data[512];
    scps_time now = 0, last = 0;
    uint64_t told = 0, lost = 0;
    struct scps_link_stats st;
    struct scps_pkt p;

    /* Some numbers are refused only by the channel itself. */
    if (!ch)
        return;
    scps_channel_observe(ch, count, &told);
    for (size_t i = 0; i < in->n && i < 200; i++) {
        size_t len = 1 + in->p[i];
        for (size_t k = 0; k < len; k++)
            data[k] = in->p[(i + k) % in->n];
        p = (struct scps_pkt){.data = data, .len = len, .payload_len = in->p[i] & 64 ? 900 : 0};
        now += (scps_time)in->p[i] * in->p[i] * (in->p[i] & 128 ? 1000 : 1);
        MUST(scps_channel_offer(ch, now, &p) == 0);
        while (scps_channel_peek(ch, now, &p)) {
            MUST(p.at >= last && p.at <= now);
            last = p.at;
            scps_channel_pop(ch);
        }
    }
    scps_channel_stats(ch, now, &st);
    for (int f = 0; f < SCPS_FATE_COUNT; f++)
        lost += scps_link_dropped(&st, f);
    MUST(st.offered + st.duplicated == st.delivered + lost + st.in_flight);
    MUST(told <= st.offered);
    scps_channel_free(ch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = memchr(data, '\n', size);
    size_t n = end ? (size_t)(end - data) : size;
    struct input in = {data + n, size - n};
    const struct scps_link_files files = {read_file, done, &in};
    struct scps_link_tables *tables = NULL, *more = NULL;
    struct scps_link_config c[2];
    char spec[1024], msg[400], text[SCPS_LINK_TEXTLEN];

    if (n >= sizeof spec)
        return 0;
    memcpy(spec, data, n);
    spec[n] = '\0';
    if (scps_link_parse_tables(spec, &files, &c[0], &c[1], &tables, msg, sizeof msg) != 0) {
        MUST(!tables && msg[0] && !strchr(msg, '\n'));
        return 0;
    }
    for (int i = 0; i < 2; i++) {
        MUST(strlen(scps_link_print(&c[i], text)) < sizeof text);
        drive(&c[i], &in);
    }
    if (scps_link_update(spec, &files, &c[0], &c[1], &more, msg, sizeof msg) == 0)
        drive(&c[0], &in);
    scps_link_tables_free(tables);
    scps_link_tables_free(more);
    return 0;
}
