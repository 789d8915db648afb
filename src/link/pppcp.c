/* SPDX-License-Identifier: MIT */
/* The option negotiation automaton of PPP (RFC 1661 section 4), which LCP, IPCP and IPV6CP share.
 *
 * Each function below handles one event of the state transition table of RFC 1661 section 4.1 and
 * has a case for each state in which the event has an effect. Comments have the table's names of
 * actions: scr, sca, scn, str, sta, scj, tlu, tld, tlf, irc, zrc.
 *
 * Sources: RFC 1661 sections 4 and 5.
 */
#include "link/pppcp.h"

#include <string.h>

#include "base/bytes.h"

/* Largest number of Configure-Naks and Configure-Rejects that this end accepts in one negotiation.
 * Each of them sets the Restart counter to its maximum again, so without this limit this end would
 * send requests for ever to a peer that always refuses. */
#define MAX_REFUSALS 24

/* Rate limit of answers to the peer, octets/s, used if the rate of the line is not known. */
#define UNKNOWN_RATE 1000

/* ---- functions for the actions of the automaton (RFC 1661 section 4.4) ---- */

static void drop(struct scps_cp *cp, enum scps_ppp_drop why)
{
    cp->env->drops[why]++;
}

/* Returns true if a control packet of n octets may be sent. A Configure-Request that the Restart
 * timer repeats, a Terminate-Request and an Echo-Request are always sent, since this end's timers
 * limit them. All other packets answer packets of the peer, which may send any number of them, so a
 * rate limit applies. A peer that gets no answer repeats its request when its Restart timer expires
 * (RFC 1661 section 4.6). */
static bool may_send(struct scps_cp *cp, uint8_t code, size_t n)
{
    struct scps_cp_env *env = cp->env;

    if (code == CP_TERM_REQ || code == CP_ECHO_REQ ||
        (code == CP_CONF_REQ && cp->timer <= env->now))
        return true;
    return scps_reply_limit_take(&env->replies, env->nif, UNKNOWN_RATE, n, env->now);
}

bool scps_cp_send(struct scps_cp *cp, uint8_t code, uint8_t id, const uint8_t *data, size_t n)
{
    uint8_t head[4] = {code, id};

    if (!may_send(cp, code, 4 + n)) {
        drop(cp, SCPS_PPP_DROP_LIMIT);
        return false;
    }
    scps_put16(head + 2, (uint16_t)(4 + n));
    if (scps_pppq_put(&cp->env->queue, cp->ops->proto, head, sizeof head, data, n))
        return true;
    drop(cp, SCPS_PPP_DROP_QUEUE);
    return false;
}

static void start_timer(struct scps_cp *cp)
{
    cp->timer = cp->env->now + cp->env->cfg->restart;
}

static void stop_timer(struct scps_cp *cp)
{
    cp->timer = SCPS_NEVER;
}

/* Action irc (Initialize-Restart-Count). configure: false: for Terminate-Requests. */
static void init_restarts(struct scps_cp *cp, bool configure)
{
    cp->restarts = configure ? cp->env->cfg->max_configure : cp->env->cfg->max_terminate;
}

static void send_request(struct scps_cp *cp) /* action scr: Send-Configure-Request */
{
    cp->asked_n = cp->ops->request(cp, cp->asked);
    cp->id++;
    if (cp->restarts)
        cp->restarts--;
    scps_cp_send(cp, CP_CONF_REQ, cp->id, cp->asked, cp->asked_n);
    start_timer(cp);
}

static void send_terminate(struct scps_cp *cp) /* action str: Send-Terminate-Request */
{
    cp->id++;
    if (cp->restarts)
        cp->restarts--;
    scps_cp_send(cp, CP_TERM_REQ, cp->id, NULL, 0);
    start_timer(cp);
}

/* Changes the state to `to`, and calls env->layer (This-Layer-Up, -Down) when Opened is entered or
 * left. */
static void set_state(struct scps_cp *cp, enum scps_cp_state to)
{
    enum scps_cp_state from = cp->state;

    cp->state = to;
    if (to <= CP_STOPPED || to == CP_OPENED)
        stop_timer(cp);
    if (from == CP_OPENED && to != CP_OPENED)
        cp->env->layer(cp, CP_DOWN); /* action tld: This-Layer-Down */
    if (from != CP_OPENED && to == CP_OPENED)
        cp->env->layer(cp, CP_UP); /* action tlu: This-Layer-Up */
}

