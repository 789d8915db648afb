/* SPDX-License-Identifier: MIT */
/* mps2-an386: the UART of the CMSDK (Arm DDI 0479C section 4.3) and the cycle counter of the
 * board's FPGA (Arm DUI 0530 section 4.4). */
#include "../board.h"

#include "../stack_mark.h"

#define REG(address) (*(volatile uint32_t *)(address))
#define UART_DATA    REG(0x40004000u)
#define UART_STATE   REG(0x40004004u)
#define UART_CTRL    REG(0x40004008u)
#define UART_BAUDDIV REG(0x40004010u)
#define UART_TX_FULL 1u
#define UART_TX_ON   1u
#define FPGA_COUNTER REG(0x40028018u) /* counts up at PER_US a microsecond, 32 bits */
#define PER_US       25u

void board_fault(void);

void board_write(const char *text, size_t len)
{
    UART_BAUDDIV = 16;
    UART_CTRL = UART_TX_ON;
    while (len--) {
        while (UART_STATE & UART_TX_FULL) {
        }
        UART_DATA = (uint8_t)*text++;
    }
}

scps_time board_now(void)
{
    static uint32_t last;
    static uint64_t cycles;
    uint32_t now = FPGA_COUNTER;

    cycles += now - last; /* right across the wrap of the counter, every 171 s */
    last = now;
    return (scps_time)(cycles / PER_US);
}

size_t board_stack_used(void)
{
    return stack_used();
}

size_t board_stack_size(void)
{
    return stack_size();
}

void board_fault(void)
{
    static const char words[] = "fault\n";

    board_write(words, sizeof words - 1);
}
