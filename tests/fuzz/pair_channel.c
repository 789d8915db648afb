/* SPDX-License-Identifier: MIT */
/* The channel: what becomes of a packet between two hosts.
 *
 * A direction has a line with a rate and a delay, chances of loss, duplicates, damage and jitter
 * (the climate), and up to four fates, each of which meets the packets that its mask names among
 * the next 32. Only packets of the flows meet them: replies to the third party pass undisturbed, so
 * that a run can be compared with the same one without a third party.
 */
#include "pair.h"

enum {
    FATE_DROP,
    FATE_DUP,
    FATE_DELAY,
    FATE_FLIP, /* A bit is flipped and the checksum stays, so the receiver has to detect it. */
    /* Octets are changed and the checksum is corrected, as by an attacker on the path. */
    FATE_FORGE,
    FATE_CUT,       /* The end of the packet is missing. */
    FATE_PAD,       /* The link has appended octets. */
    FATE_CE,        /* ECN-capable packets get a CE mark. */
    FATE_BLEACH,    /* The ECN field is cleared. */
    FATE_STRIP,     /* An option of a SYN is replaced by NOPs. */
    FATE_STRIP_ALL, /* An option of any segment is replaced by NOPs. */
    FATE_OPTION,    /* An octet of an option's value is changed. */
    FATE_COUNT
};

static const char *const fate_name[FATE_COUNT] = {"drop",
                                                  "duplicate",
                                                  "delay",
                                                  "flip a bit",
                                                  "forge",
                                                  "cut",
                                                  "pad",
                                                  "CE",
                                                  "bleach ECN",
                                                  "strip an option of a SYN",
                                                  "strip an option",
                                                  "alter an option"};

/* ---- packets on the way ---- */

static void enqueue(struct world *w, struct packet *p)
{
    struct packet **at = &w->head;

    if (w->in_transit >= 3000) {
        free(p);
        return;
    }
    w->in_transit++;
    if (w->tail && w->tail->at <= p->at)
        at = &w->tail->next;
    else
        while (*at && (*at)->at <= p->at)
            at = &(*at)->next;
    p->next = *at;
    *at = p;
    if (!p->next)
        w->tail = p;
}

static struct packet *dequeue(struct world *w)
{
    struct packet *p = w->head;

    w->head = p->next;
    if (!w->head)
        w->tail = NULL;
    w->in_transit--;
    return p;
}

void pair_empty(struct world *w)
{
    while (w->head)
        free(dequeue(w));
}

static struct packet *copy(const struct packet *p, uint32_t len)
{
    struct packet *q = malloc(sizeof *q + len);

    MUST(q != NULL);
    *q = *p;
    q->len = len;
    memcpy(q->data, p->data, SCPS_MIN(p->len, len));
    if (len > p->len)
        memset(q->data + p->len, 0xa5, len - p->len);
    return q;
}

bool pair_deliver(struct world *w)
{
    bool any = false;

    while (w->head && w->head->at <= w->now) {
        struct packet *p = dequeue(w);
        struct host *h = &w->host[p->to];
        struct scps_pkt in = {
            .len = p->len, .payload_len = p->hollow, .csum_ok = p->csum_ok, .at = p->at};
        struct step step;
        any = true;
        if (!h->gone) {
            uint8_t *exact = malloc(p->len ? p->len : 1);
            MUST(exact != NULL);
            memcpy(exact, p->data, p->len);
            in.data = exact;
            if (p->compressed)
                pair_imitation(w, &other(w, h)->out, p);
            pair_step_begin(w, h, p, &step);
            int why = scps_stack_input(h->st, &h->nif, &in);
            h->touched = true;
            h->arrived++;
            pair_log_packet(w, p->data, p->len, p->hollow, h->nr ? "   > 1" : "   > 0",
                            why ? scps_drop_name((enum scps_drop)why) : "");
            pair_judge_input(w, p, why);
            pair_step_end(w, &step, why);
            pair_arrived(w, h);
            free(exact);
        }
        free(p);
    }
    return any;
}

/* ---- one packet ---- */

struct plan {
    bool drop;
    unsigned copies;
    scps_dur later, apart;
    uint32_t cut, pad;
};

static scps_dur wait_of(uint8_t c)
{
    /* The delay is at most 34 s, less than the life of a segment (MSL). */
    return (scps_dur)1 << c % 26;
}

