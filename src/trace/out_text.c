/* SPDX-License-Identifier: MIT */
/* The report in words, in the layout of tcptrace, for readers and scripts that know it: a line has
 * label, value and unit of a figure for one direction, then for the other. Figures that tcptrace
 * does not have follow below tcptrace's, if they are not zero. */
#define _POSIX_C_SOURCE 200809L /* declares localtime_r() */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "trace/fields.h"

static char *endpoint(const struct scps_endpoint *e, char *buf, size_t cap)
{
    char a[SCPS_ADDR_STRLEN];
    snprintf(buf, cap, "%s:%u", scps_addr_format(&e->addr, a), e->port);
    return buf;
}

static char *stamp(scps_time at, char *buf, size_t cap)
{
    time_t s = (time_t)(at / 1000000);
    struct tm tm;
    char day[32], year[8];
    if (!localtime_r(&s, &tm)) {
        snprintf(buf, cap, "%" PRId64 " us", at);
        return buf;
    }
    strftime(day, sizeof day, "%a %b %e %H:%M:%S", &tm);
    strftime(year, sizeof year, "%Y", &tm);
    snprintf(buf, cap, "%s.%06d %s", day, (int)(at % 1000000), year);
    return buf;
}

static void brief_name(const struct scps_trace_conn *c, char *buf, size_t cap)
{
    char a[64], b[64];
    snprintf(buf, cap, "%s - %s (%s2%s)", endpoint(&c->a, a, sizeof a),
             endpoint(&c->b, b, sizeof b), c->letter_a, c->letter_b);
}

int scps_trace_brief_width(const struct scps_trace_conn *c)
{
    char name[160];
    brief_name(c, name, sizeof name);
    return (int)strlen(name);
}

void scps_trace_text_brief(FILE *f, const struct scps_trace_conn *c, int width)
{
    char name[160];
    brief_name(c, name, sizeof name);
    fprintf(f, "%3" PRIu32 ": %*s %4" PRIu64 "> %4" PRIu64 "<", c->number, -width, name,
            c->a2b.total_packets, c->b2a.total_packets);
    if (c->syns == 2 && c->fins == 2)
        fputs("  (complete)", f);
    if (c->end == SCPS_TRACE_RESET)
        fputs("  (reset)", f);
    if (!c->a2b.total_packets || !c->b2a.total_packets)
        fputs("  (unidirectional)", f);
    if (c->scps_agreed[0])
        fprintf(f, "  (SCPS: %s)", c->scps_agreed);
    if (c->evicted)
        fputs("  (evicted)", f);
    fputc('\n', f);
    const struct scps_trace_dir *d[2] = {&c->a2b, &c->b2a};
    for (int i = 0; i < 2; i++)
        if (d[i]->hardware_dups)
            fprintf(f,
                    "    ** Warning, %s2%s: detected %" PRIu64
                    " hardware duplicate(s) (same seq # and IP ID)\n",
                    i ? c->letter_b : c->letter_a, i ? c->letter_a : c->letter_b,
                    d[i]->hardware_dups);
}

static void value(const struct scps_trace_dir *d, enum field_id i, char *buf, size_t cap,
                  const char **unit)
{
    const struct field *x = &scps_tr_field[i];
    *unit = x->unit;
    switch (x->kind) {
    case 'N':
        if (scps_tr_count(d, i) == SCPS_TRACE_NA) {
            snprintf(buf, cap, "NA");
            *unit = "";
            break;
        }
        /* fall through */
    case 'U':
        snprintf(buf, cap, "%8" PRIu64, scps_tr_count(d, i));
        break;
    case 'D': {
        double v = scps_tr_number(d, i);
        if (isnan(v)) {
            snprintf(buf, cap, "NA");
            if (i != F_idletime_max)
                *unit = "";
        } else if (i == F_throughput || i == F_goodput) {
            snprintf(buf, cap, "%8.0f", v);
        } else if (i == F_data_xmit_time) {
            snprintf(buf, cap, "%7.3f", v);
        } else if (!strcmp(x->unit, "ms")) {
            snprintf(buf, cap, "%8.1f", v);
        } else {
            snprintf(buf, cap, "%8.3f", v);
        }
        break;
    }
    default:
        snprintf(buf, cap, "%s", scps_tr_words(d, i));
    }
}

static void line(FILE *f, const struct scps_trace_conn *c, enum field_id i)
{
    char label[20], v[40];
    const char *unit;
    const struct scps_trace_dir *d[2] = {&c->a2b, &c->b2a};
    snprintf(label, sizeof label, "%s:", scps_tr_field[i].label);
    for (int k = 0; k < 2; k++) {
        value(d[k], i, v, sizeof v, &unit);
        fprintf(f, "     %-18s %9s %-5s", label, v, unit);
    }
    fputc('\n', f);
}

static bool either_direction_has(const struct scps_trace_conn *c, enum field_id i)
{
    return scps_tr_is_nonzero(&c->a2b, i) || scps_tr_is_nonzero(&c->b2a, i);
}

/* Writes figure i (one output field of the report) of both directions of connection c, on a line
 * each. Called for figures whose value is a text, which may be long, and that tcptrace does not
 * have. */
