/* SPDX-License-Identifier: MIT */
/* Fuzz target: two hosts, which both run this stack, open connections and exchange data over a
 * simulated path with faults.
 *
 * The first 40 octets of the input set the options of each host, the path, and what a third party
 * that sends forged packets knows of the connections (pair_setup.c lists these octets; zeros mean
 * plain TCP over a path without faults).  Each further four octets are an instruction:
 *
 *     what | a | b | c          a: bit 0 the host, bits 1 and 2 the flow, where there is one
 *
 *     0 time passes        2^(a mod 32) us, with at most 150 services
 *     1 fate               of the next packets of the host: (a >> 1) is the fate, b selects them
 *     2 path               (a >> 1) & 7: loss, outage, copies, damage, jitter, line, delay, MTU
 *     3 more to send       (b + 1) << (c & 7) octets, written when there is room
 *     4 a call             of the application: (a >> 3) mod 12, see pair_call
 *     5 the third party    sends a packet to the host: b selects it, c its numbers
 *     6 a router           answers the last packet of the host with an ICMP error
 *     7 a signal           of the link: b is its kind, c its duration
 *     8 memory             the (b mod 32)-th allocation from now fails, and c more
 *     9 open               the flow, if neither host has it open; b bit 0: on the same port
 *    10 listener           is closed, opened, or its backlog is changed
 *    11 route              gets rate b
 *    12 pause              the host is not served for 2^(b mod 26) us
 *    13 device             is removed, for some values of b and c
 *    14 services           virtual time passes over the next a times at which a host is served
 *   240 a datagram endpoint is opened, closed, configured, connected; 241 sends; 242 receives
 *   243 address            is removed or added again; 244 route: the same, or a default route
 *   245 path state         of the flow is saved, or the saved one is restored (careful resume)
 *   246 open               the flow from a port that the stack chooses
 *   247 state              the functions that return state and counters of the stack are called
 *
 * A number below 240 is taken modulo 15; one above 247 means the same as that number less eight.
 *
 * Flow 0 is opened by host 0, flow 1 by host 1, flow 2 by both at once.  After the last
 * instruction the faults end: no packet is lost, no allocation fails, and the links are up; the
 * applications write what is left, read everything and close.
 *
 * The target checks that
 *   - the octets read are a prefix of those written.  Only with best effort octets may be missing,
 *     which were then reported as holes.  The end of the stream is where the writer set it; a
 *     record ends only where the writer ended one.
 *   - after the faults have ended both ends of a flow close or report an error within a bound in
 *     virtual time.  An error has a cause: an application ended the connection, a configured limit
 *     was reached, an allocation failed, or R2 of RFC 9293 section 3.8.3 has passed.
 *   - after a call of the application that failed for lack of room an event follows, and the call
 *     then succeeds.
 *   - each packet sent is well-formed and not longer than the MTU; a packet with a flipped bit is
 *     never accepted.
 *   - when a host has been served, its deadline is in the future; it sends nothing before its
 *     deadline; in most cases it has something to do at its deadline.
 *   - memory is bounded; each block is freed with the size with which it was allocated, and all are
 *     freed in the end.
 *   - a third party that knows no ports changes nothing: the run is repeated without its packets
 *     and ends in the same way, unless they use up a route's rate or the half-open connections.
 *
 * With FUZZ_LOUD in the environment the target prints the events of a run.
 */
#include "pair.h"

/* ---- serving the stacks ---- */

static bool serve(struct world *w, struct host *h)
{
    uint8_t room[SCPS_MAX_HEADERS + 9000];
    bool early = !h->touched && w->now < h->due, any, sent = false;

    if (h->gone || w->now < h->asleep)
        return false;
    /* A stack without work takes half of the run's time, so it is asked one time in four. */
    if (early && w->settled & 3)
        return false;
    pair_events(w, h);
    any = pair_work(w, h);
    MUST(!(early && h->touched));
    for (unsigned n = 0;; n++) {
        struct scps_pkt out = {.data = room, .cap = sizeof room};
        int got = pair_output(w, h, &out);
        MUST(got == 0 || got == 1);
        if (!got)
            break;
        MUST(!early); /* Nothing may leave before the deadline that the stack gave. */
        MUST(n < 2000);
        sent = true;
        h->packets++;
        pair_log_packet(w, out.data, out.len, out.payload_len, h->nr ? "1 >" : "0 >", "");
        pair_judge_packet(w, h, &out);
        pair_carry(w, h, &out);
    }
    if (sent)
        pair_release(w, h);
    h->touched = false;
    pair_events(w, h);
    return any | sent | h->touched;
}

