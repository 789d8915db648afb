/* SPDX-License-Identifier: MIT */
/* apps/scps_ttcp/options.c: parsed command lines, and command lines that are refused. */
#include "cmocka_all.h"

#include "scps_ttcp/option_table.h"

#include <stdlib.h>
#include <string.h>

static struct ttcp_options o;
static char msg[TTCP_MSGLEN];

/* Parses line, a command line such as "-t -s ...", which is split at blanks. env: value of
 * SCPS_TTCP_OPTIONS. */
static int parse_with(const char *env, const char *line)
{
    static char text[1024];
    char *argv[64] = {"scps_ttcp"};
    int argc = 1;

    snprintf(text, sizeof(text), "%s", line);
    for (char *w = strtok(text, " "); w != NULL; w = strtok(NULL, " "))
        argv[argc++] = w;
    argv[argc] = NULL;
    ttcp_options_fini(&o);
    memset(msg, 0, sizeof(msg));
    return ttcp_options_parse(&o, argc, argv, env, msg);
}

static void good(const char *line)
{
    if (parse_with(NULL, line) != 0)
        fail_msg("%s: %s", line, msg);
}

/* Requires that line is refused, with a one-line message that contains `names`. */
static void bad(const char *line, const char *names)
{
    if (parse_with(NULL, line) == 0)
        fail_msg("taken: %s", line);
    if (strstr(msg, names) == NULL || strchr(msg, '\n') != NULL || strlen(msg) < 20)
        fail_msg("%s: \"%s\" does not name %s", line, msg, names);
}

/* If a configuration is refused, the message names its field, whichever option set it. */
static void a_refused_field_is_named(void **state)
{
    struct scps_stack_config stack = scps_stack_config_default();

    (void)state;
    good("-t -s");
    assert_true(ttcp_config_check(&o, &stack, msg));
    stack.plain_hosts = 70000;
    assert_false(ttcp_config_check(&o, &stack, msg));
    assert_string_equal(msg, "the stack's configuration: plain_hosts: 70000: give 0 to 65536");
    stack = scps_stack_config_default();
    stack.size = 0;
    assert_false(ttcp_config_check(&o, &stack, msg));
    assert_non_null(strstr(msg, "the stack's configuration: size: 0: give "));
    stack = scps_stack_config_default();
    o.conn.rto_min = -1;
    assert_false(ttcp_config_check(&o, &stack, msg));
    assert_non_null(strstr(msg, "the receiver's configuration: rto_min: -1: give 0 to "));
}

static void defaults(void **state)
{
    struct scps_conn_config c;

    (void)state;
    good("-t");
    assert_int_equal(o.action, TTCP_TRANSMIT);
    assert_true(o.link);
    assert_string_equal(o.link_spec, "geo");
    assert_int_equal(o.length, 8192);
    assert_int_equal(o.count, 2048);
    assert_int_equal(ttcp_pattern_total(&o), 8192 * 2048);
    assert_int_equal(o.port, 5001);
    assert_int_equal(o.unit, 'a');
    assert_int_equal(o.seed, 1);
    assert_string_equal(o.cc->name, "vj");
    assert_int_equal(o.conn.ack_mode, SCPS_ACK_OTHER);
    assert_int_equal(o.conn.ack_delay, SCPS_MS(200));
    c = ttcp_conn_config(&o, true);
    assert_int_equal(c.mss, 0);
    assert_int_equal(c.rate, 0);
    assert_true(c.sack && c.timestamps && !c.nodelay && !c.hollow);
    assert_true(c.snack && c.snack_long); /* as in the reference implementation */
    /* the buffer holds four round trips of the link, of which the expected RTT is that of the
     * link */
    assert_true(c.sndbuf == c.rcvbuf && c.sndbuf >= 4 * (o.fwd.rate_bps / 8 * 55 / 100));
    assert_true(c.expected_rtt >= o.fwd.delay + o.back.delay);
    good("-t --time 5");
    assert_true(o.count == UINT64_MAX && ttcp_pattern_total(&o) == UINT64_MAX);
}

