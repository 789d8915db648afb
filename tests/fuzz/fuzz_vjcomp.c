/* SPDX-License-Identifier: MIT */
/* Fuzz target: Van Jacobson header compression (RFC 1144) and decompression of arbitrary octets.
 *
 * The input is a list of packets, each behind two octets: what to do with it, and its length.
 * Either the compressor gets it as an IP packet, and a decompressor that has got every packet must
 * restore it. Or a second decompressor gets it as octets from the line: it must not read beyond the
 * end and must return valid headers.
 */
#include <scps/vjcomp.h>
#include <string.h>

#include <scps/error.h>

#include "base/bytes.h"
#include "fuzz.h"

static void there_and_back(struct scps_vj_tx *tx, struct scps_vj_rx *rx, const uint8_t *p,
                           size_t len)
{
    uint8_t out[SCPS_VJ_HDR_MAX + 256], back[SCPS_VJ_HDR_MAX], want[SCPS_VJ_HDR_MAX];
    size_t n, replaced, m, used;
    enum scps_vj_type type = scps_vj_compress(tx, p, len, len, out, &n, &replaced);

    if (type == SCPS_VJ_IP) {
        MUST(n == 0 && replaced == 0);
        return;
    }
    MUST(n >= 3 && n <= SCPS_VJ_HDR_MAX && replaced >= 40 && replaced <= len);
    MUST(type == SCPS_VJ_COMPRESSED || n == replaced);
    memcpy(out + n, p + replaced, len - replaced);
    MUST(scps_vj_expand(rx, type, out, n + len - replaced, n + len - replaced, back, &m, &used) ==
         0);
    MUST(m == replaced && used == n);
    memcpy(want, p, m);
    if (type == SCPS_VJ_COMPRESSED) /* The IP checksum is not sent but computed anew. */
        memcpy(want + 10, back + 10, 2);
    /* The reserved bits beside the data offset, and flags that have no bit, are those of the packet
     * before. */
    MUST(!memcmp(back, want, m) || type == SCPS_VJ_COMPRESSED);
    size_t t = (size_t)(want[0] & 15) * 4;
    MUST(!memcmp(back, want, t) && !memcmp(back + t, want + t, 12));
    MUST(!memcmp(back + t + 14, want + t + 14, m - t - 14));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct scps_vj_tx tx;
    struct scps_vj_rx rx, line;

    scps_vj_tx_init(&tx);
    scps_vj_rx_init(&rx);
    scps_vj_rx_init(&line);
    while (size > 2) {
        uint8_t how = data[0], out[SCPS_VJ_HDR_MAX];
        size_t len = SCPS_MIN(data[1], size - 2), n, used;
        const uint8_t *p = data + 2;

        data += 2 + len;
        size -= 2 + len;
        if (how & 1) {
            there_and_back(&tx, &rx, p, len);
            continue;
        }
        if (how & 8)
            scps_vj_line_error(&line);
        enum scps_vj_type type = how & 2 ? SCPS_VJ_COMPRESSED : SCPS_VJ_UNCOMPRESSED;
        size_t avail = how & 4 ? len / 2 : len;
        if (scps_vj_expand(&line, type, p, avail, len, out, &n, &used))
            continue;
        MUST(used <= avail && n >= 40 && n <= SCPS_VJ_HDR_MAX && out[9] == 6);
        MUST(scps_get16(out + 2) == len - used + n);
    }
    return 0;
}