/* Serves both stacks until nothing is due at this time. */
static void settle(struct world *w)
{
    bool any, effect[HOSTS] = {false, false};

    w->settled++;
    for (unsigned rounds = 0;; rounds++) {
        MUST(rounds < 500);
        any = pair_deliver(w);
        for (int i = 0; i < HOSTS; i++) {
            bool did = serve(w, &w->host[i]);
            effect[i] |= did;
            any |= did;
        }
        if (!any)
            break;
    }
    for (int i = 0; i < HOSTS; i++) {
        struct host *h = &w->host[i];
        if (h->gone || w->now < h->asleep)
            continue;
        if (!effect[i] && w->now >= h->due) {
            h->idle++;
            pair_log(w, "%u served without effect", h->nr);
        }
        h->touched = false;
        pair_judge_served(w, h);
    }
}

/* Returns the time at which something is due next: a packet arrives, a stack's timer expires, or a
 * host wakes up that got packets or an application's order while it slept. */
static scps_time next(const struct world *w)
{
    scps_time t = w->head ? w->head->at : SCPS_NEVER;

    for (int i = 0; i < HOSTS; i++) {
        const struct host *h = &w->host[i];
        if (!h->gone)
            t = SCPS_MIN(t, SCPS_MAX(h->touched ? w->now : h->due, h->asleep));
    }
    return t;
}

/* Advances the time to `to`, or until nothing is due any more, or for `services` services.
 * Returns true if the time `to` was reached. Precondition: settle() has served everything that is
 * due now. */
static bool advance(struct world *w, scps_time to, unsigned services)
{
    scps_time at;

    while ((at = next(w)) <= to && at != SCPS_NEVER) {
        if (!services--)
            return false;
        w->now = SCPS_MAX(w->now, at);
        settle(w);
    }
    if (to != SCPS_NEVER)
        w->now = SCPS_MAX(w->now, to);
    return true;
}

/* The first of the orders that were added later, so that older inputs keep their meaning. */
enum { NEWER = 240 };

/* ---- orders ---- */

/* The time at which each order that lets time pass ended in the run with the third party. The third
 * party's packets count as services, too. The run without it lets the same time pass; otherwise
 * later orders would come sooner or later, and the runs could not be compared. */
static scps_time over[MOST_ORDERS];

static void pass(struct world *w, unsigned nr, scps_time to, unsigned services)
{
    if (w->inject)
        advance(w, to, services);
    else
        advance(w, over[nr], UINT32_MAX);
    over[nr] = w->now;
}

static void send_signal(struct world *w, struct host *h, uint8_t b, uint8_t c)
{
    struct scps_signal s = {.kind = (enum scps_signal_kind)(b % 6), .until = SCPS_NEVER};

    if (b & 8)
        s.nif = &h->nif;
    if (b & 16)
        s.remote = other(w, h)->addr;
    if (b & 32)
        s.until = w->now + ((scps_dur)1 << c % 28);
    s.rtt = b & 64 ? (scps_dur)1 << c % 24 : 0;
    s.rate = b & 128 ? 1000u << c % 12 : 0;
    w->damage_told |= s.kind == SCPS_SIGNAL_CORRUPTION || s.kind == SCPS_SIGNAL_DAMAGED;
    h->touched = true;
    scps_stack_signal(h->st, w->now, &s);
}

static void refuse_memory(struct world *w, struct host *h, uint8_t b, uint8_t c)
{
    h->mem.fail_after = b % 32;
    h->refuse = b & 128 ? c : 0;
    if (h->mem.fail_after || h->refuse)
        for (int i = 0; i < FLOWS; i++)
            w->flow[i].excuse |= EXCUSE_MEMORY;
    w->refused |= h->mem.fail_after || h->refuse;
}

static void change_listener(struct world *w, struct host *h, uint8_t b)
{
    h->touched = true;
    if (!h->l) {
        pair_listen(w, h, 1 + b % 8);
    } else if (b & 8) {
        scps_listener_set(h->l, NULL, 1 + b % 8);
    } else if (b & 16) {
        for (int i = 0; i < FLOWS; i++)
            w->flow[i].excuse |= EXCUSE_LISTENER;
        scps_listener_close(h->l);
        h->l = NULL;
    }
}

static void remove_device(struct world *w, struct host *h, uint8_t b, uint8_t c)
{
    if (b != 0x5a || c != 0xa5 || h->gone)
        return;
    for (int i = 0; i < FLOWS; i++)
        w->flow[i].excuse |= EXCUSE_DEVICE;
    scps_stack_remove_netif(h->st, &h->nif);
    pair_events(w, h);
    h->gone = true;
}