static void published_command_lines(void **state)
{
    struct scps_conn_config c;

    (void)state;
    /* sender and receiver of the published pure-rate tests, with an interface from the
     * environment */
    assert_int_equal(parse_with("--udp 127.0.0.1:7001,127.0.0.1:7002 --addr 10.9.0.1/24",
                                "-b 5900000 -l 1024 -G 0 -F 2 -R 80000000 -f m -t 10.9.0.2"),
                     0);
    assert_string_equal(o.host, "10.9.0.2");
    assert_false(o.link);
    c = ttcp_conn_config(&o, true);
    assert_string_equal(c.cc->name, "rate");
    assert_int_equal(c.rate, 10000000);
    assert_int_equal(c.sndbuf, 5900000);
    assert_int_equal(c.rcvbuf, 5900000);
    assert_int_equal(c.mss, 1024 + 12);
    assert_int_equal(parse_with("--udp 127.0.0.1:7002,127.0.0.1:7001 --addr 10.9.0.2/24",
                                "-b 5900000 -G 0 -F 2 -R 80000000 -f m -r -s"),
                     0);
    assert_int_equal(o.action, TTCP_RECEIVE);
    assert_true(o.pattern);
    /* the same test over a virtual link */
    good("-t --link nasa500 -l 1024 -b 6000000 -G 0 -R 80m");
    c = ttcp_conn_config(&o, true);
    assert_int_equal(c.rate, 10000000);
    assert_int_equal(c.rate_overhead, o.fwd.overhead);
    assert_int_equal(o.fwd.rate_bps, 100000000);
}

static void first_window(void **state)
{
    (void)state;
    /* over a virtual link both ends have the same configuration, so the first window is known */
    good("-t --link nasa500 -G 0 -R 80m -b 6000000");
    assert_int_equal(ttcp_conn_config(&o, true).first_window, 6000000);
    assert_int_equal(ttcp_conn_config(&o, false).first_window, 6000000);
    good("-t --link nasa500 -G 0 -R 80m --first-window 0");
    assert_int_equal(ttcp_conn_config(&o, true).first_window, 0);
    /* a controller with a congestion window does not assume the peer's first window */
    good("-t --link nasa500 -b 6000000");
    assert_int_equal(ttcp_conn_config(&o, true).first_window, 0);
    good("-t --link nasa500 --first-window 1m");
    assert_int_equal(ttcp_conn_config(&o, true).first_window, 1 << 20);
    /* over a real interface the configuration of the peer is not known */
    good("-t -G 0 -R 80m --udp 127.0.0.1:1,127.0.0.1:2 --addr 10.9.0.1 10.9.0.2");
    assert_int_equal(ttcp_conn_config(&o, true).first_window, 0);
    good("-r --first-window 24m --udp 127.0.0.1:1,127.0.0.1:2 --addr 10.9.0.1");
    assert_int_equal(ttcp_conn_config(&o, false).first_window, 24 << 20);
    bad("-t --first-window 2G", "--first-window 2G");
    bad("-t --first-window x", "--first-window x");
}

