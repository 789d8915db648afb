/* SPDX-License-Identifier: MIT */
/* cc/cc.c: the names and parameters of controllers are parsed, and error messages say what is
 * allowed. */
#include "cc_table.h"

#include <scps/conn.h>
#include <scps/error.h>

static const struct scps_cc_ops *ops;
static int64_t param[SCPS_CC_PARAMS];
static char msg[400];

static int parse(const char *text)
{
    ops = NULL;
    memset(param, 0x55, sizeof param);
    memset(msg, 'x', sizeof msg);
    return scps_cc_parse(text, &ops, param, msg, sizeof msg);
}

static void untouched(void);

static void a_key_given_twice_is_refused(void **state)
{
    (void)state;
    assert_int_equal(parse("bbr,corruption=1,corruption=0"), SCPS_ERR_INVAL);
    assert_string_equal(msg, "bbr: corruption is given twice");
    untouched();
    assert_int_equal(parse("vegas,alpha=3,beta=5,alpha=3"), SCPS_ERR_INVAL);
    untouched();
    assert_int_equal(
        scps_cc_parse_params(scps_cc_find("bbr"), "outage=1,outage=1", param, msg, sizeof msg),
        SCPS_ERR_INVAL);
    untouched();
    assert_int_equal(parse("bbr,corruption=1,outage=0"), 0);
}

static void untouched(void)
{
    assert_null(ops);
    for (size_t i = 0; i < sizeof param; i++)
        assert_int_equal(((unsigned char *)param)[i], 0x55);
}

static size_t index_of(const struct scps_cc_ops *o, const char *key)
{
    size_t i = 0;
    while (o->params[i].name && strcmp(o->params[i].name, key))
        i++;
    assert_non_null(o->params[i].name);
    return i;
}

/* Each controller fulfils the contract of <scps/cc.h>. */
static void every_controller_is_sound(void **state)
{
    (void)state;
    const struct scps_cc_ops *o;
    size_t n = 0;
    for (; (o = scps_cc_at(n)); n++) {
        assert_ptr_equal(scps_cc_find(o->name), o);
        for (size_t k = 0; k < n; k++)
            assert_string_not_equal(scps_cc_at(k)->name, o->name);
        assert_true(o->help && strlen(o->help) > 10 && strlen(o->help) < 80);
        assert_true(o->start && o->ack && o->loss && o->change);
        assert_true(o->state_size <= SCPS_CC_STATE_MAX);
        size_t i = 0;
        for (; o->params && o->params[i].name; i++) {
            const struct scps_cc_param *p = &o->params[i];
            assert_true(i < SCPS_CC_PARAMS);
            assert_true(p->min <= p->def && p->def <= p->max);
            assert_non_null(p->help);
            for (size_t k = 0; k < i; k++)
                assert_string_not_equal(o->params[k].name, p->name);
            /* Both bounds of a parameter are accepted; a value beyond them is refused with the
             * parameter's name. */
            char text[100];
            snprintf(text, sizeof text, "%s,%s=%lld", o->name, p->name, (long long)p->min);
            assert_int_equal(parse(text), 0);
            snprintf(text, sizeof text, "%s,%s=%lld", o->name, p->name, (long long)p->max);
            assert_int_equal(parse(text), 0);
            assert_int_equal(param[i], p->max);
            snprintf(text, sizeof text, "%s,%s=%lld", o->name, p->name, (long long)p->max + 1);
            assert_int_equal(parse(text), SCPS_ERR_RANGE);
            assert_non_null(strstr(msg, p->name));
            snprintf(text, sizeof text, "%s,%s=%lld", o->name, p->name, (long long)p->min - 1);
            assert_int_equal(parse(text), SCPS_ERR_RANGE);
        }
        scps_cc_param_defaults(o, param);
        for (size_t k = 0; k < i; k++)
            assert_int_equal(param[k], o->params[k].def);
        for (size_t k = i; k < SCPS_CC_PARAMS; k++)
            assert_int_equal(param[k], 0);
    }
    assert_true(n >= 2);
    assert_null(scps_cc_at(n));
    assert_null(scps_cc_at(SIZE_MAX));
}

