/* SPDX-License-Identifier: MIT */
/* Checks all options together when they have been read, and completes them: which end this process
 * is, over which device or link, and which options need or exclude each other. */
#include "scps_ttcp/option_table.h"

#include "common/host.h"

#include <stdlib.h>
#include <string.h>

/* Returns the time that an IP packet of `bytes` bytes takes on the line of link direction c, µs; 0:
 * the rate of the line is unlimited. */
static scps_dur on_the_line(const struct scps_link_config *c, uint32_t bytes)
{
    if (c->rate_bps == 0)
        return 0;
    return (scps_dur)((uint64_t)scps_link_frame_bytes(c, bytes) * 8 * 1000000 / c->rate_bps);
}

/* Refuses a feature in --require that another option switches off. As all functions of this file
 * that have a parameter msg, returns 0; or -1, with one line in msg, if the options are refused. */
static int require_conflicts(const struct ttcp_options *o, char msg[TTCP_MSGLEN])
{
    const struct {
        enum scps_feature f;
        bool off;
        const char *by;
    } v[] = {{SCPS_FEATURE_TIMESTAMPS, !o->conn.timestamps, "-M"},
             {SCPS_FEATURE_SACK, !o->conn.sack, "--no-sack"},
             {SCPS_FEATURE_SNACK, !o->conn.snack, "-S"},
             {SCPS_FEATURE_SNACK_LONG, !o->conn.snack, "-S"},
             {SCPS_FEATURE_SNACK_LONG, !o->conn.snack_long, "--no-snack-long"},
             {SCPS_FEATURE_WSCALE, !o->conn.wscale, "--no-wscale"}};

    for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++)
        if (ttcp_requires(o, v[i].f) && v[i].off)
            return FAIL("--require %s with %s: leave out one of them", scps_feature_name(v[i].f),
                        v[i].by);
    return 0;
}

/* Checks that the options say which end this process is (-t, -r, -Q, HOST), and refuses options
 * that do not exist at this end. device: a real interface was given. */
static int settle_ends(const struct ttcp_options *o, bool device, char msg[TTCP_MSGLEN])
{
    if (o->action == TTCP_UNSET)
        return FAIL("give -t to transmit or -r to receive; -h lists the options");
    if (o->link && device)
        return FAIL("--link runs inside this process: leave out the interface options");
    if (o->host != NULL && o->host[0] == '\0')
        return FAIL("HOST is empty: give the peer's address as the last word, or leave it out");
    if (o->action == TTCP_RECEIVE) {
        if (o->link)
            return FAIL(
                "-r with --link: a virtual link has both ends in this process: give -t only");
        if (!device)
            return FAIL("-r needs an interface: --tun NAME or --udp LOCAL:PORT, with --addr, or "
                        "--ppp DEVICE");
        if (o->host != NULL && !o->reverse)
            return FAIL("-r takes no HOST: leave out %s", o->host);
        if (o->host == NULL && o->reverse)
            return FAIL("-r -Q needs a HOST to receive from, as the last word");
        if (o->time != 0 && !o->bidir)
            return FAIL("--time works at the sender: give it there, or use --timeout here");
    } else if (o->reverse && o->host != NULL) {
        return FAIL("-t -Q waits and takes no HOST: leave out %s", o->host);
    } else if (device && o->host == NULL && !o->reverse) {
        return FAIL("-t over an interface needs a HOST to send to, as the last word");
    } else if (!device && o->host != NULL) {
        return FAIL("%s cannot be reached without an interface: add --tun NAME or --udp "
                    "LOCAL:PORT,REMOTE:PORT with --addr or --ppp DEVICE, or leave it out for a "
                    "virtual link",
                    o->host);
    }
    return 0;
}

/* Checks HOST if it is an address: a peer must be able to have it. If HOST is a name, nothing is
 * checked, because the name is resolved later. */
static int settle_host(const struct ttcp_options *o, char msg[TTCP_MSGLEN])
{
    struct scps_addr a;

    if (o->host == NULL || scps_addr_parse(o->host, &a) != 0)
        return 0;
    if (o->family != 0 && o->family != a.family)
        return FAIL("%.100s is not an IPv%u address: drop -%u", o->host, o->family, o->family);
    return host_check(&o->ifs, o->host, &a, o->udp, msg, TTCP_MSGLEN) ? 0 : -1;
}

