/* SPDX-License-Identifier: MIT */
/* The applications at both ends. They act on events, as a correct application does, and on orders,
 * as a faulty one might.
 *
 * An end writes up to its goal as long as an event, and no refusal since then, has said that it
 * may, and reads in the same way. An application never tries without an event, so if an event is
 * missing it waits for ever, which the judge notices. The octets of a stream follow from flow,
 * direction and incarnation.
 */
#include "pair.h"

static uint8_t pattern[PATTERN];

static const uint8_t *stream(const struct flow *f, unsigned sender, uint64_t off)
{
    static bool made;
    uint32_t x = 1;

    if (!made)
        for (size_t i = 0; i < sizeof pattern; i++)
            pattern[i] = (uint8_t)(draw(&x) >> 11);
    made = true;
    return pattern + ((f->salt + sender * 7919u) & 0xffff) + off;
}

static struct flow *flow_of_end(struct world *w, const struct host *h, const struct scps_conn *c)
{
    for (int i = 0; i < FLOWS; i++)
        if (w->flow[i].end[h->nr].c == c)
            return &w->flow[i];
    return NULL;
}

static void own(struct world *w, struct end *e, struct scps_conn *c)
{
    uint64_t goal = e->goal;

    *e = (struct end){.nr = e->nr,
                      .c = c,
                      .had = true,
                      .can_write = true,
                      .can_read = true,
                      .auto_read = true,
                      .goal = goal,
                      .opened = w->now,
                      .progress = w->now};
    scps_conn_set_user(c, e);
}

/* ---- opening ---- */

static void connect_end(struct world *w, struct flow *f, struct host *h)
{
    struct scps_endpoint from = {.port = f->chosen ? 0 : f->port}, at,
                         to = {other(w, h)->addr, LISTEN_PORT};
    struct end *e = &f->end[h->nr];
    int err = 1;

    if (f->opener == HOSTS)
        to.port = f->port;
    h->touched = true;
    if (w->now >=
        h->asleep) /* initial sequence numbers follow the time, with or without strangers */
        scps_stack_advance(h->st, w->now);
    struct scps_conn *c = scps_connect(h->st, &h->cfg, &from, &to, &err);
    MUST(c ? err == 0 : err < 0);
    if (c) {
        own(w, e, c);
        scps_conn_local(c, &at);
        MUST(f->chosen ? at.port >= CHOSEN_PORT : at.port == f->port);
        f->port = at.port;
    } else if (err == SCPS_ERR_NOMEM)
        f->excuse |= EXCUSE_MEMORY;
    else
        MUST(err == SCPS_ERR_ADDRINUSE || err == SCPS_ERR_UNREACH || err == SCPS_ERR_ADDRNOTAVAIL ||
             (err == SCPS_ERR_LIMIT && h->bound));
    /* If both ends open the flow there is no listener, so the other end's SYN may be refused. */
    if (!c && f->opener == HOSTS)
        f->excuse |= EXCUSE_LISTENER;
}

/* Returns true if packets of this flow are on the way. The third party's do not count, because the
 * run without it must decide in the same way. */
static bool any_on_way(const struct world *w)
{
    const struct packet *p = w->head;

    while (p && p->theirs)
        p = p->next;
    return p != NULL;
}

/* Opens the flow. again: on the port of the last incarnation, if no packet of that is on its
 * way. */
void pair_open(struct world *w, struct flow *f, bool again)
{
    if (f->end[0].c || f->end[1].c || f->generation >= 63)
        return;
    again = again && f->port && !any_on_way(w) &&
            (!w->host[0].l || !w->host[1].l ||
             (!scps_listener_pending(w->host[0].l) && !scps_listener_pending(w->host[1].l)));
    f->generation++;
    if (!again)
        f->port = (uint16_t)((f->opener == HOSTS ? BOTH_PORT : CLIENT_PORT + 64u * f->nr) +
                             f->generation);
    f->salt = f->nr * 20011u + f->generation * 1571u;
    f->excuse = w->refused ? EXCUSE_MEMORY : 0;
    if (w->host[0].gone || w->host[1].gone)
        f->excuse |= EXCUSE_DEVICE;
    if (!w->host[0].l || !w->host[1].l)
        f->excuse |= EXCUSE_LISTENER;
    for (int i = 0; i < HOSTS; i++)
        f->end[i] = (struct end){.nr = (unsigned)i, .goal = f->end[i].goal};
    for (int i = 0; i < HOSTS; i++)
        if ((f->opener == i || f->opener == HOSTS) && !w->host[i].gone)
            connect_end(w, f, &w->host[i]);
    /* The last incarnation still exists: a connection that is accepted later on its port is not
     * this one's. */
    if (again && !f->end[0].had && !f->end[1].had)
        f->port = 0;
}