static void loss_cause(void **state)
{
    (void)state;
    good("-t");
    assert_int_equal(ttcp_conn_config(&o, true).loss_cause, SCPS_LOSS_CONGESTION);
    assert_int_equal(ttcp_conn_config(&o, true).dupthresh, 3);
    assert_int_equal(ttcp_conn_config(&o, true).recovery, SCPS_RECOVERY_CLASSIC);
    good("-t --recovery rack");
    assert_int_equal(ttcp_conn_config(&o, true).recovery, SCPS_RECOVERY_RACK);
    good("-t --loss-cause corruption --dupthresh 10");
    assert_int_equal(ttcp_conn_config(&o, true).loss_cause, SCPS_LOSS_CORRUPTION);
    assert_int_equal(ttcp_conn_config(&o, true).dupthresh, 10);
    good("-t --cc vegas-corruption");
    assert_int_equal(ttcp_conn_config(&o, true).loss_cause, SCPS_LOSS_CORRUPTION);
    /* --loss-cause overrides the cause that follows from the controller */
    good("-t --loss-cause congestion --cc vegas-corruption");
    assert_int_equal(ttcp_conn_config(&o, true).loss_cause, SCPS_LOSS_CONGESTION);
    good("-t --cc vegas");
    assert_int_equal(ttcp_conn_config(&o, true).loss_cause, SCPS_LOSS_CONGESTION);
    bad("-t --loss-cause outage", "outage");
    bad("-t --recovery quick", "quick");
    bad("-t --loss-cause weather", "weather");
    bad("-t --dupthresh 0", "--dupthresh 0");
    good("-t --link nasa500");
    assert_true(ttcp_conn_config(&o, true).ack_budget == 0);
    good("-t --link nasa500,rate-back=20kbit");
    assert_true(ttcp_conn_config(&o, true).ack_budget == 2500);
    /* An acknowledgement takes 98 bytes on the line. Two for each three segments of 1518 bytes need
     * a return rate of 430 303 bit/s; one for each segment (-F 1) needs 645 586. */
    good("-t --link geo,rate-back=430kbit");
    assert_true(ttcp_conn_config(&o, true).ack_budget == 53750);
    good("-t --link geo,rate-back=431kbit");
    assert_true(ttcp_conn_config(&o, true).ack_budget == 0);
    good("-t -F 1 --link geo,rate-back=645kbit");
    assert_true(ttcp_conn_config(&o, true).ack_budget == 80625);
    good("-t -F 1 --link geo,rate-back=646kbit");
    assert_true(ttcp_conn_config(&o, true).ack_budget == 0);
    /* the same computation with smaller segments, one acknowledgement for each */
    good("-t -m 128 --link geo,rate-back=4mbit");
    assert_true(ttcp_conn_config(&o, true).ack_budget == 500000);
    good("-t --link nasa500,rate-back=20kbit --ack-budget none");
    assert_true(ttcp_conn_config(&o, true).ack_budget == 0);
    good(
        /* an acknowledgement of 60 bytes takes two cells */
        "-t -m 9000 --link rate=2mbit,rate-back=2400,framing=aal5-vc");
    assert_true(ttcp_conn_config(&o, false).ack_budget == 300);
    assert_int_equal(ttcp_conn_config(&o, false).rate_overhead, 2 * 53 - 60);
    assert_int_equal(ttcp_conn_config(&o, true).rate_overhead, 188 * 53 - 9000);
    good("-t --link geo");
    assert_int_equal(ttcp_conn_config(&o, false).rate_overhead, 18);
    good("-t --ack-budget 50pps,20kbit");
    assert_true(ttcp_conn_config(&o, true).ack_budget == 2500);
    assert_int_equal(ttcp_conn_config(&o, true).ack_budget_pps, 50);
    good("-t --ack-budget 8k");
    assert_true(ttcp_conn_config(&o, true).ack_budget == 1000);
    bad("-t --ack-budget 0pps", "--ack-budget 0pps");
    bad("-t --ack-budget 1.5pps", "--ack-budget 1.5pps");
    bad("-t --ack-budget 20kbit,", "--ack-budget 20kbit,");
    bad("-t --ack-budget 3", "--ack-budget 3");
    bad("-t --ack-budget pps", "--ack-budget pps");
    bad("-t --dupthresh 256", "--dupthresh 256");
}

