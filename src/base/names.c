/* SPDX-License-Identifier: MIT */
/* The texts and names of errors, drop reasons, reasons to send nothing (enum scps_hold) and
 * observer events.
 *
 * The texts come from the lists in the public headers. The lower-case names for JSON and CSV are
 * written out here, because the preprocessor cannot change case; tests/unit/test_names.c compares
 * them with the lists.
 */
#include <scps/error.h>
#include <scps/observe.h>

const char *scps_strerror(int err)
{
    switch (err) {
#define SCPS_X(name, value, words)                                                                 \
    case value:                                                                                    \
        return words;
        SCPS_ERRORS(SCPS_X)
#undef SCPS_X
    default:
        return err >= 0 ? "success" : "unknown error";
    }
}

const char *scps_errname(int err)
{
    switch (err) {
#define SCPS_X(name, value, words)                                                                 \
    case value:                                                                                    \
        return #name;
        SCPS_ERRORS(SCPS_X)
#undef SCPS_X
    default:
        return err >= 0 ? "OK" : "?";
    }
}

static const char *const drop_names[SCPS_DROP_COUNT] = {
    [SCPS_DROP_NONE] = "none",
    [SCPS_DROP_TRUNCATED] = "truncated",
    [SCPS_DROP_BAD_IP] = "bad_ip",
    [SCPS_DROP_BAD_IP_CHECKSUM] = "bad_ip_checksum",
    [SCPS_DROP_FRAGMENT] = "fragment",
    [SCPS_DROP_BAD_ADDRESS] = "bad_address",
    [SCPS_DROP_NOT_OURS] = "not_ours",
    [SCPS_DROP_UNKNOWN_PROTOCOL] = "unknown_protocol",
    [SCPS_DROP_BAD_TCP] = "bad_tcp",
    [SCPS_DROP_BAD_CHECKSUM] = "bad_checksum",
    [SCPS_DROP_BAD_ICMP] = "bad_icmp",
    [SCPS_DROP_BAD_FLAGS] = "bad_flags",
    [SCPS_DROP_NO_CONNECTION] = "no_connection",
    [SCPS_DROP_BACKLOG_FULL] = "backlog_full",
    [SCPS_DROP_SYN_LIMIT] = "syn_limit",
    [SCPS_DROP_BAD_COOKIE] = "bad_cookie",
    [SCPS_DROP_NOT_ACCEPTABLE] = "not_acceptable",
    [SCPS_DROP_OLD_DUPLICATE] = "old_duplicate",
    [SCPS_DROP_PAWS] = "paws",
    [SCPS_DROP_BLIND_RESET] = "blind_reset",
    [SCPS_DROP_BLIND_SYN] = "blind_syn",
    [SCPS_DROP_BLIND_ACK] = "blind_ack",
    [SCPS_DROP_BAD_ACK] = "bad_ack",
    [SCPS_DROP_NO_ACK] = "no_ack",
    [SCPS_DROP_NO_BUFFER] = "no_buffer",
    [SCPS_DROP_AFTER_CLOSE] = "after_close",
    [SCPS_DROP_TOO_MANY_HOLES] = "too_many_holes",
    [SCPS_DROP_TOO_MANY_RECORDS] = "too_many_records",
    [SCPS_DROP_RATE_LIMITED] = "rate_limited",
    [SCPS_DROP_BAD_UDP] = "bad_udp",
    [SCPS_DROP_NO_UDP_PORT] = "no_udp_port",
    [SCPS_DROP_UDP_QUEUE_FULL] = "udp_queue_full",
    [SCPS_DROP_BAD_COMPRESSED] = "bad_compressed",
    [SCPS_DROP_UNKNOWN_CONNECTION_ID] = "unknown_connection_id",
    [SCPS_DROP_FILTERED] = "filtered",
    [SCPS_DROP_MEMORY_LIMIT] = "memory_limit",
    [SCPS_DROP_NOT_ECT] = "not_ect",
    [SCPS_DROP_MAX_CONNS] = "max_conns",
};

static const char *const drop_words[SCPS_DROP_COUNT] = {
#define SCPS_X(name, words) words,
    SCPS_DROPS(SCPS_X)
#undef SCPS_X
};

const char *scps_drop_name(enum scps_drop d)
{
    return (unsigned)d < SCPS_DROP_COUNT ? drop_names[d] : "?";
}

const char *scps_drop_words(enum scps_drop d)
{
    return (unsigned)d < SCPS_DROP_COUNT ? drop_words[d] : "?";
}

static const char *const hold_names[SCPS_HOLD_COUNT] = {
    [SCPS_HOLD_NONE] = "none",
    [SCPS_HOLD_APP] = "app",
    [SCPS_HOLD_CWND] = "cwnd",
    [SCPS_HOLD_RECOVERY] = "recovery",
    [SCPS_HOLD_PEER_WINDOW] = "peer_window",
    [SCPS_HOLD_PACE] = "pace",
    [SCPS_HOLD_ROUTE] = "route",
    [SCPS_HOLD_NAGLE] = "nagle",
    [SCPS_HOLD_CORK] = "cork",
    [SCPS_HOLD_HANDSHAKE] = "handshake",
    [SCPS_HOLD_LINK_DOWN] = "link_down",
    [SCPS_HOLD_NETIF] = "netif",
};