static int settle_device(struct ttcp_options *o, char msg[TTCP_MSGLEN])
{
    char why[SCPS_IO_MSGLEN];

    if (o->hollow)
        return FAIL("--hollow works over a virtual link only: hollow bytes have no content");
    if (o->pcap_peer != NULL)
        return FAIL("--pcap-peer works over a virtual link only: capture at the peer");
    if (o->truth != NULL)
        return FAIL(
            "--truth works over a virtual link only: on a real path nothing knows every packet");
    if (o->ifs.mtu == 0)
        o->ifs.mtu = o->mtu;
    /* --timeout also limits how long the program waits until the link layer (such as PPP) is open.
     * With --server it limits only each test. */
    if (!o->server)
        o->ifs.patience = o->timeout;
    if (scps_ifopts_check(&o->ifs, why) != 0)
        return FAIL("%s", why);
    if (o->source.family != 0 && o->family != 0 && o->source.family != o->family)
        return FAIL("-H is not an IPv%u address: drop -%u or change it", o->family, o->family);
    return settle_host(o, msg);
}

/* Checks -P, --bidir and --server: several flows cannot share a file or an input. */
static int settle_several(struct ttcp_options *o, char msg[TTCP_MSGLEN])
{
    const char *name = o->server ? "--server" : o->bidir ? "--bidir" : "-P";
    const struct {
        bool given;
        const char *name;
    } none[] = {{o->udp, "-u"},
                {o->output != NULL, "--output"},
                {o->qlog != NULL && (o->server || o->streams > 1), "--qlog"},
                {o->path_state != NULL, "--path-state"},
                {o->echo && o->bidir, "-e"},
                {o->tell && o->bidir, "--tell"},
                {o->compare != NULL && o->bidir, "--compare"},
                {o->server && o->link, "--link"},
                {o->server && o->interval != 0, "--interval"}};

    if (o->tell && o->action != TTCP_RECEIVE)
        return FAIL("--tell works at a receiver over an interface: give it there");
    if (o->tell && o->udp)
        return FAIL("--tell with -u: datagrams have no way back: leave out one of them");
    if (o->server && o->streams > 1)
        return FAIL("-P with --server: each connection of a client is a test of its own: leave out "
                    "-P here, and give it to the client");
    if (o->streams == 1 && !o->bidir && !o->server)
        return 0;
    if (!o->pattern)
        return FAIL("%s has several flows, and standard input and output are one: add -s", name);
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        if (none[i].given)
            return FAIL("%s with %s: leave out one of them", name, none[i].name);
    if (o->server && (o->action == TTCP_RECEIVE) == o->reverse)
        return FAIL("--server waits for connections: leave out %s",
                    o->reverse ? "-Q" : "the HOST, and add -Q");
    if (o->server && o->action == TTCP_RECEIVE && !o->bidir)
        o->tell = true;
    return 0;
}

/* Returns true if setting id is on: by default, by an option, or because --require demands it. */
static bool is_on(const struct ttcp_options *o, enum setting_id id)
{
    if (id == SETTING_bets && ttcp_requires(o, SCPS_FEATURE_BETS))
        return true;
    if (id == SETTING_compress && ttcp_requires(o, SCPS_FEATURE_COMPRESSION))
        return true;
    return setting_get(&settings[id], &o->conn) != 0;
}

/* Refuses a setting that has no effect because another one is off. */
static int settle_settings(const struct ttcp_options *o, char msg[TTCP_MSGLEN])
{
    char option[TTCP_NAME], other[TTCP_NAME];

    for (int i = 0; i < SETTINGS; i++) {
        const char *with = settings[i].with;
        enum setting_id id = with != NULL ? setting_find(with, strlen(with)) : SETTINGS;

        if (id == SETTINGS || !o->given[i] || is_on(o, id) ||
            (settings[i].kind == FLAG && setting_get(&settings[i], &o->conn) == 0))
            continue;
        ttcp_setting_option((enum setting_id)i, option);
        ttcp_setting_option(id, other);
        if (strncmp(other, "no-", 3) == 0)
            return FAIL("--%s has no effect with --%s (-%c): leave out one of them", option, other,
                        settings[id].letter);
        if (settings[id].letter != 0)
            return FAIL("--%s has no effect without --%s: add -%c", option, other,
                        settings[id].letter);
        return FAIL("--%s has no effect without --%s: add that", option, other);
    }
    if (o->given[SETTING_quick_acks] && o->conn.ack_mode != SCPS_ACK_OTHER)
        return FAIL("--quick-acks works with -F 2 only: leave out -F %d",
                    o->conn.ack_mode == SCPS_ACK_EVERY);
    if (is_on(o, SETTING_holes_at_once) && o->conn.ack_mode != SCPS_ACK_DELAYED)
        return FAIL("--holes-at-once works with -F 0 only, other modes always do so: add -F 0");
    if (o->given[SETTING_rto_max] && o->conn.rto_max != 0 && o->conn.rto_min > o->conn.rto_max)
        return FAIL("--rto-min is above --rto-max: swap them");
    if (o->conn.recovery == SCPS_RECOVERY_RACK && !o->conn.sack)
        return FAIL("--recovery rack needs SACK (RFC 8985 section 4): leave out --no-sack");
    return 0;
}

