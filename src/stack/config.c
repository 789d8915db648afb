/* SPDX-License-Identifier: MIT */
/* The configuration of a stack: its defaults, the bounds of its values, and the memory that a stack
 * with fixed memory (all of it allocated at opening) needs. */
#include "stack/stack.h"

#include "base/field.h"
#include "base/line.h"
#include "base/sized.h"
#include "core/config.h"

/* The default seed is public, so that simulations can be repeated. Anybody can compute what a stack
 * with this seed chooses (ports, sequence numbers), so the event loop for real networks refuses
 * it. */
#define DEFAULT_SEED UINT64_C(0x736370732d747020), UINT64_C(0x746865207365656b)

/* first of the Dynamic Ports, from which ephemeral ports are chosen (RFC 6056 section 2.1) */
#define PORT_MIN 49152
#define PORT_MAX 65535

/* The fields of the configuration that must lie within fixed bounds. */
static const struct bounds {
    const char *name;
    /* offset and size of the field in struct scps_stack_config, bytes */
    uint16_t at, size;
    /* true: the field is a time, µs, stored as a signed number; false: the field is unsigned */
    bool is_time;
    int64_t least, most;
} bounds[] = {
#define FIELD(f, is_time, least, most)                                                             \
    {                                                                                              \
#f, offsetof(struct scps_stack_config, f), sizeof(((struct scps_stack_config *)0)->f),     \
            is_time, least, most                                                                   \
    }
    FIELD(now, true, 0, SCPS_NEVER / 2),
    FIELD(answer_rate, false, 0, SCPS_RATE_MAX),
    FIELD(plain_hosts, false, 0, 65536),
    FIELD(plain_memory, true, 0, SCPS_TIME_MOST),
};

/* The smallest size of a struct scps_stack_config that is accepted, bytes: that of its oldest
 * version, whose last member is `now` (`observer` came later). */
#define LEAST SCPS_SIZED_TO(scps_stack_config, observer)

void scps_stack_config_init(struct scps_stack_config *cfg, size_t size)
{
    static const struct scps_stack_config defaults = {
        .seed = {DEFAULT_SEED},
        .max_conns = 65536,
        .max_half_open = 256,
        .syn_cookies = true,
        .memory_limit = UINT64_C(4) << 30,
        .challenge_acks = 100,
        .resets = 1000,
        .answer_rate = 1250000,
        .plain_hosts = 64,
        .plain_memory = SCPS_SEC(600),
        .max_comp_hosts = 256,
        .echo_reply = true,
        .port_min = PORT_MIN,
        .port_max = PORT_MAX,
    };

    scps_sized_give_own(cfg, size, &defaults, sizeof defaults);
}

bool scps_stack_is_predictable(const struct scps_stack *st)
{
    const uint64_t known[2] = {DEFAULT_SEED};

    return st->cfg.seed[0] == known[0] && st->cfg.seed[1] == known[1];
}

/* Checks all fields of *c but fixed_memory, and replaces each 0 or NULL that stands for a default.
 * Returns 0, or an error with its description in *why. */
static int resolve_fields(struct scps_stack_config *c, struct scps_line *why)
{
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        const struct bounds *b = &bounds[i];
        int64_t v = scps_field_get((const char *)c + b->at, b->size);

        if (v < b->least || v > b->most)
            return (b->is_time ? scps_config_refuse : scps_config_refuse_count)(why, b->name, v,
                                                                                b->least, b->most);
    }
    if (!c->alloc.alloc != !c->alloc.free) {
        scps_line_text(why, "alloc: give both functions, or none");
        return SCPS_ERR_INVAL;
    }
    if (!c->alloc.alloc)
        c->alloc = scps_alloc_default();
    c->port_min = c->port_min ? c->port_min : PORT_MIN;
    c->port_max = c->port_max ? c->port_max : PORT_MAX;
    return c->port_max < c->port_min
               ? scps_config_refuse(why, "port_max", c->port_max, c->port_min, PORT_MAX)
               : 0;
}

/* Called if c->fixed_memory is set: the stack allocates all its memory when it is opened, for
 * max_conns connections, each with what the configuration *c->fixed_memory needs. Checks
 * *c->fixed_memory and max_conns, and that memory_limit allows that memory. Returns 0, or an error
 * with its description in *why. */
static int check_fixed(const struct scps_stack_config *c, struct scps_line *why)
{
    struct scps_reserve plan;
    uint64_t need;
    int err;

    if (!c->max_conns)
        return scps_config_refuse(why, "max_conns", 0, 1, UINT32_MAX);
    err = scps_reserve_plan(&plan, c, c->fixed_memory, c->max_conns);
    if (err) {
        scps_line_text(why, "fixed_memory: ");
        return scps_conn_config_check(c->fixed_memory, why->at, why->left + 1);
    }
    need = scps_reserve_bytes(&plan);
    if (need && (!c->memory_limit || need <= c->memory_limit))
        return 0;
    scps_line_text(why, "fixed_memory: ");
    if (need) {
        scps_line_number(why, need);
        scps_line_text(why, " bytes are needed, and memory_limit allows ");
        scps_line_number(why, c->memory_limit);
    } else {
        scps_line_text(why, "buffers times max_conns are more than can be addressed");
    }
    return SCPS_ERR_RANGE;
}

/* Copies the configuration *from to *to. from->size tells which version of the structure the caller
 * was compiled with; fields that this version did not have get their defaults. from NULL: all
 * defaults. Returns 0, or SCPS_ERR_RANGE with a description in *why. */
static int copy(struct scps_stack_config *to, const struct scps_stack_config *from,
                struct scps_line *why)
{
    scps_stack_config_init(to, sizeof *to);
    return !from || scps_sized_take_own(to, sizeof *to, from, LEAST)
               ? 0
               : scps_config_refuse_size(why, from->size, LEAST, sizeof *to);
}

int scps_stack_config_take(struct scps_stack_config *to, const struct scps_stack_config *from,
                           struct scps_line *why)
{
    int err = copy(to, from, why);

    if (!err)
        err = resolve_fields(to, why);
    return err || !to->fixed_memory ? err : check_fixed(to, why);
}

int scps_stack_config_check(const struct scps_stack_config *cfg, char *msg, size_t msglen)
{
    struct scps_line why = scps_line_begin(msg, msglen);
    struct scps_stack_config c;

    return scps_stack_config_take(&c, cfg, &why);
}

uint64_t scps_memory_bound(const struct scps_stack_config *st, const struct scps_conn_config *conn,
                           uint32_t n)
{
    struct scps_line no_text = {NULL, 0};
    struct scps_stack_config host;
    struct scps_reserve r;

    if (!n || copy(&host, st, &no_text) || resolve_fields(&host, &no_text) ||
        scps_reserve_plan(&r, &host, conn, n))
        return 0;
    return scps_reserve_bytes(&r);
}
