/* SPDX-License-Identifier: MIT */
/* Writes the report of a transfer in ttcp's form: lines that begin with the role, then the line
 * with the rate, which ends in +++, then counters.
 *
 *     ttcp-t: N bytes in S real seconds = R Mbit/sec +++
 *     ttcp-t: segments, repairs, round trip
 *     ttcp-r: ... when the receiver is in this process
 *
 * "real seconds" are seconds of the transfer's clock: virtual ones over a virtual link.
 */
#include "scps_ttcp/report_parts.h"
#include "scps_ttcp/result.h"
#include "scps_ttcp/units.h"

#include <scps/error.h>
#include <scps/wire.h>

#include <inttypes.h>
#include <string.h>

/* Writes to buf the tag with which each line of flow r, or of their sum, begins: its number, "[2] "
 * or "[2 back] ", or "[sum] "; nothing if there is only one flow. Returns buf. */
static const char *tag(char buf[24], const struct ttcp_result *r, bool sum)
{
    char id[16] = "sum";

    buf[0] = '\0';
    if (!sum)
        snprintf(id, sizeof(id), "%u", r->id);
    if (r->id != 0)
        snprintf(buf, 24, "[%s%s] ", id, r->back ? " back" : "");
    return buf;
}

static const char *real_seconds(char buf[32], scps_dur us)
{
    return units_print_seconds(buf, us, us < 10000 ? 6 : us < SCPS_SEC(1) ? 4 : 3);
}

static void headline(FILE *f, char role, const char *what, uint64_t bytes, scps_dur us, char unit)
{
    char seconds[32], rate[48];

    fprintf(f, "ttcp-%c: %s%" PRIu64 " bytes in %s real seconds = %s +++\n", role, what, bytes,
            real_seconds(seconds, us), units_print_rate(rate, bytes, us, unit));
}

/* Writes a duration as "15 us", "1.5 ms", or from 10 s on as "12.345 s". Returns buf. */
static const char *duration(char buf[32], scps_dur us)
{
    if (us < SCPS_MS(1))
        snprintf(buf, 32, "%" PRId64 " us", us);
    else if (us < SCPS_SEC(10))
        snprintf(buf, 32, "%" PRId64 ".%" PRId64 " ms", us / 1000, us % 1000 / 100);
    else
        snprintf(buf, 32, "%" PRId64 ".%03" PRId64 " s", us / SCPS_SEC(1), us % SCPS_SEC(1) / 1000);
    return buf;
}

static void counters(FILE *f, char role, const struct ttcp_side *s)
{
    const struct scps_info *i = &s->info;
    char least[32], srtt[32];

    fprintf(f,
            "ttcp-%c: %" PRIu64 " segments sent, %" PRIu64 " received, %" PRIu32 " resent, %" PRIu32
            " timeouts, %" PRIu32 " dupacks, %" PRIu32 " sacks in, %" PRIu32 " acks out",
            role, i->segs_out, i->segs_in, i->resent_segs, i->timeouts, i->dupacks_in, i->sacks_in,
            i->acks_out);
    if (i->comp_out > 0 || i->comp_in > 0)
        fprintf(f, ", %" PRIu64 " compressed, %" PRIu64 " bytes saved",
                role == 't' ? i->comp_out : i->comp_in,
                role == 't' ? i->comp_saved_out : i->comp_saved_in);
    if (i->snacks_in > 0 || i->snacks_out > 0)
        fprintf(f, ", %" PRIu32 " snacks %s", role == 't' ? i->snacks_in : i->snacks_out,
                role == 't' ? "in" : "out");
    if (i->srtt > 0)
        fprintf(f, ", rtt %s (least %s)", duration(srtt, i->srtt), duration(least, i->min_rtt));
    if (role == 't' && i->max_cwnd < SCPS_CWND_OPEN)
        fprintf(f, ", largest cwnd %" PRIu64, i->max_cwnd);
    fputc('\n', f);
}

/* Reports that a controller which attributes losses to corruption has reduced its window
 * nevertheless, because the losses grew with the window. */
