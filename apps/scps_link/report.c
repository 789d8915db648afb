/* SPDX-License-Identifier: MIT */
/* Writes the emulator's reports, as text and as JSON. The counters are the channel's: offered +
 * duplicated = delivered + lost + in flight. Besides, the reports show the packets that the kernel
 * dropped before the program read them (overruns) and those that it refused to take (undelivered),
 * and how late packets were read and delivered. */
#include "scps_link/report.h"
#include "scps_link/emu.h"
#include "scps_link/scenario.h"

#include <scps/json.h>
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

static void print_end(const struct link_end *e, FILE *f)
{
    const struct link_end_options *o = e->o;

    fprintf(f, "%s%s%s", link_end_device(e), o->netns[0] ? "@" : "", o->netns);
}

void report_start(const struct emu *e, FILE *f)
{
    const struct link_scenario *sc = e->o->scenario;
    char text[SCPS_LINK_TEXTLEN];

    fputs("scps_link: ", f);
    print_end(&e->end[0], f);
    fputs(" - ", f);
    print_end(&e->end[1], f);
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
    fprintf(f,
            "link: packets read late by p50 %" PRId64 ", p99 %" PRId64 ", p99.9 %" PRId64
            ", max %" PRId64 " us\n",
            late_quantile(&e->read_late, 500000), late_quantile(&e->read_late, 990000),
            late_quantile(&e->read_late, 999000), e->read_late.max);
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

/* ---- functions that write the reports as JSON ---- */

static void json_end(struct scps_json *j, const struct emu *e, int i)
{
    const struct link_end_options *o = &e->o->end[i];

    scps_json_open(j, i == 0 ? "a" : "b", '{');
    scps_json_string(j, "device", link_end_device(&e->end[i]));
    scps_json_string(j, "netns", o->netns[0] ? o->netns : NULL);
    scps_json_uint(j, "overruns", link_end_overruns(&e->end[i]));
    scps_json_close(j, '}');
}

static void json_config(struct scps_json *j, const struct scps_link_config *c)
{
    char text[SCPS_LINK_TEXTLEN];

    scps_json_open(j, "config", '{');
    scps_json_string(j, "text", scps_link_print(c, text));
    scps_json_uint(j, "rate_bps", c->rate_bps);
    scps_json_int(j, "delay_us", c->delay);
    scps_json_uint(j, "queue_bytes", c->queue_bytes);
    scps_json_uint(j, "queue_packets", c->queue_packets);
    scps_json_string(j, "framing", scps_framing_name(c->framing));
    scps_json_uint(j, "overhead", c->overhead);
    scps_json_uint(j, "ber_exempt", c->ber_exempt);
    scps_json_real(j, "ber", c->ber);
    scps_json_real(j, "loss", c->loss);
    scps_json_real(j, "dup", c->dup);
    scps_json_real(j, "reorder", c->reorder);
    scps_json_bool(j, "flip", c->flip);
    scps_json_close(j, '}');
}

static void json_late(struct scps_json *j, const char *name, const struct late *l)
{
    scps_json_open(j, name, '{');
    scps_json_fixed(j, "mean", l->n ? (double)l->sum / (double)l->n : 0, 1);
    scps_json_int(j, "p50", late_quantile(l, 500000));
    scps_json_int(j, "p99", late_quantile(l, 990000));
    scps_json_int(j, "p999", late_quantile(l, 999000));
    scps_json_int(j, "max", l->max);
    scps_json_close(j, '}');
}

static void json_dir(struct scps_json *j, const struct emu *e, int i, scps_time now)
{
    const struct link_dir *d = &e->dir[i];
    struct scps_link_stats s;
    uint32_t waiting;
    uint64_t queue = scps_channel_queue(d->ch, now - e->start, &waiting);

    scps_channel_stats(d->ch, now - e->start, &s);
    scps_json_open(j, dir_name[i], '{');
    json_config(j, scps_channel_config(d->ch));
    scps_json_uint(j, "offered", s.offered);
    scps_json_uint(j, "offered_bytes", s.offered_bytes);
    scps_json_uint(j, "delivered", s.delivered);
    scps_json_uint(j, "delivered_bytes", s.delivered_bytes);
    scps_json_fixed(j, "bits_per_second", 1e6 * mbit(s.delivered_bytes, now - e->start), 0);
    scps_json_open(j, "lost", '{');
    for (int k = SCPS_FATE_BER; k < SCPS_FATE_COUNT; k++)
        scps_json_uint(j, scps_fate_name(k), scps_link_dropped(&s, k));
    scps_json_close(j, '}');
    scps_json_uint(j, "flipped", s.flipped);
    scps_json_uint(j, "duplicated", s.duplicated);
    scps_json_uint(j, "reordered", s.reordered);
    scps_json_uint(j, "in_flight", s.in_flight);
    scps_json_uint(j, "undelivered", d->undelivered);
    scps_json_open(j, "queue", '{');
    scps_json_uint(j, "bytes", queue);
    scps_json_uint(j, "packets", waiting);
    scps_json_uint(j, "max_bytes", s.max_queue_bytes);
    scps_json_close(j, '}');
    scps_json_int(j, "busy_us", s.busy);
    json_late(j, "late_us", &d->late);
    scps_json_close(j, '}');
}

static void json_scenario(struct scps_json *j, const struct link_scenario *s)
{
    if (!s) {
        scps_json_null(j, "scenario");
        return;
    }
    scps_json_open(j, "scenario", '{');
    scps_json_string(j, "name", s->sc->name);
    scps_json_string(j, "cell", s->cells.v->id);
    scps_json_string(j, "link", s->link->name);
    scps_json_uint(j, "run", s->run);
    scps_json_close(j, '}');
}

void report_json(const struct emu *e, FILE *f)
{
    scps_time now = scps_sysclock_now();
    struct scps_json j = {.f = f, .indent = "  "};

    scps_json_open(&j, NULL, '{');
    scps_json_open(&j, "start", '{');
    scps_json_string(&j, "version", "scps_link " SCPS_VERSION);
    scps_json_string(&j, "link", e->o->link);
    json_scenario(&j, e->o->scenario);
    scps_json_uint(&j, "seed", e->o->seed);
    scps_json_uint(&j, "mtu", e->end[0].nif.mtu);
    scps_json_bool(&j, "realtime", e->realtime);
    scps_json_int(&j, "time_us", e->start + e->epoch);
    json_end(&j, e, 0);
    json_end(&j, e, 1);
    scps_json_close(&j, '}');
    scps_json_seconds(&j, "seconds", now - e->start);
    json_late(&j, "read_late_us", &e->read_late);
    for (int i = 0; i < 2; i++)
        json_dir(&j, e, i, now);
    scps_json_close(&j, '}');
}
