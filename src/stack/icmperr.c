/* SPDX-License-Identifier: MIT */
/* Converts ICMP errors to error codes for connections and datagram endpoints. */
#include "stack/stack.h"

int scps_icmp_err(enum scps_icmp_kind kind)
{
    switch (kind) {
    case SCPS_ICMP_TOO_BIG:
        return SCPS_ERR_MSGSIZE;
    case SCPS_ICMP_UNREACH_PORT:
    case SCPS_ICMP_UNREACH_PROTO:
        return SCPS_ERR_REFUSED;
    case SCPS_ICMP_UNREACH_ADMIN:
    case SCPS_ICMP_UNREACH_NET:
    case SCPS_ICMP_UNREACH_HOST:
    case SCPS_ICMP_TTL:
    case SCPS_ICMP_PARAM:
        return SCPS_ERR_UNREACH;
    default:
        return 0;
    }
}
