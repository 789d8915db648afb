/* SPDX-License-Identifier: MIT */
/* Configurations of a context: the library's own defaults, and those of Linux. */
#include <scps/socket.h>

#include "base/field.h"

#include <stddef.h>

#define SCPS_SETTING(name, ...) SETTING_##name,
enum {
#include <scps/settings.def>
    SETTINGS
};

static const struct setting {
    uint16_t at, size; /* of the field in struct scps_conn_config */
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

struct scps_ctx_config scps_ctx_config_default(void)
{
    return (struct scps_ctx_config){.stack_config = scps_stack_config_default(),
                                    .conn = scps_conn_config_default(),
                                    .mtu = 1500,
                                    .queue_packets = 4096,
                                    .max_sockets = 1024,
                                    .first_fd = 3,
                                    .max_backlog = 4096};
}

struct scps_ctx_config scps_ctx_config_linux(void)
{
    struct scps_ctx_config cfg = scps_ctx_config_default();

    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        const struct setting *s = &settings[begins[i].setting];
        scps_field_put((char *)&cfg.conn + s->at, s->size, begins[i].value);
    }
    cfg.stack_config.port_min = 32768;
    cfg.stack_config.port_max = 60999;
    return cfg;
}
