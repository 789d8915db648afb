/* SPDX-License-Identifier: MIT */
/* Programs compiled with headers of another version pass structures that are shorter or longer than
 * the library's, or sizes that no version has. Each structure is in a block of exactly its size, so
 * that a sanitizer detects an octet read or written beyond it. */
#include <scps/ccsds.h>
#include <scps/dgram.h>
#include <scps/ether.h>
#include <scps/ppp.h>
#include <scps/scps.h>
#include <scps/sim.h>
#include <scps/socket.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Returns n octets. The pointer is volatile: if the compiler saw malloc() here, it would warn of
 * structures larger than their block. */
static void *(*volatile take)(size_t n) = malloc;
static void *block(size_t n)
{
    void *p = take(n);

    assert_non_null(p);
    return p;
}

/* ---- structures that the library reads ---- */

static char msg[200];

static void init_conn(void *c, size_t n)
{
    scps_conn_config_init(c, n);
}
static int check_conn(const void *c)
{
    return scps_conn_config_check(c, msg, sizeof msg);
}

static void init_stack(void *c, size_t n)
{
    scps_stack_config_init(c, n);
}
static int check_stack(const void *c)
{
    return scps_stack_config_check(c, msg, sizeof msg);
}

static void init_dgram(void *c, size_t n)
{
    scps_dgram_config_init(c, n);
}
/* No function of the library checks this structure alone. */
static int check_dgram(const void *c)
{
    struct scps_stack *st = scps_stack_new(NULL);
    int err;
    struct scps_dgram *d = scps_dgram_open(st, c, NULL, &err);

    assert_true(!d == (err != 0));
    d = d ? d : scps_dgram_open(st, NULL, NULL, NULL);
    assert_int_equal(scps_dgram_set_config(d, c), err);
    scps_stack_free(st);
    strcpy(msg, err ? "size" : "");
    return err;
}

static void init_ppp(void *c, size_t n)
{
    scps_ppp_config_init(c, n);
}
static int check_ppp(const void *c)
{
    int err = 0, checked = scps_ppp_config_check(c, msg, sizeof msg);
    struct scps_netif *nif = scps_ppp_new(c, NULL, &err);

    assert_int_equal(err, checked);
    assert_true(!scps_ppp_memory(c) == (err != 0));
    scps_netif_close(nif);
    return err;
}

static void init_ether(void *c, size_t n)
{
    scps_ether_config_init(c, n);
    if (n > 13)
        memcpy(((struct scps_ether_config *)c)->mac, "\2\0\0\0\0\1", 6);
}
static int check_ether(const void *c)
{
    int err = 0, checked = scps_ether_config_check(c, msg, sizeof msg);
    struct scps_netif *nif = scps_ether_new(c, NULL, &err);

    assert_int_equal(err, checked);
    assert_true(!scps_ether_memory(c) == (err != 0));
    scps_netif_close(nif);
    return err;
}

static void init_ccsds(void *c, size_t n)
{
    scps_ccsds_config_init(c, n, SCPS_CCSDS_USLP);
}
static int check_ccsds(const void *c)
{
    int err = 0, checked = scps_ccsds_config_check(c, msg, sizeof msg);
    struct scps_netif *nif = scps_ccsds_new(c, NULL, &err);

    assert_int_equal(err, checked);
    assert_true(!scps_ccsds_memory(c) == (err != 0));
    scps_netif_close(nif);
    return err;
}

static const struct kind {
    const char *name;
    size_t size, least;
    void (*init)(void *c, size_t n);
    int (*check)(const void *c);
} kinds[] = {
#define KIND(which, last)                                                                          \
    {                                                                                              \
#which, sizeof(struct scps_##which##_config),                                              \
            offsetof(struct scps_##which##_config, last), init_##which, check_##which              \
    }
    KIND(conn, rate), KIND(stack, observer), KIND(dgram, tos),
    KIND(ppp, accm),  KIND(ether, addr),     KIND(ccsds, frame),
};

/* A structure of an older version is accepted if it has at least the fields of the first
 * version. */
static void older_structures_are_accepted(void **state)
{
    (void)state;
    for (const struct kind *k = kinds; k < kinds + sizeof kinds / sizeof *kinds; k++) {
        unsigned taken = 0;
        for (size_t n = k->size; n >= k->least && n >= sizeof n; n -= 4) {
            void *c = block(n);
            memset(c, 0xa5, n);
            k->init(c, n);
            if (k->check(c))
                fail_msg("%s: %zu of %zu octets: %s", k->name, n, k->size, msg);
            free(c);
            taken++;
        }
        assert_true(taken > 1);
    }
}

static void other_sizes_are_refused(void **state)
{
    (void)state;
    for (const struct kind *k = kinds; k < kinds + sizeof kinds / sizeof *kinds; k++) {
        const size_t wrong[] = {0,           1,           sizeof(size_t), k->least - 4, k->size - 1,
                                k->size + 1, k->size + 4, k->size + 8,    65536,        SIZE_MAX};
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
            void *c = memset(block(k->size), 0, k->size);
            k->init(c, k->size);
            memcpy(c, &wrong[i], sizeof wrong[i]);
            if (k->check(c) != SCPS_ERR_RANGE || strncmp(msg, "size", 4) != 0)
                fail_msg("%s: %zu octets: \"%s\"", k->name, wrong[i], msg);
            free(c);
        }
    }
}

