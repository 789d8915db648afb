/* SPDX-License-Identifier: MIT */
/* The configuration of a stack: its defaults, which of its values are refused, and how much memory
 * it needs. */
#include "stack/stack.h"

#include "base/field.h"
#include "base/line.h"

/* Public, so simulations are repeatable without a setting; real drivers refuse it. */
#define DEFAULT_SEED UINT64_C(0x736370732d747020), UINT64_C(0x746865207365656b)

#define PORT_MIN 49152 /* RFC 6056 section 2.1: the Dynamic Ports */
#define PORT_MAX 65535

/* Bounds of the fields that have any by themselves. */
static const struct bounds {
    const char *name;
    uint16_t at, size; /* of the field */
    int64_t least, most;
} bounds[] = {
#define FIELD(f, least, most)                                                                      \
    {                                                                                              \
#f, offsetof(struct scps_stack_config, f), sizeof(((struct scps_stack_config *)0)->f),     \
            least, most                                                                            \
    }
    FIELD(now, 0, SCPS_NEVER / 2),
    FIELD(answer_rate, 0, SCPS_RATE_MAX),
    FIELD(plain_hosts, 0, 65536),
    FIELD(plain_memory, 0, SCPS_SEC(INT64_C(3153600000))),
};

struct scps_stack_config scps_stack_config_default(void)
{
    return (struct scps_stack_config){
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
}

bool scps_stack_is_predictable(const struct scps_stack *st)
{
    const uint64_t known[2] = {DEFAULT_SEED};

    return st->cfg.seed[0] == known[0] && st->cfg.seed[1] == known[1];
}

/* Checks all but fixed_memory, and fills in what 0 and NULL stand for. */
static int resolve_fields(struct scps_stack_config *c, struct scps_line *why)
{
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        const struct bounds *b = &bounds[i];
        int64_t v = scps_field_get((const char *)c + b->at, b->size);

        if (v < b->least || v > b->most)
            return scps_config_refuse(why, b->name, v, b->least, b->most);
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

/* Checks fixed_memory, max_conns, and both together with memory_limit. */
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

int scps_stack_config_resolve(struct scps_stack_config *c, struct scps_line *why)
{
    int err = resolve_fields(c, why);

    return err || !c->fixed_memory ? err : check_fixed(c, why);
}

int scps_stack_config_check(const struct scps_stack_config *cfg, char *msg, size_t msglen)
{
    struct scps_stack_config c = cfg ? *cfg : scps_stack_config_default();
    struct scps_line why = scps_line_begin(msg, msglen);

    return scps_stack_config_resolve(&c, &why);
}

uint64_t scps_memory_bound(const struct scps_stack_config *st, const struct scps_conn_config *conn,
                           uint32_t n)
{
    struct scps_stack_config host = st ? *st : scps_stack_config_default();
    struct scps_conn_config c = conn ? *conn : scps_conn_config_default();
    struct scps_line nobody = {NULL, 0};
    struct scps_reserve r;

    if (!n || resolve_fields(&host, &nobody) || scps_reserve_plan(&r, &host, &c, n))
        return 0;
    return scps_reserve_bytes(&r);
}