static void meet(struct world *w, struct packet *p, struct flow *fl, const struct fate *f,
                 struct plan *plan)
{
    pair_log(w, "      %s", fate_name[f->what]);
    if (p->damaged && f->what >= FATE_FORGE) /* Correcting the checksum would hide the damage. */
        return;
    switch (f->what) {
    case FATE_DROP:
        plan->drop = true;
        break;
    case FATE_DUP:
        plan->copies += 1 + (f->b & 3);
        plan->apart = f->c & 32 ? wait_of(f->c) : 0;
        break;
    case FATE_DELAY:
        plan->later = wait_of(f->c);
        break;
    case FATE_FLIP:
        pair_flip(p, (uint32_t)f->b << 8 | f->c);
        break;
    case FATE_FORGE:
        pair_forge(w, p, fl, f->b, f->c);
        break;
    case FATE_CUT:
        plan->cut = 1 + f->c;
        break;
    case FATE_PAD:
        plan->pad = 1 + f->c % 40;
        break;
    case FATE_CE:
        pair_ecn(p, true);
        break;
    case FATE_BLEACH:
        pair_ecn(p, false);
        break;
    case FATE_STRIP:
    case FATE_STRIP_ALL:
        pair_option(w, p, fl, f->c & 31, 0, f->what == FATE_STRIP_ALL);
        break;
    case FATE_OPTION:
        pair_option(w, p, fl, f->c & 31, 1u + f->b % 255u, f->c & 32);
        break;
    }
}

static void chances(struct direction *d, struct packet *p, struct plan *plan)
{
    static const scps_dur spread[] = {0, 10, 100, 1000, 10000, 100000, 1000000};
    uint32_t r = draw(&d->prng), j = d->jitter % 8;

    plan->drop |= d->down || (r & 255) < d->loss;
    plan->copies += (r >> 8 & 255) < d->dup;
    if ((r >> 16 & 255) < d->damage)
        pair_flip(p, draw(&d->prng));
    if (j && j < 7) /* With the upper half of the table only a few packets are delayed. */
        plan->later += d->jitter < 8 || !(r >> 24 & 15) ? draw(&d->prng) % spread[j] : 0;
}

static void snoop(struct direction *d, struct flow *f, const struct packet *p, uint8_t proto,
                  const uint8_t *t)
{
    struct memo *m = &d->memo[f->nr];
    struct scps_seg s;

    d->quote_len = SCPS_MIN(p->len, sizeof d->quote);
    memcpy(d->quote, p->data, d->quote_len);
    if (proto == SCPS_IPPROTO_UDP)
        return;
    if (proto != SCPS_IPPROTO_TCP) {
        d->comp_id[f->nr] = t[0];
        return;
    }
    if (scps_tcp_parse(t, (size_t)(p->data + p->len - t),
                       (size_t)(p->data + p->len - t) + p->hollow, &s))
        return;
    uint32_t end = s.seq + s.len + !!(s.flags & SCPS_SYN) + !!(s.flags & SCPS_FIN);
    if (!m->known || s.flags & SCPS_SYN || (int32_t)(end - m->nxt) > 0)
        m->nxt = end;
    m->known = true;
    m->sport = s.sport;
    m->dport = s.dport;
    if (s.flags & SCPS_ACK)
        m->ack = s.ack;
    m->wnd = s.wnd;
    if (s.has & SCPS_HAS_TS)
        m->tsval = s.tsval;
}

/* Returns true if s and r are the ports of a packet of flow f that this host sends. One of them
 * alone may also be in a reply to the third party. */
static bool of_flow(const struct flow *f, unsigned host, uint16_t s, uint16_t r)
{
    if (!f->port)
        return false;
    if (f->opener == HOSTS)
        return s == f->port && r == f->port;
    return (int)host == f->opener ? s == f->port && r == LISTEN_PORT
                                  : s == LISTEN_PORT && r == f->port;
}

bool pair_of_flow(const struct flow *f, unsigned host, const uint8_t *t)
{
    return of_flow(f, host, scps_get16(t), scps_get16(t + 2));
}