static void braked(FILE *f, char role, const struct ttcp_side *s)
{
    if (s->info.cc_phase == SCPS_PHASE_BRAKE || s->info.cc_phase == SCPS_PHASE_BRAKED)
        fprintf(f,
                "ttcp-%c: warning: %s lost a large share of its window and halved it: the queue of "
                "the link is short, or others share it. Set a rate (-R), or use vegas\n",
                role, s->config.cc->name);
}

/* Writes two lists: the features (such as SACK) that the handshake agreed on; and those that this
 * end was configured to use but that are not in force, each with the reason. */
static void features(FILE *f, char role, const struct ttcp_side *s)
{
    bool any = false;

    if (s->info.established == 0)
        return;
    fprintf(f, "ttcp-%c: in force:", role);
    for (int i = 0; i < SCPS_FEATURE_COUNT; i++)
        if (s->info.why[i] == SCPS_WHY_IN_FORCE) {
            fprintf(f, "%s %s", any ? "," : "", scps_feature_name((enum scps_feature)i));
            any = true;
        }
    fputs(any ? "" : " nothing", f);
    any = false;
    for (int i = 0; i < SCPS_FEATURE_COUNT; i++)
        if (s->info.why[i] != SCPS_WHY_IN_FORCE && s->info.why[i] != SCPS_WHY_NOT_CONFIGURED) {
            fprintf(f, "%s %s (%s)", any ? "," : "; not:", scps_feature_name((enum scps_feature)i),
                    scps_why_words((enum scps_why)s->info.why[i]));
            any = true;
        }
    fputc('\n', f);
}

static void dropped(FILE *f, char role, const struct ttcp_side *s)
{
    bool any = false;

    for (int d = SCPS_DROP_NONE + 1; d < SCPS_DROP_COUNT; d++)
        if (s->stack.drops[d] > 0) {
            if (!any)
                fprintf(f, "ttcp-%c: dropped:", role);
            fprintf(f, "%s %s %" PRIu64, any ? "," : "", scps_drop_name((enum scps_drop)d),
                    s->stack.drops[d]);
            any = true;
        }
    if (any)
        fputc('\n', f);
}

static void details(FILE *f, char role, const struct ttcp_side *s)
{
    const struct scps_info *i = &s->info;
    char text[32];
    bool any = false;

    fprintf(f,
            "ttcp-%c: %" PRIu64 " I/O calls of %s; payload %" PRIu32 " a segment, sack %s, "
            "snack %s, timestamps %s, window scale %u/%u",
            role, s->calls, role == 't' ? "write" : "read", i->snd_mss, i->sack ? "on" : "off",
            !(i->caps & SCPS_CAP_SNACK1)   ? "off"
            : !(i->caps & SCPS_CAP_SNACK2) ? "short"
                                           : "on",
            i->timestamps ? "on" : "off", i->snd_wscale, i->rcv_wscale);
    if (s->config.loss_cause != SCPS_LOSS_CONGESTION)
        fprintf(f, ", losses mean %s", scps_loss_cause_name(s->config.loss_cause));
    if (s->config.recovery != SCPS_RECOVERY_CLASSIC)
        fprintf(f, ", recovery %s, %" PRIu32 " tail probes, %" PRIu32 " reordered",
                scps_recovery_name(i->recovery), i->tlp_probes, i->reordered);
    if (s->config.first_window != 0)
        fprintf(f, ", first window %" PRIu32, s->config.first_window);
    fputc('\n', f);
    features(f, role, s);
    for (int h = 0; h < SCPS_HOLD_COUNT; h++)
        if (i->holds[h] > 0) {
            fprintf(f, "%s %s %s",
                    any           ? ","
                    : role == 't' ? "ttcp-t: time:"
                                  : "ttcp-r: time:",
                    scps_hold_name((enum scps_hold)h), duration(text, i->holds[h]));
            any = true;
        }
    if (any)
        fputc('\n', f);
    dropped(f, role, s);
}

