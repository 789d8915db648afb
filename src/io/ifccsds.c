/* SPDX-License-Identifier: MIT */
/* The option --ccsds KIND[,KEY[=VALUE]...]: IP packets in CCSDS transfer frames. Together with the
 * option --udp each UDP datagram carries one frame; with the key line=DEVICE the frames go over a
 * terminal line, and a sync marker (a fixed pattern of octets) precedes each frame. */
#include "io/ifccsds.h"

#include "io/ifword.h"
#include "io/iodev.h"
#include "io/tunaddr.h"

#include <string.h>

static bool number_at_most(const char *value, uint32_t most, uint32_t *out)
{
    return scps_ifword_number(value, out) && *out <= most;
}

/* Parses one KEY[=VALUE] of the option --ccsds KIND[,KEY[=VALUE]...]. Returns NULL if it was
 * valid, else a text that says which values are valid. */
static const char *take_word(struct scps_ifopts *o, const char *key, const char *value)
{
    struct scps_ccsds_config *c = &o->ccsds_config;
    uint32_t v = 0;

    if (strcmp(key, "nofecf") == 0) {
        c->fecf = false;
        return value ? "nofecf alone: it takes no value" : NULL;
    }
    value = value ? value : "";
    if (strcmp(key, "scid") == 0) {
        static const uint16_t most[] = {255, 65535, 1023};
        if (!number_at_most(value, most[c->kind], &v))
            return "a spacecraft id, in AOS to 255, in TM to 1023, in USLP to 65535";
        c->spacecraft = (uint16_t)v;
    } else if (strcmp(key, "vcid") == 0) {
        if (!number_at_most(value, c->kind == SCPS_CCSDS_TM ? 7 : 62, &v))
            return "a virtual channel, in TM to 7, else to 62";
        c->channel = (uint8_t)v;
    } else if (strcmp(key, "map") == 0) {
        if (c->kind != SCPS_CCSDS_USLP)
            return "map with uslp alone: other frames have none";
        if (!number_at_most(value, 15, &v))
            return "a multiplexer access point of USLP, to 15";
        c->map = (uint8_t)v;
    } else if (strcmp(key, "frame") == 0) {
        if (!scps_ifword_size(value, &v) || v < SCPS_CCSDS_FRAME_MIN || v > SCPS_CCSDS_FRAME_MAX)
            return "the octets of a frame, 64 to 2048";
        c->frame = v;
    } else if (strcmp(key, "fill") == 0) {
        if (!scps_ifword_seconds(value, &c->fill_after))
            return "how long a frame waits to be filled, as fill=10ms or 0.01";
    } else if (strcmp(key, "line") == 0) {
        if (!*value || strlen(value) >= sizeof o->ccsds_line)
            return "a serial line or pseudo terminal, as line=/dev/ttyS0";
        strcpy(o->ccsds_line, value);
    } else if (strcmp(key, "speed") == 0) {
        if (!scps_ifword_number(value, &o->ccsds_speed) || !scps_tty_has_speed(o->ccsds_speed))
            return "bit/s that lines have, as speed=9600, 115200 or 921600";
    } else {
        return "scid=N, vcid=N, map=N, frame=N, fill=S, line=DEVICE, speed=N or nofecf";
    }
    return NULL;
}

int scps_ifccsds_parse(struct scps_ifopts *o, const char *value, char *msg)
{
    static const char *const kinds[] = {"aos", "uslp", "tm"};
    size_t n = strcspn(value, ",");
    unsigned kind = 0;

    while (kind < 3 && (strlen(kinds[kind]) != n || memcmp(value, kinds[kind], n) != 0))
        kind++;
    if (kind == 3 || strlen(value) >= SCPS_IFWORD_ROOM) {
        scps_io_message(msg, "--ccsds \"%.60s\": give the kind of frames first: aos, uslp or tm",
                        value);
        return SCPS_ERR_INVAL;
    }
    o->ccsds = true;
    o->ccsds_config = scps_ccsds_config_default((enum scps_ccsds_kind)kind);
    o->ccsds_line[0] = 0;
    o->ccsds_speed = 0;
    return scps_ifword_list("--ccsds", value + n, o, take_word, msg);
}

int scps_ifccsds_check(const struct scps_ifopts *o, char *msg)
{
    if (o->ccsds_speed && !o->ccsds_line[0])
        scps_io_message(msg, "--ccsds: speed is of a line, and there is none: add line=DEVICE, or "
                             "leave it out; --line-rate says what the link takes");
    else if (!o->ccsds_line[0] && !o->udp)
        scps_io_message(msg, "--ccsds: give --udp LOCAL:PORT,REMOTE:PORT, or line=DEVICE");
    else if (o->ccsds_line[0] && o->udp)
        scps_io_message(msg, "--ccsds: line=DEVICE and --udp exclude each other");
    else if (o->udp && !o->udp_remote.port)
        scps_io_message(msg, "--ccsds: give --udp a REMOTE:PORT, too: frames name no sender");
    else if (o->mtu > 65500)
        scps_io_message(msg, "--mtu %u: over --ccsds give 68 to 65500", o->mtu);
    else
        return 0;
    return SCPS_ERR_INVAL;
}

struct scps_netif *scps_ifccsds_open(const struct scps_ifopts *o, char *msg)
{
    struct scps_ccsds_config c = o->ccsds_config;
    struct scps_udptun_config udp = {.local = o->udp_local, .remote = o->udp_remote};
    struct scps_tty_config tty = {.path = o->ccsds_line, .speed = o->ccsds_speed};
    struct scps_netif *dev, *ccsds;

    c.markers = o->ccsds_line[0] != 0;
    if (o->mtu)
        c.mtu = o->mtu;
    udp.mtu = c.frame;
    if (udp.mtu < 68)
        /* The UDP device refuses an MTU below 68, but a frame may have as few as 64 octets. */
        udp.mtu = 68;
    dev = c.markers ? scps_tty_open_for("--ccsds line", &tty, msg) : scps_udptun_open(&udp, msg);
    if (!dev)
        return NULL;
    ccsds = scps_ccsds_new(&c, NULL, NULL);
    if (!ccsds) {
        scps_io_message(msg, "out of memory");
        scps_netif_close(dev);
        return NULL;
    }
    dev->rate = o->ccsds_speed / 10; /* A serial line sends ten bits for each octet. */
    return scps_netif_push(dev, ccsds);
}