static void defaults_and_values(void **state)
{
    (void)state;
    assert_int_equal(parse("vj"), 0);
    assert_string_equal(ops->name, "vj");
    assert_string_equal(msg, "");
    size_t thresh = index_of(ops, "ssthresh"), abc = index_of(ops, "abc_limit");
    assert_int_equal(param[thresh], 0);
    assert_int_equal(parse("vj,abc_limit=2,ssthresh=65536"), 0);
    assert_int_equal(param[thresh], 65536);
    assert_int_equal(param[abc], 2);
    assert_int_equal(parse("vj,abc_limit=7"), 0);
    assert_int_equal(param[abc], 7);
    assert_int_equal(parse("vj,ssthresh=000000000000000000000000042"), 0);
    assert_int_equal(param[thresh], 42);
}

static void unknown_names(void **state)
{
    (void)state;
    static const char *const bad[] = {"",    "bbr4",         "v",     "vjj", "VJ",
                                      " vj", ",abc_limit=2", "vj abc"};
    for (size_t i = 0; i < CC_ROWS(bad); i++) {
        assert_int_equal(parse(bad[i]), SCPS_ERR_NOENT);
        untouched();
        assert_non_null(strstr(msg, " vj"));
        assert_non_null(strstr(msg, " rate"));
    }
    assert_null(scps_cc_find(""));
    assert_null(scps_cc_find("bbr4"));
}

static void unknown_keys(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "vj,alpha=1",      "vj,alpha",          "vj,", "vj,,", "vj,=1", "vj,abc_limi=1",
        "vj,abc_limitt=1", "vj,abc_limit=2,x=1"};
    for (size_t i = 0; i < CC_ROWS(bad); i++) {
        assert_int_equal(parse(bad[i]), SCPS_ERR_NOENT);
        untouched();
        assert_non_null(strstr(msg, "abc_limit"));
        assert_non_null(strstr(msg, "vj has no parameter"));
    }
    assert_int_equal(parse("rate,x=1"), SCPS_ERR_NOENT);
    assert_non_null(strstr(msg, "none"));
}

static void invalid_numbers(void **state)
{
    (void)state;
    static const char *const bad[] = {"vj,abc_limit",     "vj,abc_limit=",   "vj,abc_limit=-",
                                      "vj,abc_limit=1.5", "vj,abc_limit=1k", "vj,abc_limit=0x1",
                                      "vj,abc_limit= 1",  "vj,abc_limit=+1", "vj,abc_limit=1=1"};
    for (size_t i = 0; i < CC_ROWS(bad); i++) {
        assert_int_equal(parse(bad[i]), SCPS_ERR_INVAL);
        untouched();
        assert_non_null(strstr(msg, "abc_limit wants a whole number"));
    }
}

static void beyond_the_range(void **state)
{
    (void)state;
    static const char *const bad[] = {"vj,abc_limit=256",
                                      "vj,abc_limit=-1",
                                      "vj,abc_limit=9223372036854775807",
                                      "vj,abc_limit=9223372036854775808",
                                      "vj,abc_limit=-9223372036854775808",
                                      "vj,abc_limit=-9223372036854775809",
                                      "vj,abc_limit=99999999999999999999999999999999999999999999"};
    for (size_t i = 0; i < CC_ROWS(bad); i++) {
        assert_int_equal(parse(bad[i]), SCPS_ERR_RANGE);
        untouched();
        assert_non_null(strstr(msg, "0 to 255"));
    }
}

