/* SPDX-License-Identifier: MIT */
/* The application as owner of a connection, and the events that wait for it (notify.h). */
#include "core/notify.h"

unsigned scps_notify_take(struct scps_notify *n)
{
    unsigned kind = 0;

    while (!(n->events >> kind & 1))
        kind++;
    n->events &= (uint16_t)(n->events - 1);
    return kind;
}
