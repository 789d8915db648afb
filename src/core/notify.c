/* SPDX-License-Identifier: MIT */
/* Records which events wait for the application that owns a connection (notify.h). */
#include "core/notify.h"

unsigned scps_notify_take(struct scps_notify *n)
{
    unsigned kind = 0;

    while (!(n->events >> kind & 1))
        kind++;
    n->events &= (uint16_t)(n->events - 1);
    return kind;
}
