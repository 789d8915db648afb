/* SPDX-License-Identifier: MIT */
#include "scps_ttcp/path.h"

#include "scps_ttcp/result.h"

#include <stdio.h>
#include <time.h>

void ttcp_path_restore(struct ttcp_path *p, const struct ttcp_options *o, struct scps_conn *c)
{
    char msg[PATHFILE_MSGLEN];

    if (o->path_state == NULL)
        return;
    p->file = (struct pathfile){.name = o->path_state, .fd = -1};
    p->tried = true;
    if (!pathfile_restore(&p->file, c, time(NULL), msg))
        fprintf(stderr, "scps_ttcp: --path-state %.200s: not used: %s\n", o->path_state, msg);
}

/* With -v: prints the phases of careful resume (RFC 9959) through which connection c went. wrote:
 * its path state was saved to the file. keep: the file must not be replaced. If both are false, c
 * has carried too little data to know the path. */
static void report(const struct scps_conn *c, bool wrote, bool keep)
{
    unsigned been;

    scps_path_phase(c, &been);
    fprintf(stderr, "ttcp-t: careful resume:");
    for (unsigned p = SCPS_RESUME_RECONNAISSANCE; p <= SCPS_RESUME_RETREAT; p++)
        if (been & 1u << p)
            fprintf(stderr, " %s", scps_resume_phase_name((enum scps_resume_phase)p));
    if (been & 1u << SCPS_RESUME_NORMAL)
        fprintf(stderr, " %s", scps_resume_phase_name(SCPS_RESUME_NORMAL));
    fprintf(stderr, "; %s\n",
            wrote  ? "saved"
            : keep ? "the file is left as it was"
                   : "too little was carried to save");
}

void ttcp_path_save(struct ttcp_path *p, const struct ttcp_options *o, const struct scps_conn *c,
                    struct ttcp_result *r)
{
    char msg[PATHFILE_MSGLEN];
    bool wrote;

    if (!p->tried || c == NULL)
        return;
    if (!pathfile_save(&p->file, c, time(NULL), &wrote, msg))
        ttcp_result_file_failed(r, "--path-state %.200s: %s: give a file that can be written",
                                o->path_state, msg);
    else if (o->verbose > 0)
        report(c, wrote, p->file.keep);
}
