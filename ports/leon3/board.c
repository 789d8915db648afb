/* SPDX-License-Identifier: MIT */
/* leon3_generic: the APBUART and the GPTIMER of GRLIB (GRLIB IP Core User's Manual). */
#include "../board.h"

#include "../stack_mark.h"

#define REG(address)  (*(volatile uint32_t *)(address))
#define UART_DATA     REG(0x80000100u)
#define UART_STATUS   REG(0x80000104u)
#define UART_CONTROL  REG(0x80000108u)
#define UART_TX_EMPTY 4u
#define UART_TX_ON    2u
/* The scaler of the timer unit divides the processor's 40 MHz by 40; timer 1 counts down. */
#define TIMER_SCALER  REG(0x80000304u)
#define TIMER_COUNT   REG(0x80000310u)
#define TIMER_RELOAD  REG(0x80000314u)
#define TIMER_CONTROL REG(0x80000318u)
#define TIMER_GO      7u /* load, restart, enable */

extern uint32_t _bss[], _bss_end[];
int main(void);
void board_start(void);

void board_start(void)
{
    for (uint32_t *to = _bss; to < _bss_end; to++)
        *to = 0;
    stack_mark(_stack, __builtin_frame_address(0));
    TIMER_SCALER = 40 - 1;
    TIMER_RELOAD = UINT32_MAX;
    TIMER_CONTROL = TIMER_GO;
    main();
}

void board_write(const char *text, size_t len)
{
    UART_CONTROL = UART_TX_ON;
    while (len--) {
        while (!(UART_STATUS & UART_TX_EMPTY)) {
        }
        UART_DATA = (uint8_t)*text++;
    }
}

scps_time board_now(void)
{
    static uint32_t last = UINT32_MAX;
    static scps_time us;
    uint32_t now = TIMER_COUNT;

    us += last - now; /* right across the wrap of the counter, every 71 minutes */
    last = now;
    return us;
}

size_t board_stack_used(void)
{
    return stack_used();
}

size_t board_stack_size(void)
{
    return stack_size();
}
