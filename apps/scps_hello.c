/* SPDX-License-Identifier: MIT */
/* Simulates two hosts, on Earth and on the Moon, with a link between them, in virtual time: Earth
 * connects and sends a greeting, and the Moon answers it. */
#include <scps/scps.h>
#include <scps/sim.h>
#include <stdio.h>
#include <string.h>

static void print(struct scps_host *h, const char *what)
{
    scps_time now = scps_world_now(scps_host_world(h));

    printf("%9.6f s  %-5s  %s\n", (double)now * 1e-6, scps_host_name(h), what);
}

/* Receives the events of one host's stack; ctx is the text that this host sends. */
static void on_event(struct scps_host *h, const struct scps_event *ev, void *ctx)
{
    bool answers = strcmp(scps_host_name(h), "Moon") == 0;
    char text[80];
    int64_t n;

    switch (ev->kind) {
    /* This event comes at the simulated host "Earth", which connects, one round trip after its SYN:
     * the handshake is complete. */
    case SCPS_EV_CONNECTED:
        print(h, "connected");
        scps_conn_write(ev->conn, ctx, strlen(ctx), 0);
        break;
    /* This event comes at the simulated host "Moon", which listens: the connection from Earth can
     * be accepted. */
    case SCPS_EV_ACCEPT:
        scps_accept(ev->listener);
        print(h, "accepted");
        break;
    case SCPS_EV_READABLE:
        while ((n = scps_conn_read(ev->conn, text, sizeof text - 1, 0)) > 0) {
            text[n] = '\0';
            print(h, text);
            if (answers)
                scps_conn_write(ev->conn, ctx, strlen(ctx), 0);
            scps_conn_shutdown(ev->conn);
        }
        /* A read of 0 octets is the end of the stream: the other end has closed after its text. */
        if (n == 0)
            scps_conn_close(ev->conn);
        break;
    case SCPS_EV_ERROR:
        print(h, scps_strerror(ev->err));
        break;
    default:
        break;
    }
}

int main(void)
{
    struct scps_world *w = scps_world_new(NULL);
    struct scps_host *e = scps_world_host(w, "Earth", NULL, on_event, "Hello, Moon!");
    struct scps_host *m = scps_world_host(w, "Moon", NULL, on_event, "Hello, Earth!");
    struct scps_conn_config cfg = scps_conn_config_default();
    struct scps_link_config up, down;
    struct scps_endpoint moon = {.port = 7};
    struct scps_addr earth;

    scps_addr_parse("10.0.0.1", &earth);
    scps_addr_parse("10.0.0.2", &moon.addr);
    scps_link_parse("moon", &up, &down, NULL, 0); /* a link of 10 Mbit/s, 1.28 s each way */
    scps_world_link(w, e, &earth, m, &moon.addr, 24, 0, &up, &down);

    /* The stacks derive all timers of their connections from the expected round trip. */
    cfg.expected_rtt = up.delay + down.delay;
    scps_listen(scps_host_stack(m), &cfg, &moon, 1, NULL);
    scps_connect(scps_host_stack(e), &cfg, NULL, &moon, NULL);
    scps_host_kick(e);
    scps_world_run(w, SCPS_SEC(60));
    scps_world_free(w);
    if (fflush(stdout) != 0)
        perror("scps_hello: standard output");
    return ferror(stdout) ? 1 : 0;
}
