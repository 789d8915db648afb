/* SPDX-License-Identifier: MIT */
/* Conversion between sequence numbers and offsets, the only place where sequence numbers wrap.
 *
 * Within the stack a position in a stream is a 64-bit offset from the SYN; a packet has its low 32
 * bits, plus the initial sequence number. The conversion back returns the offset nearest to a known
 * one, which is right while the distance is below 2^31; windows of at most 1 GiB guarantee that
 * (RFC 7323 section 2.3).
 */
#ifndef SCPS_CORE_SEQ_H
#define SCPS_CORE_SEQ_H

#include <scps/types.h>

/* Returns the sequence number of offset off in a stream whose initial sequence number is isn. */
static inline uint32_t scps_seq_wrap(uint32_t isn, scps_off off)
{
    return isn + (uint32_t)off;
}

/* Returns by how many octets seq lies beyond offset near; negative: before it. */
static inline int32_t scps_seq_ahead(uint32_t isn, scps_off near, uint32_t seq)
{
    return (int32_t)(seq - (isn + (uint32_t)near));
}

/* Returns the offset of sequence number seq that is nearest to the known offset near. It is
 * negative if seq lies before the SYN. */
static inline int64_t scps_seq_unwrap(uint32_t isn, scps_off near, uint32_t seq)
{
    return (int64_t)near + scps_seq_ahead(isn, near, seq);
}

#endif
