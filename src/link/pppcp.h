/* SPDX-License-Identifier: MIT */
/* The option negotiation automaton of PPP (RFC 1661 section 4), which LCP, IPCP and IPV6CP
 * share. */
#ifndef SCPS_LINK_PPPCP_H
#define SCPS_LINK_PPPCP_H

#include <scps/ppp.h>

#include "base/prng.h"
#include "link/pppq.h"

enum { /* protocol numbers */
       PPP_IPV6 = 0x0057,
       PPP_IPCP = 0x8021,
       PPP_IPV6CP = 0x8057,
       PPP_LCP = 0xc021,
       PPP_PAP = 0xc023,
       PPP_CHAP = 0xc223
};

enum scps_cp_code { /* RFC 1661 section 5 */
                    CP_CONF_REQ = 1,
                    CP_CONF_ACK,
                    CP_CONF_NAK,
                    CP_CONF_REJ,
                    CP_TERM_REQ,
                    CP_TERM_ACK,
                    CP_CODE_REJ,
                    CP_PROTO_REJ,
                    CP_ECHO_REQ,
                    CP_ECHO_REPLY,
                    CP_DISCARD
};

enum scps_cp_state { /* RFC 1661 section 4.2, in its order */
                     CP_INITIAL,
                     CP_STARTING,
                     CP_CLOSED,
                     CP_STOPPED,
                     CP_CLOSING,
                     CP_STOPPING,
                     CP_REQ_SENT,
                     CP_ACK_RCVD,
                     CP_ACK_SENT,
                     CP_OPENED
};

/* Room of control packets with their headers: the shortest MRU that every end must take. */
#define SCPS_CP_PACKET 1500
/* Options that this end asks for, all of a protocol together. */
#define SCPS_CP_OPTIONS 40

struct scps_cp;

enum scps_cp_layer { CP_UP, CP_DOWN, CP_FINISHED };

/* What the three protocols of a link share. */
struct scps_cp_env {
    const struct scps_ppp_config *cfg;
    struct scps_pppq queue;
    struct scps_prng prng;
    scps_time now;
    uint64_t drops[SCPS_PPP_DROP_COUNT];
    uint8_t scratch[SCPS_CP_PACKET]; /* a packet being written */
    /* This-Layer-Up, -Down and -Finished, told to whoever owns the link */
    void (*layer)(struct scps_cp *cp, enum scps_cp_layer what);
};

enum scps_cp_verdict { CP_ACK, CP_NAK, CP_REJ };

struct scps_cp_ops {
    uint16_t proto;
    /* Writes the options this end asks for now, at most SCPS_CP_OPTIONS octets, and returns how
     * many. */
    size_t (*request)(struct scps_cp *cp, uint8_t *out);
    /* A Configure-Request of the peer begins. */
    void (*judge_begin)(struct scps_cp *cp);
    /* One option of it, n octets of value. CP_NAK: *nak_n octets at nak, at most 16, are the value
     * that would do. */
    enum scps_cp_verdict (*judge)(struct scps_cp *cp, uint8_t type, const uint8_t *v, size_t n,
                                  uint8_t *nak, size_t *nak_n);
    /* All of it was accepted: it is what the peer asked for. */
    void (*judge_end)(struct scps_cp *cp);
    /* The peer wants another value for an option of this end's, or none of it. False: without it
     * this end cannot go on. */
    bool (*naked)(struct scps_cp *cp, uint8_t type, const uint8_t *v, size_t n);
    bool (*rejected)(struct scps_cp *cp, uint8_t type);
    /* A packet with a code that the automaton does not know. False: nor does the protocol. NULL:
     * it knows none. */
    bool (*extra)(struct scps_cp *cp, uint8_t code, uint8_t id, const uint8_t *p, size_t n);
};

/* One protocol's automaton. Owner: pppcp.c; a protocol embeds it as the first member of its own
 * state and sets ops and env once. */
struct scps_cp {
    const struct scps_cp_ops *ops;
    struct scps_cp_env *env;
    enum scps_cp_state state;
    uint32_t restarts; /* Restart counter: requests yet to be sent */
    uint32_t naks;     /* Configure-Naks sent since the last Ack or Reject */
    uint32_t refusals; /* Configure-Naks and -Rejects received since negotiation began */
    scps_time timer;   /* Restart timer; SCPS_NEVER: not running */
    uint8_t id;        /* of the last request */
    uint8_t other_id;  /* of the last packet that needs one and is no such request */
    bool answered;     /* the peer has sent a Configure packet since the protocol began */
    bool gave_up;      /* closed because the ends do not agree */
    size_t asked_n;    /* the options of the last Configure-Request */
    uint8_t asked[SCPS_CP_OPTIONS];
};

void scps_cp_init(struct scps_cp *cp, const struct scps_cp_ops *ops, struct scps_cp_env *env);
/* The events of RFC 1661 section 4.3 that do not arrive as packets. */
void scps_cp_lower_up(struct scps_cp *cp);
void scps_cp_lower_down(struct scps_cp *cp);
void scps_cp_open(struct scps_cp *cp);
void scps_cp_close(struct scps_cp *cp);
void scps_cp_timeout(struct scps_cp *cp);
/* The peer rejected the protocol as a whole. */
void scps_cp_proto_rejected(struct scps_cp *cp);
/* One packet of the protocol, from its code on, as it arrived. */
void scps_cp_input(struct scps_cp *cp, const uint8_t *p, size_t n);
/* Queues a packet of the protocol with n octets of data; false when there is no room. */
bool scps_cp_send(struct scps_cp *cp, uint8_t code, uint8_t id, const uint8_t *data, size_t n);
static inline bool scps_cp_is_open(const struct scps_cp *cp)
{
    return cp->state == CP_OPENED;
}

#endif