/* Returns the flow to which a packet belongs; NULL: it is a reply to the third party. */
static struct flow *flow_of(struct world *w, const struct host *h, struct packet *p, uint8_t *proto,
                            const uint8_t **t)
{
    *t = pair_transport(p, proto);
    /* Only the hosts know to which flow a compressed packet belongs. */
    if (*proto == SCPS_IPPROTO_SCPS_COMP) {
        for (int i = 0; i < FLOWS; i++)
            if (w->flow[i].end[h->nr].had)
                return &w->flow[i];
        return &w->flow[0];
    }
    if (*proto == SCPS_IPPROTO_UDP) /* meets what flow 0 meets */
        return scps_get16(*t) >= DGRAM_PORT && scps_get16(*t + 2) >= DGRAM_PORT ? &w->flow[0]
                                                                                : NULL;
    if (*proto != SCPS_IPPROTO_TCP)
        return NULL;
    uint16_t s = scps_get16(*t), r = scps_get16(*t + 2);
    for (int i = 0; i < FLOWS; i++)
        if (of_flow(&w->flow[i], h->nr, s, r))
            return &w->flow[i];
    bool from_client = s >= CLIENT_PORT && s < STRANGER_PORT && (r == LISTEN_PORT || r == s);
    bool to_client = r >= CLIENT_PORT && r < STRANGER_PORT && (s == LISTEN_PORT || r == s);
    from_client |= s >= CHOSEN_PORT && r == LISTEN_PORT;
    to_client |= r >= CHOSEN_PORT && s == LISTEN_PORT;
    bool late = from_client || to_client; /* A packet of the third party comes from another port. */
    return late ? &w->flow[0] : NULL;     /* The packet is of an earlier incarnation of the flow. */
}

/* A router with a smaller MTU drops the packet and sends an ICMP error. */
static bool too_big(struct world *w, struct host *h, const struct packet *p)
{
    struct direction *d = &h->out;
    bool v6 = p->data[0] >> 4 == 6;

    if (!d->mtu || p->len + p->hollow <= d->mtu || (!v6 && !(p->data[6] & 0x40)))
        return false;
    pair_icmp(w, h, p->data, SCPS_MIN(p->len, 64), v6 ? 2 : 3, v6 ? 0 : 4, d->mtu);
    return true;
}

static void travel(struct world *w, struct host *h, struct packet *p, const struct plan *plan)
{
    struct direction *d = &h->out;
    scps_time leaves = w->now;

    if (d->rate) {
        leaves = SCPS_MAX(d->busy, w->now);
        if (leaves - w->now > d->queue) {
            free(p);
            return;
        }
        leaves += (scps_dur)((p->len + p->hollow) * UINT64_C(1000000) / d->rate);
        d->busy = leaves;
    }
    p->at = leaves + d->delay + plan->later;
    for (unsigned i = 0; i < plan->copies; i++) {
        struct packet *q = copy(p, p->len);
        q->at += (i + 1) * plan->apart;
        enqueue(w, q);
    }
    enqueue(w, p);
}

static void carry_one(struct world *w, struct host *h, struct packet *p)
{
    struct direction *d = &h->out;
    struct plan plan = {0};
    const uint8_t *t;
    uint8_t proto;
    struct flow *f = flow_of(w, h, p, &proto, &t);

    p->to = (uint8_t)!h->nr;
    p->ours = f != NULL;
    p->compressed = proto == SCPS_IPPROTO_SCPS_COMP;
    if (!f) { /* The packet is a reply to the third party. */
        p->theirs = w->answered = true;
        p->at = w->now + d->delay;
        enqueue(w, p);
        return;
    }
    snoop(d, f, p, proto, t);
    w->shifted |= w->guessed && (d->loss || d->dup || d->jitter || d->damage || d->rate);
    for (int i = 0; i < PARTS; i++) {
        w->shifted |= w->guessed && d->fate[i].mask;
        if (d->fate[i].mask & 1)
            meet(w, p, f, &d->fate[i], &plan);
        d->fate[i].mask >>= 1;
    }
    chances(d, p, &plan);
    if (p->csum_ok && p->damaged)
        plan.drop = true;
    if (plan.drop || too_big(w, h, p)) {
        free(p);
        return;
    }
    if ((plan.cut || plan.pad) && !p->hollow) {
        uint32_t len = p->len + plan.pad - SCPS_MIN(p->len - 1, plan.cut);
        struct packet *q = copy(p, len);
        q->damaged |= len < p->len;
        free(p);
        p = q;
    }
    travel(w, h, p, &plan);
}

/* Cuts a train (segments in one packet) as the device does: its packets are put into the list at
 * *list. */
static void cut_train(struct packet **list, const struct packet *p, uint32_t hdr, uint32_t size)
{
    uint32_t total = p->len + p->hollow - hdr;

    for (uint32_t at = 0; at < total; at += size) {
        uint32_t n = SCPS_MIN(size, total - at);
        struct packet *q = copy(p, hdr + (p->hollow ? 0 : n));
        uint8_t proto, *t = pair_transport(q, &proto);
        if (!p->hollow)
            memcpy(q->data + hdr, p->data + hdr + at, n);
        q->hollow = p->hollow ? n : 0;
        if (q->data[0] >> 4 == 4)
            scps_put16(q->data + 2, (uint16_t)(hdr + n));
        else
            scps_put16(q->data + 4, (uint16_t)(hdr + n - 40));
        scps_put32(t + 4, scps_get32(t + 4) + at);
        if (at + n < total)
            t[13] &= (uint8_t) ~(SCPS_FIN | SCPS_PSH);
        pair_mend_ip(q);
        q->next = NULL;
        *list = q;
        list = &q->next;
    }
}