static void the_route(void **state)
{
    struct scps_addr dst = {.family = 4};
    struct scps_route r;
    (void)state;

    good("-t --link nasa500 -R 10m");
    assert_false(ttcp_route(&o, &dst, NULL, &r));
    /* the rate of the route suffices: -R is not needed */
    good("-t --link nasa500 -G 0 --route-rate 80m --min-rate 8k");
    assert_true(ttcp_route(&o, &dst, NULL, &r));
    assert_true(r.rate == 10000000 && r.min_rate == 1000);
    assert_int_equal(r.prefix, 32);
    assert_int_equal(r.overhead.packet, 18); /* the framing of the link */
    good("-t --link nasa500 --route-rate 80m --overhead 1k,post=0.5k --mss 1k");
    assert_int_equal(o.overhead.packet, 1024); /* as for every size, K means 1024 */
    assert_int_equal(o.overhead.post, 512);
    assert_int_equal(o.conn.mss, 1024);
    good("-t --link nasa500 --route-rate 80m --overhead 4,post=44,block=8,pre=9");
    assert_true(ttcp_route(&o, &dst, NULL, &r));
    assert_int_equal(r.overhead.packet, 4);
    assert_int_equal(r.overhead.pre, 9);
    assert_int_equal(r.overhead.block, 8);
    assert_int_equal(r.overhead.post, 44);
    good("-t --link nasa500 --min-rate 1m");
    assert_true(ttcp_route(&o, &dst, NULL, &r));
    assert_true(r.rate == 0);
    bad("-t --route-rate 7", "--route-rate 7");
    bad("-t --min-rate x", "--min-rate x");
    bad("-t --min-rate 2m --route-rate 1m", "--min-rate");
    bad("-t -u --route-rate 1m", "--route-rate");
    bad("-t --overhead 18", "--route-rate");
    bad("-t --route-rate 1m --overhead 18,", "--overhead 18,");
    bad("-t --route-rate 1m --overhead pre=x", "--overhead pre=x");
    bad("-t --route-rate 1m --overhead 65536", "--overhead 65536");
    bad("-r --route-rate 1m --udp 127.0.0.1:1 --addr 10.9.0.1", "--route-rate");
}

static void bindings(void **state)
{
    struct scps_conn_config c;
    (void)state;

    good("-t --binding 1:00C0 --binding 254:ff -C --comp-proto 106");
    c = ttcp_conn_config(&o, true);
    assert_int_equal(c.binding[0].id, 1);
    assert_int_equal(c.binding[0].len, 2);
    assert_memory_equal(c.binding[0].data, "\x00\xc0", 2);
    assert_int_equal(c.binding[1].id, 254);
    assert_int_equal(c.binding[1].data[0], 0xff);
    assert_int_equal(c.comp_proto, 106);
    good("-t");
    c = ttcp_conn_config(&o, true);
    assert_int_equal(c.binding[0].len, 0);
    bad("-t --binding 1:00 --binding 2:00 --binding 3:00", "--binding 3:00");
    bad("-t --binding 255:00", "--binding 255:00");
    bad("-t --binding 1", "--binding 1");
    bad("-t --binding 1:", "--binding 1:");
    bad("-t --binding 1:0", "--binding 1:0");
    bad("-t --binding 1:0g", "'g'");
    bad("-t -u --binding 1:00", "--binding");
    bad("-t --comp-proto 105", "-C");
    bad("-t -C --comp-proto 17", "--comp-proto 17");
}

