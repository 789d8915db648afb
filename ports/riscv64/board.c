/* SPDX-License-Identifier: MIT */
/* qemu's "virt": a UART of the 16550 kind, the timer of the core-local interruptor, and the device
 * that switches the machine off (qemu, docs/system/riscv/virt.rst; hw/riscv/virt.c has the map). */
#include "../board.h"

#include "../stack_mark.h"

#define UART      ((volatile uint8_t *)0x10000000u) /* 0: data, 5: line status */
#define UART_FREE 0x20u
#define MTIME     (*(volatile uint64_t *)0x0200bff8u) /* 10 MHz */
#define PER_US    10u
#define FINISHER  (*(volatile uint32_t *)0x00100000u)
#define PASS      0x5555u
#define FAIL      0x13333u /* exit status 1 in the upper half */

extern uint32_t _bss[], _bss_end[];
int main(void);
void board_start(void);
void board_trap(unsigned long cause, unsigned long pc);

static void halt(uint32_t how)
{
    for (;;)
        FINISHER = how;
}

void board_start(void)
{
    for (uint32_t *to = _bss; to < _bss_end; to++)
        *to = 0;
    stack_mark(_stack, __builtin_frame_address(0));
    halt(main() == 0 ? PASS : FAIL);
}

void board_trap(unsigned long cause, unsigned long pc)
{
    static const char words[] = "fault\n";

    (void)cause; /* for a debugger */
    (void)pc;
    board_write(words, sizeof words - 1);
    halt(FAIL);
}

void board_write(const char *text, size_t len)
{
    while (len--) {
        while (!(UART[5] & UART_FREE)) {
        }
        UART[0] = (uint8_t)*text++;
    }
}

scps_time board_now(void)
{
    return (scps_time)(MTIME / PER_US);
}

size_t board_stack_used(void)
{
    return stack_used();
}

size_t board_stack_size(void)
{
    return stack_size();
}
