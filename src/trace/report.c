/* SPDX-License-Identifier: MIT */
/* Computes the figures of a connection's report (means, deviations, rates) from the counters that
 * were kept while its packets were read. */
#include "trace/flow.h"
#include "trace/why.h"

#include <math.h>
#include <stdio.h>

/* Writes tcptrace's name of the n-th end of a connection, from 0, to `out`: a .. z, aa, ab ... */
void scps_tr_letter(uint64_t n, char out[8])
{
    char rev[8];
    unsigned k = 0;
    n++;
    while (n && k < 7) {
        n--;
        rev[k++] = (char)('a' + n % 26);
        n /= 26;
    }
    for (unsigned i = 0; i < k; i++)
        out[i] = rev[k - 1 - i];
    out[k] = '\0';
}

static double ms(double us)
{
    return us / 1000;
}

static void caps_words(uint8_t caps, char *out, size_t cap)
{
    static const struct {
        uint8_t bit;
        const char *name;
    } bit[] = {{SCPS_CAP_BETS, "bets"},
               {SCPS_CAP_SNACK1, "snack1"},
               {SCPS_CAP_SNACK2, "snack2"},
               {SCPS_CAP_COM, "com"},
               {SCPS_CAP_NLTS, "nlts"}};
    size_t n = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof bit / sizeof *bit; i++)
        if (caps & bit[i].bit)
            n += (size_t)snprintf(out + n, cap - n, "%s%s", n ? " " : "", bit[i].name);
}

static void ack_mode(const struct conn_dir *h, char out[32])
{
    uint64_t n = h->acks_adv;
    double per = n ? (double)h->acked_segs / (double)n : 0;
    double gap = scps_tr_dist_avg(&h->ackgap);
    const char *w = "too little to tell";
    if (n >= 8) {
        if (h->acks_one * 10 >= n * 7)
            w = "F1, every segment";
        else if ((h->acks_one + h->acks_two) * 10 >= n * 7)
            w = "F2, every other";
        else if (per > 2.5 && gap >= 40000)
            w = "F0, timer only";
        else
            w = "stretched";
    }
    snprintf(out, 32, "%s", w);
}

/* Copies to *r those figures of tcptrace's long report that count packets and bytes. */
static void packets(const struct conn_dir *h, const struct conn_rare *x, struct scps_trace_dir *r)
{
    r->total_packets = h->packets;
    r->resets_sent = h->rst_count;
    r->ack_pkts_sent = h->ack_pkts;
    r->pure_acks_sent = h->pureack_pkts;
    r->sack_pkts_sent = h->num_sacks;
    r->dsack_pkts_sent = h->num_dsacks;
    r->max_sack_blks_ack = h->max_sack_blocks;
    r->unique_bytes_sent = h->unique_bytes;
    r->actual_data_pkts = h->data_pkts;
    r->actual_data_bytes = h->data_bytes;
    r->rexmt_data_pkts = h->rexmit_pkts;
    r->rexmt_data_bytes = h->rexmit_bytes;
    r->zwnd_probe_pkts = x->zwnd_pkts;
    r->zwnd_probe_bytes = x->zwnd_bytes;
    r->outoforder_pkts = h->ooo_pkts;
    r->pushed_data_pkts = h->push_pkts;
    snprintf(r->syn_fin_pkts_sent, sizeof r->syn_fin_pkts_sent, "%u/%u", h->syn_count,
             h->fin_count);
    snprintf(r->req_1323_ws_ts, sizeof r->req_1323_ws_ts, "%c/%c", h->ws ? 'Y' : 'N',
             h->ts ? 'Y' : 'N');
    r->adv_wind_scale = h->wscale;
    snprintf(r->req_sack, sizeof r->req_sack, "%c", h->sack_ok ? 'Y' : 'N');
    r->sacks_sent = h->num_sacks;
    r->urgent_data_pkts = x->urg_pkts;
    r->urgent_data_bytes = x->urg_bytes;
    r->mss_requested = h->mss;
    r->max_segm_size = h->max_seg;
    r->min_segm_size = h->min_seg;
    r->avg_segm_size = (uint64_t)((double)h->data_bytes / ((double)h->data_pkts + .001));
}

