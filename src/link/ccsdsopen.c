/* SPDX-License-Identifier: MIT */
/* Opens an end of a space link, and reports its state. */
#include "link/ccsds.h"

#include <string.h>

#include <scps/error.h>

struct scps_ccsds_config scps_ccsds_config_default(enum scps_ccsds_kind kind)
{
    return (struct scps_ccsds_config){
        .kind = kind, .spacecraft = 1, .channel = 1, .frame = 1115, .fecf = true, .mtu = 1500};
}

static size_t frame_data(const struct scps_ccsds_config *c)
{
    return c->frame - scps_spaceframe_head(c) - scps_spaceframe_tail(c);
}

/* Returns how many frames may wait at most: those that one packet fills, and the one that it
 * begins. */
static unsigned tx_room(const struct scps_ccsds_config *c)
{
    return (unsigned)((c->mtu + SCPS_ENCAP_HEAD) / frame_data(c)) + 2;
}

static size_t slot_size(const struct scps_ccsds_config *c)
{
    return c->frame + (c->markers ? SCPS_CCSDS_MARKER : 0);
}

size_t scps_ccsds_memory(const struct scps_ccsds_config *cfg)
{
    return sizeof(struct scps_ccsds) + tx_room(cfg) * slot_size(cfg) +
           (cfg->markers ? slot_size(cfg) : 0) + cfg->mtu + SCPS_ENCAP_HEAD;
}

static bool in_range(const struct scps_ccsds_config *c)
{
    static const struct {
        uint16_t spacecraft;
        uint8_t channel;
    } most[] = {[SCPS_CCSDS_AOS] = {0xff, 62},
                [SCPS_CCSDS_USLP] = {0xffff, 62},
                [SCPS_CCSDS_TM] = {0x3ff, 7}};

    return (unsigned)c->kind <= SCPS_CCSDS_TM && c->spacecraft <= most[c->kind].spacecraft &&
           c->channel <= most[c->kind].channel && c->map < 16 && c->frame >= SCPS_CCSDS_FRAME_MIN &&
           c->frame <= SCPS_CCSDS_FRAME_MAX && c->mtu >= 68 && c->mtu <= 65500 &&
           c->fill_after >= 0;
}

struct scps_netif *scps_ccsds_new(const struct scps_ccsds_config *cfg,
                                  const struct scps_alloc *alloc, int *err)
{
    struct scps_alloc a = alloc && alloc->alloc ? *alloc : scps_alloc_default();
    struct scps_ccsds *c;
    size_t size;
    int ignored;

    err = err ? err : &ignored;
    *err = SCPS_ERR_RANGE;
    if (!in_range(cfg))
        return NULL;
    *err = SCPS_ERR_NOMEM;
    size = scps_ccsds_memory(cfg);
    c = a.alloc(a.ctx, size);
    if (!c)
        return NULL;
    memset(c, 0, size);
    c->alloc = a;
    c->size = size;
    c->cfg = *cfg;
    c->nif.name = "ccsds";
    c->data_len = frame_data(cfg);
    c->tx.room = tx_room(cfg);
    c->tx.frames = (uint8_t *)(c + 1);
    c->tx.pointer = SPACEFRAME_NO_START;
    c->tx.fill_at = SCPS_NEVER;
    c->rx.packet = c->tx.frames + c->tx.room * slot_size(cfg);
    c->rx.stream = cfg->markers ? c->rx.packet + cfg->mtu + SCPS_ENCAP_HEAD : NULL;
    scps_ccsds_wire(c);
    *err = 0;
    return &c->nif;
}

void scps_ccsds_get_status(const struct scps_netif *ccsds, struct scps_ccsds_status *out)
{
    *out = ((const struct scps_ccsds *)ccsds)->stats;
}

const char *scps_ccsds_drop_text(enum scps_ccsds_drop drop)
{
    static const char *const text[] = {
#define X(name, words) words,
        SCPS_CCSDS_DROPS(X)
#undef X
    };
    return (unsigned)drop < SCPS_CCSDS_DROP_COUNT ? text[drop] : "unknown reason";
}