void pair_carry(struct world *w, struct host *h, const struct scps_pkt *out)
{
    bool hollow = out->payload_len && !out->payload;
    uint32_t len = (uint32_t)(out->len + (hollow ? 0 : out->payload_len));
    struct packet *p = malloc(sizeof *p + len), **at;
    const uint8_t *t;
    uint8_t proto;

    MUST(p != NULL);
    *p = (struct packet){.csum_ok = w->vouch, .len = len};
    p->hollow = hollow ? (uint32_t)out->payload_len : 0;
    memcpy(p->data, out->data, out->len);
    if (!hollow && out->payload_len)
        memcpy(p->data + out->len, out->payload, out->payload_len);
    struct flow *f = flow_of(w, h, p, &proto, &t);
    for (at = &h->out.leaving[f ? f->nr : FLOWS]; *at;)
        at = &(*at)->next;
    *at = p;
    if (out->gso) {
        cut_train(at, p, (uint32_t)out->len, out->gso);
        free(p);
    }
}

/* Sends the packets that leave at this time on their way. Fates count packets, so they must not
 * depend on whether a reply to the third party leaves before or after a segment of the same time:
 * the flows come one by one, the replies last. */
void pair_release(struct world *w, struct host *h)
{
    for (int i = 0; i <= FLOWS; i++)
        while (h->out.leaving[i]) {
            struct packet *p = h->out.leaving[i];
            h->out.leaving[i] = p->next;
            p->next = NULL;
            carry_one(w, h, p);
        }
}

void pair_inject(struct world *w, struct host *h, const uint8_t *data, size_t len, scps_dur delay)
{
    struct packet *p = malloc(sizeof *p + len);

    MUST(p != NULL);
    *p = (struct packet){
        .at = w->now + delay, .to = (uint8_t)h->nr, .len = (uint32_t)len, .theirs = w->third_sends};
    memcpy(p->data, data, len);
    enqueue(w, p);
}

/* ---- orders ---- */

/* Sets the fate of the next packets of h: a chooses which fate, b the mask and its rhythm, b and c
 * the details. */
void pair_fate(struct world *w, struct host *h, uint8_t a, uint8_t b, uint8_t c)
{
    struct direction *d = &h->out;
    struct fate *f = &d->fate[d->fates++ % PARTS];

    (void)w;
    f->what = (a >> 1) % FATE_COUNT;
    f->mask = b & 128 ? 1u << (b & 31) : b & 64 ? 0xffu << (b & 15) : (b & 63) + 1u;
    f->b = b;
    f->c = c;
}

void pair_climate(struct world *w, struct host *h, uint8_t a, uint8_t b, uint8_t c)
{
    static const uint32_t rates[] = {0, 1000000, 125000, 20000, 5000};
    static const uint32_t mtus[] = {0, 1280, 576, 300, 1000};
    struct direction *d = &h->out;

    (void)w;
    switch (a >> 1 & 7) {
    case 0:
        d->loss = b >> 1;
        break;
    case 1:
        d->down = b & 1;
        break;
    case 2:
        d->dup = b >> 1;
        break;
    case 3:
        d->damage = b >> 2;
        break;
    case 4:
        d->jitter = b & 15;
        break;
    case 5:
        d->rate = rates[b % 5];
        d->queue = (scps_dur)1 << c % 24;
        break;
    case 6:
        d->delay = (scps_dur)1 << b % 24;
        break;
    case 7:
        d->mtu = mtus[b % 5];
        /* RFC 8200 section 5: every link carries IPv6 packets of 1280 octets. */
        if (d->mtu && h->addr.family == 6)
            d->mtu = SCPS_MAX(d->mtu, 1280u);
        break;
    }
}

void pair_heal(struct world *w)
{
    for (int i = 0; i < HOSTS; i++) {
        struct direction *d = &w->host[i].out;
        memset(d->fate, 0, sizeof d->fate);
        d->loss = d->dup = d->damage = d->jitter = 0;
        d->rate = 0;
        d->down = false;
        w->host[i].refuse = 0;
        w->host[i].asleep = 0;
    }
}