/* The message is cut to the room for it; msg may be NULL, then none is written. */
static void messages_fit(void **state)
{
    (void)state;
    char long_name[2000];
    memset(long_name, 'a', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = 0;
    const char *const bad[] = {"nonesuch", "vj,nonesuch", "vj,abc_limit=x", "vj,abc_limit=999",
                               long_name};
    for (size_t i = 0; i < CC_ROWS(bad); i++)
        for (size_t room = 0; room < 200; room++) {
            char m[201];
            memset(m, 'x', sizeof m);
            assert_true(scps_cc_parse(bad[i], &ops, param, m, room) < 0);
            assert_int_equal(m[room], 'x');
            if (room)
                assert_non_null(memchr(m, 0, room));
        }
    assert_true(scps_cc_parse("nonesuch", &ops, param, NULL, 0) < 0);
    assert_true(scps_cc_parse("nonesuch", &ops, param, NULL, 100) < 0);
    assert_int_equal(scps_cc_parse("vj", &ops, param, NULL, 0), 0);
}

static void names_of_causes(void **state)
{
    (void)state;
    assert_string_equal(scps_loss_cause_name(SCPS_LOSS_CONGESTION), "congestion");
    assert_string_equal(scps_loss_cause_name(SCPS_LOSS_OUTAGE), "outage");
    assert_string_equal(scps_loss_cause_name((enum scps_loss_cause)77), "unknown");
    assert_string_equal(scps_evidence_name(SCPS_BY_DUPACK), "dupack");
    assert_string_equal(scps_evidence_name(SCPS_BY_ECN), "ecn");
    assert_string_equal(scps_evidence_name((enum scps_evidence)77), "unknown");
}

/* A controller that a program brings along is checked when it is configured, before its first
 * call. */
static void incomplete_controllers_are_refused(void **x)
{
    static const struct scps_cc_param fifteen[16] = {
        {"a", "", 0, 0, 0}, {"b", "", 0, 0, 0}, {"c", "", 0, 0, 0}, {"d", "", 0, 0, 0},
        {"e", "", 0, 0, 0}, {"f", "", 0, 0, 0}, {"g", "", 0, 0, 0}, {"h", "", 0, 0, 0},
        {"i", "", 0, 0, 0}, {"j", "", 0, 0, 0}, {"k", "", 0, 0, 0}, {"l", "", 0, 0, 0},
        {"m", "", 0, 0, 0}, {"n", "", 0, 0, 0}, {"o", "", 0, 0, 0},
    };
    const struct scps_cc_ops *vj = scps_cc_find("vj");
    struct scps_stack *st = scps_stack_new(NULL);
    struct scps_conn_config cfg = scps_conn_config_default();
    struct scps_endpoint at = {.port = 7};
    struct scps_cc_ops mine[7];
    int err = 0;
    (void)x;

    for (size_t i = 0; i < 7; i++) {
        mine[i] = *vj;
        mine[i].params = NULL;
    }
    mine[1].start = NULL;
    mine[2].ack = NULL;
    mine[3].loss = NULL;
    mine[4].name = NULL;
    mine[5].state_size = SCPS_CC_STATE_MAX + 1;
    mine[6].params = fifteen;
    memset(cfg.cc_param, 0, sizeof cfg.cc_param);
    for (size_t i = 1; i < 7; i++) {
        cfg.cc = &mine[i];
        assert_null(scps_listen(st, &cfg, &at, 1, &err));
        assert_int_equal(err, SCPS_ERR_INVAL);
    }
    mine[0].change = NULL; /* A controller may lack the function `change`. */
    cfg.cc = &mine[0];
    assert_non_null(scps_listen(st, &cfg, &at, 1, &err));
    scps_stack_free(st);
}

/* Gets the parameters in force on a connection that is opened with cfg. */
static void in_force(const struct scps_conn_config *cfg, struct scps_conn_config *got)
{
    struct scps_stack *st = scps_stack_new(NULL);
    struct scps_netif nif = {.name = "test", .mtu = 1500};
    struct scps_addr us = {.family = 4, .b = {10, 0, 0, 1}};
    struct scps_endpoint to = {.addr = {.family = 4, .b = {10, 0, 0, 2}}, .port = 7};
    struct scps_conn *c;

    assert_int_equal(scps_stack_add_netif(st, &nif), 0);
    assert_int_equal(scps_stack_add_addr(st, &nif, &us, 24), 0);
    c = scps_connect(st, cfg, NULL, &to, NULL);
    assert_non_null(c);
    scps_conn_get_config(c, got);
    scps_stack_free(st);
}

/* A controller never gets the parameters that were set for another one. */
static void parameters_belong_to_their_controller(void **x)
{
    (void)x;
    for (size_t from = 0; scps_cc_at(from); from++) {
        for (size_t i = 0; scps_cc_at(i); i++) {
            const struct scps_cc_ops *cc = scps_cc_at(i);
            struct scps_conn_config cfg = scps_conn_config_default(), got;
            int64_t own[SCPS_CC_PARAMS], other[SCPS_CC_PARAMS];

            cfg.rate = 100000;
            scps_cc_param_defaults(cc, own);
            scps_conn_config_set_cc(&cfg, scps_cc_at(from), NULL);
            cfg.cc = cc; /* Only the pointer to the controller is set, not its parameters. */
            in_force(&cfg, &got);
            assert_ptr_equal(got.cc, cc);
            assert_memory_equal(got.cc_param, own, sizeof own);
            if (!cc->params || cc->params[0].min == cc->params[0].max)
                continue;
            memcpy(other, own, sizeof own);
            other[0] = own[0] == cc->params[0].max ? cc->params[0].min : cc->params[0].max;
            scps_conn_config_set_cc(&cfg, cc, other);
            in_force(&cfg, &got);
            assert_memory_equal(got.cc_param, other, sizeof own);
            scps_conn_config_set_cc(&cfg, cc, NULL);
            in_force(&cfg, &got);
            assert_memory_equal(got.cc_param, own, sizeof own);
        }
    }
}

static void a_configuration_reads_text(void **x)
{
    struct scps_conn_config cfg = scps_conn_config_default(), before;
    char why[200];
    (void)x;

    assert_int_equal(scps_conn_config_parse_cc(&cfg, "vegas,alpha=3", why, sizeof why), 0);
    assert_ptr_equal(cfg.cc, scps_cc_find("vegas"));
    assert_ptr_equal(cfg.cc_param_of, cfg.cc);
    before = cfg;
    assert_int_equal(scps_conn_config_parse_cc(&cfg, "vegas,nonsense=3", why, sizeof why),
                     SCPS_ERR_NOENT);
    assert_non_null(strstr(why, "nonsense"));
    assert_memory_equal(&cfg, &before, sizeof cfg);
}

/* A parameter whose values have names accepts the name, the number of the value, and the
 * parameter's former name. */
static void named_values(void **state)
{
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {{"vj", 0},
                {"vj,slow-start=standard", 0},
                {"vj,slow-start=hystart", 1},
                {"vj,slow-start=search", 2},
                {"vj,slow-start=2", 2},
                {"vj,hystart=1", 1},
                {"cubic", 1},
                {"cubic,hystart=0", 0}};
    int64_t p[SCPS_CC_PARAMS];
    (void)state;

    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(scps_cc_parse(good[i].text, &ops, p, msg, sizeof msg), 0);
        assert_int_equal(p[4], good[i].value);
    }
    assert_int_equal(scps_cc_parse("vj,slow-start=sea", &ops, p, msg, sizeof msg), SCPS_ERR_INVAL);
    assert_string_equal(msg, "vj: slow-start wants one of standard hystart search, not \"sea\"");
    assert_int_equal(scps_cc_parse("vj,slow-start=", &ops, p, msg, sizeof msg), SCPS_ERR_INVAL);
    assert_int_equal(scps_cc_parse("vj,slow-start", &ops, p, msg, sizeof msg), SCPS_ERR_INVAL);
    assert_int_equal(scps_cc_parse("vj,hystart=1,slow-start=search", &ops, p, msg, sizeof msg),
                     /* hystart=1 is the former name of slow-start=hystart, so the text sets one
                      * parameter twice. */
                     SCPS_ERR_INVAL);
    assert_int_equal(scps_cc_parse("vj,slow-start=3", &ops, p, msg, sizeof msg), SCPS_ERR_RANGE);
    assert_int_equal(scps_cc_parse("bbr,slow-start=search", &ops, p, msg, sizeof msg),
                     SCPS_ERR_NOENT);
    /* A controller without SEARCH must need no memory for it. */
    for (size_t i = 0; (ops = scps_cc_at(i)); i++) {
        scps_cc_param_defaults(ops, p);
        assert_int_equal(scps_cc_state_size(ops, p), ops->state_size);
    }
    assert_int_equal(scps_cc_parse("vegas,slow-start=search", &ops, p, msg, sizeof msg), 0);
    assert_true(scps_cc_state_size(ops, p) > ops->state_size);
    assert_true(scps_cc_state_size(ops, p) <= SCPS_CC_STATE_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_given_twice_is_refused),
        cmocka_unit_test(every_controller_is_sound),
        cmocka_unit_test(parameters_belong_to_their_controller),
        cmocka_unit_test(a_configuration_reads_text),
        cmocka_unit_test(defaults_and_values),
        cmocka_unit_test(unknown_names),
        cmocka_unit_test(unknown_keys),
        cmocka_unit_test(invalid_numbers),
        cmocka_unit_test(beyond_the_range),
        cmocka_unit_test(messages_fit),
        cmocka_unit_test(names_of_causes),
        cmocka_unit_test(incomplete_controllers_are_refused),
        cmocka_unit_test(named_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
