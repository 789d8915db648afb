/* SPDX-License-Identifier: MIT */
/* Converts errors to errno values: those of the stack, and of ICMP (RFC 1122 section 3.2.2.1, RFC
 * 4443 section 3). */
#include "socket/sock.h"

int scps_sock_errno(int err)
{
    switch (err) {
    case SCPS_ERR_AGAIN:
        return EAGAIN;
    case SCPS_ERR_NOMEM:
        return ENOMEM;
    case SCPS_ERR_NOTCONN:
        return ENOTCONN;
    case SCPS_ERR_ISCONN:
        return EISCONN;
    case SCPS_ERR_REFUSED:
        return ECONNREFUSED;
    case SCPS_ERR_RESET:
        return ECONNRESET;
    case SCPS_ERR_TIMEDOUT:
        return ETIMEDOUT;
    case SCPS_ERR_UNREACH:
        return EHOSTUNREACH;
    case SCPS_ERR_ADDRINUSE:
        return EADDRINUSE;
    case SCPS_ERR_ADDRNOTAVAIL:
        return EADDRNOTAVAIL;
    case SCPS_ERR_PIPE:
        return EPIPE;
    case SCPS_ERR_ABORTED:
        return ECONNABORTED;
    case SCPS_ERR_MSGSIZE:
        return EMSGSIZE;
    case SCPS_ERR_NOENT:
        return ENOENT;
    case SCPS_ERR_LIMIT:
        return ENOBUFS;
    case SCPS_ERR_LINKDOWN:
        return ENETDOWN;
    case SCPS_ERR_BADADDR:
        /* The peer's address is a broadcast or multicast address, to which TCP cannot connect;
         * Linux returns ENETUNREACH for it. */
        return ENETUNREACH;
    case SCPS_ERR_PERM:
        return EPERM;
    case SCPS_ERR_SYSTEM:
        return EIO;
    case SCPS_ERR_HOLE:
        return ENODATA;
    default: /* SCPS_ERR_INVAL, RANGE and NORATE have no errno value of their own. */
        return EINVAL;
    }
}

int scps_sock_icmp_errno(unsigned family, unsigned icmp)
{
    unsigned type = icmp >> 8, code = icmp & 0xff;
    if (family == 6) {
        switch (type) {
        case 1: /* destination unreachable (ICMPv6 type) */
            switch (code) {
            case 0:
                return ENETUNREACH;
            case 1: /* communication with the destination is prohibited (code 1) */
            case 5: /* source address failed the ingress or egress policy (code 5) */
            case 6: /* reject route to the destination (code 6) */
                return EACCES;
            case 4:
                return ECONNREFUSED;
            default:
                return EHOSTUNREACH;
            }
        case 2:
            return EMSGSIZE;
        case 4:
            return EPROTO;
        default:
            return EHOSTUNREACH;
        }
    }
    switch (type) {
    case 3:
        switch (code) {
        case 0:  /* network unreachable (code 0) */
        case 6:  /* destination network unknown (code 6) */
        case 9:  /* communication with the network is prohibited (code 9) */
        case 11: /* network unreachable for this type of service (code 11) */
            return ENETUNREACH;
        case 2:
            return ENOPROTOOPT;
        case 3:
            return ECONNREFUSED;
        case 4:
            return EMSGSIZE;
        case 5: /* source route failed (code 5) */
            return EOPNOTSUPP;
        case 7:
            return EHOSTDOWN;
        case 8: /* source host isolated (code 8) */
            return ENONET;
        default:
            return EHOSTUNREACH;
        }
    case 12:
        return EPROTO;
    default:
        return EHOSTUNREACH;
    }
}
