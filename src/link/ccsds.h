/* SPDX-License-Identifier: MIT */
/* State of one end of a link with CCSDS transfer frames: ccsds.c sends and receives, ccsdsopen.c
 * opens the end and reports its counters. */
#ifndef SCPS_LINK_CCSDS_H
#define SCPS_LINK_CCSDS_H

#include "link/encap.h"
#include "link/spaceframe.h"

struct scps_ccsds_tx {
    uint8_t *frames; /* ring of `room` frames, each behind its synchronisation marker */
    unsigned room;
    /* first: index in the ring of the oldest frame; ready: number of complete frames, from there
     * on, that the device has not accepted yet */
    unsigned first, ready;
    /* number of octets of packets that are in the frame being filled; this frame is in the ring
     * behind the `ready` complete ones */
    size_t used;
    /* first header pointer of the frame being filled: offset in its data field, octets, at which
     * its first packet begins; SPACEFRAME_NO_START: none begins in it */
    unsigned pointer;
    /* frame count, the sequence number in the frame header (CCSDS virtual channel frame count), of
     * the frame being filled; not yet reduced to the number of bits in the header */
    uint64_t count;
    /* time at which the frame being filled is completed with an idle packet (padding), µs;
     * SCPS_NEVER: it has no packets yet */
    scps_time fill_at;
};

struct scps_ccsds_rx {
    /* fields that are used only with cfg.markers (the line is a byte stream): */
    uint8_t *stream; /* the `have` octets read so far of a marker and its frame */
    size_t have;
    /* synced: true: the octets read last end within or at the end of a known packet, so the next
     * frame in sequence continues there; false: a packet begins only where the next first header
     * pointer says. counted: true: `count` is the frame count (sequence number in the frame header)
     * of the last frame that arrived; false: no frame has arrived yet */
    bool synced, counted;
    uint64_t count;
    uint8_t *packet;
    /* number of octets that have arrived of the packet being read; those beyond the buffer `packet`
     * are counted, but not stored */
    size_t len;
    uint64_t total; /* length of that packet, octets; 0: its header is not complete */
    enum scps_encap_what what;
    size_t head;
};

struct scps_ccsds {
    struct scps_netif nif; /* first member, so that a pointer to it can be cast to this struct */
    struct scps_alloc alloc;
    size_t size;
    struct scps_ccsds_config cfg;
    struct scps_ccsds_tx tx;
    struct scps_ccsds_rx rx;
    struct scps_ccsds_status stats;
    scps_time now;
    /* true: the driver has called scps_netif_advance(), which sets `now`; false: `now` is not known
     * yet */
    bool begun;
    size_t data_len; /* length of a frame's data field, which holds packets, octets */
};

#define SCPS_CCSDS_MARKER 4

/* Sets the functions (scps_netif_ops) of the netif c->nif. Called by scps_ccsds_new(), which
 * creates the local end of a CCSDS link. */
void scps_ccsds_wire(struct scps_ccsds *c);

#endif