static void records(FILE *f, const struct ttcp_side *s)
{
    fprintf(f, "ttcp-r: %" PRIu64 " records", s->records);
    if (s->records > 0)
        fprintf(f, " of %" PRIu64 " to %" PRIu64 " bytes", s->record_min, s->record_max);
    if (s->torn > 0)
        fprintf(f, ", %" PRIu64 " torn by holes", s->torn);
    fputc('\n', f);
}

static void echoes(FILE *f, const struct ttcp_echo *e)
{
    char least[32], mean[32], most[32];

    fprintf(f, "ttcp-t: %" PRIu64 " echoes of %" PRIu64 " bytes", e->count, e->bytes);
    if (e->count > 0)
        fprintf(f, ", there and back in %s to %s, mean %s", duration(least, e->min),
                duration(most, e->max), duration(mean, e->sum / (scps_dur)e->count));
    fputc('\n', f);
}

/* Writes how many bytes this end of the connection gave up (best effort, option -E), and in how
 * many ranges. Usually the receiver gives data up first and acknowledges it like data that has
 * arrived, so the sender does not know what is missing there. each (-v): also writes the position
 * and length of every range. */
static void holes(FILE *f, char role, const struct ttcp_side *s, bool each)
{
    if (!(s->info.caps & SCPS_CAP_BETS)) {
        fprintf(f, "ttcp-%c: best effort is not in force: the peer does not offer it\n", role);
        return;
    }
    fprintf(f, "ttcp-%c: %" PRIu64 " bytes %s in %zu %s\n", role, s->missing,
            role == 't' ? "given up by the sender" : "missing", s->n_holes,
            role == 't' ? "ranges; what is missing at the receiver is in its report" : "holes");
    for (size_t i = 0; each && i < s->n_holes; i++)
        fprintf(f, "ttcp-%c: %s at byte %" PRIu64 ", %" PRIu64 " bytes\n", role,
                role == 't' ? "given up" : "hole", s->holes[i].at, s->holes[i].len);
}

static void moment(FILE *f, const char *name, scps_dur us, bool *any)
{
    char text[32];

    if (us == TTCP_NOT_YET)
        return;
    fprintf(f, "%s %s %s", *any ? "," : "", name, units_print_seconds(text, us, 6));
    *any = true;
}

static void moments(FILE *f, const struct ttcp_result *r)
{
    bool any = false;

    fprintf(f, "ttcp-%c: seconds since the SYN:", r->has_tx ? 't' : 'r');
    moment(f, "connected", r->connect, &any);
    moment(f, "first byte delivered", r->first_byte, &any);
    moment(f, "enqueued", r->enqueued, &any);
    moment(f, "delivered", r->delivered, &any);
    moment(f, "acknowledged", r->acked, &any);
    moment(f, "closed", r->closed, &any);
    fputs(any ? "\n" : " none\n", f);
}

static void datagrams(const struct ttcp_result *r, FILE *f)
{
    const struct ttcp_options *o = r->opt;

    if (r->has_tx)
        headline(f, 't', "", r->tx.bytes, ttcp_sent_time(r), o->unit);
    if (r->has_rx)
        headline(f, 'r', "", r->rx.bytes, ttcp_received_time(r), o->unit);
    ttcp_report_udp_text(r, f);
    if (r->has_tx && o->verbose > 0)
        dropped(f, 't', &r->tx);
    if (r->has_rx && o->verbose > 0)
        dropped(f, 'r', &r->rx);
    if (o->verbose > 0)
        ttcp_report_interface(r, f);
    if (r->compared && r->intact)
        fputs("ttcp-r: verified: every datagram that arrived is as it was sent\n", f);
}

/* Writes the result that the receiver has sent back (--tell). */
static void receipt(FILE *f, const struct ttcp_result *r)
{
    const struct ttcp_receipt *t = &r->receipt;
    char seconds[32], rate[48], what[24];

    fprintf(f, "ttcp-t: %sthe receiver says: %" PRIu64 " bytes%s in %s real seconds = %s",
            tag(what, r, false), t->bytes, r->receipt_intact ? ", verified," : "",
            real_seconds(seconds, t->us), units_print_rate(rate, t->bytes, t->us, r->opt->unit));
    fprintf(f, ", %" PRIu64 " of %" PRIu64 " segments out of order, %" PRIu64 " bytes twice",
            t->out_of_order, t->segments, t->duplicate);
    if (t->missing != 0)
        fprintf(f, ", %" PRIu64 " missing", t->missing);
    fputc('\n', f);
}