/* Checks --compare: refuses files that several runs would overwrite, and options that --compare
 * sets itself. */
static int settle_compare(const struct ttcp_options *o, char msg[TTCP_MSGLEN])
{
    const struct {
        bool given;
        const char *name;
    } none[] = {{o->udp, "-u"},
                {o->pcap != NULL, "--pcap"},
                {o->pcap_peer != NULL, "--pcap-peer"},
                {o->truth != NULL, "--truth"},
                {o->qlog != NULL, "--qlog"},
                {o->path_state != NULL, "--path-state"},
                {o->output != NULL, "--output"},
                {o->debug, "-d"},
                {o->cc_loaded, "--cc-plugin"},
                {o->cc_given, "--cc, -G, -g, -W, -X and -Y"},
                {o->interval != 0 && !o->json, "--interval without --json"}};

    if (o->compare == NULL)
        return 0;
    if (!o->link)
        return FAIL("--compare runs over a virtual link: leave out the interface options");
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        if (none[i].given)
            return FAIL("--compare makes one run for each controller: leave out %s", none[i].name);
    return 0;
}

/* Checks pairs of options that need or exclude each other. */
static int settle_pairs(const struct ttcp_options *o, char msg[TTCP_MSGLEN])
{
    if (o->hollow && !o->pattern)
        return FAIL("--hollow has no content to send: add -s");
    if (o->hollow && o->output != NULL)
        return FAIL("--hollow has no content for --output: leave out one of them");
    if (o->cc->needs_rate && o->rate_bps == 0 && o->route_bps == 0 && !o->udp)
        return FAIL("--cc %s sends at a set rate: add -R, such as -R 10m", o->cc->name);
    if (o->cc_by[0] && o->cc_by[1])
        return FAIL("-G and --cc both name a controller: leave out one of them");
    if (o->overhead_set && o->route_bps == 0)
        return FAIL(
            "--overhead has no effect without --route-rate: add it, such as --route-rate 10m");
    if (o->min_bps > o->route_bps && o->route_bps != 0)
        return FAIL("--min-rate is above --route-rate: swap them");
    if ((o->route_bps != 0 || o->min_bps != 0) && !o->link &&
        (o->action != TTCP_TRANSMIT || o->reverse))
        return FAIL("--route-rate and --min-rate are of the way to HOST: give them with -t and no "
                    "-Q");
    if (o->path_state != NULL && !o->link && o->action != TTCP_TRANSMIT)
        return FAIL("--path-state works at the sending end: give it there");
    if (o->echo && is_on(o, SETTING_bets))
        return FAIL("-e with best effort (-E, -Z): a block that is given up never comes back: "
                    "leave out one of them");
    if (settle_settings(o, msg) != 0)
        return -1;
    return require_conflicts(o, msg);
}

/* Checks -u: refuses options of TCP that change what the user gets, and ignores the others. */
static int settle_udp(struct ttcp_options *o, char msg[TTCP_MSGLEN])
{
    const struct {
        bool given;
        const char *name;
    } none[] = {{o->echo, "-e"},
                {o->conn.records, "-c or --record-size"},
                {o->conn.bets, "-E or -Z"},
                {o->conn.compress, "-C"},
                {o->reverse, "-Q"},
                {o->require != 0, "--require"},
                {o->conn.binding[0].len != 0, "--binding"}};
    uint32_t over = o->family == 6 || o->source.family == 6 ? 48 : 28;
    uint32_t mtu = o->link ? o->mtu : o->ifs.mtu;

    if (!o->udp)
        return 0;
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        if (none[i].given)
            return FAIL("-u with %s: datagrams do not have this: leave out one of them",
                        none[i].name);
    if (o->route_bps != 0 || o->min_bps != 0)
        return FAIL("-u sends at the rate of -R: leave out --route-rate and --min-rate");
    if (o->qlog != NULL)
        return FAIL("--qlog is about a connection, and -u has none: leave out one of them");
    if (o->path_state != NULL)
        return FAIL("--path-state is about a connection, and -u has none: leave out one of them");
    if (!o->length_set)
        o->length = mtu != 0 ? mtu - over : TTCP_UDP_LENGTH;
    if (o->length < 5)
        return FAIL("-l %zu: a datagram of 4 bytes or fewer is a guard (-u): give at least 5",
                    o->length);
    if (o->length > (mtu != 0 ? mtu : 65535u) - over)
        return FAIL("-l %zu: such a datagram does not fit the MTU, and none is cut (-u): give at "
                    "most %u, or another -m",
                    o->length, (mtu != 0 ? mtu : 65535u) - over);
    if (o->link && o->rate_bps == 0 && (o->fwd.rate_bps == 0 || o->fwd.rates.n != 0))
        return FAIL("-u over a link without a rate of its own: add -R, such as -R 10m");
    return 0;
}