static void long_words(FILE *f, const struct scps_trace_conn *c, enum field_id i)
{
    for (int k = 0; k < 2; k++) {
        const struct scps_trace_dir *d = k ? &c->b2a : &c->a2b;
        if (scps_tr_is_nonzero(d, i))
            fprintf(f, "     %s->%s %s: %s\n", k ? c->letter_b : c->letter_a,
                    k ? c->letter_a : c->letter_b, scps_tr_field[i].label, scps_tr_words(d, i));
    }
}

/* Returns true if figure i is printed for connection c: tcptrace leaves some figures out when
 * neither direction has a value. */
static bool shown(const struct scps_trace_conn *c, enum field_id i)
{
    bool any_ws = c->a2b.req_1323_ws_ts[0] == 'Y' || c->b2a.req_1323_ws_ts[0] == 'Y';
    bool any_ts = c->a2b.req_1323_ws_ts[2] == 'Y' || c->b2a.req_1323_ws_ts[2] == 'Y';
    switch (i) {
    case F_resets_sent:
    case F_hardware_dups:
        return either_direction_has(c, i);
    case F_req_1323_ws_ts:
        return any_ws || any_ts;
    case F_adv_wind_scale:
        return any_ws;
    case F_req_sack:
    case F_sacks_sent:
        return c->a2b.req_sack[0] == 'Y' || c->b2a.req_sack[0] == 'Y';
    case F_ambiguous_acks:
    case F_rtt_min_last:
    case F_rtt_max_last:
    case F_rtt_avg_last:
    case F_rtt_sdv_last:
        return either_direction_has(c, F_ambiguous_acks);
    default:
        return true;
    }
}

/* Writes the lines with which the report of a connection begins: its two ends, its times and its
 * state. */
static void print_ends(FILE *f, const struct scps_trace_conn *c, const char *file)
{
    char buf[96], who[16];
    bool complete = c->syns == 2 && c->fins == 2;
    snprintf(who, sizeof who, "%s:", c->letter_a);
    fprintf(f, "TCP connection %" PRIu32 ":\n", c->number);
    fprintf(f, "\thost %-4s      %s\n", who, endpoint(&c->a, buf, sizeof buf));
    snprintf(who, sizeof who, "%s:", c->letter_b);
    fprintf(f, "\thost %-4s      %s\n", who, endpoint(&c->b, buf, sizeof buf));
    fprintf(f, "\tcomplete conn: %s",
            c->end == SCPS_TRACE_RESET ? "RESET"
            : complete                 ? "yes"
                                       : "no");
    if (complete)
        fputc('\n', f);
    else
        fprintf(f, "\t(SYNs: %u)  (FINs: %u)\n", c->syns, c->fins);
    fprintf(f, "\tfirst packet:  %s\n", stamp(c->first, buf, sizeof buf));
    fprintf(f, "\tlast packet:   %s\n", stamp(c->last, buf, sizeof buf));
    uint64_t us = c->last > c->first ? (uint64_t)(c->last - c->first) : 0;
    fprintf(f, "\telapsed time:  %" PRIu64 ":%02u:%02u.%06u\n", us / 3600000000u,
            (unsigned)(us / 60000000 % 60), (unsigned)(us / 1000000 % 60),
            (unsigned)(us % 1000000));
    fprintf(f, "\ttotal packets: %" PRIu64 "\n", c->packets);
    fprintf(f, "\tfilename:      %s\n", file);
    fprintf(f, "   %s->%s:\t\t\t      %s->%s:\n", c->letter_a, c->letter_b, c->letter_b,
            c->letter_a);
}

/* Writes figure i of both directions, with the blank lines and headings that tcptrace prints around
 * it. */
static void print_figure(FILE *f, const struct scps_trace_conn *c, enum field_id i)
{
    if (i == F_rtt_samples || i == F_rtt_from_3whs || i == F_rtt_full_sz_smpls ||
        i == F_post_loss_acks)
        fputc('\n', f);
    if (i == F_ambiguous_acks)
        fputs("\t  For the following 5 RTT statistics, only ACKs for\n"
              "\t  multiply-transmitted segments (ambiguous ACKs) were\n"
              "\t  considered.  Times are taken from the last instance\n"
              "\t  of a segment.\n",
              f);
    line(f, c, i);
    if (i == F_hardware_dups)
        fputs("       ** WARNING: presence of hardware duplicates makes these figures "
              "suspect!\n",
              f);
}

void scps_trace_text_long(FILE *f, const struct scps_trace_conn *c, const char *file, unsigned what)
{
    print_ends(f, c, file);
    bool ours = false;
    for (int k = 0; k < F_COUNT; k++) {
        enum field_id i = (enum field_id)k;
        if (!scps_tr_wanted(i, what) || !shown(c, i))
            continue;
        if (strchr("LWR", scps_tr_field[i].group)) {
            print_figure(f, c, i);
            continue;
        }
        if (!either_direction_has(c, i) || i == F_syn_pkts_sent || i == F_fin_pkts_sent)
            continue;
        if (!ours) {
            fputc('\n', f);
            if (c->scps_agreed[0])
                fprintf(f, "     SCPS in force:     %s\n", c->scps_agreed);
            ours = true;
        }
        if (scps_tr_field[i].kind == 'S')
            long_words(f, c, i);
        else
            line(f, c, i);
    }
}
