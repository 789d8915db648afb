/* SPDX-License-Identifier: MIT */
/* scps_link: emulates a space link between two TUN devices, in real time, for any program.
 *
 *   options.c   parses the command line; scenario.c takes the link from a scenario file
 *   end.c       a TUN device, perhaps in another network namespace (netns.c), with an optional
 *               capture file
 *   emu.c       the loop, which delivers packets at the times of the channel model
 *   truth.c     the fate of every packet; spool.c prevents a slow disk from delaying the loop
 *   control.c   the Unix socket: statistics, and changes to the link while it runs; client.c its
 *               client
 *   report.c    the reports; delay_hist.c histogram of how late packets were delivered
 *
 * The channel model is that of libscps_sim, which simulations in virtual time (scps_lab) use, too.
 *
 * Exit status: 0 done; 1 failed; 2 wrong usage, or something on this system has to be changed
 * first.
 */
#include "common/files.h"
#include "common/hangup.h"
#include "common/stdfds.h"
#include "scps_link/control.h"
#include "scps_link/emu.h"
#include "scps_link/report.h"
#include "scps_link/scenario.h"

#include <scps/scps.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* Returns true if no output file (--truth, --pcap-a, --pcap-b; with --json also standard output) is
 * the scenario file or another output file; otherwise false, with one line in msg. */
static bool check_files(const struct link_options *o, char msg[LINK_MSGLEN])
{
    struct files f = {.n = 0};
    const char *scenario = o->scenario ? o->scenario->sc->path : NULL;

    return files_add(&f, "--scenario", scenario, FILES_READ, msg, LINK_MSGLEN) &&
           (!o->json ||
            files_add_fd(&f, "standard output", STDOUT_FILENO, FILES_WRITTEN, msg, LINK_MSGLEN)) &&
           files_add(&f, "--truth", o->truth, FILES_WRITTEN, msg, LINK_MSGLEN) &&
           files_add(&f, "--pcap-a", o->end[0].pcap, FILES_WRITTEN, msg, LINK_MSGLEN) &&
           files_add(&f, "--pcap-b", o->end[1].pcap, FILES_WRITTEN, msg, LINK_MSGLEN);
}

static int run(const struct link_options *o)
{
    struct emu *e;
    char msg[LINK_MSGLEN] = "out of memory";
    int status = 0;

    if (!check_files(o, msg)) {
        fprintf(stderr, "scps_link: %s\n", msg);
        return 2;
    }
    e = malloc(sizeof *e);
    if (!e || emu_open(e, o, msg) != 0) {
        if (e)
            emu_close(e);
        free(e);
        fprintf(stderr, "scps_link: %s\n", msg);
        return 2;
    }
    emu_run(e);
    if (e->failed)
        status = 1;
    if (!o->quiet && !o->json)
        report_text(e, stderr);
    if (o->json)
        report_json(e, stdout);
    if (emu_close(e) != 0)
        status = 1;
    free(e);
    return stdfds_flush("scps_link", status);
}

static int act(const struct link_options *o)
{
    switch (o->action) {
    case LINK_HELP:
        link_print_help(stdout);
        return stdfds_flush("scps_link", 0);
    case LINK_VERSION:
        printf("scps_link %s\n", SCPS_VERSION);
        return stdfds_flush("scps_link", 0);
    case LINK_LIST_LINKS:
        link_print_links(stdout);
        return stdfds_flush("scps_link", 0);
    case LINK_COMPLETION:
        link_print_completion(stdout);
        return stdfds_flush("scps_link", 0);
    case LINK_CTL:
        return stdfds_flush("scps_link", control_client(o->words));
    case LINK_RUN:
        break;
    }
    return run(o);
}

int main(int argc, char **argv)
{
    struct link_options o;
    char msg[LINK_MSGLEN];
    int status = 2;

    stdfds_open("scps_link");
    hangup_init();
    signal(SIGPIPE, SIG_IGN);
    if (link_options_parse(&o, argc, argv, msg) != 0)
        fprintf(stderr, "scps_link: %s\n", msg);
    else
        status = act(&o);
    link_options_fini(&o);
    return status;
}
