/* SPDX-License-Identifier: MIT */
/* Keeps the files of a run apart: no output file may be an input file or another output file. */
#include "scps_ttcp/option_table.h"

#include "common/files.h"

#include <unistd.h>

/* Adds the run's output files to the list *f. Returns 0; or -1, with one line in msg, if one of
 * them is an input or another output. */
static int outputs(const struct ttcp_options *o, struct files *f, char msg[TTCP_MSGLEN])
{
    char new[512];
    const struct {
        const char *option, *path;
    } one[] = {{"--output", o->output},
               {"--pcap", o->pcap},
               {"--pcap-peer", o->pcap_peer},
               {"--truth", o->truth},
               {"--qlog", o->qlog},
               {"--path-state", o->path_state},
               /* NAME.new is an output, too: pathfile_save() writes it first and then renames it to
                * NAME */
               {"--path-state", o->path_state != NULL ? new : NULL}};
    const bool data = o->action == TTCP_RECEIVE && !o->pattern && o->output == NULL;

    snprintf(new, sizeof(new), "%s.new", o->path_state != NULL ? o->path_state : "");
    if ((data || o->json) &&
        !files_add_fd(f, "standard output", STDOUT_FILENO, FILES_WRITTEN, msg, TTCP_MSGLEN))
        return -1;
    for (size_t i = 0; i < sizeof(one) / sizeof(one[0]); i++)
        if (!files_add(f, one[i].option, one[i].path, FILES_WRITTEN, msg, TTCP_MSGLEN))
            return -1;
    return 0;
}

int ttcp_files_check(const struct ttcp_options *o, char msg[TTCP_MSGLEN])
{
    struct files f = {.n = 0};

    if (o->action == TTCP_TRANSMIT && !o->pattern)
        files_add_fd(&f, "standard input", STDIN_FILENO, FILES_READ, msg, TTCP_MSGLEN);
    if (!files_add(&f, "--cc-plugin", o->cc_file, FILES_READ, msg, TTCP_MSGLEN))
        return -1;
    return outputs(o, &f, msg);
}

char *ttcp_files_read(void *ctx, const char *name, size_t *len, char *why, size_t whylen)
{
    struct files f = {.n = 0};
    char msg[TTCP_MSGLEN];

    if (outputs(ctx, &f, msg) != 0 ||
        !files_add(&f, "this table", name, FILES_READ, msg, sizeof(msg))) {
        snprintf(why, whylen, "%s", msg);
        return NULL;
    }
    return scps_io_read_file(NULL, name, len, why, whylen);
}
