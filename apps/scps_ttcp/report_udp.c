/* SPDX-License-Identifier: MIT */
/* The reports of -u: lines in ttcp's form, and a document in the form of iperf3 -u.
 *
 * end.sum and end.streams[].udp are about the whole run; sum_sent and sum_received have the two
 * ends separately. bytes: those sent if the sender is in this process, otherwise those received.
 * Jitter and losses are measured if the receiver is in this process, and null otherwise, or if the
 * datagrams do not show them. packets: the number of datagrams sent, of which lost_percent is a
 * share; if only the receiver is in this process and that number is not known, those that arrived.
 * docs/schema/scps_ttcp_udp.schema.json describes all of it.
 */
#include "scps_ttcp/report_parts.h"
#include "scps_ttcp/units.h"

#include <scps/error.h>
#include <scps/scps.h>

#include <inttypes.h>

/* ---- functions that write the report as text ---- */

static void percent(char buf[24], uint64_t part, uint64_t whole)
{
    uint64_t cents = whole != 0 ? (part * 10000 + whole / 2) / whole : 0;

    snprintf(buf, 24, "%" PRIu64 ".%02" PRIu64, cents / 100, cents % 100);
}

/* Writes the jitter to buf, in ms. jitter: in units of 1/16 µs. */
static void jitter_text(char buf[24], uint64_t jitter)
{
    uint64_t ns = jitter * 1000 / 16;

    snprintf(buf, 24, "%" PRIu64 ".%06" PRIu64, ns / 1000000, ns % 1000000);
}

/* Returns the number of lost datagrams, of `sent` of which `arrived` have arrived. If the datagrams
 * have no numbers, a duplicate cannot be recognised and counts as one more that has arrived, so
 * each duplicate makes the result one too low. */
static uint64_t lost_of(uint64_t sent, uint64_t arrived)
{
    return sent > arrived ? sent - arrived : 0;
}

void ttcp_report_udp_text(const struct ttcp_result *r, FILE *f)
{
    const struct ttcp_figures *u = &r->udp;
    char text[24];

    if (r->has_tx)
        fprintf(f, "ttcp-t: %" PRIu64 " datagrams of %zu bytes sent\n", u->sent, r->opt->length);
    if (!r->has_rx)
        return;
    fprintf(f, "ttcp-r: %" PRIu64 " datagrams", u->arrived);
    if (u->expected != 0) {
        uint64_t lost = lost_of(u->expected, u->arrived);

        percent(text, lost, u->expected);
        fprintf(f, ", %" PRIu64 " lost of %" PRIu64 " (%s %%)", lost, u->expected, text);
    }
    if (u->numbered)
        fprintf(f, ", %" PRIu64 " out of order, %" PRIu64 " duplicates", u->out_of_order,
                u->duplicates);
    if (u->timed) {
        jitter_text(text, u->jitter);
        fprintf(f, ", jitter %s ms", text);
    }
    if (u->guards == 0)
        fputs(", no guard at the end", f);
    fputc('\n', f);
}

void ttcp_report_udp_interval(const struct ttcp_result *r, const struct ttcp_interval *i, FILE *f)
{
    char text[24];

    fprintf(f, ", %" PRIu64 " datagrams", i->packets);
    if (!r->has_rx)
        return;
    jitter_text(text, i->jitter);
    fprintf(f, ", %" PRIu64 " lost, jitter %s ms", i->lost, text);
}

/* ---- functions that write the report as JSON ---- */

static void jitter_json(struct scps_json *j, bool known, uint64_t jitter)
{
    char text[24];

    jitter_text(text, jitter);
    if (known)
        scps_json_raw(j, "jitter_ms", text);
    else
        scps_json_null(j, "jitter_ms");
}

static void losses(struct scps_json *j, bool known, uint64_t expected, uint64_t arrived)
{
    uint64_t lost = lost_of(expected, arrived);
    char text[24];

    if (known) {
        percent(text, lost, expected);
        scps_json_uint(j, "lost_packets", lost);
        scps_json_uint(j, "packets", expected);
        scps_json_raw(j, "lost_percent", text);
    } else {
        scps_json_null(j, "lost_packets");
        scps_json_uint(j, "packets", arrived);
        scps_json_null(j, "lost_percent");
    }
}

static void span(struct scps_json *j, scps_dur from, scps_dur to, uint64_t bytes)
{
    scps_json_seconds(j, "start", from);
    scps_json_seconds(j, "end", to);
    scps_json_seconds(j, "seconds", to - from);
    scps_json_uint(j, "bytes", bytes);
    scps_json_uint(j, "bits_per_second", units_bps(bytes, to - from));
}

