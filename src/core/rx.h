/* SPDX-License-Identifier: MIT */
/* Receiving state that few connections need. It is allocated when data or a FIN arrives beyond a
 * hole, or when a rate limit of acknowledgements (ACK budget) is in force. */
#ifndef SCPS_CORE_RX_H
#define SCPS_CORE_RX_H

#include "core/ackout.h"
#include "core/report.h"

struct scps_rx {
    struct scps_report report;
    struct scps_ackrx ack;
    /* offset of a FIN that has arrived beyond a hole, set by rcv.c; 0: none has */
    scps_off fin_at;
    struct scps_ackbudget budget;
};

#endif
