/* SPDX-License-Identifier: MIT */
/* A change is read by the parser of SPECs, so that a key means here what it means there: the items are put behind the
 * rates and delays that hold now, the whole is parsed, and the fields that were named are taken over.
 */
#include "scps_link/change.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { RATE = 1, DELAY = 2, BER = 4, LOSS = 8, DUP = 16, REORDER = 32, QUEUE = 64, OVERHEAD = 128 };

static const struct {
    const char *key;
    unsigned bit;
} keys[] = {{"rate", RATE}, {"delay", DELAY},     {"ber", BER},     {"loss", LOSS},
            {"dup", DUP},   {"reorder", REORDER}, {"queue", QUEUE}, {"overhead", OVERHEAD}};

static unsigned find(const char *p, size_t n)
{
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strlen(keys[i].key) == n && memcmp(keys[i].key, p, n) == 0)
            return keys[i].bit;
    return 0;
}

int change_apply(const char *items, struct scps_link_config *own,
                 const struct scps_link_config *other, char *msg, size_t msglen)
{
    char spec[1024] = "", given[512] = "";
    struct scps_link_config now, back, c = *own;
    unsigned has = 0;
    size_t n;

    for (const char *p = items + strspn(items, " ,"); *p; p += n, p += strspn(p, " ,")) {
        size_t key = strcspn(p, "= ,"), used = strlen(given);
        unsigned bit = find(p, key);
        n = strcspn(p, " ,");
        if (n == 4 && memcmp(p, "flip", 4) == 0) {
            c.flip = true;
        } else if (n == 8 && memcmp(p, "flip=off", 8) == 0) {
            c.flip = false;
        } else if (!bit) {
            snprintf(
                msg, msglen,
                "unknown key '%.*s'; allowed: rate delay ber loss dup reorder queue overhead flip "
                "flip=off",
                (int)(key > 40 ? 40 : key), p);
            return -1;
        } else if (used + n + 2 > sizeof given) {
            snprintf(msg, msglen, "too many changes at once: give them in several commands");
            return -1;
        } else {
            snprintf(given + used, sizeof given - used, ",%.*s", (int)n, p);
            has |= bit;
        }
    }
    if (has == 0 && c.flip == own->flip && strspn(items, " ,") == strlen(items)) {
        snprintf(msg, msglen, "nothing to change: give KEY=VALUE, for example ber=1e-6");
        return -1;
    }
    n = 0;
    if (!(has & RATE))
        n += (size_t)snprintf(spec + n, sizeof spec - n, ",rate=%" PRIu64, own->rate_bps);
    if (!(has & DELAY))
        n += (size_t)snprintf(spec + n, sizeof spec - n, ",delay=%" PRId64 "us", own->delay);
    snprintf(spec + n, sizeof spec - n, ",rate-back=%" PRIu64 ",delay-back=%" PRId64 "us%s",
             other->rate_bps, other->delay, given);
    if (scps_link_parse(spec + 1, &now, &back, msg, msglen) != 0)
        return -1;
    if (has & RATE)
        c.rate_bps = now.rate_bps;
    if (has & DELAY)
        c.delay = now.delay;
    if (has & BER)
        c.ber = now.ber;
    if (has & LOSS)
        c.loss = now.loss;
    if (has & DUP)
        c.dup = now.dup;
    if (has & REORDER)
        c.reorder = now.reorder;
    if (has & OVERHEAD)
        c.overhead = now.overhead;
    if (has & QUEUE) {
        c.queue_bytes = now.queue_bytes;
        c.queue_packets = now.queue_packets;
    }
    *own = c;
    return 0;
}

char *change_print(const struct scps_link_config *c, char buf[CHANGE_TEXTLEN])
{
    char queue[32];

    if (c->queue_packets)
        snprintf(queue, sizeof queue, "%" PRIu32 "p", c->queue_packets);
    else
        snprintf(queue, sizeof queue, "%" PRIu64, c->queue_bytes);
    snprintf(buf, CHANGE_TEXTLEN,
             "rate=%" PRIu64 " delay=%" PRId64 "us queue=%s overhead=%" PRIu32
             " ber=%g loss=%g dup=%g reorder=%g%s",
             c->rate_bps, c->delay, queue, c->overhead, c->ber, c->loss, c->dup, c->reorder,
             c->flip ? " flip" : "");
    return buf;
}