void pair_open_chosen(struct world *w, struct flow *f)
{
    f->chosen = f->opener != HOSTS;
    pair_open(w, f, false);
    f->chosen = false;
}

static void accept_all(struct world *w, struct host *h)
{
    struct scps_conn *c;

    while (h->l && (c = scps_accept(h->l))) {
        struct scps_endpoint e;
        struct flow *f = NULL;
        scps_conn_remote(c, &e);
        MUST(scps_addr_equal(&e.addr, &other(w, h)->addr));
        for (int i = 0; i < FLOWS; i++)
            if (w->flow[i].port == e.port && w->flow[i].opener == !h->nr)
                f = &w->flow[i];
        /* The connection is of an earlier incarnation, or the third party's. */
        if (!f || f->end[h->nr].had) {
            scps_conn_abort(c);
            continue;
        }
        own(w, &f->end[h->nr], c);
    }
}

/* ---- writing and reading ---- */

static void note_progress(struct world *w, struct end *e)
{
    uint64_t u = scps_conn_unacked(e->c);

    if (u < e->unacked || (!e->unacked && !e->shut)) /* The FIN is not counted. */
        e->progress = w->now;
    e->unacked = u;
}

void pair_arrived(struct world *w, struct host *h)
{
    for (int i = 0; i < FLOWS; i++) {
        struct end *e = &w->flow[i].end[h->nr];
        if (e->c)
            note_progress(w, e);
    }
}

/* Writes in three pieces, the second of which has one octet. */
static int64_t write_pieces(struct end *e, const uint8_t *p, size_t n, unsigned flags)
{
    const size_t first = n / 3, second = n > 1;
    struct scps_iovec v[] = {
        {(void *)(uintptr_t)p, first},
        {(void *)(uintptr_t)(p ? p + first : NULL), second},
        {(void *)(uintptr_t)(p ? p + first + second : NULL), n - first - second}};

    return scps_conn_writev(e->c, v, sizeof v / sizeof *v, flags);
}

/* Writes without a copy: the reserved room is contiguous, and may be less than could be written. */
static int64_t write_reserved(struct end *e, const uint8_t *p, size_t n, unsigned flags)
{
    size_t did = 0;
    uint8_t *at;

    while (did < n) {
        int64_t room = scps_conn_reserve(e->c, n - did, &at), done;
        if (room < 0)
            return did ? (int64_t)did : room;
        MUST(room > 0 && (size_t)room <= n - did);
        memcpy(at, p + did, (size_t)room);
        bool all = did + (size_t)room == n;
        done = scps_conn_commit(e->c, (size_t)room, all ? flags : (flags & ~SCPS_EOR) | SCPS_MORE);
        if (done < 0) /* There was no memory for the end of a record, so nothing was written. */
            return did ? (int64_t)did : done;
        MUST(done == room);
        did += (size_t)room;
    }
    return (int64_t)did;
}

static int64_t write_some(struct world *w, struct end *e, const uint8_t *p, size_t n,
                          unsigned flags)
{
    if (e->how == HOW_PIECES)
        return write_pieces(e, w->hollow ? NULL : p, n, flags);
    if (e->how == HOW_RESERVED && n && !w->hollow)
        return write_reserved(e, p, n, flags);
    return scps_conn_write(e->c, w->hollow ? NULL : p, n, flags);
}

