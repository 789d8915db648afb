/* SPDX-License-Identifier: MIT */
/* scps_ttcp: sends or receives a stream and reports how fast it went.
 *
 *   options.c            the command line as values           units.c   numbers with units
 *   run_virtual.c        both ends in this process, over a virtual link
 *   run_real.c           one end, over TUN or UDP
 *   run_server.c         --server: one test after another, and several at once
 *   virtual_open.c real_open.c        what these runs open at the start
 *   real_finish.c        how a run in real time ends
 *   flow.c               data in one direction, and one end of a connection
 *   receipt.c            --tell: the receiver's result, which it sends back to the sender
 *   transfer.c           a sender and a receiver of a stream, driven by events
 *   echo.c               -e: the receiver sends each block back, and the sender measures the time
 *   dgram_tx.c dgram_rx.c             -u: a sender and a receiver of datagrams
 *   input.c output.c buffer.c         where bytes come from and go to
 *   verify.c             comparison of the received bytes with those sent
 *   compare.c            --compare: one run for each controller, as a table
 *   result.c intervals.c              all figures of a run
 *   report_text.c report_json.c json_start.c json_end.c report_udp.c   the results, for the user
 *   progress.c           a line on the terminal during the transfer
 *   watch.c              -d, --qlog: each event that a stack reports to its observer
 *
 * Exit status: 0 done; 1 failed; 2 wrong usage; 3 ended early with partial data; 4 the peer lacks a
 * feature that --require demands; 124 timeout.
 */
#include "common/hangup.h"
#include "common/stdfds.h"
#include "scps_ttcp/compare.h"
#include "scps_ttcp/path_file.h"
#include "scps_ttcp/run.h"

#include <scps/scps.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static int act(const struct ttcp_options *o)
{
    struct ttcp_result r;
    char msg[PATHFILE_MSGLEN];
    int status;

    switch (o->action) {
    case TTCP_HELP:
        ttcp_print_help(stdout);
        return stdfds_flush("scps_ttcp", 0);
    case TTCP_VERSION:
        printf("scps_ttcp %s\n", SCPS_VERSION);
        return stdfds_flush("scps_ttcp", 0);
    case TTCP_LIST_CC:
        ttcp_print_cc(stdout);
        return stdfds_flush("scps_ttcp", 0);
    case TTCP_LIST_LINKS:
        ttcp_print_links(stdout);
        return stdfds_flush("scps_ttcp", 0);
    case TTCP_COMPLETION:
        ttcp_print_completion(stdout);
        return stdfds_flush("scps_ttcp", 0);
    case TTCP_TRANSMIT:
    case TTCP_RECEIVE:
        break;
    }

    if (o->path_state != NULL && !pathfile_check(o->path_state, msg)) {
        fprintf(stderr, "scps_ttcp: --path-state %.200s: %s\n", o->path_state, msg);
        return 2;
    }
    if (o->server)
        return ttcp_serve(o);
    ttcp_result_init(&r, o);
    if (o->link)
        ttcp_run_virtual(o, &r);
    else
        ttcp_run_real(o, &r);
    status = ttcp_exit_status(r.outcome);
    if ((r.tx.open || r.rx.open) && (!o->json || o->verbose > 0))
        ttcp_report_text(&r, stderr);
    else if (o->verbose > 0)
        ttcp_report_dropped(&r, stderr);
    if (r.outcome != TTCP_DONE)
        fprintf(stderr, "scps_ttcp: %s\n", r.error);
    status = stdfds_reported(status);
    if (o->json) {
        ttcp_report_json(&r, &(struct scps_json){.f = stdout, .indent = "\t"});
        status = stdfds_flush("scps_ttcp", status);
    }
    ttcp_result_fini(&r);
    return status;
}

int main(int argc, char **argv)
{
    struct ttcp_options o;
    char msg[TTCP_MSGLEN];
    const char *env = getenv("SCPS_TTCP_OPTIONS");
    int status = 2;

    stdfds_open("scps_ttcp");
    hangup_init();
    /* SIGPIPE is ignored so that a failed write returns EPIPE and the report can still be
     * printed. */
    signal(SIGPIPE, SIG_IGN);
    if (ttcp_options_parse(&o, argc, argv, env, msg) == 0)
        status = o.compare != NULL && o.action == TTCP_TRANSMIT
                     ? ttcp_compare(&(struct ttcp_compare){&o, argc, argv, env})
                     : act(&o);
    else
        fprintf(stderr, "scps_ttcp: %s\n", msg);
    ttcp_options_fini(&o);
    return status;
}
