/* SPDX-License-Identifier: MIT */
/* Prints the texts of the options --help and --list-links of scps_link. */
#include "scps_link/options.h"

void link_print_help(FILE *f)
{
    fputs(
        "usage: scps_link --a NAME[@NETNS] --b NAME[@NETNS] [--link SPEC] [options]\n"
        "       scps_link --a NAME[@NETNS] --b NAME[@NETNS] --scenario FILE[:LINK] [options]\n"
        "       scps_link ctl PATH COMMAND...\n"
        "\n"
        "Joins two TUN devices by an emulated space link, in real time. Defaults are in "
        "parentheses.\n"
        "\n"
        "  --a NAME[@NETNS]    TUN device at end a, created if it does not exist, in network "
        "namespace\n"
        "                      NETNS (a name of ip netns, a process id, or a path)\n"
        "  --b NAME[@NETNS]    TUN device at end b\n"
        "  --addr-a ADDR/LEN   address of the kernel on the device at end a; without /LEN the "
        "device is\n"
        "                      point-to-point; give the option again for more addresses of either "
        "family\n"
        "  --addr-b ADDR/LEN   address of the kernel on the device at end b\n"
        "  --mtu N             MTU of both devices, bytes (1500 on new devices, or the "
        "scenario's)\n"
        "  --link SPEC         the link: a preset of --list-links, KEY=VALUE pairs, or both "
        "(" LINK_DEFAULT ")\n"
        "  --list-links        list the presets\n"
        "  --scenario FILE[:LINK]\n"
        "                      take the link from a scenario file, or from a scenario that is "
        "installed\n"
        "                      with scps_lab, such as geo\n"
        "  --set KEY=VALUE     set a key of the scenario, or choose one of the values that it "
        "sweeps\n"
        "  --run N             use the random numbers that run N of scps_lab has (1)\n"
        "  --seed N            seed of the link's random errors (random, shown in the report; the\n"
        "                      scenario's)\n"
        "  --time SEC          end after SEC seconds (on SIGINT, SIGTERM, SIGHUP or ctl's stop)\n"
        "  -i, --interval SEC  print statistics on standard error every SEC seconds\n"
        "  --json              print the final report as one JSON document on standard output\n"
        "  --pcap-a FILE       write a capture of the packets at end a to FILE (raw IP)\n"
        "  --pcap-b FILE       write a capture of the packets at end b to FILE\n"
        "  --truth FILE        write the fate of every packet to FILE, as CSV\n"
        "  --ctl PATH          listen at the Unix socket PATH for commands of scps_link ctl\n"
        "  --no-realtime       do not request real-time scheduling of the process\n"
        "  -q, --quiet         print only errors on standard error\n"
        "  --completion SHELL  print the completion of these options in bash\n"
        "  -h, --help          print this help\n"
        "  -V, --version       print the version\n"
        "\n"
        "Commands of scps_link ctl: stats | json | show | a2b KEY=VALUE... | b2a KEY=VALUE... |\n"
        "     both KEY=VALUE... | link SPEC | stop\n"
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