static void windows(const struct conn_dir *h, const struct conn_dir *o, struct scps_trace_dir *r)
{
    r->max_win_adv = h->win_max;
    r->min_win_adv = h->win_min;
    r->zero_win_adv = h->zero_win;
    if (h->win_scaled && o->win_scaled)
        r->avg_win_adv = h->win_scaled_pkts ? h->win_tot / h->win_scaled_pkts : 0;
    else
        r->avg_win_adv = h->packets ? h->win_tot / h->packets : 0;
}

static void outstanding(const struct conn_dir *h, double etime, struct scps_trace_dir *r)
{
    r->max_owin = h->owin_max;
    r->min_non_zero_owin = h->owin_min;
    r->avg_owin = h->owin_count ? h->owin_tot / h->owin_count : 0;
    r->wavg_owin = etime > 0 ? (uint64_t)((double)h->owin_wavg / etime) : SCPS_TRACE_NA;
    r->initial_window_bytes = h->initwin_bytes;
    r->initial_window_pkts = h->initwin_segs;
}

static void stream(const struct conn_dir *h, double etime, struct scps_trace_dir *r)
{
    r->ttl_stream_length = r->missed_data = SCPS_TRACE_NA;
    if (h->syn_count && h->fin_count) {
        /* The length of the stream is the distance from SYN to FIN, in 64-bit sequence numbers;
         * after a reset, from the SYN to the last segment. */
        uint32_t last = h->rst_count ? h->latest_seq : h->fin;
        uint64_t end = h->ref + (uint64_t)(int64_t)(int32_t)(last - (uint32_t)h->ref);
        r->ttl_stream_length = end > h->isn64 ? end - h->isn64 - 1 : 0;
        r->missed_data =
            r->ttl_stream_length > h->unique_bytes ? r->ttl_stream_length - h->unique_bytes : 0;
    }
    r->truncated_data = h->trunc_bytes;
    r->truncated_packets = h->trunc_segs;
    r->data_xmit_time = h->data_pkts ? (double)SCPS_MAX(h->last_data - h->first_data, 0) / 1e6 : 0;
    r->idletime_max = h->packets ? ms((double)h->idle_max) : NAN;
    r->hardware_dups = h->hwdups;
    r->throughput = etime > 0 ? (double)h->unique_bytes / etime : NAN;
}

/* Copies the round-trip times and their counters to *r: the figures that tcptrace prints with
 * option -r. */
static void round_trips(const struct conn_dir *h, const struct conn_rare *x,
                        struct scps_trace_dir *r)
{
    r->rtt_samples = h->rtt.n;
    r->rtt_min = ms((double)h->rtt.min);
    r->rtt_max = ms((double)h->rtt.max);
    r->rtt_avg = ms(scps_tr_dist_avg(&h->rtt));
    r->rtt_stdev = ms(scps_tr_dist_sd(&h->rtt));
    r->rtt_from_3whs = ms((double)h->rtt_3whs);
    r->rtt_full_sz_smpls = h->rtt_full.n;
    r->rtt_full_sz_min = ms((double)h->rtt_full.min);
    r->rtt_full_sz_max = ms((double)h->rtt_full.max);
    r->rtt_full_sz_avg = ms(scps_tr_dist_avg(&h->rtt_full));
    r->rtt_full_sz_stdev = ms(scps_tr_dist_sd(&h->rtt_full));
    r->post_loss_acks = h->rtt_nosample;
    r->ambiguous_acks = h->rtt_ambig;
    r->rtt_min_last = ms((double)x->rtt_last.min);
    r->rtt_max_last = ms((double)x->rtt_last.max);
    r->rtt_avg_last = ms(scps_tr_dist_avg(&x->rtt_last));
    r->rtt_sdv_last = ms(scps_tr_dist_sd(&x->rtt_last));
    r->segs_cum_acked = h->rtt_cumack;
    r->duplicate_acks = h->dupacks;
    r->triple_dupacks = h->triple_dupacks;
    r->max_retrans = x->retr_max;
    r->min_retr_time = ms((double)x->retr.min);
    r->max_retr_time = ms((double)x->retr.max);
    r->avg_retr_time = ms(scps_tr_dist_avg(&x->retr));
    r->sdv_retr_time = ms(scps_tr_dist_sd(&x->retr));
}

/* Computes the bytes of h's data that were acknowledged, SYN and FIN not counted, and their rate,
 * bytes/s. tcptrace does not have these figures, nor those of the later functions in this file. */