static void segments_follow_the_write_length(void **state)
{
    (void)state;
    good("-t -l 1024");
    assert_int_equal(ttcp_conn_config(&o, true).mss, 1036);
    /* the receiver does not limit the size of the segments that it receives */
    assert_int_equal(ttcp_conn_config(&o, false).mss, 0);
    good("-t -l 1024 -M");
    assert_int_equal(ttcp_conn_config(&o, true).mss, 1024);
    good("-t -l 1448");
    assert_int_equal(ttcp_conn_config(&o, true).mss, 1460);
    good("-t -l 1449"); /* -l is longer than a segment of this MTU holds */
    assert_int_equal(ttcp_conn_config(&o, true).mss, 0);
    good("-t -l 8192");
    assert_int_equal(ttcp_conn_config(&o, true).mss, 0);
    good("-t -l 8192 -m 9000");
    assert_int_equal(ttcp_conn_config(&o, true).mss, 8204);
    good("-t -l 1"); /* a short -l does not make segments of a few bytes */
    assert_int_equal(ttcp_conn_config(&o, true).mss, 76);
    good("-t -l 1024 --mss 536");
    assert_int_equal(ttcp_conn_config(&o, true).mss, 536);
    good("-t -l 1024 -c"); /* a segment has room for a record and the option that ends it */
    assert_int_equal(ttcp_conn_config(&o, true).mss, 1040);
    good("-t -l 1460 -c -C");
    assert_int_equal(ttcp_conn_config(&o, true).mss, 1460);
    good("-t -l 1024 -c --record-size 2048"); /* a record is longer than a segment */
    assert_int_equal(ttcp_conn_config(&o, true).mss, 1036);
}

static void numbers_and_names_are_the_same(void **state)
{
    (void)state;
    good("-t -G 0 -R 1m");
    assert_string_equal(o.cc->name, "rate");
    good("-t -G rate -R 1m");
    assert_string_equal(o.cc->name, "rate");
    good("-t --cc 0 -R 1m");
    assert_string_equal(o.cc->name, "rate");
    good("-t -G 1");
    assert_string_equal(o.cc->name, "vj");
    good("-t --cc 1,abc_limit=2");
    assert_string_equal(o.cc->name, "vj");
    good("-t -F 0");
    assert_int_equal(o.conn.ack_mode, SCPS_ACK_DELAYED);
    assert_false(ttcp_conn_config(&o, true).holes_at_once);
    good("-t -F 0 --holes-at-once");
    assert_true(ttcp_conn_config(&o, true).holes_at_once);
    bad("-t --holes-at-once", "-F 0"); /* the option would have no effect */
    bad("-t -F 1 --holes-at-once", "-F 0");
    bad("-t --recovery rack --no-sack", "--no-sack");
    bad("-t --cc vegas -g 4", "-g 4 with --cc vegas,ss=4");
    bad("-t -W 3 -g 2", "-W 3 -g 2 with --cc vj");
    good("-t -F 1 -a 50");
    assert_int_equal(o.conn.ack_mode, SCPS_ACK_EVERY);
    assert_int_equal(o.conn.ack_delay, SCPS_MS(50));
}

static int64_t param(const char *name)
{
    for (size_t i = 0; o.cc->params != NULL && o.cc->params[i].name != NULL; i++)
        if (strcmp(o.cc->params[i].name, name) == 0)
            return o.cc_param[i];
    fail_msg("%s has no %s", o.cc->name, name);
    return 0;
}

static void letters_of_vegas_may_stand_anywhere(void **state)
{
    (void)state;
    good("-W 2 -X 4 -Y 3 -g 1 -t -G 2");
    assert_string_equal(o.cc->name, "vegas");
    assert_int_equal(param("alpha"), 2);
    assert_int_equal(param("beta"), 4);
    assert_int_equal(param("gamma"), 3);
    assert_int_equal(param("ss"), 1);
    good("-t --cc vegas,alpha=1 -X 7");
    assert_int_equal(param("alpha"), 1);
    assert_int_equal(param("beta"), 7);
    bad("-t -W 2", "alpha");
    bad("-t -G 2 -W x", "-W x");
}

static void letters_whose_feature_is_missing(void **state)
{
    static const char *const refused[] = {"-N 2"};

    (void)state;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        char line[64], letter[3] = {0};

        memcpy(letter, refused[i], 2);
        snprintf(line, sizeof(line), "-t %s", refused[i]);
        bad(line, letter);
    }
    good("-t -S");
    assert_false(ttcp_conn_config(&o, true).snack || ttcp_conn_config(&o, true).snack_long);
    bad("-t -e -E", "-e with best effort");
    bad("-t -Z -e", "-e with best effort");
    bad("-t -e --require bets", "-e with best effort");
    good("-t -e -D");
    assert_true(o.echo);
    good("-t -N 1 -I -L 5");
    assert_int_equal(o.conn.tos, 0xa0);
}