static void newer_order(struct world *w, struct host *h, struct flow *f, uint8_t what, uint8_t b,
                        uint8_t c)
{
    switch (what) {
    case NEWER:
        pair_dgram_change(w, h, b, c);
        break;
    case NEWER + 1:
        pair_dgram_send(w, h, b, c);
        break;
    case NEWER + 2:
        pair_dgram_receive(w, h, b, c);
        break;
    case NEWER + 3:
        pair_address(w, h, b);
        break;
    case NEWER + 4:
        pair_route_goes(w, h, b);
        break;
    case NEWER + 5:
        pair_path(w, h, &f->end[h->nr], b, c);
        break;
    case NEWER + 6:
        pair_open_chosen(w, f);
        break;
    case NEWER + 7:
        pair_look(w, h);
        break;
    }
}

static void order(struct world *w, unsigned nr)
{
    uint8_t first = get8(&w->in), what = first < NEWER ? first % 15 : NEWER + (first & 7),
            a = get8(&w->in), b = get8(&w->in), c = get8(&w->in);
    struct host *h = &w->host[a & 1];
    struct flow *f = &w->flow[(a >> 1 & 3) % FLOWS];
    struct end *e = &f->end[h->nr];

    pair_log(w, "order %u %02x %02x %02x", what, a, b, c);
    switch (what) {
    case 0:
        pass(w, nr, w->now + ((scps_time)1 << a % 32), 150);
        break;
    case 1:
        pair_fate(w, h, a, b, c);
        break;
    case 2:
        pair_climate(w, h, a, b, c);
        break;
    case 3:
        if (!e->shut)
            e->goal = SCPS_MIN(e->goal + ((uint64_t)(b + 1) << (c & 7)), MOST_OCTETS);
        h->touched = true;
        break;
    case 4:
        pair_call(w, h, f, (a >> 3) % 12, b, c);
        break;
    case 5:
        pair_third(w, h, f, b, c);
        break;
    case 6:
        pair_router(w, h, b, c);
        break;
    case 7:
        send_signal(w, h, b, c);
        break;
    case 8:
        refuse_memory(w, h, b, c);
        break;
    case 9:
        pair_open(w, f, b & 1);
        break;
    case 10:
        change_listener(w, h, b);
        break;
    case 11:
        pair_route(w, h, b);
        break;
    case 12:
        h->asleep = w->now + ((scps_dur)1 << b % 26);
        w->slept = true;
        break;
    case 13:
        remove_device(w, h, b, c);
        break;
    case 14:
        pass(w, nr, SCPS_NEVER, a);
        break;
    default:
        newer_order(w, h, f, what, b, c);
    }
    settle(w);
    pair_judge_state(w);
}

/* ---- the end of a run ---- */

static void heal(struct world *w)
{
    struct scps_signal up = {.kind = SCPS_SIGNAL_LINK_UP};

    pair_log(w, "the channel heals");
    w->healed = true;
    w->healed_at = w->now;
    pair_heal(w);
    for (int i = 0; i < HOSTS; i++) {
        struct host *h = &w->host[i];
        h->mem.fail_after = 0;
        h->touched = true;
        pair_host_heal(w, h);
        scps_stack_signal(h->st, w->now, &up);
        for (int k = 0; k < FLOWS; k++) {
            struct end *e = &w->flow[k].end[i];
            e->auto_read = true;
            if (e->c)
                scps_conn_cork(e->c, false);
        }
    }
}

/* Returns the number of packets that have left and not arrived; each arrives at a time of its
 * own. */
static unsigned in_transit(const struct world *w)
{
    unsigned n = 0;

    for (const struct packet *p = w->head; p; p = p->next)
        n++;
    return n;
}

/* Lets the connections end that the applications have closed. A host whose device, address or route
 * was removed leaves a peer that probes until R2, which is 100 s at least (RFC 9293 section 3.8.3)
 * and without backoff takes many probes; then the other device is removed, too. */
static void run_out(struct world *w)
{
    settle(w);
    if (advance(w, SCPS_NEVER, 20000))
        return;
    MUST(pair_parted_for_good(w) || (pair_without_backoff(w) && (pair_unreachable(&w->host[0]) ||
                                                                 pair_unreachable(&w->host[1]))));
    for (int i = 0; i < HOSTS; i++)
        if (!w->host[i].gone) {
            scps_stack_remove_netif(w->host[i].st, &w->host[i].nif);
            pair_events(w, &w->host[i]);
            w->host[i].gone = true;
        }
    settle(w);
    MUST(advance(w, SCPS_NEVER, 2000 + in_transit(w)));
}