static void goodput(const struct conn_dir *h, const struct conn_dir *o, struct scps_trace_dir *r)
{
    uint64_t una = o->ack_hi;
    uint64_t acked = una > h->isn64 ? una - h->isn64 : 0;
    acked -= SCPS_MIN(acked, (h->syn_count != 0) + (uint64_t)(h->fin_count && una >= h->sent_hi));
    r->bytes_acked = acked;
    double gtime = h->data_pkts ? (double)SCPS_MAX(o->last_time - h->first_data, 0) / 1e6 : 0;
    r->goodput = gtime > 0 ? (double)acked / gtime : NAN;
}

static void oddities(const struct conn_dir *h, const struct conn_rare *x, struct scps_trace_dir *r)
{
    r->syn_pkts_sent = h->syn_count;
    r->fin_pkts_sent = h->fin_count;
    r->wire_bytes = h->wire_bytes;
    r->gap_fills = x->gap_fills;
    r->reordered_pkts = x->reordered;
    r->repaired_unseen_pkts = x->repaired;
    r->keepalive_pkts = x->keepalives;
    r->window_full_pkts = h->window_full;
    r->acks_beyond_data = x->acks_beyond;
    r->acks_old = x->acks_old;
    r->window_updates = x->win_updates;
    r->sack_blocks = h->sack_blocks;
    r->ecn_ce_pkts = x->ce;
    r->ecn_ece_pkts = x->ece;
    r->ecn_cwr_pkts = x->cwr;
    r->bad_options = x->bad_options;
    r->pureack_bytes = h->pureack_bytes;
}

static void acks(const struct conn_dir *h, double etime, struct scps_trace_dir *r)
{
    r->ack_spacing_min = h->ackgap.n ? ms((double)h->ackgap.min) : NAN;
    r->ack_spacing_avg = h->ackgap.n ? ms(scps_tr_dist_avg(&h->ackgap)) : NAN;
    r->ack_spacing_max = h->ackgap.n ? ms((double)h->ackgap.max) : NAN;
    r->ack_rate = etime > 0 ? (double)h->pureack_pkts / etime : NAN;
    r->segs_per_ack = h->acks_adv ? (double)h->acked_segs / (double)h->acks_adv : NAN;
    ack_mode(h, r->ack_mode);
}

static void held_back(const struct conn_dir *h, struct scps_trace_dir *r)
{
    r->max_outstanding = h->out_max;
    r->avg_outstanding = h->out_time > 0 ? h->out_area / (double)h->out_time : NAN;
    scps_dur all = 0;
    for (int i = LIMIT_APP; i < LIMIT_COUNT; i++)
        all += h->share[i];
    r->window_limited = all ? (double)h->share[LIMIT_WINDOW] / (double)all : NAN;
    r->app_limited = all ? (double)h->share[LIMIT_APP] / (double)all : NAN;
    r->congestion_limited = all ? (double)h->share[LIMIT_CONGESTION] / (double)all : NAN;
}

static void percentiles(const struct conn_dir *h, struct scps_trace_dir *r)
{
    r->rtt_p50 = ms(scps_tr_hist_at(&h->rtt_hist, &h->rtt, .5));
    r->rtt_p90 = ms(scps_tr_hist_at(&h->rtt_hist, &h->rtt, .9));
    r->rtt_p99 = ms(scps_tr_hist_at(&h->rtt_hist, &h->rtt, .99));
    r->tsrtt_samples = h->tsrtt.n;
    r->tsrtt_min = h->tsrtt.n ? ms((double)h->tsrtt.min) : NAN;
    r->tsrtt_max = h->tsrtt.n ? ms((double)h->tsrtt.max) : NAN;
    r->tsrtt_avg = h->tsrtt.n ? ms(scps_tr_dist_avg(&h->tsrtt)) : NAN;
    r->tsrtt_stdev = h->tsrtt.n ? ms(scps_tr_dist_sd(&h->tsrtt)) : NAN;
    r->tsrtt_p50 = ms(scps_tr_hist_at(&h->tsrtt_hist, &h->tsrtt, .5));
    r->tsrtt_p90 = ms(scps_tr_hist_at(&h->tsrtt_hist, &h->tsrtt, .9));
    r->tsrtt_p99 = ms(scps_tr_hist_at(&h->tsrtt_hist, &h->tsrtt, .99));
}