/* Writes the totals of the transfer as object `key`. sent: true for the totals at the sender, false
 * for those at the receiver. stream: true if the object is part of an item of "streams", so that it
 * also has the members "socket" and "out_of_order". */
static void sum(struct scps_json *j, const struct ttcp_result *r, const char *key, bool sent,
                bool stream)
{
    const struct ttcp_figures *u = &r->udp;
    scps_dur us = sent ? ttcp_sent_time(r) : ttcp_received_time(r);

    scps_json_open(j, key, '{');
    if (stream)
        scps_json_uint(j, "socket", r->has_tx ? r->tx.id : r->rx.id);
    span(j, 0, us, sent ? r->tx.bytes : r->rx.bytes);
    jitter_json(j, u->timed, u->jitter);
    if (r->has_rx)
        losses(j, u->expected != 0 || r->has_tx, u->expected, u->arrived);
    else
        losses(j, false, 0, u->sent);
    if (stream) {
        if (u->numbered)
            scps_json_uint(j, "out_of_order", u->out_of_order);
        else
            scps_json_null(j, "out_of_order");
    }
    scps_json_bool(j, "sender", r->has_tx);
    scps_json_close(j, '}');
}

static void one_interval(struct scps_json *j, const struct ttcp_result *r, const char *key,
                         const struct ttcp_interval *i, bool stream)
{
    scps_json_open(j, key, '{');
    if (stream)
        scps_json_uint(j, "socket", r->has_tx ? r->tx.id : r->rx.id);
    span(j, i->start, i->end, r->has_tx ? i->acked : i->delivered);
    if (r->has_rx) {
        jitter_json(j, r->udp.timed, i->jitter);
        losses(j, r->udp.numbered, i->packets + i->lost, i->packets);
    } else {
        scps_json_uint(j, "packets", i->packets);
    }
    scps_json_bool(j, "omitted", false);
    scps_json_bool(j, "sender", r->has_tx);
    scps_json_close(j, '}');
}

void ttcp_json_udp_interval(struct scps_json *j, const struct ttcp_result *r,
                            const struct ttcp_interval *i)
{
    scps_json_open(j, NULL, '{');
    scps_json_open(j, "streams", '[');
    one_interval(j, r, NULL, i, true);
    scps_json_close(j, ']');
    one_interval(j, r, "sum", i, false);
    scps_json_close(j, '}');
}

void ttcp_json_udp_scps(struct scps_json *j, const struct ttcp_result *r)
{
    scps_json_open(j, "scps", '{');
    scps_json_uint(j, "rate_bps", r->opt->rate_bps);
    ttcp_json_seed(j, r);
    scps_json_bool(j, "virtual_time", r->virtual_time);
    scps_json_bool(j, "hollow", r->opt->hollow);
    ttcp_json_link(j, r);
    scps_json_close(j, '}');
}

static void figures(struct scps_json *j, const struct ttcp_result *r)
{
    const struct ttcp_figures *u = &r->udp;

    scps_json_open(j, "scps", '{');
    ttcp_json_outcome(j, r);
    if (r->has_tx) {
        scps_json_uint(j, "sent_bytes", r->tx.bytes);
        scps_json_uint(j, "sent_packets", u->sent);
        ttcp_json_drops(j, "drops_sender", &r->tx);
    }
    if (r->has_rx) {
        scps_json_uint(j, "received_bytes", r->rx.bytes);
        scps_json_uint(j, "received_packets", u->arrived);
        scps_json_uint(j, "duplicates", u->duplicates);
        scps_json_uint(j, "guards", u->guards);
        scps_json_bool(j, "numbered", u->numbered);
        ttcp_json_drops(j, "drops_receiver", &r->rx);
    }
    ttcp_json_interface(j, r);
    scps_json_close(j, '}');
}

void ttcp_json_udp_end(struct scps_json *j, const struct ttcp_result *r)
{
    scps_json_open(j, "end", '{');
    scps_json_open(j, "streams", '[');
    scps_json_open(j, NULL, '{');
    sum(j, r, "udp", r->has_tx, true);
    scps_json_close(j, '}');
    scps_json_close(j, ']');
    sum(j, r, "sum", r->has_tx, false);
    if (r->has_tx)
        sum(j, r, "sum_sent", true, false);
    if (r->has_rx)
        sum(j, r, "sum_received", false, false);
    ttcp_json_ran(j, r);
    figures(j, r);
    ttcp_json_verified(j, r);
    scps_json_close(j, '}');
}
