/* SPDX-License-Identifier: MIT */
/* The reports in words and in JSON.
 *
 * The books are the channel's: offered + duplicated = delivered + lost + in flight. What the kernel
 * did to packets before they came to us (overruns) or after we handed them over (undelivered)
 * stands beside them.
 */
#include "scps_link/report.h"
#include "scps_link/emu.h"
#include "scps_link/scenario.h"

#include <scps/analyze.h>
#include <scps/scps.h>

#include <inttypes.h>
#include <string.h>

static const char *const dir_name[2] = {"a2b", "b2a"};

static double mbit(uint64_t bytes, scps_dur over)
{
    return over > 0 ? (double)bytes * 8 / (double)over : 0;
}

static double seconds(scps_dur d)
{
    return (double)d / 1e6;
}

static void print_end(const struct link_end_options *o, FILE *f)
{
    fprintf(f, "%s%s%s", o->device, o->netns[0] ? "@" : "", o->netns);
}

void report_start(const struct emu *e, FILE *f)
{
    const struct link_scenario *sc = e->o->scenario;
    char text[SCPS_LINK_TEXTLEN];

    fputs("scps_link: ", f);
    print_end(&e->o->end[0], f);
    fputs(" - ", f);
    print_end(&e->o->end[1], f);
    if (sc)
        fprintf(f, ", scenario %s%s%s%s%s run %u", sc->sc->name, *sc->cells.v->id ? " " : "",
                sc->cells.v->id, sc->cells.v->setup->nlinks > 1 ? " link " : "",
                sc->cells.v->setup->nlinks > 1 ? sc->link->name : "", sc->run);
    fprintf(f, ", link %s, seed %" PRIu64 "%s\n", e->o->link, e->o->seed,
            e->realtime ? "" : ", not in real time");
    for (int d = 0; d < 2; d++)
        fprintf(f, "%s: %s\n", dir_name[d],
                scps_link_print(scps_channel_config(e->dir[d].ch), text));
}

void report_interval(struct emu *e, FILE *f)
{
    scps_time now = scps_sysclock_now();
    scps_dur over = now - e->last_line;

    for (int i = 0; i < 2; i++) {
        struct link_dir *d = &e->dir[i];
        struct scps_link_stats s, *w = &d->last;
        scps_channel_stats(d->ch, now - e->start, &s);
        fprintf(f,
                "%s: %.2f-%.2f sec in %" PRIu64 " pkts %.3f Mbit/s, out %" PRIu64
                " pkts %.3f Mbit/s, lost queue %" PRIu64 " ber %" PRIu64 " loss %" PRIu64
                ", queue %" PRIu64 " bytes, late p99 %" PRId64 " us\n",
                dir_name[i], seconds(e->last_line - e->start), seconds(now - e->start),
                s.offered - w->offered, mbit(s.offered_bytes - w->offered_bytes, over),
                s.delivered - w->delivered, mbit(s.delivered_bytes - w->delivered_bytes, over),
                s.dropped_queue - w->dropped_queue, s.dropped_ber - w->dropped_ber,
                s.dropped_loss - w->dropped_loss, scps_channel_queue(d->ch, now - e->start, NULL),
                late_quantile(&d->late_now, 990000));
        *w = s;
        memset(&d->late_now, 0, sizeof d->late_now);
    }
    e->last_line = now;
}

void report_text(const struct emu *e, FILE *f)
{
    scps_time now = scps_sysclock_now();
    scps_dur over = now - e->start;

    fprintf(f, "link: %.3f seconds, seed %" PRIu64 "\n", seconds(over), e->o->seed);
    for (int i = 0; i < 2; i++) {
        const struct link_dir *d = &e->dir[i];
        const char *n = dir_name[i];
        char text[SCPS_LINK_TEXTLEN];
        struct scps_link_stats s;
        uint32_t waiting;
        scps_channel_stats(d->ch, now - e->start, &s);
        uint64_t queue = scps_channel_queue(d->ch, now - e->start, &waiting);
        fprintf(f, "%s: %s\n", n, scps_link_print(scps_channel_config(d->ch), text));
        fprintf(f,
                "%s: %" PRIu64 " packets in (%" PRIu64 " bytes), %" PRIu64 " out (%" PRIu64
                " bytes, %.3f Mbit/s), %" PRIu64 " on the way\n",
                n, s.offered, s.offered_bytes, s.delivered, s.delivered_bytes,
                mbit(s.delivered_bytes, over), s.in_flight);
        fprintf(f, "%s: lost", n);
        for (int k = SCPS_FATE_BER; k < SCPS_FATE_COUNT; k++)
            fprintf(f, "%s %" PRIu64 " %s", k > SCPS_FATE_BER ? "," : "", scps_link_dropped(&s, k),
                    scps_fate_name(k));
        fprintf(f, "; %" PRIu64 " flipped, %" PRIu64 " duplicated, %" PRIu64 " reordered\n",
                s.flipped, s.duplicated, s.reordered);
        fprintf(f,
                "%s: queue %" PRIu64 " bytes in %" PRIu32 " packets, at most %" PRIu64
                "; line busy %.1f %%\n",
                n, queue, waiting, s.max_queue_bytes,
                over > 0 ? 100.0 * (double)s.busy / (double)over : 0);
        fprintf(f,
                "%s: handed over late by p50 %" PRId64 ", p99 %" PRId64 ", p99.9 %" PRId64
                ", max %" PRId64 " us; %" PRIu64 " undelivered, %" PRIu64
                " lost in front of end %c\n",
                n, late_quantile(&d->late, 500000), late_quantile(&d->late, 990000),
                late_quantile(&d->late, 999000), d->late.max, d->undelivered,
                link_end_overruns(&e->end[i]), 'a' + i);
    }
}

