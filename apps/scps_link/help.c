/* SPDX-License-Identifier: MIT */
/* The texts of --help and --list-links. */
#include "scps_link/options.h"

void link_print_help(FILE *f)
{
    fputs(
        "usage: scps_link --a NAME[@NETNS] --b NAME[@NETNS] [--link SPEC] [options]\n"
        "       scps_link --a NAME[@NETNS] --b NAME[@NETNS] --scenario FILE[:LINK] [options]\n"
        "       scps_link ctl PATH COMMAND...\n"
        "\n"
        "Joins two TUN devices by an emulated space link, in real time.\n"
        "\n"
        "  --a NAME[@NETNS]    the device at end a, made when it is not there, in network "
        "namespace\n"
        "                      NETNS (a name of ip netns, a process id, or a path)\n"
        "  --b NAME[@NETNS]    likewise at end b\n"
        "  --addr-a ADDR/LEN   an address of the kernel's at end a; without /LEN point to point;\n"
        "  --addr-b ADDR/LEN   again for more, of either family\n"
        "  --mtu N             MTU of both devices (1500 on new ones; the scenario's)\n"
        "  --link SPEC         a preset, KEY=VALUE,... or both (" LINK_DEFAULT ")\n"
        "  --list-links        list the presets\n"
        "  --scenario FILE[:LINK]  the link of a scenario file, or of one that ships: geo\n"
        "  --set KEY=VALUE     change a key of the scenario, or choose one value of a swept key\n"
        "  --run N             use the random numbers of this run of scps_lab (1)\n"
        "  --seed N            seed of the link's errors (random, and in the report; the "
        "scenario's)\n"
        "  --time SEC          end after SEC\n"
        "  -i, --interval SEC  statistics on standard error every SEC\n"
        "  --json              the final report as one JSON document on standard output\n"
        "  --pcap-a FILE       capture end a, raw IP\n"
        "  --pcap-b FILE       capture end b\n"
        "  --truth FILE        write what became of every packet, as CSV\n"
        "  --ctl PATH          a Unix socket for scps_link ctl\n"
        "  --no-realtime       do not ask for real-time scheduling\n"
        "  -q, --quiet         nothing on standard error but errors\n"
        "  --completion SHELL  print the completion of these options in bash\n"
        "  -h, --help          this\n"
        "  -V, --version       the version\n"
        "\n"
        "ctl: stats | json | show | a2b KEY=VALUE... | b2a KEY=VALUE... | both KEY=VALUE... |\n"
        "     link SPEC | stop\n"
        "\n"
        "Exit status: 0 done, 1 failed, 2 usage.\n",
        f);
}

void link_print_links(FILE *f)
{
    const char *name, *help;

    for (size_t i = 0; scps_link_preset(i, &name, &help); i++)
        fprintf(f, "%-14s %s\n", name, help);
}
