/* SPDX-License-Identifier: MIT */
/* State of one end of a space link: ccsds.c runs it, ccsdsopen.c makes it and reports its
 * counters. */
#ifndef SCPS_LINK_CCSDS_H
#define SCPS_LINK_CCSDS_H

#include "link/encap.h"
#include "link/spaceframe.h"

struct scps_ccsds_tx {
    uint8_t *frames; /* buffer for `room` frames, each with its marker */
    unsigned room;
    /* first: index of the oldest frame that waits; ready: complete frames that wait for the
     * device */
    unsigned first, ready;
    /* number of octets of packets in the frame being filled, which follows the ready ones */
    size_t used;
    unsigned pointer; /* first header pointer of the frame being filled */
    uint64_t count;   /* frame count of the frame being filled */
    /* time at which the rest of the frame being filled becomes an idle packet, µs; SCPS_NEVER: no
     * frame is begun */
    scps_time fill_at;
};

struct scps_ccsds_rx {
    /* fields for byte streams (cfg.markers) */
    uint8_t *stream; /* buffer for the marker and frame being read */
    size_t have;
    /* synced: the start of the packet being read is known; counted: `count` is the frame count of
     * the last frame */
    bool synced, counted;
    uint64_t count;
    uint8_t *packet;
    /* number of octets of the packet that have arrived; octets beyond the buffer are counted, but
     * not stored */
    size_t len;
    uint64_t total; /* length of the packet, octets; 0: its header is not complete */
    enum scps_encap_what what;
    size_t head;
};

struct scps_ccsds {
    struct scps_netif nif; /* first member, to which the netif chain points */
    struct scps_alloc alloc;
    size_t size;
    struct scps_ccsds_config cfg;
    struct scps_ccsds_tx tx;
    struct scps_ccsds_rx rx;
    struct scps_ccsds_status stats;
    scps_time now;
    bool begun;      /* true: scps_netif_advance() has been called, so the time is known */
    size_t data_len; /* octets of a frame that are used for packets */
};

#define SCPS_CCSDS_MARKER 4

/* Sets the functions (scps_netif_ops) of the netif of a new end. */
void scps_ccsds_wire(struct scps_ccsds *c);

#endif