/* Action tlf (This-Layer-Finished): enters state `to`, then informs ppp.c by env->layer(). */
static void finished(struct scps_cp *cp, enum scps_cp_state to)
{
    set_state(cp, to);
    cp->env->layer(cp, CP_FINISHED);
}

/* Begins to send Configure-Requests (actions irc and scr of RFC 1661 section 4.1), and enters state
 * Req-Sent. */
static void begin_requests(struct scps_cp *cp)
{
    init_restarts(cp, true);
    cp->naks = cp->refusals = 0;
    cp->gave_up = false;
    send_request(cp);
    set_state(cp, CP_REQ_SENT);
}

/* ---- functions for the events that are not packets (RFC 1661 section 4.3) ---- */

void scps_cp_init(struct scps_cp *cp, const struct scps_cp_ops *ops, struct scps_cp_env *env)
{
    cp->ops = ops;
    cp->env = env;
    cp->state = CP_INITIAL;
    cp->timer = SCPS_NEVER;
}

void scps_cp_lower_up(struct scps_cp *cp)
{
    cp->answered = false;
    if (cp->state == CP_INITIAL)
        set_state(cp, CP_CLOSED);
    else if (cp->state == CP_STARTING)
        begin_requests(cp);
}

void scps_cp_lower_down(struct scps_cp *cp)
{
    switch (cp->state) {
    case CP_CLOSED:
    case CP_CLOSING:
        set_state(cp, CP_INITIAL);
        break;
    case CP_STOPPED:
    case CP_STOPPING:
    case CP_REQ_SENT:
    case CP_ACK_RCVD:
    case CP_ACK_SENT:
    case CP_OPENED:
        set_state(cp, CP_STARTING);
        break;
    default:
        break;
    }
}

void scps_cp_open(struct scps_cp *cp)
{
    if (cp->state == CP_INITIAL)
        set_state(cp, CP_STARTING);
    else if (cp->state == CP_CLOSED)
        begin_requests(cp);
    else if (cp->state == CP_CLOSING)
        set_state(cp, CP_STOPPING);
}

void scps_cp_close(struct scps_cp *cp)
{
    switch (cp->state) {
    case CP_STARTING:
        finished(cp, CP_INITIAL);
        break;
    case CP_STOPPED:
        set_state(cp, CP_CLOSED);
        break;
    case CP_STOPPING:
        cp->state = CP_CLOSING;
        break;
    case CP_REQ_SENT:
    case CP_ACK_RCVD:
    case CP_ACK_SENT:
    case CP_OPENED:
        init_restarts(cp, false);
        send_terminate(cp);
        set_state(cp, CP_CLOSING);
        break;
    default:
        break;
    }
}

void scps_cp_timeout(struct scps_cp *cp)
{
    /* true: event TO+ of RFC 1661 section 4.3, so the request is repeated; false: event TO-,
     * because it was sent as often as allowed */
    bool again = cp->restarts > 0;

    switch (cp->state) {
    case CP_CLOSING:
    case CP_STOPPING:
        if (again)
            send_terminate(cp);
        else
            finished(cp, cp->state == CP_CLOSING ? CP_CLOSED : CP_STOPPED);
        break;
    case CP_REQ_SENT:
    case CP_ACK_RCVD:
    case CP_ACK_SENT:
        if (!again) {
            finished(cp, CP_STOPPED);
            break;
        }
        send_request(cp);
        if (cp->state == CP_ACK_RCVD)
            set_state(cp, CP_REQ_SENT);
        break;
    default:
        stop_timer(cp);
        break;
    }
}

/* Handles event RXJ- of RFC 1661 section 4.3: the peer rejects the whole protocol, which ends
 * it. */
void scps_cp_proto_rejected(struct scps_cp *cp)
{
    switch (cp->state) {
    case CP_CLOSING:
        finished(cp, CP_CLOSED);
        break;
    case CP_STOPPED:
    case CP_STOPPING:
    case CP_REQ_SENT:
    case CP_ACK_RCVD:
    case CP_ACK_SENT:
        finished(cp, CP_STOPPED);
        break;
    case CP_OPENED:
        init_restarts(cp, false);
        send_terminate(cp);
        set_state(cp, CP_STOPPING);
        break;
    default:
        break;
    }
}

