/* SPDX-License-Identifier: MIT */
/*     0.500612 t acked una=1 bytes=0 rtt=500612 rate=0
 *
 * time, end, note, arguments: the names are those of <scps/events.def>.
 */
#include "scps_ttcp/watch.h"
#include "scps_ttcp/units.h"

#include <inttypes.h>

static void note(void *ctx, const struct scps_note *n)
{
    struct ttcp_watch *w = ctx;
    char at[32];

    if (w->sender != NULL && n->kind == SCPS_NOTE_ACKED && w->sender->conn != NULL &&
        n->conn == scps_conn_id(w->sender->conn))
        ttcp_sender_note(w->sender, n);
    if (w->debug == NULL)
        return;
    fprintf(w->debug, "%s %c %s", units_print_seconds(at, n->at - w->t0, 6), w->role,
            scps_note_name(n->kind));
    for (unsigned i = 0; i < 4; i++)
        if (scps_note_arg(n->kind, i) != NULL)
            fprintf(w->debug, " %s=%" PRId64, scps_note_arg(n->kind, i), (int64_t)n->arg[i]);
    fputc('\n', w->debug);
}

struct scps_observer ttcp_watch_observer(struct ttcp_watch *w)
{
    uint64_t acked = (uint64_t)1 << SCPS_NOTE_ACKED;
    uint64_t all = ((uint64_t)1 << SCPS_NOTE_COUNT) - 1;

    return (struct scps_observer){.note = note,
                                  .ctx = w,
                                  .mask = w->debug != NULL    ? all
                                          : w->sender != NULL ? acked
                                                              : 0};
}