int64_t pair_write(struct world *w, struct flow *f, struct end *e, size_t n, unsigned flags)
{
    unsigned sender = (unsigned)(e - f->end);
    struct host *h = &w->host[sender];
    int64_t did;

    if (e->written + n > MOST_OCTETS || (flags & SCPS_EOR && e->records == MOST_RECORDS))
        return 0;
    note_progress(w, e);
    h->touched = true;
    did = write_some(w, e, stream(f, sender, e->written), n, flags);
    MUST(did <= (int64_t)n && (did != 0 || !n));
    e->can_write = did == (int64_t)n;
    e->starved = did == SCPS_ERR_NOMEM;
    if (did < 0) {
        MUST(did == SCPS_ERR_AGAIN || did == SCPS_ERR_NOMEM || did == SCPS_ERR_PIPE ||
             did == SCPS_ERR_NOTCONN || did == scps_conn_error(e->c));
        MUST(did != SCPS_ERR_PIPE || e->shut);
        if (did == SCPS_ERR_NOMEM)
            f->excuse |= EXCUSE_MEMORY;
        return did;
    }
    e->written += (uint64_t)did;
    if (flags & SCPS_EOR && did == (int64_t)n && n)
        e->record[e->records++] = e->written;
    note_progress(w, e);
    return did;
}

static void check_octets(struct world *w, struct flow *f, struct end *e, const uint8_t *p, size_t n)
{
    unsigned sender = !(e - f->end);
    const uint8_t *s = stream(f, sender, e->read);

    for (size_t i = 0; i < n; i++)
        e->sum = e->sum * 1099511628211u + p[i];
    if (doubt_of(w, f) & DOUBT_CONTENT)
        return;
    MUST(e->read + n <= f->end[sender].written);
    if (w->hollow)
        for (size_t i = 0; i < n; i++)
            MUST(p[i] == 0);
    else
        MUST(!memcmp(p, s, n));
}

static void check_record(struct world *w, struct flow *f, struct end *e)
{
    struct end *peer = &f->end[!(e - f->end)];
    unsigned r = scps_conn_record(e->c), i;

    if (!(r & SCPS_RECORD_END))
        return;
    for (i = 0; i < peer->records && peer->record[i] != e->read; i++)
        ;
    MUST(i < peer->records || doubt_of(w, f) & (DOUBT_CONTENT | DOUBT_RECORDS));
    MUST(!(r & SCPS_RECORD_TORN) || e->missing || doubt_of(w, f));
    e->records_seen++;
}

static void meet_hole(struct world *w, struct flow *f, struct end *e)
{
    struct end *peer = &f->end[!(e - f->end)];
    struct scps_hole h, same;

    MUST(w->host[e - f->end].cfg.bets && scps_conn_stops(e->c) && !scps_conn_readable(e->c));
    MUST(scps_conn_hole(e->c, &same, SCPS_PEEK) == 1);
    MUST(scps_conn_hole(e->c, &h, 0) == 1 && h.len > 0 && h.at == e->read);
    MUST(same.at == h.at && same.len == h.len);
    MUST(h.at + h.len <= peer->written || doubt_of(w, f) & DOUBT_CONTENT);
    MUST(scps_conn_hole(e->c, &h, 0) == 0);
    e->read += same.len;
    e->missing += same.len;
}

static void meet_end(struct world *w, struct flow *f, struct end *e)
{
    struct end *peer = &f->end[!(e - f->end)];

    e->eof = true;
    MUST(scps_conn_eof(e->c));
    if (doubt_of(w, f) & DOUBT_CONTENT)
        return;
    MUST(peer->shut && e->read == peer->written);
}

int64_t pair_read(struct world *w, struct flow *f, struct end *e, size_t n, unsigned flags)
{
    uint8_t buf[4096];
    struct host *h = &w->host[e - f->end];
    size_t ready = scps_conn_readable(e->c);
    int64_t did;

    n = SCPS_MIN(n, sizeof buf);
    h->touched = true;
    did = scps_conn_read(e->c, buf, n, flags);
    MUST(did <= (int64_t)n && (did <= 0 ? !ready || !n : (size_t)did == SCPS_MIN(n, ready)));
    if (flags & SCPS_PEEK || !n)
        return did;
    if (did > 0) {
        check_octets(w, f, e, buf, (size_t)did);
        e->read += (uint64_t)did;
        if (h->cfg.records)
            check_record(w, f, e);
    } else if (did == SCPS_ERR_HOLE) {
        meet_hole(w, f, e);
    } else {
        e->can_read = false;
        if (!did)
            meet_end(w, f, e);
        else
            MUST(did == SCPS_ERR_AGAIN || did == SCPS_ERR_NOTCONN || did == scps_conn_error(e->c));
    }
    return did;
}

