/* SPDX-License-Identifier: MIT */
/* Encodes and decodes a saved path state: the congestion window, delivery rate and RTT that a
 * connection measured, from which a later connection between the same addresses starts (careful
 * resume, RFC 9959). The format is in <scps/path.h>.
 *
 * Every field is checked before any is used, because the state comes from a file that somebody may
 * have changed.
 */
#include "core/pathstate.h"

#include "base/bytes.h"
#include "base/sized.h"

enum { VERSION = 1, LIMIT_FOUND = 1 };
enum { AT_FLAGS = 10, AT_FAMILY = 12, AT_TIME = 16, AT_CWND = 24, AT_RATE = 32, AT_RTT = 40 };
enum { AT_LOCAL = 48, AT_REMOTE = 64, AT_ZERO = 80, AT_SUM = 84 };

#define MAX_BYTES (UINT64_C(1) << 40)
#define MAX_RTT   SCPS_SEC(86400)

static const uint8_t magic[8] = {'S', 'C', 'P', 'S', 'P', 'A', 'T', 'H'};

/* Returns the CRC-32 of ISO/IEC 3309, which Ethernet and gzip use, of len octets at p. */
static uint32_t crc32_of(const uint8_t *p, size_t len)
{
    uint32_t crc = UINT32_MAX;

    while (len--) {
        crc ^= *p++;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
    }
    return ~crc;
}

void scps_pathstate_write(const struct scps_path_values *p, struct scps_path_state *out)
{
    uint8_t *o = out->octet;

    memset(o, 0, SCPS_PATH_STATE_SIZE);
    memcpy(o, magic, sizeof magic);
    scps_put16(o + sizeof magic, VERSION);
    scps_put16(o + AT_FLAGS, p->limit_found ? LIMIT_FOUND : 0);
    scps_put32(o + AT_FAMILY, p->remote.family);
    scps_put64(o + AT_TIME, (uint64_t)p->saved_at);
    scps_put64(o + AT_CWND, p->cwnd);
    scps_put64(o + AT_RATE, p->rate);
    scps_put64(o + AT_RTT, (uint64_t)p->rtt);
    memcpy(o + AT_LOCAL, p->local.b, sizeof p->local.b);
    memcpy(o + AT_REMOTE, p->remote.b, sizeof p->remote.b);
    scps_put32(o + AT_SUM, crc32_of(o, AT_SUM));
}

static bool in_range(const uint8_t *o)
{
    uint64_t cwnd = scps_get64(o + AT_CWND), rate = scps_get64(o + AT_RATE);
    uint64_t rtt = scps_get64(o + AT_RTT);

    return scps_get16(o + AT_FLAGS) <= LIMIT_FOUND && scps_get64(o + AT_TIME) <= INT64_MAX &&
           cwnd && cwnd <= MAX_BYTES && rate && rate <= MAX_BYTES && rtt && rtt <= MAX_RTT &&
           !scps_get32(o + AT_ZERO);
}

enum scps_path_verdict scps_pathstate_read(struct scps_path_values *p, const void *state,
                                           size_t len, int64_t now, int64_t lifetime)
{
    const uint8_t *o = state;
    int64_t saved_at;

    if (len != SCPS_PATH_STATE_SIZE || memcmp(o, magic, sizeof magic))
        return SCPS_PATH_FOREIGN;
    if (scps_get16(o + sizeof magic) != VERSION)
        return SCPS_PATH_VERSION;
    if (scps_get32(o + AT_SUM) != crc32_of(o, AT_SUM))
        return SCPS_PATH_CORRUPT;
    if (!in_range(o))
        return SCPS_PATH_RANGE;
    if (scps_get32(o + AT_FAMILY) != p->remote.family ||
        memcmp(o + AT_LOCAL, p->local.b, sizeof p->local.b) ||
        memcmp(o + AT_REMOTE, p->remote.b, sizeof p->remote.b))
        return SCPS_PATH_DESTINATION;
    saved_at = (int64_t)scps_get64(o + AT_TIME);
    if (saved_at > now)
        return SCPS_PATH_FUTURE;
    if (now - saved_at > lifetime)
        return SCPS_PATH_EXPIRED;
    p->saved_at = saved_at;
    p->cwnd = scps_get64(o + AT_CWND);
    p->rate = scps_get64(o + AT_RATE);
    p->rtt = (scps_dur)scps_get64(o + AT_RTT);
    p->limit_found = scps_get16(o + AT_FLAGS) & LIMIT_FOUND;
    return SCPS_PATH_TAKEN;
}

void scps_path_limits_init(struct scps_path_limits *lim, size_t size)
{
    static const struct scps_path_limits defaults = {.lifetime = 3600};

    scps_sized_give_own(lim, size, &defaults, sizeof defaults);
}

/* ---- functions that return the names of the results of scps_path_restore() (verdicts), of the
 * phases of careful resume (RFC 9959), and of the reasons for a change of phase ---- */

#define COUNT(a) (sizeof(a) / sizeof *(a))

const char *scps_path_verdict_name(enum scps_path_verdict v)
{
    static const char *const name[] = {"taken",     "foreign",     "version",  "corrupt",
                                       "range",     "destination", "future",   "expired",
                                       "no-window", "late",        "no-memory"};
    return (unsigned)v < COUNT(name) ? name[v] : "?";
}

const char *scps_path_verdict_words(enum scps_path_verdict v)
{
    static const char *const words[] = {
        "it is taken",
        "it is no path state",
        "it is of another version of the format",
        "its checksum is wrong",
        "a value in it makes no sense",
        "it is of other addresses",
        "it was saved later than now",
        "it is older than its lifetime",
        "the controller has no congestion window",
        "data has been acknowledged already",
        "out of memory",
    };
    return (unsigned)v < COUNT(words) ? words[v] : "?";
}

const char *scps_resume_phase_name(enum scps_resume_phase p)
{
    static const char *const name[] = {"normal",     "reconnaissance", "unvalidated",
                                       "validating", "safe-retreat",   "observed",
                                       "refused"};
    return (unsigned)p < COUNT(name) ? name[p] : "?";
}

const char *scps_resume_why_name(enum scps_resume_why w)
{
    static const char *const name[] = {
        "restored",      "confirmed",    "last-sent",      "first-acked", "rtt-exceeded",
        "validated",     "rate-limited", "loss",           "ecn",         "path-changed",
        "rtt-too-short", "rtt-too-long", "nothing-gained", "timeout",     "retreated"};
    return (unsigned)w < COUNT(name) ? name[w] : "?";
}