static void sender_lines(FILE *f, const struct ttcp_result *r)
{
    const struct ttcp_options *o = r->opt;
    char what[24];

    headline(f, 't', tag(what, r, false), r->acked_bytes, ttcp_sent_time(r), o->unit);
    if (r->id == 0 || o->verbose > 0)
        counters(f, 't', &r->tx);
    braked(f, 't', &r->tx);
    if (r->receipt.there)
        receipt(f, r);
    if (r->unasked > 0)
        fprintf(f,
                "ttcp-t: warning: %" PRIu64 " bytes came back and were skipped: if --bidir is "
                "given there, give it here, too; if -e is, likewise\n",
                r->unasked);
    if (o->verbose > 0)
        details(f, 't', &r->tx);
    if (o->touch && o->verbose > 0)
        fprintf(f, "ttcp-t: touched, sum %016" PRIx64 "\n", r->tx.touched);
    if (o->echo && r->tx.open)
        echoes(f, &r->tx.echo);
    if (o->conn.bets && r->tx.open)
        holes(f, 't', &r->tx, o->verbose > 0);
}

static void receiver_lines(FILE *f, const struct ttcp_result *r)
{
    const struct ttcp_options *o = r->opt;
    char what[24];

    headline(f, 'r', tag(what, r, false), r->rx.bytes, ttcp_received_time(r), o->unit);
    if (r->id == 0 || o->verbose > 0)
        counters(f, 'r', &r->rx);
    if (o->verbose > 0)
        details(f, 'r', &r->rx);
    if (o->touch && o->verbose > 0)
        fprintf(f, "ttcp-r: touched, sum %016" PRIx64 "\n", r->rx.touched);
    if (o->conn.records && r->rx.open)
        records(f, &r->rx);
    if (o->conn.bets && r->rx.open)
        holes(f, 'r', &r->rx, o->verbose > 0);
}

/* Writes the report of one flow; with -v also the times of its events. */
static void flow(FILE *f, const struct ttcp_result *r)
{
    if (r->has_tx)
        sender_lines(f, r);
    if (r->has_rx)
        receiver_lines(f, r);
    if (r->opt->verbose > 0)
        moments(f, r);
}

/* Writes the sums over all flows in one direction, if it has several. back: true for data from the
 * end given -r to the one given -t (--bidir), false for the direction from -t to -r. */
static void totals(FILE *f, const struct ttcp_result *r, bool back)
{
    struct ttcp_total sent, got;
    char what[24];

    while (r != NULL && r->back != back)
        r = r->next;
    if (r == NULL)
        return;
    sent = ttcp_result_total(r, true);
    got = ttcp_result_total(r, false);
    if (sent.flows < 2)
        return;
    if (r->has_tx)
        headline(f, 't', tag(what, r, true), sent.bytes, sent.us, r->opt->unit);
    if (r->has_rx)
        headline(f, 'r', tag(what, r, true), got.bytes, got.us, r->opt->unit);
}

/* Writes the result of comparing the received bytes with those sent, when both ends are in this
 * process. */
static void verified(FILE *f, const struct ttcp_result *r)
{
    bool missing = false;

    for (; r != NULL; r = r->next) {
        if (!r->compared || !r->intact)
            return;
        missing |= r->rx.missing > 0;
    }
    fputs(missing ? "ttcp-r: verified: every byte arrived as it was sent and where it belongs, or "
                    "lies in a hole that was told\n"
                  : "ttcp-r: verified: every byte arrived as it was sent\n",
          f);
}

