// SPDX-License-Identifier: MIT
// A C++ program uses the C library: one call into each header that stands alone, and a connection
// over two stacks.
#include <cstdio>
#include <cstring>

#include <scps/scps.h>
#include <scps/wire.h>

namespace
{
struct Host {
    scps_stack *st;
    scps_netif nif;
    scps_addr addr;

    explicit Host(const char *text, uint64_t seed) : st(), nif(), addr()
    {
        scps_stack_config cfg = scps_stack_config_default();
        cfg.alloc = scps_alloc_default();
        cfg.seed[0] = seed;
        st = scps_stack_new(&cfg);
        nif.name = "pipe";
        nif.mtu = 1500;
        scps_addr_parse(text, &addr);
        scps_stack_add_netif(st, &nif);
        scps_stack_add_addr(st, &nif, &addr, 24);
    }
    ~Host()
    {
        scps_stack_free(st);
    }
    Host(const Host &) = delete;
    Host &operator=(const Host &) = delete;
};

bool carry(Host &from, Host &to, scps_time now)
{
    uint8_t room[2048];
    scps_pkt pkt = scps_pkt();
    pkt.data = room;
    pkt.cap = sizeof room;
    if (!scps_stack_output(from.st, &from.nif, now, &pkt))
        return false;
    pkt.at = now;
    scps_stack_input(to.st, &to.nif, &pkt);
    return true;
}

scps_time zero(void *)
{
    return 0;
}
void nothing(void *, scps_time)
{
}
} // namespace

int main()
{
    Host a("10.0.0.1", 1), b("10.0.0.2", 2);
    scps_endpoint at = {b.addr, 7};
    scps_listener *l = scps_listen(b.st, NULL, &at, 1, NULL);
    scps_conn *c = scps_connect(a.st, NULL, NULL, &at, NULL), *s = NULL;
    char text[16] = "";
    scps_event ev;

    if (!l || !c)
        return 1;
    for (int i = 0; i < 20; i++) {
        while (carry(a, b, i) || carry(b, a, i)) {
        }
        while (scps_stack_event(a.st, &ev))
            if (ev.kind == SCPS_EV_CONNECTED)
                scps_conn_write(c, "bonjour", 7, 0);
        while (scps_stack_event(b.st, &ev))
            if (ev.kind == SCPS_EV_ACCEPT)
                s = scps_accept(ev.listener);
        if (s && scps_conn_read(s, text, sizeof text, 0) > 0)
            break;
    }
    scps_clock clk = {zero, nothing, NULL};
    // a netif without operations is fetched from, so this only asks for a wake-up
    scps_pump(a.st, &clk);
    std::printf("%s, %s, %s\n", text, scps_strerror(SCPS_ERR_AGAIN), scps_cc_find("vj")->name);
    return std::strcmp(text, "bonjour") != 0;
}