static void records_and_best_effort(void **state)
{
    (void)state;
    good("-t");
    assert_false(ttcp_conn_config(&o, true).records || ttcp_conn_config(&o, true).bets);
    good("-t -c");
    assert_true(ttcp_conn_config(&o, true).records);
    assert_int_equal(o.record_size, 0);
    good("-t --record-size 2K");
    assert_true(ttcp_conn_config(&o, true).records);
    assert_int_equal(o.record_size, 2048);
    good("-t -E");
    assert_true(ttcp_conn_config(&o, true).bets);
    assert_int_equal(ttcp_conn_config(&o, true).bets_retries, 32);
    assert_int_equal(ttcp_conn_config(&o, true).bets_timeout, 0);
    good("-t -E --bets-timeout 250 --bets-retries 3 --bets-lifetime 4000");
    assert_int_equal(ttcp_conn_config(&o, true).bets_timeout, 250000);
    assert_int_equal(ttcp_conn_config(&o, true).bets_retries, 3);
    assert_int_equal(ttcp_conn_config(&o, true).bets_lifetime, 4000000);
    good("-t -Z");
    assert_true(o.conn.bets && o.conn.compress && !o.conn.timestamps && !o.conn.snack);
    bad("-t --record-size 0", "--record-size 0");
    good("-t --memory-limit 0");
    good("-t --memory-limit 64m");
    bad("-t --memory-limit x", "--memory-limit x");
    bad("-t --memory-limit -1", "--memory-limit -1");
    bad("-t --record-size x", "--record-size x");
    /* of two values of an option the last one counts */
    good("-t -E --bets-timeout 1s --bets-timeout 0");
    assert_int_equal(ttcp_conn_config(&o, true).bets_timeout, 0);
    good("-t -E --bets-timeout 1.5s");
    assert_int_equal(ttcp_conn_config(&o, true).bets_timeout, 1500000);
    bad("-t -E --bets-timeout 1.5", "--bets-timeout 1.5");
    bad("-t -E --bets-retries 255", "--bets-retries 255");
    bad("-t -E --bets-lifetime -1", "--bets-lifetime -1");
    bad("-t --bets-timeout 100", "add -E");
}

static void values_out_of_range(void **state)
{
    (void)state;
    bad("-t -l 0", "-l 0");
    bad("-t -n 0", "-n 0");
    bad("-t -p 65536", "-p 65536");
    bad("-t -b 2G", "-b 2G");
    bad("-t -b 10", "-b 10");
    bad("-t -f x", "-f x");
    bad("-t -f mm", "-f mm");
    bad("-t -A 0", "-A 0");
    bad("-t -m 20", "-m 20");
    bad("-t -R 0", "-R 0");
    bad("-t -R 80mb", "-R 80mb");
    bad("-t -G 3", "-G 3");
    bad("-t -F 3", "-F 3");
    good("-t -a 0"); /* -a 0 is the same as --ack-delay 0 */
    bad("-t -a x", "-a x");
    bad("-t -L 8", "-L 8");
    bad("-t -H nowhere", "-H nowhere");
    bad("-t --mss 10", "--mss 10");
    bad("-t --seed x", "--seed x");
    bad("-t --time 0", "--time 0");
    bad("-t -i 1m", "1m");
    bad("-t --timeout never", "--timeout never");
    bad("-t --link rte=5", "rte");
    bad("-t --link rate=5parsec", "5parsec");
    bad("-t --cc vj,foo=1", "foo");
    bad("-t --cc nobody", "nobody");
}