/* ---- JSON ---- */

static void json_end(const struct emu *e, int i, FILE *f)
{
    const struct link_end_options *o = &e->o->end[i];

    fprintf(f, "    \"%c\": {\"device\": ", 'a' + i);
    scps_trace_json_string(f, o->device);
    fputs(", \"netns\": ", f);
    if (o->netns[0])
        scps_trace_json_string(f, o->netns);
    else
        fputs("null", f);
    fprintf(f, ", \"overruns\": %" PRIu64 "}%s\n", link_end_overruns(&e->end[i]),
            i == 0 ? "," : "");
}

static void json_config(const struct scps_link_config *c, FILE *f)
{
    char text[SCPS_LINK_TEXTLEN];

    fprintf(
        f,
        "    \"config\": {\"text\": \"%s\", \"rate_bps\": %" PRIu64 ", \"delay_us\": %" PRId64
        ", \"queue_bytes\": %" PRIu64 ", \"queue_packets\": %" PRIu32
        ", \"framing\": \"%s\", \"overhead\": %" PRIu32 ", \"ber_exempt\": %" PRIu32
        ", \"ber\": %.15g, \"loss\": %.15g, \"dup\": %.15g, \"reorder\": %.15g, \"flip\": %s},\n",
        scps_link_print(c, text), c->rate_bps, c->delay, c->queue_bytes, c->queue_packets,
        scps_framing_name(c->framing), c->overhead, c->ber_exempt, c->ber, c->loss, c->dup,
        c->reorder, c->flip ? "true" : "false");
}

static void json_dir(const struct emu *e, int i, scps_time now, FILE *f)
{
    const struct link_dir *d = &e->dir[i];
    const struct late *l = &d->late;
    struct scps_link_stats s;
    uint32_t waiting;
    uint64_t queue = scps_channel_queue(d->ch, now - e->start, &waiting);

    scps_channel_stats(d->ch, now - e->start, &s);
    fprintf(f, "  \"%s\": {\n", dir_name[i]);
    json_config(scps_channel_config(d->ch), f);
    fprintf(f,
            "    \"offered\": %" PRIu64 ", \"offered_bytes\": %" PRIu64 ", \"delivered\": %" PRIu64
            ", \"delivered_bytes\": %" PRIu64 ", \"bits_per_second\": %.0f,\n",
            s.offered, s.offered_bytes, s.delivered, s.delivered_bytes,
            1e6 * mbit(s.delivered_bytes, now - e->start));
    fputs("    \"lost\": {", f);
    for (int k = SCPS_FATE_BER; k < SCPS_FATE_COUNT; k++)
        fprintf(f, "%s\"%s\": %" PRIu64, k > SCPS_FATE_BER ? ", " : "", scps_fate_name(k),
                scps_link_dropped(&s, k));
    fputs("},\n", f);
    fprintf(f,
            "    \"flipped\": %" PRIu64 ", \"duplicated\": %" PRIu64 ", \"reordered\": %" PRIu64
            ", \"in_flight\": %" PRIu64 ", \"undelivered\": %" PRIu64 ",\n",
            s.flipped, s.duplicated, s.reordered, s.in_flight, d->undelivered);
    fprintf(f,
            "    \"queue\": {\"bytes\": %" PRIu64 ", \"packets\": %" PRIu32
            ", \"max_bytes\": %" PRIu64 "}, \"busy_us\": %" PRId64 ",\n",
            queue, waiting, s.max_queue_bytes, s.busy);
    fprintf(f,
            "    \"late_us\": {\"mean\": %.1f, \"p50\": %" PRId64 ", \"p99\": %" PRId64
            ", \"p999\": %" PRId64 ", \"max\": %" PRId64 "}\n  }%s\n",
            l->n ? (double)l->sum / (double)l->n : 0, late_quantile(l, 500000),
            late_quantile(l, 990000), late_quantile(l, 999000), l->max, i == 0 ? "," : "");
}

static void json_scenario(const struct link_scenario *s, FILE *f)
{
    fputs(", \"scenario\": ", f);
    if (!s) {
        fputs("null", f);
        return;
    }
    fputs("{\"name\": ", f);
    scps_trace_json_string(f, s->sc->name);
    fputs(", \"cell\": ", f);
    scps_trace_json_string(f, s->cells.v->id);
    fprintf(f, ", \"link\": \"%s\", \"run\": %u}", s->link->name, s->run);
}

void report_json(const struct emu *e, FILE *f)
{
    scps_time now = scps_sysclock_now();

    fputs("{\n  \"start\": {\n    \"version\": \"scps_link " SCPS_VERSION "\",\n    \"link\": ", f);
    scps_trace_json_string(f, e->o->link);
    json_scenario(e->o->scenario, f);
    fprintf(f,
            ", \"seed\": %" PRIu64 ", \"mtu\": %" PRIu32
            ", \"realtime\": %s,\n    \"time_us\": %" PRId64 ",\n",
            e->o->seed, e->end[0].nif.mtu, e->realtime ? "true" : "false", e->start + e->epoch);
    json_end(e, 0, f);
    json_end(e, 1, f);
    fprintf(f, "  },\n  \"seconds\": %.6f,\n", seconds(now - e->start));
    for (int i = 0; i < 2; i++)
        json_dir(e, i, now, f);
    fputs("}\n", f);
}
