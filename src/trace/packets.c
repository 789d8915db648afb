/* SPDX-License-Identifier: MIT */
/* Prints a packet on one line, similar to tcpdump, with the connection, relative sequence numbers,
 * scaled windows, the options of SCPS-TP in words and the analyser's findings at the end:
 *
 *     0.120411   17 a2b 10.0.0.1.5001 > 10.0.0.2.80: [P.] seq 1449:2897 ack 1 win 65536 len 1448
 *                <ts 7 5> resent: snack
 */
#include <inttypes.h>
#include <stdio.h>

#include "trace/flow.h"

static void caps(FILE *f, const uint8_t *b)
{
    static const char *const name[5] = {"bets", "snack1", "snack2", "com", "nlts"};
    fputs("scps-caps", f);
    for (int i = 0; i < 5; i++)
        if (b[0] >> (7 - i) & 1)
            fprintf(f, "%c%s", i && b[0] >> (8 - i) ? '+' : ' ', name[i]);
    if (!(b[0] & 0xf8))
        fputs(" none", f);
    fprintf(f, " id %u", b[1]);
}

static void option(FILE *f, uint8_t kind, const uint8_t *b, uint32_t n,
                   const struct scps_trace_seen *s)
{
    switch (kind) {
    case SCPS_OPT_MSS:
        if (n == 2) {
            fprintf(f, "mss %u", scps_get16(b));
            return;
        }
        break;
    case SCPS_OPT_WSCALE:
        if (n == 1) {
            fprintf(f, "wscale %u", b[0]);
            return;
        }
        break;
    case SCPS_OPT_SACK_OK:
        fputs("sackOK", f);
        return;
    case SCPS_OPT_SACK:
        fputs("sack", f);
        for (; n >= 8; b += 8, n -= 8) {
            /* The numbers in SACK blocks are printed relative to the first sequence number of the
             * opposite direction, whose data they report. */
            uint32_t base = s->ack - (uint32_t)s->ack_off;
            fprintf(f, " %" PRIu32 ":%" PRIu32, scps_get32(b) - base, scps_get32(b + 4) - base);
        }
        return;
    case SCPS_OPT_TS:
        if (n == 8) {
            fprintf(f, "ts %" PRIu32 " %" PRIu32, scps_get32(b), scps_get32(b + 4));
            return;
        }
        break;
    case SCPS_OPT_CAPS:
        if (n == 2) {
            caps(f, b);
            return;
        }
        if (n > 2) {
            fputs("scps-xcaps ", f);
            for (uint32_t i = 0; i < n; i++)
                fprintf(f, "%02x", b[i]);
            return;
        }
        break;
    case SCPS_OPT_SNACK:
        if (n >= 4) {
            fprintf(f, "snack offset %u size %u", scps_get16(b), scps_get16(b + 2));
            if (n > 4) {
                fputs(" vector ", f);
                for (uint32_t i = 4; i < n; i++)
                    fprintf(f, "%02x", b[i]);
            }
            return;
        }
        break;
    case SCPS_OPT_RECORD:
        fputs("record-end", f);
        return;
    case SCPS_OPT_CORRUPTION:
        fputs("corruption", f);
        return;
    default:
        break;
    }
    fprintf(f, "kind %u:", kind);
    for (uint32_t i = 0; i < n; i++)
        fprintf(f, "%02x", b[i]);
}

static void options(FILE *f, const struct scps_trace_seen *s)
{
    const uint8_t *p = s->opt;
    const struct scps_trace_pkt *pkt = s->pkt;
    /* true: the captured part of the packet ends within or right behind the options */
    const bool cut = p && pkt->caplen < pkt->len && p + s->opt_len == pkt->data + pkt->caplen;
    const char *sep = " <";
    for (uint32_t i = 0; p && i < s->opt_len;) {
        if (p[i] == 0)
            break;
        if (p[i] == 1) {
            i++;
            continue;
        }
        fputs(sep, f);
        sep = ",";
        if (i + 2 > s->opt_len || p[i + 1] < 2 || i + p[i + 1] > s->opt_len) {
            const bool bad = i + 1 < s->opt_len && p[i + 1] < 2;
            fprintf(f, "kind %u: %s", p[i], cut && !bad ? "not captured" : "bad length");
            break;
        }
        option(f, p[i], p + i + 2, p[i + 1] - 2u, s);
        i += p[i + 1];
    }
    if (sep[0] == ',')
        fputc('>', f);
}

void scps_trace_text_packet(FILE *f, const struct scps_trace_seen *s, scps_time t0)
{
    char src[SCPS_ADDR_STRLEN], dst[SCPS_ADDR_STRLEN], flags[10];
    scps_dur t = s->pkt->at - t0;
    fprintf(f, "%s%" PRId64 ".%06d %3" PRIu32 " %s %s.%u > %s.%u: [", t < 0 ? "-" : "",
            (t < 0 ? -t : t) / 1000000, (int)((t < 0 ? -t : t) % 1000000), s->conn,
            s->b2a ? "b2a" : "a2b", scps_addr_format(&s->src.addr, src), s->src.port,
            scps_addr_format(&s->dst.addr, dst), s->dst.port);
    fprintf(f, "%s]", scps_print_flags(s->flags, flags));
    if (s->len || (s->flags & (SCPS_SYN | SCPS_FIN)))
        fprintf(f, " seq %" PRId64 ":%" PRId64, (int64_t)s->off, (int64_t)s->off + s->len);
    else
        fprintf(f, " seq %" PRId64, (int64_t)s->off);
    if (s->flags & SCPS_ACK)
        fprintf(f, " ack %" PRId64, (int64_t)s->ack_off);
    fprintf(f, " win %" PRIu64 " len %" PRIu32, s->win, s->len);
    if (s->proto == SCPS_IPPROTO_SCPS_COMP)
        fputs(" compressed", f);
    else if (s->proto == SCPS_IPPROTO_SCPS_TP)
        fputs(" proto-106", f);
    options(f, s);
    if (s->hw_dup)
        fputs(" hardware-dup", f);
    if (s->keepalive)
        fputs(" keep-alive", f);
    else if (s->rexmit || s->cause)
        fprintf(f, " %s%s%s", s->rexmit ? "resent" : "repair", s->cause ? ": " : "",
                s->cause ? s->cause : "");
    if (s->out_of_order)
        fputs(" out-of-order", f);
    if (s->probe)
        fputs(" zero-window-probe", f);
    if (s->rtt >= 0)
        fprintf(f, " rtt %.3f ms", (double)s->rtt / 1000);
    fputc('\n', f);
}
