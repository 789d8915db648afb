/* SPDX-License-Identifier: MIT */
/* Comma- or tab-separated values, one line for each connection: tcptrace's columns under tcptrace's
 * names, in its order, and behind them figures that tcptrace does not have. Unlike tcptrace no
 * blanks pad the values, no separator ends the line and no empty line follows the names, so that
 * any CSV reader accepts it. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "trace/fields.h"

/* Returns the name of the column of figure i: tcptrace's where it differs from the name in JSON. */
static const char *column(enum field_id i)
{
    switch (i) {
    case F_max_sack_blks_ack:
        return "max_sack_blks/ack";
    case F_syn_fin_pkts_sent:
        return "SYN/FIN_pkts_sent";
    case F_req_1323_ws_ts:
        return "req_1323_ws/ts";
    case F_min_non_zero_owin:
        return "min_non-zero_owin";
    case F_rtt_from_3whs:
        return "RTT_from_3WHS";
    case F_post_loss_acks:
        return "post-loss_acks";
    case F_rtt_min_last:
        return "RTT_min_(last)";
    case F_rtt_max_last:
        return "RTT_max_(last)";
    case F_rtt_avg_last:
        return "RTT_avg_(last)";
    case F_rtt_sdv_last:
        return "RTT_sdv_(last)";
    case F_max_retrans:
        return "max_#_retrans";
    default:
        return scps_tr_field[i].name;
    }
}

/* Returns true if figure i is written in this pass over the list of figures: the first pass (0)
 * writes the columns that tcptrace has, the second (1) the others. */
static bool in_pass(enum field_id i, int pass)
{
    bool theirs = strchr("LWR", scps_tr_field[i].group) != NULL;
    return pass == 0 ? theirs : !theirs;
}

void scps_trace_csv_header(FILE *f, char sep, unsigned what)
{
    fprintf(f, "conn_#%chost_a%chost_b%cport_a%cport_b%cfirst_packet%clast_packet", sep, sep, sep,
            sep, sep, sep);
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < F_COUNT; k++) {
            enum field_id i = (enum field_id)k;
            if (!scps_tr_wanted(i, what) || !in_pass(i, pass))
                continue;
            const char *n = column(i);
            bool rtt = scps_tr_field[i].group == 'R' && !strncmp(n, "rtt_", 4);
            for (int d = 0; d < 2; d++)
                fprintf(f, "%c%s%s_%s", sep, rtt ? "RTT_" : "", rtt ? n + 4 : n, d ? "b2a" : "a2b");
        }
    if (what & SCPS_TRACE_OURS)
        fprintf(f, "%cend%cevicted%cscps_agreed", sep, sep, sep);
    fputc('\n', f);
}

static void cell(FILE *f, const struct scps_trace_dir *d, enum field_id i, char sep)
{
    fputc(sep, f);
    switch (scps_tr_field[i].kind) {
    case 'N':
        if (scps_tr_count(d, i) == SCPS_TRACE_NA) {
            fputs("NA", f);
            return;
        }
        /* fall through */
    case 'U':
        fprintf(f, "%" PRIu64, scps_tr_count(d, i));
        return;
    case 'D':
        if (isnan(scps_tr_number(d, i)))
            fputs("NA", f);
        else
            fprintf(f, "%.6g", scps_tr_number(d, i));
        return;
    default:
        for (const char *p = scps_tr_words(d, i); *p; p++)
            fputc(*p == sep ? ';' : *p, f);
    }
}

void scps_trace_csv_row(FILE *f, const struct scps_trace_conn *c, char sep, unsigned what)
{
    static const char *const end[] = {"open", "complete", "reset"};
    char a[SCPS_ADDR_STRLEN], b[SCPS_ADDR_STRLEN];
    fprintf(f, "%" PRIu32 "%c%s%c%s%c%u%c%u%c%" PRId64 ".%06d%c%" PRId64 ".%06d", c->number, sep,
            scps_addr_format(&c->a.addr, a), sep, scps_addr_format(&c->b.addr, b), sep, c->a.port,
            sep, c->b.port, sep, c->first / 1000000, (int)(c->first % 1000000), sep,
            c->last / 1000000, (int)(c->last % 1000000));
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < F_COUNT; k++) {
            enum field_id i = (enum field_id)k;
            if (!scps_tr_wanted(i, what) || !in_pass(i, pass))
                continue;
            cell(f, &c->a2b, i, sep);
            cell(f, &c->b2a, i, sep);
        }
    if (what & SCPS_TRACE_OURS)
        fprintf(f, "%c%s%c%s%c%s", sep, end[c->end], sep, c->evicted ? "Y" : "N", sep,
                c->scps_agreed);
    fputc('\n', f);
}