/* Fields within the structure's size are used; the others have their defaults. */
static void missing_fields_have_defaults(void **state)
{
    const struct scps_endpoint at = {.addr = {.family = 4}, .port = 7};
    size_t n = offsetof(struct scps_conn_config, sack); /* The structure ends just before `sack`. */
    struct scps_stack *st = scps_stack_new(NULL);
    struct scps_netif nif = {.name = "none", .mtu = 1500};
    struct scps_addr us = {.family = 4, .b = {10, 0, 0, 1}};
    struct scps_endpoint to = {.addr = {.family = 4, .b = {10, 0, 0, 2}}, .port = 7};
    struct scps_conn_config *c, out;
    struct scps_conn *conn;
    int err = 0;

    (void)state;
    n -= n % 8;
    c = block(n);
    memset(c, 0xff, n);
    scps_conn_config_init(c, n);
    c->rcvbuf = 7777;
    assert_int_equal(scps_stack_add_netif(st, &nif), 0);
    assert_int_equal(scps_stack_add_addr(st, &nif, &us, 24), 0);
    assert_non_null(scps_listen(st, c, &at, 1, &err));
    conn = scps_connect(st, c, NULL, &to, &err);
    assert_non_null(conn);
    scps_conn_get_config(conn, &out);
    assert_int_equal(out.rcvbuf, 7777);
    assert_true(out.size == sizeof out && out.sack && out.timestamps && out.caps_tries == 3);

    scps_conn_get_config_sized(conn, c, n);
    assert_true(c->size == n && c->rcvbuf == 7777);
    c->rcvbuf = 8888;
    assert_int_equal(scps_conn_set_config(conn, c), 0);
    scps_conn_get_config(conn, &out);
    assert_int_equal(out.rcvbuf, 8888);
    assert_true(out.sack);
    c->size = 0;
    assert_int_equal(scps_conn_set_config(conn, c), SCPS_ERR_RANGE);
    assert_null(scps_connect(st, c, NULL, &to, &err));
    assert_int_equal(err, SCPS_ERR_RANGE);
    err = 0;
    assert_null(scps_listen(st, c, &(struct scps_endpoint){.port = 8}, 1, &err));
    assert_int_equal(err, SCPS_ERR_RANGE);
    scps_stack_free(st);
    free(c);
}

/* A stack with fixed memory: the configuration of its connections is checked through the
 * stack's. */
static void fixed_memory_is_checked(void **state)
{
    struct scps_conn_config conn = scps_conn_config_default();
    struct scps_stack_config cfg = scps_stack_config_default();

    (void)state;
    cfg.fixed_memory = &conn;
    cfg.max_conns = 2;
    assert_true(scps_memory_bound(&cfg, &conn, 2) > 0);
    conn.size = 0;
    assert_true(scps_memory_bound(&cfg, &conn, 2) == 0);
    assert_null(scps_stack_open(&cfg, msg, sizeof msg));
    if (strncmp(msg, "fixed_memory: size: 0: give ", 28) != 0)
        fail_msg("%s", msg);
    conn.size = sizeof conn;
    cfg.size = sizeof cfg + 8;
    assert_true(scps_memory_bound(&cfg, &conn, 2) == 0);
    assert_null(scps_stack_new(&cfg));
}

