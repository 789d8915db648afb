/* SPDX-License-Identifier: MIT */
/* Settings, figures and names: see glue.h. */
#include "common/settings.h"
#include "glue_priv.h"

#include <scps/error.h>

#include <stdlib.h>
#include <string.h>

/* ---- settings ---- */

int py_settings(void)
{
    return SETTINGS;
}

const char *py_setting_name(int i)
{
    return settings[i].name;
}

int py_setting_kind(int i)
{
    static const int of[] = {[FLAG] = 0, [COUNT] = 1, [COUNT_OR_0] = 1, [BYTES] = 2,
                             [RATE] = 3, [TIME] = 4,  [CHOICE] = 5};

    return of[settings[i].kind];
}

const char *py_setting_words(int i)
{
    return settings[i].kind == CHOICE ? settings[i].words : NULL;
}

const char *py_setting_help(int i)
{
    return settings[i].help;
}

struct py_config *py_config_new(void)
{
    struct py_config *c = malloc(sizeof(*c));

    if (c != NULL)
        c->c = scps_conn_config_default();
    return c;
}

void py_config_free(struct py_config *c)
{
    free(c);
}

int py_setting_allowed(int i, int64_t value, char *msg, size_t msglen)
{
    static const struct setting_style style = {"KiB", "MiB", "GiB", ""};
    char facts[256];

    if (setting_allows(&settings[i], value))
        return 0;
    setting_facts(&settings[i], &style, settings[i].def, NULL, facts, sizeof(facts));
    snprintf(msg, msglen, "%s: %lld is out of range: %s", settings[i].name, (long long)value,
             facts);
    return SCPS_ERR_RANGE;
}

int py_config_set(struct py_config *c, int i, int64_t value, char *msg, size_t msglen)
{
    const int err = py_setting_allowed(i, value, msg, msglen);

    if (err == 0)
        setting_put(&settings[i], &c->c, value);
    return err;
}

int64_t py_config_get(const struct py_config *c, int i)
{
    return setting_get(&settings[i], &c->c);
}

int py_config_cc(struct py_config *c, const char *text, char *msg, size_t msglen)
{
    const locale_t before = py_c_numbers();
    const int err = scps_conn_config_parse_cc(&c->c, text, msg, msglen);

    uselocale(before);
    return err;
}

/* ---- figures ---- */

enum { NUMBER, MICROSECONDS, BOOLEAN };

static const struct {
    const char *name;
    size_t at, size;
    int unit;
} figures[] = {
#define FIGURE(name, unit)                                                                         \
    {                                                                                              \
#name, offsetof(struct scps_info, name), sizeof(((struct scps_info *)0)->name), unit       \
    }
    FIGURE(sack, BOOLEAN),
    FIGURE(timestamps, BOOLEAN),
    FIGURE(ecn, BOOLEAN),
    FIGURE(caps, NUMBER),
    FIGURE(snd_mss, NUMBER),
    FIGURE(rcv_mss, NUMBER),
    FIGURE(pmtu, NUMBER),
    FIGURE(rto, MICROSECONDS),
    FIGURE(srtt, MICROSECONDS),
    FIGURE(rttvar, MICROSECONDS),
    FIGURE(min_rtt, MICROSECONDS),
    FIGURE(last_rtt, MICROSECONDS),
    FIGURE(established, MICROSECONDS),
    FIGURE(fin_acked, MICROSECONDS),
    FIGURE(backoff, NUMBER),
    FIGURE(cwnd, NUMBER),
    FIGURE(ssthresh, NUMBER),
    FIGURE(rate, NUMBER),
    FIGURE(max_cwnd, NUMBER),
    FIGURE(inflight, NUMBER),
    FIGURE(snd_wnd, NUMBER),
    FIGURE(rcv_wnd, NUMBER),
    FIGURE(unsent, NUMBER),
    FIGURE(rcv_queued, NUMBER),
    FIGURE(rcv_ooo, NUMBER),
    FIGURE(segs_out, NUMBER),
    FIGURE(segs_in, NUMBER),
    FIGURE(data_segs_out, NUMBER),
    FIGURE(data_segs_in, NUMBER),
    FIGURE(bytes_sent, NUMBER),
    FIGURE(bytes_resent, NUMBER),
    FIGURE(bytes_acked, NUMBER),
    FIGURE(bytes_received, NUMBER),
    FIGURE(bytes_duplicate, NUMBER),
    FIGURE(resent_segs, NUMBER),
    FIGURE(timeouts, NUMBER),
    FIGURE(recoveries, NUMBER),
    FIGURE(spurious, NUMBER),
    FIGURE(dupacks_in, NUMBER),
    FIGURE(sacks_in, NUMBER),
    FIGURE(snacks_in, NUMBER),
    FIGURE(snacks_out, NUMBER),
    FIGURE(acks_out, NUMBER),
    FIGURE(bytes_missing, NUMBER),
    FIGURE(bytes_given_up, NUMBER),
};