static void finish(struct world *w)
{
    struct scps_stack_stats s;

    for (int i = 0; i < FLOWS; i++)
        for (int k = 0; k < HOSTS; k++)
            if (w->flow[i].end[k].c) /* A connection that infers an outage probes without end. */
                pair_let_go(w, &w->flow[i], &w->flow[i].end[k],
                            !w->host[!k].gone && !pair_doubts_end(w));
    for (int i = 0; i < HOSTS; i++) {
        struct host *h = &w->host[i];
        if (h->dgram)
            scps_dgram_close(h->dgram);
        h->dgram = NULL;
        if (h->l)
            scps_listener_close(h->l);
        h->l = NULL;
        h->touched = true;
    }
    run_out(w);
    for (int i = 0; i < HOSTS; i++) {
        struct host *h = &w->host[i];
        /* A connection that ended last is freed at the next call of the stack. */
        scps_stack_advance(h->st, w->now);
        scps_stack_get_stats(h->st, &s);
        MUST(s.conns == 0 && s.half_open == 0 && s.listeners == 0 && s.dgrams == 0);
        MUST(h->gone || scps_stack_deadline(h->st) == SCPS_NEVER);
        scps_stack_free(h->st);
        MUST(h->mem.live == 0);
    }
}

static void run(struct world *w, const uint8_t *data, size_t size, bool inject, struct outcome *o)
{
    uint8_t header[HEADER] = {0};
    scps_time healed, until, at;

    *w = (struct world){.inject = inject, .loud = getenv("FUZZ_LOUD") != NULL};
    memcpy(header, data, SCPS_MIN(size, sizeof header));
    w->in = (struct feed){data + SCPS_MIN(size, sizeof header), data + size};
    MUST(pair_setup(w, header));
    for (int k = 0; k < HOSTS; k++)
        w->flow[0].end[k].goal = 1u << header[38 + k] % 14;
    pair_open(w, &w->flow[0], false);
    settle(w);
    for (unsigned n = 0; w->in.p < w->in.end && n < MOST_ORDERS; n++)
        order(w, n);
    heal(w);
    healed = w->now;
    until = healed + pair_time_limit(w);
    settle(w);
    for (unsigned n = 0; !pair_finished(w) && (at = next(w)) <= until; n++) {
        bool endless =
            pair_unreachable(&w->host[0]) || pair_unreachable(&w->host[1]) || pair_only_doubtful(w);
        /* A host that cannot be reached leaves a peer that infers an outage, and probes without
         * end. */
        w->stopped = endless && n >= 4000;
        /* Two ends that forged octets have parted for good may resend a whole window at each
         * timeout, without end, which leaves little of the line to the other flows. */
        w->stopped |= n >= 1000000 && pair_parted_for_good(w);
        if (w->stopped)
            break;
        if (!(n % 1000))
            pair_count_work(w);
        MUST(n != 30000 || pair_parted_for_good(w) || pair_many_timeouts(w, n, w->now - healed));
        MUST(n < 300000 || pair_parted_for_good(w));
        w->now = SCPS_MAX(w->now, at);
        settle(w);
    }
    pair_judge_state(w);
    for (int i = 0; i < FLOWS; i++)
        pair_judge_flow(w, &w->flow[i]);
    pair_outcome(w, o);
    finish(w);
    pair_empty(w);
}

static bool any_doubt(const struct world *w)
{
    unsigned doubt = w->doubt;

    for (int i = 0; i < FLOWS; i++)
        doubt |= w->flow[i].doubt;
    return doubt;
}

static void execute(const uint8_t *data, size_t size)
{
    static struct world w;
    struct outcome with = {0}, without = {0};

    run(&w, data, size, true, &with);
    /* Replies to the third party use up a route's rate, and half-open connections share their
     * places: then the third party may delay the flows, and later events differ. Segments that the
     * channel forges also make a difference: the third party's packets use up random numbers of the
     * hosts, after which a forged octet may be accepted or not. */
    if (w.third == THIRD_BLIND && w.strangers && !w.refused && !w.crowded && !w.rated && !w.slept &&
        !any_doubt(&w)) {
        bool ended = !w.stopped;

        run(&w, data, size, false, &without);
        if (!any_doubt(&w))
            pair_compare(&w, &with, &without, ended && !w.stopped);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pair_series(execute, data, size);
    return 0;
}
