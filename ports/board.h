/* SPDX-License-Identifier: MIT */
/* What the programs in ports/ ask of a board. Each folder of a board has it in board.c. */
#ifndef SCPS_PORTS_BOARD_H
#define SCPS_PORTS_BOARD_H

#include <stddef.h>

#include <scps/netif.h>

/* Writes len characters to the board's serial port and returns when the port has taken them. */
void board_write(const char *text, size_t len);
/* The time since the board was switched on, µs. It never goes back. The program has to ask at
 * least once a minute, because the counter behind it may wrap. */
scps_time board_now(void);
/* The most bytes of stack that have been in use, found by the pattern that the start-up left
 * there. 0: this board does not know. */
size_t board_stack_used(void);
/* Bytes that the linker script reserves for the stack; 0 as above. */
size_t board_stack_size(void);
/* Writes both, as "# stack: 1234 of 8192 bytes" (report.c, the same for all boards). */
void board_report(void);

#endif
