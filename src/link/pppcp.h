/* SPDX-License-Identifier: MIT */
/* The option negotiation automaton of PPP (RFC 1661 section 4), which LCP, IPCP and IPV6CP
 * share. */
#ifndef SCPS_LINK_PPPCP_H
#define SCPS_LINK_PPPCP_H

#include <scps/ppp.h>

#include "base/prng.h"
#include "link/pppq.h"
#include "link/reply_limit.h"

enum { /* protocol numbers of PPP */
       PPP_IPV6 = 0x0057,
       PPP_IPCP = 0x8021,
       PPP_IPV6CP = 0x8057,
       PPP_LCP = 0xc021
};

enum scps_cp_code { /* codes of control packets (RFC 1661 section 5) */
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

enum scps_cp_state { /* states in the order of RFC 1661 section 4.2 */
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

/* Largest length of control packets with their headers, octets: each end must accept packets of
 * this length. */
#define SCPS_CP_PACKET 1500
/* Largest number of octets of options that this end asks for in one protocol. */
#define SCPS_CP_OPTIONS 40

struct scps_cp;

enum scps_cp_layer { CP_UP, CP_DOWN, CP_FINISHED };

/* State that LCP, IPCP and IPV6CP of one PPP link share. */
struct scps_cp_env {
    const struct scps_ppp_config *cfg;
    struct scps_pppq queue;
    const struct scps_netif *nif; /* netif of this end of the link; ppp.c sets it */
    /* limit of the rate of control packets that answer packets of the peer */
    struct scps_reply_limit replies;
    struct scps_prng prng;
    scps_time now;
    uint64_t drops[SCPS_PPP_DROP_COUNT];
    uint8_t scratch[SCPS_CP_PACKET]; /* buffer for the control packet that is being written */
    /* function that the automaton calls for its actions This-Layer-Up (CP_UP), This-Layer-Down
     * (CP_DOWN) and This-Layer-Finished (CP_FINISHED) (RFC 1661 section 4.4) of protocol cp; ppp.c
     * sets it */
    void (*layer)(struct scps_cp *cp, enum scps_cp_layer what);
};

enum scps_cp_verdict { CP_ACK, CP_NAK, CP_REJ };

struct scps_cp_ops {
    uint16_t proto;
    /* Writes the options of the next Configure-Request that this end sends, at most SCPS_CP_OPTIONS
     * octets. Returns their length. */
    size_t (*request)(struct scps_cp *cp, uint8_t *out);
    /* Called when a Configure-Request of the peer has arrived, before its options are checked. */
    void (*judge_begin)(struct scps_cp *cp);
    /* Checks one option of the peer's Configure-Request, whose value has n octets. If the result is
     * CP_NAK, the *nak_n octets at nak, at most 16, become the value that this end proposes in its
     * Configure-Nak. */
    enum scps_cp_verdict (*judge)(struct scps_cp *cp, uint8_t type, const uint8_t *v, size_t n,
                                  uint8_t *nak, size_t *nak_n);
    /* Called when all options of the peer's Configure-Request were accepted: applies these
     * options. */
    void (*judge_end)(struct scps_cp *cp);
    /* Called for each option in a Configure-Nak (naked: the peer proposes another value, n octets
     * at v) or Configure-Reject (rejected) of the peer. Returns false if the protocol cannot work
     * without the option. */
    bool (*naked)(struct scps_cp *cp, uint8_t type, const uint8_t *v, size_t n);
    bool (*rejected)(struct scps_cp *cp, uint8_t type);
    /* Processes a packet whose code the automaton does not know, such as LCP's Echo-Request.
     * Returns false if the protocol does not know the code either, so that the packet is rejected.
     * The pointer is NULL for a protocol without codes of its own. */
    bool (*extra)(struct scps_cp *cp, uint8_t code, uint8_t id, const uint8_t *p, size_t n);
};

/* State of the option negotiation automaton of one protocol (LCP, IPCP or IPV6CP); only pppcp.c
 * writes it. The state of the protocol has this structure as its first member. */
struct scps_cp {
    const struct scps_cp_ops *ops;
    struct scps_cp_env *env;
    enum scps_cp_state state;
    /* Restart counter (RFC 1661 section 4.6): how often this end may still send its request if no
     * answer comes */
    uint32_t restarts;
    /* number of Configure-Naks that this end has sent since its last Configure-Ack or
     * Configure-Reject */
    uint32_t naks;
    /* number of Configure-Naks and Configure-Rejects received since negotiation began */
    uint32_t refusals;
    /* time at which the Restart timer expires, µs; SCPS_NEVER: the timer does not run */
    scps_time timer;
    uint8_t id; /* id of the last Configure-Request or Terminate-Request sent */
    /* id of the last Code-Reject, Protocol-Reject or Echo-Request sent */
    uint8_t other_id;
    bool answered;  /* true: a Configure packet of the peer has arrived since the protocol began */
    bool gave_up;   /* true: the protocol was closed because the ends could not agree */
    size_t asked_n; /* length of `asked`, the options of the last Configure-Request sent, octets */
    uint8_t asked[SCPS_CP_OPTIONS];
};

void scps_cp_init(struct scps_cp *cp, const struct scps_cp_ops *ops, struct scps_cp_env *env);
/* The following functions handle the events of RFC 1661 section 4.3 that are not packets: Up, Down,
 * Open, Close and TO (timeout). */
void scps_cp_lower_up(struct scps_cp *cp);
void scps_cp_lower_down(struct scps_cp *cp);
void scps_cp_open(struct scps_cp *cp);
void scps_cp_close(struct scps_cp *cp);
void scps_cp_timeout(struct scps_cp *cp);
/* Handles event RXJ- of RFC 1661 section 4.3: the peer has rejected the protocol by a
 * Protocol-Reject. */
void scps_cp_proto_rejected(struct scps_cp *cp);
/* Processes one received control packet of the protocol, n octets at p that begin with the code. */
void scps_cp_input(struct scps_cp *cp, const uint8_t *p, size_t n);
/* Queues a control packet of the protocol with n octets of data to be sent. Returns false if the
 * queue has no room, or the rate limit of answers to the peer does not allow the packet. */
bool scps_cp_send(struct scps_cp *cp, uint8_t code, uint8_t id, const uint8_t *data, size_t n);
static inline bool scps_cp_is_open(const struct scps_cp *cp)
{
    return cp->state == CP_OPENED;
}

/* ---- functions in pppcp_options.c, for options of Configure packets ---- */

/* Returns true if the n octets at p are whole options, each with a valid length. */
bool scps_cp_well_formed(const uint8_t *p, size_t n);
/* Composes the answer to the peer's Configure-Request. Returns its code; its options are *len
 * octets at env->scratch. After max_failure Configure-Naks, Configure-Rejects are sent instead, so
 * that negotiation ends (RFC 1661 section 4.6). */
enum scps_cp_code scps_cp_judge(struct scps_cp *cp, const uint8_t *p, size_t n, size_t *len);

#endif