/* The configuration of a context contains those of its stack and of its sockets. */
static void contexts(void **state)
{
    struct scps_ctx_config cfg = scps_ctx_config_linux(), to;
    const size_t head = offsetof(struct scps_ctx_config, stack_config),
                 stack = offsetof(struct scps_stack_config, answer_rate),
                 conn = offsetof(struct scps_conn_config, ack_mode) / 8 * 8,
                 rest = offsetof(struct scps_ctx_config, wait) -
                        offsetof(struct scps_ctx_config, stack);
    uint8_t *old = block(head + stack + conn + rest);
    struct scps_conn_config *oldconn = (void *)(old + head + stack);
    struct scps_ctx_config *oldcfg = (void *)old;

    (void)state;
    oldcfg->size = head + stack + conn + rest;
    oldcfg->stack_config.size = stack;
    oldconn->size = conn;
    scps_ctx_config_init_linux(oldcfg);
    assert_int_equal(oldconn->rcvbuf, cfg.conn.rcvbuf);
    oldconn->ttl = 9;
    oldcfg->stack_config.max_conns = 5;
    scps_ctx_config_sizes(&to);
    assert_int_equal(scps_ctx_config_copy(&to, oldcfg), 0);
    assert_true(to.size == sizeof to && to.conn.size == sizeof to.conn);
    assert_int_equal(to.conn.ttl, 9);
    assert_int_equal(to.stack_config.max_conns, 5);
    /* This field is beyond the end of the older structure, so it has its default. */
    assert_int_equal(to.stack_config.port_max, 65535);
    assert_int_equal(to.max_sockets, 1024);
    assert_null(to.wait);
    scps_ctx_free(scps_ctx_new(oldcfg));
    oldconn->size = conn + rest + 8; /* The size reaches beyond the end of the block. */
    assert_int_equal(scps_ctx_config_copy(&to, oldcfg), SCPS_ERR_RANGE);
    free(old);

    size_t *const sizes[] = {&cfg.size, &cfg.stack_config.size, &cfg.conn.size};
    for (unsigned i = 0; i < 3; i++) {
        const size_t good = *sizes[i], wrong[] = {0, 4, good + 8, good * 4, SIZE_MAX};
        for (unsigned j = 0; j < 5; j++) {
            *sizes[i] = wrong[j];
            errno = 0;
            assert_null(scps_ctx_new(&cfg));
            assert_int_equal(errno, EINVAL);
        }
        *sizes[i] = good;
    }
    scps_ctx_free(scps_ctx_new(&cfg));
}

/* ---- small structures whose size is a separate argument ---- */

static void routes_and_signals(void **state)
{
    struct scps_stack *st = scps_stack_new(NULL);
    struct scps_netif nif = {.name = "none", .mtu = 1500};
    const size_t least = offsetof(struct scps_route, mtu), whole = sizeof(struct scps_route);
    struct scps_route *r = memset(block(least), 0, least);
    const struct scps_signal up = {.kind = SCPS_SIGNAL_LINK_UP};

    (void)state;
    assert_int_equal(scps_stack_add_netif_sized(st, &nif, SCPS_NETIF_LAYOUT + 8), SCPS_ERR_RANGE);
    assert_int_equal(scps_stack_add_netif(st, &nif), 0);
    r->dst.family = 4;
    r->nif = &nif;
    assert_int_equal(scps_stack_add_route_sized(st, r, least), 0);
    assert_int_equal(scps_stack_set_route_sized(st, r, least), 0);
    const size_t wrong[] = {0, 4, least - 4, whole - 1, whole + 8, SIZE_MAX};
    for (unsigned i = 0; i < 6; i++) {
        assert_int_equal(scps_stack_add_route_sized(st, r, wrong[i]), SCPS_ERR_RANGE);
        assert_int_equal(scps_stack_set_route_sized(st, r, wrong[i]), SCPS_ERR_RANGE);
    }
    assert_int_equal(scps_stack_remove_route(st, &r->dst, 0, &nif), 0);
    assert_int_equal(scps_stack_signal(st, 1, &up), 0);
    assert_int_equal(scps_stack_signal_sized(st, 1, &up, offsetof(struct scps_signal, until)), 0);
    assert_int_equal(scps_stack_signal_sized(st, 1, &up, 0), SCPS_ERR_RANGE);
    assert_int_equal(scps_stack_signal_sized(st, 1, &up, sizeof up + 8), SCPS_ERR_RANGE);
    scps_stack_free(st);
    free(r);
}

/* ---- structures that the library fills ---- */

static struct scps_stack *st;
static struct scps_conn *conn;
static struct scps_dgram *dgram;
static struct scps_netif *ppp, *ether, *ccsds;
static struct scps_channel *channel;

static void give_info(void *out, size_t n)
{
    scps_conn_info_sized(conn, out, n);
}
static void give_stack(void *out, size_t n)
{
    scps_stack_get_stats_sized(st, out, n);
}
static void give_dgram(void *out, size_t n)
{
    scps_dgram_get_stats_sized(dgram, out, n);
}
static void give_ppp(void *out, size_t n)
{
    scps_ppp_get_status_sized(ppp, out, n);
}
static void give_ether(void *out, size_t n)
{
    scps_ether_get_status_sized(ether, out, n);
}
static void give_ccsds(void *out, size_t n)
{
    scps_ccsds_get_status_sized(ccsds, out, n);
}
static void give_channel(void *out, size_t n)
{
    scps_channel_stats_sized(channel, 0, out, n);
}

