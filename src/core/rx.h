/* SPDX-License-Identifier: MIT */
/* State of a connection, allocated while data beyond a hole has arrived, or acknowledgements have a
 * budget. */
#ifndef SCPS_CORE_RX_H
#define SCPS_CORE_RX_H

#include "core/ackout.h"
#include "core/report.h"

struct scps_rx {
    struct scps_report report;
    struct scps_ackrx ack;
    /* offset of a FIN that has arrived beyond a hole; 0: none has. rcv.c assigns it */
    scps_off fin_at;
    struct scps_ackbudget budget;
};

#endif