void ttcp_report_text(const struct ttcp_result *r, FILE *f)
{
    const struct ttcp_options *o = r->opt;
    char limit[48];

    if (o->udp) {
        datagrams(r, f);
        return;
    }
    for (const struct ttcp_result *one = r; one != NULL; one = one->next)
        flow(f, one);
    totals(f, r, false);
    totals(f, r, true);
    if (o->verbose > 0)
        ttcp_report_interface(r, f);
    verified(f, r);
    if (r->limit_bps != 0)
        fprintf(f, "ttcp-t: physical limit of this transfer %s%s\n",
                units_print_rate(limit, r->limit_bps, SCPS_SEC(8), o->unit),
                o->fwd.ber > 0 || o->fwd.loss > 0 ? " (the mean: losses are by chance)" : "");
}

void ttcp_report_dropped(const struct ttcp_result *r, FILE *f)
{
    if (r->has_tx)
        dropped(f, 't', &r->tx);
    if (r->has_rx)
        dropped(f, 'r', &r->rx);
    ttcp_report_interface(r, f);
}

void ttcp_report_line(const struct ttcp_result *r, FILE *f)
{
    const struct ttcp_side *own = r->has_tx ? &r->tx : &r->rx;
    uint64_t bytes = r->has_tx ? r->acked_bytes : r->rx.bytes;
    scps_dur us = r->has_tx ? ttcp_sent_time(r) : ttcp_received_time(r);
    char addr[SCPS_ADDR_STRLEN], seconds[32], rate[48], peer[SCPS_ADDR_STRLEN + 16];
    const char *error = r->error;

    fprintf(f, "ttcp-%c: %s port %u: %" PRIu64 " bytes in %s real seconds = %s",
            r->has_tx ? 't' : 'r', scps_addr_format(&own->remote.addr, addr), own->remote.port,
            bytes, real_seconds(seconds, us), units_print_rate(rate, bytes, us, r->opt->unit));
    if (r->has_tx)
        fprintf(f, ", %" PRIu32 " resent", own->info.resent_segs);
    else
        fprintf(f, ", %" PRIu32 " out of order", own->info.ooo_segs);
    if (r->outcome != TTCP_DONE)
        fprintf(f, ": %s", ttcp_outcome_name(r->outcome));
    /* The line begins with the peer's address already, so the same address at the start of the
     * error is left out. An error that only repeats the outcome is not printed. */
    snprintf(peer, sizeof(peer), "%s port %u: ", addr, own->remote.port);
    if (strncmp(error, peer, strlen(peer)) == 0)
        error += strlen(peer);
    if (r->outcome != TTCP_DONE && strcmp(error, ttcp_outcome_name(r->outcome)) != 0)
        fprintf(f, ": %s", error);
    fputc('\n', f);
}

static void interval_line(const struct ttcp_result *r, const struct ttcp_interval *i, bool sum,
                          FILE *f)
{
    char from[32], to[32], rate[48], rtt[32], what[24];
    uint64_t bytes = r->has_tx ? i->acked : i->delivered;

    fprintf(f, "ttcp-%c: %s%s-%s sec %" PRIu64 " bytes %s", r->has_tx ? 't' : 'r',
            tag(what, r, sum), units_print_seconds(from, i->start, 2),
            units_print_seconds(to, i->end, 2), bytes,
            units_print_rate(rate, bytes, i->end - i->start, r->opt->unit));
    if (r->opt->udp)
        ttcp_report_udp_interval(r, i, f);
    else if (r->has_tx && sum)
        fprintf(f, ", %" PRIu64 " resent", i->retransmits);
    else if (r->has_tx)
        fprintf(f, ", %" PRIu64 " resent, cwnd %" PRIu64 ", rtt %s, %s", i->retransmits, i->cwnd,
                duration(rtt, i->rtt), scps_hold_name(i->hold));
    fputc('\n', f);
}

void ttcp_report_interval(const struct ttcp_result *r, const struct ttcp_interval *i, FILE *f)
{
    interval_line(r, i, false, f);
}

void ttcp_report_interval_sum(const struct ttcp_result *r, const struct ttcp_interval *i, FILE *f)
{
    interval_line(r, i, true, f);
}
