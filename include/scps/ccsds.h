/* SPDX-License-Identifier: MIT */
/* IP over CCSDS space links (CCSDS 702.1-B): a filter, which is a network interface (netif) that
 * stands between the stack and the netif of a device and converts the packets.
 *
 *      stack
 *        |  ^        IP packets
 *     [ ccsds ]      Internet protocol extension, encapsulation packets (133.1-B), one virtual
 *        |  |        channel of transfer frames: AOS (732.0-B), USLP (732.1-B) or TM (132.0-B)
 *        v  |        frames of one length, each a packet; or with sync markers, octets
 *      device        UDP, a modem with a framer; or a byte stream
 *
 * IP packets follow each other in the frames without gaps, and a packet may continue in the next
 * frame. A frame that is partly filled waits for more packets until scps_netif_advance() is called
 * at its deadline; then an idle packet fills it. No frames are sent while there is nothing to send.
 * The filter reads no clock and takes memory once, when it is opened.
 *
 * The filter does neither coding nor randomization, security or retransmission (COP-1), and sends
 * no operational control field, insert zone, frame header error control or secondary header; what a
 * received frame has of them is not read.
 */
#ifndef SCPS_CCSDS_H
#define SCPS_CCSDS_H

#include <scps/alloc.h>
#include <scps/netif.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SCPS_CCSDS_FRAME_MIN 64
/* Largest frame, octets: a first header pointer of 11 bits cannot describe a larger one. */
#define SCPS_CCSDS_FRAME_MAX 2048

enum scps_ccsds_kind { SCPS_CCSDS_AOS, SCPS_CCSDS_USLP, SCPS_CCSDS_TM };

struct scps_ccsds_config {
    /* size of this structure, bytes, as scps_ccsds_config_default() sets it; it shows for which
     * version of the structure the program was compiled */
    size_t size;
    enum scps_ccsds_kind kind;
    uint16_t spacecraft; /* spacecraft identifier: 8 bits in AOS, 16 in USLP, 10 in TM; default 1 */
    /* Virtual channel number: below 63 in AOS and USLP, where 63 marks idle frames; below 8 in TM.
     * Default 1 */
    uint8_t channel;
    uint8_t map; /* USLP's multiplexer access point, below 16; default 0 */
    /* Octets of a frame, header and error control field counted, sync marker not;
     * SCPS_CCSDS_FRAME_MIN to _MAX; default 1115 */
    uint32_t frame;
    /* true: each frame ends in a frame error control field of 16 bits (CRC); default true */
    bool fecf;
    /* true: frames are sent over a byte stream, each after the sync marker 1acffc1d; default
     * false */
    bool markers;
    uint32_t mtu; /* largest IP packet, 68 to 65500 octets; default 1500 */
    /* Longest time that a partly filled frame waits for further packets, µs; default 0: until the
     * driver next calls scps_netif_advance() */
    scps_dur fill_after;
};

/* Reasons why received octets were discarded, each with a counter in scps_ccsds_status.drops.
 * X(name, words). */
#define SCPS_CCSDS_DROPS(X)                                                                        \
    X(FRAME, "frames of another length, kind or layout")                                           \
    X(FECF, "frames with a wrong error control field")                                             \
    X(CHANNEL, "frames of other spacecraft or channels")                                           \
    X(MARKER, "octets between frames that are no marker")                                          \
    X(LATE, "frames with a count that was over")                                                   \
    X(CUT, "packets that a lost frame cut")                                                        \
    X(POINTER, "first header pointers that contradict the packet before")                          \
    X(PACKET, "packets whose header cannot be")                                                    \
    X(LONG, "packets longer than this end takes")                                                  \
    X(PROTOCOL, "packets that hold no IP")
enum scps_ccsds_drop {
#define X(name, words) SCPS_CCSDS_DROP_##name,
    SCPS_CCSDS_DROPS(X)
#undef X
        SCPS_CCSDS_DROP_COUNT
};

struct scps_ccsds_status {
    uint64_t tx_frames, rx_frames, tx_packets, rx_packets;
    uint64_t tx_idle, rx_idle; /* idle packets sent and received */
    /* octets of the idle packets that were sent to fill the rest of a frame, with their headers */
    uint64_t tx_fill;
    /* number of frames from the peer that never arrived, computed from gaps in the frame counts of
     * those that did */
    uint64_t lost_frames;
    uint64_t drops[SCPS_CCSDS_DROP_COUNT];
};

/* Fills *cfg, a structure of `size` octets (sizeof *cfg in the caller's headers), with the defaults
 * for this kind of transfer frames (AOS, USLP or TM). */
SCPS_API void scps_ccsds_config_init(struct scps_ccsds_config *cfg, size_t size,
                                     enum scps_ccsds_kind kind);
/* Returns the defaults for this kind of transfer frames (AOS, USLP or TM). It cannot fail. */
static inline struct scps_ccsds_config scps_ccsds_config_default(enum scps_ccsds_kind kind)
{
    struct scps_ccsds_config c;

    scps_ccsds_config_init(&c, sizeof c, kind);
    return c;
}
/* Checks whether scps_ccsds_new() would refuse a configuration. Returns 0 and makes msg empty; else
 * SCPS_ERR_RANGE, and one line of at most msglen - 1 characters in msg names the field: "mtu: 12:
 * give ...". msg may be NULL. */
SCPS_API int scps_ccsds_config_check(const struct scps_ccsds_config *cfg, char *msg, size_t msglen);
/* Returns the number of bytes that scps_ccsds_new() allocates for cfg; 0: cfg is refused. */
SCPS_API size_t scps_ccsds_memory(const struct scps_ccsds_config *cfg);
/* Opens one end of a space link as a netif, in one block of memory from alloc (NULL: malloc). It is
 * a filter: put it on the netif of its device with scps_netif_push(), and before the first packet
 * call scps_netif_advance(), from which the filter takes the time for its deadlines and its packets
 * (it reads no clock). Returns NULL on lack of memory, or for a
 * configuration with a value out of its range: then *err, if err is not NULL, is SCPS_ERR_NOMEM or
 * SCPS_ERR_RANGE. */
SCPS_API struct scps_netif *scps_ccsds_new(const struct scps_ccsds_config *cfg,
                                           const struct scps_alloc *alloc, int *err);
/* Copies the state and the counters of the link to *out. size: sizeof *out in the program that
 * calls; fields beyond it are not written. */
SCPS_API void scps_ccsds_get_status_sized(const struct scps_netif *ccsds,
                                          struct scps_ccsds_status *out, size_t size);
static inline void scps_ccsds_get_status(const struct scps_netif *ccsds,
                                         struct scps_ccsds_status *out)
{
    scps_ccsds_get_status_sized(ccsds, out, sizeof *out);
}
/* Returns the text of SCPS_CCSDS_DROPS for one reason, such as "frames with a wrong error control
 * field"; never NULL. */
SCPS_API const char *scps_ccsds_drop_text(enum scps_ccsds_drop drop);

#ifdef __cplusplus
}
#endif
#endif