static void what_does_not_go_together(void **state)
{
    (void)state;
    bad("-s", "-t");
    bad("-t -r", "-r");
    bad("-t -4 -6", "-6");
    bad("-r", "--tun");
    bad("-r --link geo", "--link");
    bad("-t 10.0.0.2", "10.0.0.2");
    bad("-t --udp 127.0.0.1:1,127.0.0.1:2 --addr 10.9.0.1", "HOST");
    bad("-r --udp 127.0.0.1:1,127.0.0.1:2 --addr 10.9.0.1 10.9.0.2", "10.9.0.2");
    bad("-r --udp 127.0.0.1:1,127.0.0.1:2", "--addr");
    bad("-r --udp 127.0.0.1:1 --tun x --addr 10.9.0.1", "--tun");
    bad("-r --time 5 --udp 127.0.0.1:1 --addr 10.9.0.1", "--time");
    bad("-t --link geo --tun x", "--link");
    bad("-t --hollow", "-s");
    bad("-t -s --hollow --output x", "--output");
    bad("-t -G 0", "-R");
    bad("-t -H 10.0.0.1", "-H");
    bad("-t -6 -m 1000", "1280");
    bad("-t a b", "b");
    bad("-t -x", "-x");
    bad("-t --nonsense", "--nonsense");
    bad("-t --json=yes", "--json=yes");
    bad("-t -l", "-l");
    bad("-t --seed", "--seed");
}

/* Every setting with an option reaches its field, at either end, with what its bounds begin and end
 * with, and nothing beside it. */
static void several_flows(void **state)
{
    (void)state;
    good("-t -s");
    assert_int_equal(o.streams, 1);
    good("-t -s -P 128 --bidir");
    assert_int_equal(o.streams, 128);
    assert_true(o.bidir);
    good("-t -s --parallel 2 --compare vj,cubic");
    good("-r -s --udp 127.0.0.1:5 --addr 10.0.0.1/24 --bidir --time 5");
    good("-r -s --udp 127.0.0.1:5 --addr 10.0.0.1/24 --server");
    assert_true(o.server && o.tell);
    good("-r -s --udp 127.0.0.1:5 --addr 10.0.0.1/24 --server --bidir");
    assert_false(o.tell); /* with --bidir the receiver sends data, so it does not send its result */
    good("-t -Q -s --udp 127.0.0.1:5 --addr 10.0.0.1/24 --server");
    good("-r --udp 127.0.0.1:5 --addr 10.0.0.1/24 --tell");
    bad("-t -s -P 0", "-P 0");
    bad("-t -s -P 129", "-P 129");
    bad("-t -P 2", "-P");
    bad("-t --bidir", "--bidir");
    bad("-t -s --bidir -u -R 1m", "-u");
    bad("-t -s -P 2 --output x", "--output");
    bad("-t -s -P 2 --qlog x", "--qlog");
    bad("-t -s --bidir -e", "-e");
    bad("-t -s --bidir --compare vj,cubic", "--compare");
    bad("-t -s --compare vj,cubic --cc vegas", "--cc"); /* --cc would have no effect */
    bad("-t -s --compare vj,cubic -W 4", "-W");
    bad("-t -s --server", "--link");
    bad("-t -s --server --link geo", "--link");
    bad("-t -s --tell", "--tell");
    bad("-r --udp 127.0.0.1:5 --addr 10.0.0.1/24 --tell -u", "-u");
    bad("-r --udp 127.0.0.1:5 --addr 10.0.0.1/24 --server", "-s");
    bad("-r -s --udp 127.0.0.1:5 --addr 10.0.0.1/24 --server -P 2", "-P");
    bad("-r -s --udp 127.0.0.1:5 --addr 10.0.0.1/24 --server -i 1", "--interval");
    bad("-r -s -Q --udp 127.0.0.1:5 --addr 10.0.0.1/24 --server 10.0.0.2", "-Q");
    bad("-t -s --udp 127.0.0.1:5 --addr 10.0.0.1/24 --server 10.0.0.2", "--server");
}

