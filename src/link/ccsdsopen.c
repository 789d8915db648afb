/* SPDX-License-Identifier: MIT */
/* Opens one end of a link with CCSDS transfer frames, and reports its state. */
#include "link/ccsds.h"

#include <scps/error.h>

#include "base/bounds.h"
#include "base/sized.h"
#include "link/linkopen.h"

void scps_ccsds_config_init(struct scps_ccsds_config *cfg, size_t size, enum scps_ccsds_kind kind)
{
    const struct scps_ccsds_config defaults = {
        .kind = kind, .spacecraft = 1, .channel = 1, .frame = 1115, .fecf = true, .mtu = 1500};

    scps_sized_give_own(cfg, size, &defaults, sizeof defaults);
}

static size_t frame_data(const struct scps_ccsds_config *c)
{
    return c->frame - scps_spaceframe_head(c) - scps_spaceframe_tail(c);
}

/* Returns for how many frames the send buffer has room: those that the longest packet fills
 * completely, and two more, in which it begins and ends. */
static unsigned tx_room(const struct scps_ccsds_config *c)
{
    return (unsigned)((c->mtu + SCPS_ENCAP_HEAD) / frame_data(c)) + 2;
}

static size_t slot_size(const struct scps_ccsds_config *c)
{
    return c->frame + (c->markers ? SCPS_CCSDS_MARKER : 0);
}

static size_t memory(const struct scps_ccsds_config *cfg)
{
    return sizeof(struct scps_ccsds) + tx_room(cfg) * slot_size(cfg) +
           (cfg->markers ? slot_size(cfg) : 0) + cfg->mtu + SCPS_ENCAP_HEAD;
}

/* Checks the spacecraft identifier and the virtual channel of a configuration, whose upper bounds
 * depend on the kind of frames. Returns false, with the reason in *why, if one is too large. */
static bool identifiers_hold(const struct scps_ccsds_config *c, struct scps_line *why)
{
    static const struct {
        uint16_t spacecraft;
        uint8_t channel;
    } most[] = {[SCPS_CCSDS_AOS] = {0xff, 62},
                [SCPS_CCSDS_USLP] = {0xffff, 62},
                [SCPS_CCSDS_TM] = {0x3ff, 7}};

    if (c->spacecraft > most[c->kind].spacecraft)
        scps_bounds_message(why, "spacecraft", c->spacecraft, 0, most[c->kind].spacecraft);
    else if (c->channel > most[c->kind].channel)
        scps_bounds_message(why, "channel", c->channel, 0, most[c->kind].channel);
    else
        return true;
    return false;
}

/* Copies the configuration `from`, which may be that of an older version of the library and so
 * shorter, and checks it. Returns false, with the reason in *why, if it is refused. */
static bool copy_config(struct scps_ccsds_config *c, const struct scps_ccsds_config *from,
                        struct scps_line *why)
{
    static const struct scps_bounds bounds[] = {
#define FIELD(f, least, most) SCPS_BOUNDS(scps_ccsds_config, f, least, most)
        FIELD(kind, SCPS_CCSDS_AOS, SCPS_CCSDS_TM),
        FIELD(map, 0, 15),
        FIELD(frame, SCPS_CCSDS_FRAME_MIN, SCPS_CCSDS_FRAME_MAX),
        FIELD(mtu, 68, 65500),
        FIELD(fill_after, 0, SCPS_NEVER / 2),
#undef FIELD
    };

    scps_ccsds_config_init(c, sizeof *c, SCPS_CCSDS_AOS);
    return scps_bounds_take(c, sizeof *c, from, SCPS_SIZED_TO(scps_ccsds_config, frame), why) &&
           scps_bounds_hold(bounds, sizeof bounds / sizeof *bounds, c, why) &&
           identifiers_hold(c, why);
}

int scps_ccsds_config_check(const struct scps_ccsds_config *cfg, char *msg, size_t msglen)
{
    struct scps_line why = scps_line_begin(msg, msglen);
    struct scps_ccsds_config c;

    return copy_config(&c, cfg, &why) ? 0 : SCPS_ERR_RANGE;
}

size_t scps_ccsds_memory(const struct scps_ccsds_config *cfg)
{
    struct scps_line no_text = {NULL, 0};
    struct scps_ccsds_config c;

    return copy_config(&c, cfg, &no_text) ? memory(&c) : 0;
}

struct scps_netif *scps_ccsds_new(const struct scps_ccsds_config *asked,
                                  const struct scps_alloc *alloc, int *err)
{
    struct scps_line no_text = {NULL, 0};
    struct scps_ccsds_config own;
    const struct scps_ccsds_config *cfg = &own;
    size_t size = copy_config(&own, asked, &no_text) ? memory(cfg) : 0;
    struct scps_alloc a;
    struct scps_ccsds *c = scps_link_open(alloc, size, &a, err);

    if (!c)
        return NULL;
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
    return &c->nif;
}

void scps_ccsds_get_status_sized(const struct scps_netif *ccsds, struct scps_ccsds_status *out,
                                 size_t size)
{
    const struct scps_ccsds *c = (const struct scps_ccsds *)ccsds;

    scps_sized_give(out, size, &c->stats, sizeof c->stats);
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