/* Adds the outages of the option --outage to the description of the link, o->link_spec. */
static int settle_outage(struct ttcp_options *o, char msg[TTCP_MSGLEN])
{
    if (o->outage_signal == TTCP_SIGNAL_NONE && o->outage[0] == '\0')
        return 0;
    if (!o->link)
        return FAIL("--outage is for a virtual link: over an interface take the link down");
    if (o->outage[0] != '\0') {
        int n = snprintf(o->link_text, sizeof(o->link_text), "%s,outage=%s",
                         o->link_spec != NULL ? o->link_spec : TTCP_DEFAULT_LINK, o->outage);

        if (n < 0 || (size_t)n >= sizeof(o->link_text))
            return FAIL("--link and --outage are too long: put tables into files, @FILE");
        o->link_spec = o->link_text;
    }
    return 0;
}

static int settle_link(struct ttcp_options *o, char msg[TTCP_MSGLEN])
{
    const struct scps_link_files files = {ttcp_files_read, scps_io_free_file, o};
    char why[TTCP_MSGLEN - 32];

    if (o->link_spec == NULL)
        o->link_spec = TTCP_DEFAULT_LINK;
    if (scps_link_parse_tables(o->link_spec, &files, &o->fwd, &o->back, &o->tables, why,
                               sizeof(why)) != 0)
        /* The message begins with "link: ", which "--" turns into the option's name. */
        return FAIL("--%s", why);
    if (o->mtu == 0)
        o->mtu = 1500;
    if (o->family == 6 && o->mtu < 1280)
        return FAIL("-m %u: IPv6 needs at least 1280 (RFC 8200 section 5)", o->mtu);
    /* The round trip includes the transmission times of a data packet and of an acknowledgement. */
    if (!o->given[SETTING_expected_rtt])
        o->conn.expected_rtt =
            o->fwd.delay + on_the_line(&o->fwd, o->mtu) + o->back.delay + on_the_line(&o->back, 60);
    return 0;
}

int ttcp_settle(struct ttcp_options *o, char msg[TTCP_MSGLEN])
{
    bool device = scps_ifopts_given(&o->ifs);

    /* The options -g, -W, -X and -Y give the parameters ss, alpha, beta and gamma of the
     * congestion controller. They are appended to the controller's name and parameters that --cc
     * or -G gave, in whatever order the options stood on the command line. */
    if (o->cc_more[0] != '\0') {
        char text[sizeof(o->cc_text) + sizeof(o->cc_more)], typed[sizeof(o->cc_letters) + 16];

        snprintf(text, sizeof(text), "%s%s", o->cc_text, o->cc_more);
        snprintf(typed, sizeof(typed), "%s with --cc", o->cc_letters);
        if (ttcp_choose_cc(o, typed, text, msg) != 0)
            return -1;
    }
    if (settle_ends(o, device, msg) != 0)
        return -1;
    if (!device) {
        o->link = true;
        if (o->source.family != 0)
            return FAIL("-H needs an interface: a virtual link has addresses of its own");
    } else if (settle_device(o, msg) != 0) {
        return -1;
    }
    if (settle_several(o, msg) != 0 || settle_pairs(o, msg) != 0 || settle_compare(o, msg) != 0 ||
        settle_outage(o, msg) != 0)
        return -1;
    if (o->count == 0)
        o->count = o->time != 0 ? UINT64_MAX : 2048;
    if (ttcp_files_check(o, msg) != 0 || (o->link && settle_link(o, msg) != 0))
        return -1;
    return settle_udp(o, msg);
}
