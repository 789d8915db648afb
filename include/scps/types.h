/* SPDX-License-Identifier: MIT */
/* Scalars, units and addresses.
 *
 * Times are microseconds, sizes bytes, rates bytes per second, unless a name says otherwise.
 * A scps_off counts octets of a stream's sequence space from its SYN: the SYN is octet 0, the
 * first data octet is 1.  It never wraps; 32-bit sequence numbers exist on the wire only.
 */
#ifndef SCPS_TYPES_H
#define SCPS_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A program that links the library statically may define SCPS_API as nothing, so that the program
 * exports no symbol of the library. */
#ifdef SCPS_API
#elif defined(__GNUC__)
#define SCPS_API __attribute__((visibility("default")))
#else
#define SCPS_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A time, µs on the clock of the driver (the program's loop that passes packets to a stack); never
 * negative. The clock of a stack stops at SCPS_NEVER / 2. */
typedef int64_t scps_time;
typedef int64_t scps_dur;  /* a duration, µs */
typedef uint64_t scps_off; /* octets of a stream's sequence space, counted from the SYN */

#define SCPS_NEVER  INT64_MAX
#define SCPS_US(n)  ((scps_dur)(n))
#define SCPS_MS(n)  ((scps_dur)(n)*1000)
#define SCPS_SEC(n) ((scps_dur)(n)*1000000)

/* An IP address. IPv4 uses b[0..3], and the rest is zero. Family 0 means "any" or "not set". */
struct scps_addr {
    uint8_t family; /* 4 or 6; 0: no address, or any address */
    uint8_t b[16];  /* the address, in network byte order */
};

struct scps_endpoint {
    struct scps_addr addr;
    uint16_t port; /* port, in host byte order */
};

/* A piece of memory, laid out like POSIX's struct iovec. */
struct scps_iovec {
    void *iov_base;
    size_t iov_len;
};

#define SCPS_ADDR_STRLEN 46

/* Parses dotted-quad IPv4 or RFC 4291 IPv6 text. Returns 0, or SCPS_ERR_INVAL, and then *a is
 * unchanged. */
SCPS_API int scps_addr_parse(const char *text, struct scps_addr *a);
/* Writes the canonical text (RFC 5952) into buf of at least SCPS_ADDR_STRLEN bytes; returns buf. */
SCPS_API char *scps_addr_format(const struct scps_addr *a, char *buf);
/* Returns true when a and b have the same family and the same address. */
SCPS_API bool scps_addr_equal(const struct scps_addr *a, const struct scps_addr *b);
/* Returns true when a and b have the same family and the same first `prefix` bits. */
SCPS_API bool scps_addr_match(const struct scps_addr *a, const struct scps_addr *b,
                              unsigned prefix);

#ifdef __cplusplus
}
#endif
#endif