/* ---- functions that process received packets of a control protocol (LCP, IPCP, IPV6CP) ---- */

/* Handles event RCR: a Configure-Request with options of n octets at p has arrived. */
static void conf_request(struct scps_cp *cp, uint8_t id, const uint8_t *p, size_t n)
{
    enum scps_cp_code answer;
    size_t len;

    if (cp->state == CP_CLOSED) {
        scps_cp_send(cp, CP_TERM_ACK, id, NULL, 0);
        return;
    }
    /* The peer has ended the link, and a passive end waits one Restart timer so that its
     * Terminate-Ack can arrive (action zrc). A peer that begins again no longer waits for that
     * answer, so the wait ends here. RFC 1661 section 4.1 ignores the request instead, which costs
     * the next peer its own Restart timer. */
    if (cp->ops->proto == PPP_LCP && cp->state == CP_STOPPING && !cp->restarts &&
        cp->env->cfg->passive)
        finished(cp, CP_STOPPED);
    if (cp->state == CP_CLOSING || cp->state == CP_STOPPING || cp->state < CP_CLOSED)
        return;
    if (cp->state == CP_OPENED || cp->state == CP_STOPPED)
        /* RFC 1661 section 4.1: a Configure-Request that arrives in state Opened or Stopped makes
         * the negotiation begin again, with action tld in Opened, irc in Stopped. */
        begin_requests(cp);
    cp->answered = true;
    answer = scps_cp_judge(cp, p, n, &len);
    cp->naks = answer == CP_CONF_NAK ? cp->naks + 1 : 0;
    /* action sca or scn: Send-Configure-Ack, or Send-Configure-Nak or -Reject */
    scps_cp_send(cp, (uint8_t)answer, id, cp->env->scratch, len);
    if (answer != CP_CONF_ACK) {
        if (cp->state == CP_ACK_SENT)
            set_state(cp, CP_REQ_SENT);
    } else if (cp->state == CP_ACK_RCVD) {
        set_state(cp, CP_OPENED);
    } else {
        set_state(cp, CP_ACK_SENT);
    }
}

/* Returns true if a Configure-Ack, Configure-Nak or Configure-Reject with this id answers this
 * end's last Configure-Request, in a state that expects an answer. Otherwise drops the packet and
 * returns false. */
static bool answers(struct scps_cp *cp, uint8_t id)
{
    if (cp->state == CP_CLOSED || cp->state == CP_STOPPED)
        scps_cp_send(cp, CP_TERM_ACK, id, NULL, 0);
    else if (cp->state >= CP_REQ_SENT && id == cp->id)
        return true;
    drop(cp, SCPS_PPP_DROP_UNEXPECTED);
    return false;
}

/* Handles event RCA: a Configure-Ack has arrived with n octets of options at p, which must be those
 * of this end's last Configure-Request. */
static void conf_ack(struct scps_cp *cp, uint8_t id, const uint8_t *p, size_t n)
{
    if (!answers(cp, id))
        return;
    if (n != cp->asked_n || memcmp(p, cp->asked, n) != 0) {
        drop(cp, SCPS_PPP_DROP_UNEXPECTED);
        return;
    }
    cp->answered = true;
    switch (cp->state) {
    case CP_REQ_SENT:
        init_restarts(cp, true);
        set_state(cp, CP_ACK_RCVD);
        break;
    case CP_ACK_SENT:
        init_restarts(cp, true);
        set_state(cp, CP_OPENED);
        break;
    /* State Ack-Rcvd or Opened: the peer has acknowledged this end's last Configure-Request before,
     * so this is a second Configure-Ack: messages have crossed, or the peer is faulty (RFC 1661
     * section 4.1). */
    default:
        send_request(cp);
        set_state(cp, CP_REQ_SENT);
        break;
    }
}