static const char *const hold_words[SCPS_HOLD_COUNT] = {
#define SCPS_X(name, words) words,
    SCPS_HOLDS(SCPS_X)
#undef SCPS_X
};

const char *scps_hold_name(enum scps_hold h)
{
    return (unsigned)h < SCPS_HOLD_COUNT ? hold_names[h] : "?";
}

const char *scps_hold_words(enum scps_hold h)
{
    return (unsigned)h < SCPS_HOLD_COUNT ? hold_words[h] : "?";
}

static const char *const note_names[SCPS_NOTE_COUNT] = {
    [SCPS_NOTE_STATE] = "state",       [SCPS_NOTE_SENT] = "sent",
    [SCPS_NOTE_ACKED] = "acked",       [SCPS_NOTE_SACKED] = "sacked",
    [SCPS_NOTE_LOST] = "lost",         [SCPS_NOTE_RTO] = "rto",
    [SCPS_NOTE_RECOVERY] = "recovery", [SCPS_NOTE_CWND] = "cwnd",
    [SCPS_NOTE_HOLD] = "hold",         [SCPS_NOTE_PROBE] = "probe",
    [SCPS_NOTE_RECEIVED] = "received", [SCPS_NOTE_DUPLICATE] = "duplicate",
    [SCPS_NOTE_ACK_OUT] = "ack_out",   [SCPS_NOTE_DELIVERED] = "delivered",
    [SCPS_NOTE_DROP] = "drop",         [SCPS_NOTE_PMTU] = "pmtu",
    [SCPS_NOTE_SNACK_IN] = "snack_in", [SCPS_NOTE_SNACK_OUT] = "snack_out",
    [SCPS_NOTE_OUTAGE] = "outage",     [SCPS_NOTE_RECORD] = "record",
    [SCPS_NOTE_GAVE_UP] = "gave_up",   [SCPS_NOTE_CC_CORRECTED] = "cc_corrected",
    [SCPS_NOTE_PHASE] = "phase",       [SCPS_NOTE_RESUME] = "resume",
};

static const struct {
    const char *words, *arg[4];
} notes[SCPS_NOTE_COUNT] = {
#define SCPS_NOTE(kind, words, a, b, c, d) {words, {#a, #b, #c, #d}},
#include <scps/events.def>
#undef SCPS_NOTE
};

const char *scps_note_name(uint32_t kind)
{
    return kind < SCPS_NOTE_COUNT ? note_names[kind] : "?";
}

const char *scps_note_words(uint32_t kind)
{
    return kind < SCPS_NOTE_COUNT ? notes[kind].words : "?";
}

const char *scps_note_arg(uint32_t kind, unsigned i)
{
    if (kind >= SCPS_NOTE_COUNT || i > 3)
        return NULL;
    const char *name = notes[kind].arg[i];
    return name[0] == '_' && !name[1] ? NULL : name;
}

static const char *const feature_names[SCPS_FEATURE_COUNT] = {
    [SCPS_FEATURE_WSCALE] = "wscale",
    [SCPS_FEATURE_TIMESTAMPS] = "timestamps",
    [SCPS_FEATURE_SACK] = "sack",
    [SCPS_FEATURE_ECN] = "ecn",
    [SCPS_FEATURE_CAPABILITIES] = "capabilities",
    [SCPS_FEATURE_SNACK] = "snack",
    [SCPS_FEATURE_SNACK_LONG] = "snack_long",
    [SCPS_FEATURE_COMPRESSION] = "compression",
    [SCPS_FEATURE_BETS] = "bets",
};

const char *scps_feature_name(enum scps_feature f)
{
    return (unsigned)f < SCPS_FEATURE_COUNT ? feature_names[f] : "?";
}

const char *scps_feature_words(enum scps_feature f)
{
    switch (f) {
#define SCPS_X(name, words)                                                                        \
    case SCPS_FEATURE_##name:                                                                      \
        return words;
        SCPS_FEATURES(SCPS_X)
#undef SCPS_X
    default:
        return "?";
    }
}

static const char *const why_names[SCPS_WHY_COUNT] = {
    [SCPS_WHY_IN_FORCE] = "in_force",
    [SCPS_WHY_NOT_YET] = "not_yet",
    [SCPS_WHY_NOT_CONFIGURED] = "not_configured",
    [SCPS_WHY_NOT_OFFERED] = "not_offered",
    [SCPS_WHY_NO_CAPABILITIES] = "no_capabilities",
    [SCPS_WHY_FELL_BACK] = "fell_back",
    [SCPS_WHY_REMEMBERED] = "remembered",
    [SCPS_WHY_COOKIE] = "cookie",
    [SCPS_WHY_NO_ID] = "no_id",
};

const char *scps_why_name(enum scps_why w)
{
    return (unsigned)w < SCPS_WHY_COUNT ? why_names[w] : "?";
}

const char *scps_why_words(enum scps_why w)
{
    switch (w) {
#define SCPS_X(name, words)                                                                        \
    case SCPS_WHY_##name:                                                                          \
        return words;
        SCPS_WHYS(SCPS_X)
#undef SCPS_X
    default:
        return "?";
    }
}
