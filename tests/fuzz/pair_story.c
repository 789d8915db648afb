/* SPDX-License-Identifier: MIT */
/* Prints what happens in a run: packets, also with compressed headers, and the notes in which the
 * stacks report their decisions. FUZZ_LOUD in the environment asks for it. */
#include "pair.h"

#include <stdarg.h>
#include <stdlib.h>

void pair_log(const struct world *w, const char *fmt, ...)
{
    va_list ap;

    if (!w->loud)
        return;
    fprintf(stderr, "%14.6f ", (double)w->now / 1e6);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
}

/* Writes the fields of a compressed header as text. Fields that it leaves out are shown as 0 with a
 * question mark. */
static const char *compressed(const uint8_t *p, size_t len, size_t total, char *line, size_t cap)
{
    const struct scps_comp_rx known = {.known = true};
    struct scps_seg s;
    struct scps_ip ip;
    int n;

    if (scps_ip_parse(p, len, total, &ip) || ip.proto != SCPS_IPPROTO_SCPS_COMP ||
        scps_comp_parse(p + ip.hdr_len, len - ip.hdr_len, total - ip.hdr_len, &known, &s))
        return scps_print_packet(p, len, line, cap);
    n = snprintf(line, cap, "compressed id %u%s%s%s seq %u%s:%u ack %u%s win %u", p[ip.hdr_len],
                 s.flags & SCPS_FIN ? " FIN" : "", s.flags & SCPS_RST ? " RST" : "",
                 s.has & SCPS_HAS_RECORD ? " record" : "", s.seq,
                 s.implied & SCPS_IMPLIED_SEQ ? "?" : "", s.seq + s.len, s.ack,
                 s.implied & SCPS_IMPLIED_ACK ? "?" : "", s.wnd);
    if (s.has & SCPS_HAS_TS)
        n += snprintf(line + n, cap - n, " TS val %u ecr %u", s.tsval, s.tsecr);
    if (s.has & SCPS_HAS_SNACK)
        n += snprintf(line + n, cap - n, " snack %u+%u vec %u", s.snack_off, s.snack_size,
                      s.snack_vec_len);
    for (unsigned i = 0; i < s.nsack; i++)
        n += snprintf(line + n, cap - n, " sack %u:%u", s.sack[i].left, s.sack[i].right);
    return line;
}

void pair_log_packet(const struct world *w, const uint8_t *p, size_t len, size_t apart,
                     const char *from, const char *verdict)
{
    char line[400];

    if (w->loud)
        pair_log(w, "%s %s%s%s", from, compressed(p, len, len + apart, line, sizeof line),
                 *verdict ? ": " : "", verdict);
}

static void note(void *ctx, const struct scps_note *n)
{
    const struct host *h = ctx;

    fprintf(stderr, "%14.6f %u * conn %u %s", (double)n->at / 1e6, h->nr, n->conn,
            scps_note_name(n->kind));
    for (unsigned i = 0; i < 4; i++)
        if (scps_note_arg(n->kind, i))
            fprintf(stderr, " %s %llu", scps_note_arg(n->kind, i), (unsigned long long)n->arg[i]);
    fputc('\n', stderr);
}

void pair_story(const struct world *w, struct host *h)
{
    /* The names of the notes to print, separated by commas. */
    const char *kinds = getenv("FUZZ_NOTES");
    struct scps_observer obs = {note, h, 0};

    for (uint32_t k = 0; w->loud && kinds && k < SCPS_NOTE_COUNT; k++) {
        const char *at = strstr(kinds, scps_note_name(k)), *end;
        for (; at; at = strstr(at + 1, scps_note_name(k))) {
            end = at + strlen(scps_note_name(k));
            if ((at == kinds || at[-1] == ',') && (*end == ',' || !*end))
                obs.mask |= UINT64_C(1) << k;
        }
    }
    if (obs.mask)
        scps_stack_set_observer(h->st, &obs);
}
