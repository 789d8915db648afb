/* SPDX-License-Identifier: MIT */
/* The names that <scps/socket.h> gives to errors, with the numbers that Linux has for them. */
#ifndef SCPS_PORTS_ERRNO_H
#define SCPS_PORTS_ERRNO_H

extern int errno;

#define EPERM           1
#define ENOENT          2
#define EIO             5
#define EBADF           9
#define EAGAIN          11
#define ENOMEM          12
#define EACCES          13
#define EFAULT          14
#define EINVAL          22
#define EMFILE          24
#define ENOTTY          25
#define EPIPE           32
#define EDOM            33
#define ENODATA         61
#define ENONET          64
#define EPROTO          71
#define EDESTADDRREQ    89
#define EMSGSIZE        90
#define ENOPROTOOPT     92
#define EPROTONOSUPPORT 93
#define ESOCKTNOSUPPORT 94
#define EOPNOTSUPP      95
#define EAFNOSUPPORT    97
#define EADDRINUSE      98
#define EADDRNOTAVAIL   99
#define ENETDOWN        100
#define ENETUNREACH     101
#define ECONNABORTED    103
#define ECONNRESET      104
#define ENOBUFS         105
#define EISCONN         106
#define ENOTCONN        107
#define ETIMEDOUT       110
#define ECONNREFUSED    111
#define EHOSTDOWN       112
#define EHOSTUNREACH    113
#define EALREADY        114
#define EINPROGRESS     115

#endif
