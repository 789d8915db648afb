/* SPDX-License-Identifier: MIT */
#include "scps_lab/record.h"

#include <inttypes.h>

static void note(void *ctx, const char *host, const struct scps_note *n)
{
    FILE *f = ((struct lab_record *)ctx)->events;

    fprintf(f, "%" PRId64 ".%06" PRId64 ",%s,%" PRIu32 ",%s", n->at / 1000000, n->at % 1000000,
            host, n->conn, scps_note_name(n->kind));
    for (unsigned i = 0; i < 4; i++)
        if (scps_note_arg(n->kind, i))
            fprintf(f, ",%s=%" PRId64, scps_note_arg(n->kind, i), (int64_t)n->arg[i]);
        else
            fputc(',', f);
    fputc('\n', f);
}

static void verdict(void *ctx, int dir, const struct scps_verdict *v)
{
    char line[SCPS_TRUTH_LINELEN];

    fwrite(line, 1, scps_truth_line(v, dir, 0, line), ((struct lab_record *)ctx)->truth);
}

static void sample(void *ctx, scps_time now, const struct lab_outcome *o, uint64_t received,
                   const struct scps_info *i)
{
    fprintf(((struct lab_record *)ctx)->series,
            "%" PRId64 ".%06" PRId64 ",%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
            ",%" PRId64 ",%" PRIu64 "\n",
            now / 1000000, now % 1000000, o->name, i->bytes_acked, received,
            i->cwnd == SCPS_CWND_OPEN ? 0 : i->cwnd, i->inflight, i->rate * 8, i->srtt,
            i->bytes_resent);
}

void lab_record_begin(struct lab_record *record, struct lab_watch *w)
{
    w->ctx = record;
    if (record->truth) {
        fputs(SCPS_TRUTH_HEADER, record->truth);
        w->on_verdict = verdict;
    }
    if (record->events) {
        fputs("time,host,conn,note,arg1,arg2,arg3,arg4\n", record->events);
        w->on_note = note;
        w->note_mask = (UINT64_C(1) << SCPS_NOTE_COUNT) - 1;
    }
    if (record->series) {
        fputs("time,flow,acked,received,cwnd,inflight,rate_bps,srtt_us,resent\n", record->series);
        w->on_sample = sample;
    }
}
