/* SPDX-License-Identifier: MIT */
/* State of a connection while something has arrived beyond a hole, or acknowledgements have a
 * budget. */
#ifndef SCPS_CORE_RX_H
#define SCPS_CORE_RX_H

#include "core/ackout.h"
#include "core/report.h"

struct scps_rx {
    struct scps_report report;
    struct scps_ackrx ack;
    scps_off fin_at; /* offset of a FIN that lies beyond a hole; 0: none does. rcv.c assigns it */
    struct scps_ackbudget budget;
};

#endif