/* Handles event RCN: a Configure-Nak or, if `reject`, a Configure-Reject has arrived. */
static void conf_nak(struct scps_cp *cp, uint8_t id, const uint8_t *p, size_t n, bool reject)
{
    bool go_on = true;

    if (!answers(cp, id))
        return;
    cp->answered = true;
    if (++cp->refusals > MAX_REFUSALS)
        go_on = false;
    for (; n && go_on; n -= p[1], p += p[1])
        go_on = reject ? cp->ops->rejected(cp, p[0]) : cp->ops->naked(cp, p[0], p + 2, p[1] - 2u);
    if (!go_on) {
        cp->gave_up = true;
        scps_cp_close(cp);
        return;
    }
    if (cp->state == CP_REQ_SENT || cp->state == CP_ACK_SENT)
        init_restarts(cp, true);
    send_request(cp);
    if (cp->state != CP_ACK_SENT)
        set_state(cp, CP_REQ_SENT);
}

static void term_request(struct scps_cp *cp, uint8_t id) /* event RTR: Receive-Terminate-Request */
{
    if (cp->state < CP_CLOSED)
        return;
    scps_cp_send(cp, CP_TERM_ACK, id, NULL, 0); /* action sta: Send-Terminate-Ack */
    if (cp->state == CP_OPENED) {
        /* Action zrc (Zero-Restart-Count): the automaton waits one Restart timer, so that the
         * Terminate-Ack can arrive, then finishes. */
        cp->restarts = 0;
        set_state(cp, CP_STOPPING);
        start_timer(cp);
    } else if (cp->state >= CP_REQ_SENT) {
        set_state(cp, CP_REQ_SENT);
    }
}

static void term_ack(struct scps_cp *cp) /* event RTA: Receive-Terminate-Ack */
{
    switch (cp->state) {
    case CP_CLOSING:
        finished(cp, CP_CLOSED);
        break;
    case CP_STOPPING:
        finished(cp, CP_STOPPED);
        break;
    case CP_ACK_RCVD:
        set_state(cp, CP_REQ_SENT);
        break;
    case CP_OPENED:
        send_request(cp);
        set_state(cp, CP_REQ_SENT);
        break;
    default:
        drop(cp, SCPS_PPP_DROP_UNEXPECTED);
        break;
    }
}

/* Event RXJ: if the peer rejects one of the codes that configure and terminate the link, the
 * protocol cannot continue; a rejection of any other code has no effect. */
static void code_rejected(struct scps_cp *cp, const uint8_t *p, size_t n)
{
    if (n && p[0] >= CP_CONF_REQ && p[0] <= CP_CODE_REJ)
        scps_cp_proto_rejected(cp);
    else if (cp->state == CP_ACK_RCVD)
        set_state(cp, CP_REQ_SENT);
}

/* Action scj (Send-Code-Reject): rejects the packet of n octets at p, whose code is unknown. */
static void reject_code(struct scps_cp *cp, const uint8_t *p, size_t n)
{
    if (cp->state >= CP_CLOSED)
        scps_cp_send(cp, CP_CODE_REJ, ++cp->other_id, p, SCPS_MIN(n, SCPS_CP_PACKET - 4));
}

void scps_cp_input(struct scps_cp *cp, const uint8_t *p, size_t n)
{
    size_t len = n >= 4 ? scps_get16(p + 2) : 0;
    const uint8_t *data = p + 4;
    uint8_t code = n ? p[0] : 0;

    /* The length field counts the packet's header (4 octets) and data. Octets received beyond that
     * length are padding; a length below 4, or above the n octets received, is an error. */
    if (len < 4 || len > n) {
        drop(cp, SCPS_PPP_DROP_CONTROL);
        return;
    }
    n = len - 4;
    if (code >= CP_CONF_REQ && code <= CP_CONF_REJ && !scps_cp_well_formed(data, n)) {
        drop(cp, SCPS_PPP_DROP_CONTROL);
        return;
    }
    switch (code) {
    case CP_CONF_REQ:
        conf_request(cp, p[1], data, n);
        break;
    case CP_CONF_ACK:
        conf_ack(cp, p[1], data, n);
        break;
    case CP_CONF_NAK:
    case CP_CONF_REJ:
        conf_nak(cp, p[1], data, n, code == CP_CONF_REJ);
        break;
    case CP_TERM_REQ:
        term_request(cp, p[1]);
        break;
    case CP_TERM_ACK:
        term_ack(cp);
        break;
    case CP_CODE_REJ:
        code_rejected(cp, data, n);
        break;
    default:
        if (!cp->ops->extra || !cp->ops->extra(cp, code, p[1], data, n))
            reject_code(cp, p, len);
        break;
    }
}
