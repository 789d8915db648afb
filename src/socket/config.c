/* SPDX-License-Identifier: MIT */
/* The default configurations of a socket context: the library's own defaults, and the defaults of
 * Linux. */
#include <scps/socket.h>

#include "base/field.h"
#include "base/sized.h"

#include <stddef.h>

#define SCPS_SETTING(name, ...) SETTING_##name,
enum {
#include <scps/settings.def>
    SETTINGS
};

static const struct setting {
    uint16_t at, size; /* offset and size of the field in struct scps_conn_config */
} settings[] = {
#define SCPS_SETTING(name, field, ...)                                                             \
    {offsetof(struct scps_conn_config, field), sizeof(((struct scps_conn_config *)0)->field)},
#include <scps/settings.def>
};

/* Values in which Linux differs from scps_conn_config_default. */
static const struct {
    int setting;
    int64_t value;
} begins[] = {
#define LIKE_ttcp(name, value)
#define LIKE_scenario(name, value)
#define LIKE_like_linux(name, value)                   {SETTING_##name, value},
#define SCPS_SETTING_BEGINS(program, name, value, why) LIKE_##program(name, value)
#include <scps/settings.def>
};

/* The parts of a caller's struct scps_ctx_config: the configuration of a stack, that of
 * connections, and the other fields (rest_size octets). Their offsets depend on the version of the
 * headers for which the caller was compiled. */
struct parts {
    uint8_t *stack, *conn, *rest;
    size_t rest_size;
};

/* Sets *p to the places of the parts of *cfg, from the three sizes that *cfg contains (its own,
 * that of stack_config and that of conn). Returns false if these sizes contradict each other, or
 * one is larger than in this version of the library. */
static bool find_parts(const struct scps_ctx_config *cfg, struct parts *p)
{
    const size_t head = offsetof(struct scps_ctx_config, stack_config);
    size_t left = cfg->size, stack = cfg->stack_config.size, conn;

    if (left > sizeof *cfg || left < head + sizeof conn || stack > left - head - sizeof conn)
        return false;
    left -= head + stack;
    p->stack = (uint8_t *)cfg + head;
    p->conn = p->stack + stack;
    memcpy(&conn, p->conn, sizeof conn);
    if (conn > left)
        return false;
    p->rest = p->conn + conn;
    p->rest_size = left - conn;
    return true;
}

#define REST      offsetof(struct scps_ctx_config, stack)
#define REST_SIZE (sizeof(struct scps_ctx_config) - REST)

/* Copies *own, which has the layout of the library, to the caller's structure *to, whose own size,
 * that of stack_config and that of conn are set. Only as many fields are copied as these sizes have
 * room for. */
static void hand_over(struct scps_ctx_config *to, const struct scps_ctx_config *own)
{
    size_t conn;
    struct parts p;

    if (!find_parts(to, &p))
        return;
    memcpy(&conn, p.conn, sizeof conn);
    scps_sized_give_own(p.stack, to->stack_config.size, &own->stack_config,
                        sizeof own->stack_config);
    scps_sized_give_own(p.conn, conn, &own->conn, sizeof own->conn);
    scps_sized_give(p.rest, p.rest_size, (const uint8_t *)own + REST, REST_SIZE);
}

static void set_defaults(struct scps_ctx_config *cfg)
{
    scps_stack_config_init(&cfg->stack_config, sizeof cfg->stack_config);
    scps_conn_config_init(&cfg->conn, sizeof cfg->conn);
    memset((uint8_t *)cfg + REST, 0, REST_SIZE);
    cfg->size = sizeof *cfg;
    cfg->mtu = 1500;
    cfg->queue_packets = 4096;
    cfg->max_sockets = 1024;
    cfg->first_fd = 3;
    cfg->max_backlog = 4096;
}

void scps_ctx_config_init(struct scps_ctx_config *cfg)
{
    struct scps_ctx_config own;

    set_defaults(&own);
    hand_over(cfg, &own);
}

void scps_ctx_config_init_linux(struct scps_ctx_config *cfg)
{
    struct scps_ctx_config own;

    set_defaults(&own);
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        const struct setting *s = &settings[begins[i].setting];
        scps_field_put((char *)&own.conn + s->at, s->size, begins[i].value);
    }
    own.stack_config.port_min = 32768;
    own.stack_config.port_max = 60999;
    hand_over(cfg, &own);
}

int scps_ctx_config_copy(struct scps_ctx_config *to, const struct scps_ctx_config *from)
{
    struct scps_ctx_config own;
    struct parts p;

    set_defaults(&own);
    if (from && (!find_parts(from, &p) ||
                 !scps_sized_take_own(&own.stack_config, sizeof own.stack_config, p.stack,
                                      SCPS_SIZED_TO(scps_stack_config, observer)) ||
                 !scps_sized_take_own(&own.conn, sizeof own.conn, p.conn,
                                      SCPS_SIZED_TO(scps_conn_config, rate)) ||
                 !scps_sized_take((uint8_t *)&own + REST, REST_SIZE, p.rest, p.rest_size,
                                  sizeof own.stack)))
        return SCPS_ERR_RANGE;
    hand_over(to, &own);
    return 0;
}
