/* SPDX-License-Identifier: MIT */
/* Reports the packets that the link layer of a real interface (PPP, Ethernet, CCSDS frames) has
 * dropped, and why. */
#include "scps_ttcp/report_parts.h"

#include <inttypes.h>

void ttcp_result_device(struct ttcp_result *r, const struct scps_netif *top)
{
    r->link_trouble = scps_ifopts_trouble(top);
    r->unanswered.family = 0;
    scps_ifopts_unanswered(top, &r->unanswered);
    r->n_link_drops = 0;
    while (r->n_link_drops < SCPS_IFDROPS &&
           scps_ifopts_drop(top, r->n_link_drops, &r->link_drops[r->n_link_drops]))
        r->n_link_drops++;
}

bool ttcp_unanswered_words(const struct ttcp_result *r, char *buf, size_t len)
{
    char addr[SCPS_ADDR_STRLEN];

    if (r->unanswered.family == 0)
        return false;
    snprintf(buf, len,
             "no station of this Ethernet says that it has %s: check HOST, the /LEN of --addr and "
             "--gateway",
             scps_addr_format(&r->unanswered, addr));
    return true;
}

void ttcp_report_interface(const struct ttcp_result *r, FILE *f)
{
    bool any = false;

    for (unsigned i = 0; i < r->n_link_drops; i++) {
        const struct scps_ifdrop *d = &r->link_drops[i];

        if (d->count == 0)
            continue;
        if (!any)
            fprintf(f, "ttcp-%c: %s dropped:", r->has_tx ? 't' : 'r', d->link);
        fprintf(f, "%s %" PRIu64 " %s", any ? "," : "", d->count, d->words);
        any = true;
    }
    if (any)
        fputc('\n', f);
}

void ttcp_json_interface(struct scps_json *j, const struct ttcp_result *r)
{
    if (r->n_link_drops == 0)
        return;
    scps_json_open(j, "interface", '{');
    scps_json_string(j, "link", r->link_drops[0].link);
    scps_json_open(j, "drops", '{');
    for (unsigned i = 0; i < r->n_link_drops; i++)
        scps_json_uint(j, r->link_drops[i].name, r->link_drops[i].count);
    scps_json_close(j, '}');
    scps_json_close(j, '}');
}