static void scps(const struct conn_dir *h, const struct conn_rare *x, struct scps_trace_dir *r)
{
    caps_words(h->caps_seen ? h->caps : 0, r->scps_offered, sizeof r->scps_offered);
    if (h->caps_seen && !r->scps_offered[0])
        snprintf(r->scps_offered, sizeof r->scps_offered, "nothing");
    r->scps_connection_id = h->caps_id;
    r->extended_capabilities = h->xcaps_len;
    r->snack_pkts_sent = x->snack_pkts;
    r->snack_long_sent = x->snack_long;
    r->snack_holes = x->snack_holes;
    r->snack_bytes = x->snack_bytes;
    r->snack_ignored = x->snack_ignored;
    r->records = x->records;
    r->corruption_marks = x->corruption;
    r->compressed_pkts = x->comp_pkts;
}

static void why_resent(const struct scps_trace *t, const struct conn_dir *h,
                       struct scps_trace_dir *r)
{
    static const struct why none;
    const struct why *w = h->why ? h->why : &none;
    r->resent_snack = w->cause[CAUSE_SNACK];
    r->resent_sack = w->cause[CAUSE_SACK];
    r->resent_dupack = w->cause[CAUSE_DUPACK];
    r->resent_timeout = w->cause[CAUSE_TIMEOUT];
    r->resent_tail_probe = w->cause[CAUSE_TAIL_PROBE];
    r->resent_first_rtt = w->cause[CAUSE_FIRST_RTT];
    r->resent_unexplained = w->cause[CAUSE_UNEXPLAINED];
    r->resent_spurious = w->spurious;
    r->spurious_dsack = w->spurious_dsack;
    r->spurious_ts = w->spurious_ts;
    r->loss_episodes = w->episodes;
    uint64_t *truth[] = {&r->truth_needed,     &r->truth_needless,    &r->truth_lost_corruption,
                         &r->truth_lost_queue, &r->truth_lost_outage, &r->truth_lost_other};
    for (unsigned i = 0; i < 6; i++)
        *truth[i] = t->truth ? w->truth[i] : SCPS_TRACE_NA;
    r->truth_unmatched = t->truth ? w->truth_unmatched : SCPS_TRACE_NA;
}

static void report_dir(const struct scps_trace *t, const struct flow *f, int dir,
                       struct scps_trace_dir *r)
{
    static const struct conn_rare nothing;
    const struct conn_dir *h = &f->h[dir], *o = &f->h[!dir];
    const struct conn_rare *x = h->rare ? h->rare : &nothing;
    const double etime = (double)SCPS_MAX(f->last - f->first, 0) / 1e6;
    memset(r, 0, sizeof *r);
    packets(h, x, r);
    windows(h, o, r);
    outstanding(h, etime, r);
    stream(h, etime, r);
    round_trips(h, x, r);
    oddities(h, x, r);
    goodput(h, o, r);
    acks(h, etime, r);
    held_back(h, r);
    percentiles(h, r);
    scps(h, x, r);
    why_resent(t, h, r);
    scps_tr_fingerprint(h, o, r);
}

void scps_tr_report(const struct scps_trace *t, const struct flow *f, struct scps_trace_conn *out)
{
    memset(out, 0, sizeof *out);
    out->number = f->number;
    out->a.addr.family = out->b.addr.family = f->key.version;
    memcpy(out->a.addr.b, f->key.a, 16);
    memcpy(out->b.addr.b, f->key.b, 16);
    out->a.port = f->key.pa;
    out->b.port = f->key.pb;
    scps_tr_letter((f->number - 1) * 2ull, out->letter_a);
    scps_tr_letter((f->number - 1) * 2ull + 1, out->letter_b);
    out->first = f->first;
    out->last = f->last;
    out->packets = f->h[0].packets + f->h[1].packets;
    out->syns = (f->h[0].syn_count != 0) + (f->h[1].syn_count != 0u);
    out->fins = (f->h[0].fin_count != 0) + (f->h[1].fin_count != 0u);
    out->end = f->h[0].rst_count || f->h[1].rst_count ? SCPS_TRACE_RESET
               : out->syns == 2 && out->fins == 2     ? SCPS_TRACE_COMPLETE
                                                      : SCPS_TRACE_OPEN;
    out->began_before = !out->syns;
    if (f->h[0].caps_seen && f->h[1].caps_seen)
        caps_words(f->h[0].caps & f->h[1].caps, out->scps_agreed, sizeof out->scps_agreed);
    report_dir(t, f, 0, &out->a2b);
    report_dir(t, f, 1, &out->b2a);
}