#define FIGURES ((int)(sizeof(figures) / sizeof(figures[0])))

int py_figures(void)
{
    return FIGURES;
}

const char *py_figure_name(int i)
{
    return figures[i].name;
}

int py_figure_unit(int i)
{
    return figures[i].unit;
}

void py_figures_of(const struct scps_info *info, int64_t *out)
{
    for (int i = 0; i < FIGURES; i++) {
        const char *at = (const char *)info + figures[i].at;
        uint8_t one;
        uint32_t four;
        uint64_t eight;

        memcpy(&one, at, 1);
        memcpy(&four, at, figures[i].size >= 4 ? 4 : 1);
        memcpy(&eight, at, figures[i].size == 8 ? 8 : 1);
        eight = figures[i].size == 1 ? one : figures[i].size == 4 ? four : eight;
        out[i] = eight > INT64_MAX ? INT64_MAX : (int64_t)eight;
    }
}

void py_conn_figures(const struct scps_conn *c, int64_t *out)
{
    struct scps_info info;

    scps_conn_info(c, &info);
    py_figures_of(&info, out);
}

/* ---- best effort ---- */

int py_conn_hole(struct scps_conn *c, uint64_t *out)
{
    struct scps_hole hole;

    if (!scps_conn_hole(c, &hole, 0))
        return 0;
    out[0] = hole.at;
    out[1] = hole.len;
    return 1;
}

size_t py_conn_given_up(const struct scps_conn *c, uint64_t *out, size_t max)
{
    static const size_t most = 4096; /* scps_conn_given_up() lists no more */
    struct scps_hole holes[4096];
    size_t n = scps_conn_given_up(c, holes, max < most ? max : most);

    for (size_t i = 0; i < n && i < max && i < most; i++) {
        out[2 * i] = holes[i].at;
        out[2 * i + 1] = holes[i].len;
    }
    return n;
}

/* ---- names ---- */

const char *py_note_kind(int kind)
{
    return kind < SCPS_NOTE_COUNT ? scps_note_name((uint32_t)kind) : NULL;
}

const char *py_note_arg(int kind, unsigned i)
{
    return scps_note_arg((uint32_t)kind, i);
}

const char *py_fate(int fate)
{
    return fate < SCPS_FATE_COUNT ? scps_fate_name((enum scps_fate)fate) : NULL;
}

const char *py_drop(int drop)
{
    return drop < SCPS_DROP_COUNT ? scps_drop_name((enum scps_drop)drop) : NULL;
}

const char *py_event_kind(int kind)
{
    static const char *const names[SCPS_EV_COUNT] = {[SCPS_EV_CONNECTED] = "connected",
                                                     [SCPS_EV_ACCEPT] = "accept",
                                                     [SCPS_EV_READABLE] = "readable",
                                                     [SCPS_EV_WRITABLE] = "writable",
                                                     [SCPS_EV_PEER_CLOSED] = "peer_closed",
                                                     [SCPS_EV_DRAINED] = "drained",
                                                     [SCPS_EV_CLOSED] = "closed",
                                                     [SCPS_EV_ERROR] = "error",
                                                     [SCPS_EV_HOLE] = "hole",
                                                     [SCPS_EV_GAVE_UP] = "gave_up"};

    return kind < SCPS_EV_COUNT ? names[kind] : NULL;
}

const char *py_error(int err)
{
    return scps_strerror(err);
}

const char *py_controller(int i)
{
    const struct scps_cc_ops *ops = scps_cc_at((size_t)i);

    return ops != NULL ? ops->name : NULL;
}

const char *py_preset(int i)
{
    const char *name = NULL, *help;

    return scps_link_preset((size_t)i, &name, &help) ? name : NULL;
}

const char *py_version(void)
{
    return SCPS_VERSION;
}

int py_error_hole(void)
{
    return SCPS_ERR_HOLE;
}

int py_error_again(void)
{
    return SCPS_ERR_AGAIN;
}

int py_error_nomem(void)
{
    return SCPS_ERR_NOMEM;
}

int py_error_system(void)
{
    return SCPS_ERR_SYSTEM;
}