void pair_read_lent(struct world *w, struct flow *f, struct end *e, size_t most)
{
    size_t n;
    const uint8_t *p = scps_conn_data(e->c, &n);

    MUST(!p == !n && n <= scps_conn_readable(e->c));
    if (!p)
        return;
    n = SCPS_MIN(n, most + 1);
    check_octets(w, f, e, p, n);
    MUST(scps_conn_read(e->c, NULL, n, 0) == (int64_t)n);
    e->read += n;
    if (w->host[e - f->end].cfg.records)
        check_record(w, f, e);
}

void pair_let_go(struct world *w, struct flow *f, struct end *e, bool politely)
{
    struct host *h = &w->host[e - f->end];

    /* An abort ends TIME-WAIT, too (RFC 9293 section 3.10.5), and then a retransmitted FIN of the
     * peer is answered with a reset. */
    if (!(e->closed && e->eof) || (!politely && scps_conn_state(e->c) == SCPS_TIME_WAIT))
        f->excuse |= EXCUSE_LET_GO;
    e->shut |= politely;
    h->touched = true;
    if (politely)
        scps_conn_close(e->c);
    else
        scps_conn_abort(e->c);
    e->c = NULL;
}

/* ---- without an order ---- */

static void heed(struct world *w, struct flow *f, struct end *e, const struct scps_event *ev)
{
    switch (ev->kind) {
    case SCPS_EV_CONNECTED:
    case SCPS_EV_WRITABLE:
        e->can_write = true;
        break;
    case SCPS_EV_READABLE:
    case SCPS_EV_PEER_CLOSED:
    case SCPS_EV_HOLE:
        e->can_read = true;
        break;
    case SCPS_EV_CLOSED:
        e->can_read = true;
        e->closed = true;
        e->closed_at = w->now;
        break;
    case SCPS_EV_ERROR:
        MUST(ev->err < 0 && ev->err == scps_conn_error(e->c));
        e->can_read = true;
        e->failed = true;
        e->err = ev->err;
        pair_log(w, "host %u, flow %u: error %s", (unsigned)(e - f->end), f->nr,
                 scps_errname(ev->err));
        pair_judge_error(w, f, e);
        f->excuse |= EXCUSE_PEER;
        break;
    default:
        break;
    }
}

void pair_events(struct world *w, struct host *h)
{
    struct scps_event ev;
    unsigned n = 0;

    while (scps_stack_event(h->st, &ev)) {
        MUST(++n < 1000);
        MUST((unsigned)ev.kind < SCPS_EV_COUNT);
        h->touched = true;
        if (ev.kind == SCPS_EV_ACCEPT) {
            MUST(ev.listener == h->l && ev.user == h);
            accept_all(w, h);
            continue;
        }
        if (ev.dgram) {
            pair_dgram_event(h, &ev);
            continue;
        }
        struct flow *f = flow_of_end(w, h, ev.conn);
        MUST(ev.conn && f);
        MUST(ev.user == &f->end[h->nr]);
        heed(w, f, &f->end[h->nr], &ev);
    }
}

static bool write_on(struct world *w, struct flow *f, struct end *e)
{
    bool records = w->host[e - f->end].cfg.records, any = false;

    while (e->can_write && e->written < e->goal && !e->shut && !e->failed && !e->closed) {
        uint64_t n = SCPS_MIN(e->goal, (uint64_t)MOST_OCTETS) - e->written;
        if (e->chunk)
            n = SCPS_MIN(n, e->chunk);
        if (!n)
            break;
        pair_write(w, f, e, n, records && e->chunk && e->records < MOST_RECORDS ? SCPS_EOR : 0);
        any = true;
    }
    return any;
}

bool pair_work(struct world *w, struct host *h)
{
    bool any = pair_dgram_work(w, h);

    for (int i = 0; i < FLOWS; i++) {
        struct flow *f = &w->flow[i];
        struct end *e = &f->end[h->nr];
        if (!e->c)
            continue;
        note_progress(w, e);
        any |= write_on(w, f, e);
        for (unsigned n = 0; e->auto_read && e->can_read; n++) {
            MUST(n < 100000);
            any = true;
            pair_read(w, f, e, 4096, 0);
        }
        if (w->healed && !e->shut && !e->failed && e->written >= e->goal) {
            h->touched = true;
            if (!scps_conn_unacked(e->c))
                e->progress = w->now;
            e->shut = scps_conn_shutdown(e->c) == 0;
            any |= e->shut;
        }
    }
    return any;
}