static void every_setting(void **state)
{
    (void)state;
    for (int i = 0; i < SETTINGS; i++) {
        const struct setting *f = &settings[i];
        const char *unit = f->kind == TIME ? "us" : "";
        char option[TTCP_NAME], word[SETTING_NAME], with[SETTING_NAME + 4] = "";
        struct scps_conn_config was, now;
        char line[128];

        if (ttcp_setting_option((enum setting_id)i, option) == NULL)
            continue;
        if (f->with != NULL && strncmp(f->with, "sack", 4) != 0 && strcmp(f->with, "snack") != 0)
            snprintf(with, sizeof(with), "--%s", f->with);
        if (i == SETTING_holes_at_once)
            snprintf(with, sizeof(with), "-F 0");
        for (int end = 0; end < 2; end++) {
            int64_t v = f->kind == FLAG ? strncmp(option, "no-", 3) != 0 : end ? f->most : f->least;

            snprintf(line, sizeof(line), "-t %s", with);
            good(line);
            was = ttcp_conn_config(&o, end != 0);
            if (f->kind == FLAG)
                snprintf(line, sizeof(line), "-t %s --%s", with, option);
            else if (f->kind == CHOICE)
                snprintf(line, sizeof(line), "-t %s --%s %s", with, option,
                         setting_word_at(f, v, word));
            else
                snprintf(line, sizeof(line), "-t %s --%s %lld%s", with, option, (long long)v,
                         v != 0 ? unit : "");
            good(line);
            now = ttcp_conn_config(&o, end != 0);
            if (setting_get(f, &now) != v)
                fail_msg("%s: %lld", line, (long long)setting_get(f, &now));
            if (f->kind == FLAG)
                assert_true(setting_get(f, &was) != v);
            setting_put(f, &was, v);
            if (strcmp(option, "no-sack") == 0) /* DSACK needs SACK */
                was.dsack = false;
            if (strcmp(option, "no-snack") == 0)
                was.snack_long = false;
            if (i != SETTING_expected_rtt && i != SETTING_sndbuf && i != SETTING_rcvbuf)
                assert_memory_equal(&was, &now, sizeof(now));
            if (f->kind == FLAG || f->kind == CHOICE)
                continue;
            snprintf(line, sizeof(line), "-t %s --%s %lld%s", with, option,
                     (long long)(end || f->least == 0 ? f->most + 1 : f->least - 1),
                     f->least == 1 && !end ? "" : unit);
            bad(line, option);
        }
    }
}

static void help_and_lists_need_nothing_else(void **state)
{
    (void)state;
    good("-h");
    assert_int_equal(o.action, TTCP_HELP);
    good("-V");
    assert_int_equal(o.action, TTCP_VERSION);
    good("--list-cc");
    assert_int_equal(o.action, TTCP_LIST_CC);
    good("--list-links");
    assert_int_equal(o.action, TTCP_LIST_LINKS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(a_refused_field_is_named),
        cmocka_unit_test(published_command_lines),
        cmocka_unit_test(first_window),
        cmocka_unit_test(loss_cause),
        cmocka_unit_test(the_route),
        cmocka_unit_test(bindings),
        cmocka_unit_test(segments_follow_the_write_length),
        cmocka_unit_test(numbers_and_names_are_the_same),
        cmocka_unit_test(letters_of_vegas_may_stand_anywhere),
        cmocka_unit_test(letters_whose_feature_is_missing),
        cmocka_unit_test(records_and_best_effort),
        cmocka_unit_test(values_out_of_range),
        cmocka_unit_test(what_does_not_go_together),
        cmocka_unit_test(several_flows),
        cmocka_unit_test(every_setting),
        cmocka_unit_test(help_and_lists_need_nothing_else),
    };

    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    ttcp_options_fini(&o);
    return failed;
}
