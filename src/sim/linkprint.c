/* SPDX-License-Identifier: MIT */
/* Writes a link's configuration as a textual description, which linkspec.c can parse. It contains
 * the values in force, defaults included. */
#include "sim/plan.h"

#include <scps/sim.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

struct words {
    char *buf;
    size_t n;
};

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
say(struct words *w, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    int n = vsnprintf(w->buf + w->n, SCPS_LINK_TEXTLEN - w->n, fmt, ap);
    va_end(ap);
    if (n > 0)
        w->n = w->n + (size_t)n < SCPS_LINK_TEXTLEN ? w->n + (size_t)n : SCPS_LINK_TEXTLEN - 1;
}

/* Writes the parts of the configuration that change with time: tables of rates, delays and
 * outages. */
static void say_tables(struct words *w, const struct scps_link_config *c)
{
    if (c->rates.n)
        say(w, " %" PRIu32 " rates", c->rates.n);
    if (c->delays.n)
        say(w, " %" PRIu32 " delays", c->delays.n);
    if (c->outages.n)
        say(w, " %" PRIu32 " %s", c->outages.n, c->outages.inverse ? "contacts" : "outages");
}

char *scps_link_print(const struct scps_link_config *c, char buf[SCPS_LINK_TEXTLEN])
{
    struct words w = {buf, 0};

    say(&w, "rate=%" PRIu64 " delay=%" PRId64 "us", c->rate_bps, c->delay);
    if (c->queue_packets)
        say(&w, " queue=%" PRIu32 "p", c->queue_packets);
    else
        say(&w, " queue=%" PRIu64, c->queue_bytes);
    if (c->framing)
        say(&w, " framing=%s", scps_framing_name(c->framing));
    say(&w, " overhead=%" PRIu32 " ber=%g loss=%g dup=%g reorder=%g", c->overhead, c->ber, c->loss,
        c->dup, c->reorder);
    if (c->ber_exempt)
        say(&w, " exempt=%" PRIu32, c->ber_exempt);
    if (c->reorder_delay)
        say(&w, " reorder-delay=%" PRId64 "us", c->reorder_delay);
    if (c->jitter)
        say(&w, " jitter=%" PRId64 "us", c->jitter);
    if (c->burst.ber > 0 && c->burst.good)
        say(&w, " burst=%" PRId64 "us/%" PRId64 "us burst-ber=%g", c->burst.good, c->burst.bad,
            c->burst.ber);
    else if (c->burst.ber > 0)
        say(&w, " burst=%g/%g burst-ber=%g", c->burst.to_bad, c->burst.to_good, c->burst.ber);
    if (c->codel_interval)
        say(&w, " codel=%" PRId64 "us/%" PRId64 "us", c->codel_target, c->codel_interval);
    if (c->vector_len)
        say(&w, " vector of %zu bytes", c->vector_len);
    say_tables(&w, c);
    if (c->hold)
        say(&w, " hold");
    if (c->flip)
        say(&w, " flip");
    return buf;
}
