/* SPDX-License-Identifier: MIT */
/* Prints which functions of src/core and src/stack a byte out, a segment of data in, an
 * acknowledgement in and a timer enter, in this order, for tests/repo/paths. The files of both
 * folders are compiled with -finstrument-functions and without inlining. */
#include <inttypes.h>
#include <scps/scps.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void __cyg_profile_func_enter(void *fn, void *from) __attribute__((no_instrument_function));
void __cyg_profile_func_exit(void *fn, void *from) __attribute__((no_instrument_function));

int main(void);

static bool on;

void __cyg_profile_func_enter(void *fn, void *from)
{
    (void)from;
    if (on)
        printf("enter %" PRIdPTR "\n", (intptr_t)fn - (intptr_t)main);
}
void __cyg_profile_func_exit(void *fn, void *from)
{
    (void)fn;
    (void)from;
    if (on)
        printf("leave\n");
}

/* Two hosts whose packets this program carries by hand. */
static struct host {
    struct scps_stack *st;
    struct scps_netif nif;
    struct scps_addr addr;
} h[2];
static scps_time now;
static uint8_t room[2048], copy[4096];

/* Fetches the next packet of host i into the buffer copy; returns its length, 0: there is none. */
static size_t fetch(int i)
{
    struct scps_pkt p = {.data = room, .cap = sizeof room};

    if (scps_stack_output(h[i].st, &h[i].nif, now, &p) != 1)
        return 0;
    memcpy(copy, p.data, p.len);
    if (p.payload)
        memcpy(copy + p.len, p.payload, p.payload_len);
    return p.len + p.payload_len;
}
static void give(int i, size_t len)
{
    struct scps_pkt p = {.data = copy, .len = len, .at = now};

    scps_stack_input(h[i].st, &h[i].nif, &p);
}
/* Carries packets both ways until there are none. */
static void carry(void)
{
    size_t len;
    int idle = 0;

    for (int i = 0; idle < 2; i = !i) {
        now += 1000;
        idle++;
        while ((len = fetch(i))) {
            idle = 0;
            give(!i, len);
        }
    }
}

static void path(const char *name)
{
    printf("path %s\n", name);
}

int main(void)
{
    struct scps_conn_config cfg = scps_conn_config_default();
    struct scps_endpoint to = {.port = 80};
    struct scps_listener *l;
    struct scps_conn *c, *d;
    static uint8_t data[3000];
    size_t len;

    for (int i = 0; i < 2; i++) {
        h[i].st = scps_stack_new(NULL);
        h[i].nif = (struct scps_netif){.name = "wire", .mtu = 1500};
        scps_addr_parse(i ? "10.0.0.2" : "10.0.0.1", &h[i].addr);
    }
    to.addr = h[1].addr;
    for (int i = 0; i < 2; i++)
        if (scps_stack_add_netif(h[i].st, &h[i].nif) ||
            scps_stack_add_addr(h[i].st, &h[i].nif, &h[i].addr, 24))
            return 1;
    cfg.quick_acks = 0;
    cfg.ack_mode = SCPS_ACK_EVERY;
    l = scps_listen(h[1].st, &cfg, &to, 1, NULL);
    c = scps_connect(h[0].st, &cfg, NULL, &to, NULL);
    carry();
    d = scps_accept(l);
    if (!d)
        return 1;
    scps_conn_write(c, data, 1000, 0);
    carry();

    path("A byte out");
    on = true;
    scps_conn_write(c, data, 1000, 0);
    len = fetch(0);
    on = false;
    path("Data in, in order");
    on = true;
    give(1, len);
    on = false;
    len = fetch(1);
    path("An acknowledgement in");
    on = true;
    give(0, len);
    on = false;
    /* Two segments, of which the second comes first. */
    scps_conn_write(c, data, 2000, 0);
    len = fetch(0);
    memcpy(data, copy, len);
    size_t len2 = fetch(0);
    path("Data in, beyond a hole");
    on = true;
    give(1, len2);
    on = false;
    len2 = fetch(1);
    path("An acknowledgement in, with SACK");
    on = true;
    give(0, len2);
    on = false;
    memcpy(copy, data, len);
    path("Data in, into a hole");
    on = true;
    give(1, len);
    on = false;
    carry();
    scps_conn_write(c, data, 1000, 0);
    while (fetch(0)) /* What is sent now is lost. */
        ;
    /* The first deadline is too early: acknowledgements postpone the timer, and the heap is not
     * changed for that. */
    scps_stack_advance(h[0].st, scps_stack_deadline(h[0].st));
    now = scps_stack_deadline(h[0].st);
    path("A timer");
    on = true;
    scps_stack_advance(h[0].st, now);
    on = false;
    return 0;
}
