/* SPDX-License-Identifier: MIT */
/* One end of a space link: what ccsds.c moves and ccsdsopen.c makes and reports. */
#ifndef SCPS_LINK_CCSDS_H
#define SCPS_LINK_CCSDS_H

#include "link/encap.h"
#include "link/spaceframe.h"

struct scps_ccsds_tx {
    uint8_t *frames; /* `room` frames, each with its marker */
    unsigned room;
    unsigned first, ready; /* whole frames that wait for the device */
    size_t used;           /* octets of packets in the frame being filled, behind the ready ones */
    unsigned pointer;      /* of that frame */
    uint64_t count;        /* of that frame */
    scps_time fill_at;     /* when the rest of it becomes an idle packet; SCPS_NEVER: not begun */
};

struct scps_ccsds_rx {
    /* of the byte stream */
    uint8_t *stream; /* a marker and a frame being read */
    size_t have;
    /* of the packet being read; synced: it is known where it began */
    bool synced, counted; /* counted: `count` is that of the last frame */
    uint64_t count;
    uint8_t *packet;
    size_t len;     /* octets of it that have come; those beyond the room are counted, not kept */
    uint64_t total; /* octets of it; 0: its header is not complete */
    enum scps_encap_what what;
    size_t head;
};

struct scps_ccsds {
    struct scps_netif nif; /* first: the chain knows only this */
    struct scps_alloc alloc;
    size_t size;
    struct scps_ccsds_config cfg;
    struct scps_ccsds_tx tx;
    struct scps_ccsds_rx rx;
    struct scps_ccsds_status stats;
    scps_time now;
    bool begun;      /* scps_netif_advance() has been called */
    size_t data_len; /* octets of packets in a frame */
};

#define SCPS_CCSDS_MARKER 4

/* Sets the callbacks of a new end. */
void scps_ccsds_wire(struct scps_ccsds *c);

#endif