static void open_all(void)
{
    struct scps_ether_config e = scps_ether_config_default();
    struct scps_ccsds_config c = scps_ccsds_config_default(SCPS_CCSDS_AOS);
    static struct scps_netif nif;
    struct scps_addr us = {.family = 4, .b = {10, 0, 0, 1}};
    struct scps_endpoint to = {.addr = {.family = 4, .b = {10, 0, 0, 2}}, .port = 7};

    nif = (struct scps_netif){.name = "none", .mtu = 1500};
    st = scps_stack_new(NULL);
    assert_int_equal(scps_stack_add_netif(st, &nif), 0);
    assert_int_equal(scps_stack_add_addr(st, &nif, &us, 24), 0);
    conn = scps_connect(st, NULL, NULL, &to, NULL);
    dgram = scps_dgram_open(st, NULL, NULL, NULL);
    ppp = scps_ppp_new(NULL, NULL, NULL);
    memcpy(e.mac, "\2\0\0\0\0\1", 6);
    ether = scps_ether_new(&e, NULL, NULL);
    ccsds = scps_ccsds_new(&c, NULL, NULL);
    channel = scps_channel_new(&(struct scps_link_config){.rate_bps = 1000}, 0, NULL);
    assert_true(conn && dgram && ppp && ether && ccsds && channel);
}

static void close_all(void)
{
    scps_stack_free(st);
    scps_netif_close(ppp);
    scps_netif_close(ether);
    scps_netif_close(ccsds);
    scps_channel_free(channel);
}

/* A saved path state that is invalid: the size of the limits is checked first. */
static void limits_of_paths(void **state)
{
    const struct scps_path_limits whole = scps_path_limits_default();
    const size_t least = offsetof(struct scps_path_limits, max_jump);
    struct scps_path_limits *lim = block(least), lie = whole;

    (void)state;
    open_all();
    scps_path_limits_init(lim, least);
    assert_true(lim->size == least && lim->lifetime == whole.lifetime);
    assert_int_equal(scps_path_restore(conn, "", 0, 1, lim), SCPS_PATH_FOREIGN);
    assert_int_equal(scps_path_restore(conn, "", 0, 1, &whole), SCPS_PATH_FOREIGN);
    for (unsigned i = 0; i < 3; i++) {
        lie.size = i ? sizeof lie + 8 * (i - 1) * i : 0;
        assert_int_equal(scps_path_restore(conn, "", 0, 1, &lie),
                         i == 1 ? SCPS_PATH_FOREIGN : SCPS_PATH_RANGE);
    }
    close_all();
    free(lim);
}

/* The library writes no octet beyond the caller's size. It fills in the fields that both versions
 * have, and sets fields that only the caller's has to 0. */
static void outputs_fill_the_callers_size(void **state)
{
    static const struct {
        size_t size;
        void (*give)(void *out, size_t n);
    } all[] = {{sizeof(struct scps_info), give_info},
               {sizeof(struct scps_stack_stats), give_stack},
               {sizeof(struct scps_dgram_stats), give_dgram},
               {sizeof(struct scps_ppp_status), give_ppp},
               {sizeof(struct scps_ether_status), give_ether},
               {sizeof(struct scps_ccsds_status), give_ccsds},
               {sizeof(struct scps_link_stats), give_channel}};

    (void)state;
    open_all();
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
        size_t whole = all[i].size;
        uint8_t *want = block(whole + 24);
        memset(want, 0xa5, whole + 24);
        all[i].give(want, whole + 16);
        for (size_t n = whole; n < whole + 24; n++)
            assert_int_equal(want[n], n < whole + 16 ? 0 : 0xa5);
        for (size_t n = 0; n <= whole; n += 8) {
            uint8_t *out = block(n + 8);
            memset(out, 0xa5, n + 8);
            all[i].give(out, n);
            assert_memory_equal(out, want, n);
            for (unsigned k = 0; k < 8; k++)
                assert_int_equal(out[n + k], 0xa5);
            free(out);
        }
        free(want);
    }
    close_all();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(older_structures_are_accepted),
        cmocka_unit_test(other_sizes_are_refused),
        cmocka_unit_test(missing_fields_have_defaults),
        cmocka_unit_test(fixed_memory_is_checked),
        cmocka_unit_test(contexts),
        cmocka_unit_test(routes_and_signals),
        cmocka_unit_test(limits_of_paths),
        cmocka_unit_test(outputs_fill_the_callers_size),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
