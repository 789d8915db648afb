/* SPDX-License-Identifier: MIT */
/* Start-up of a Cortex-M: the processor takes its stack and the address of start() from the first
 * two words of the memory at 0 (ARMv7-M Architecture Reference Manual, section B1.5.3). */
#include <stdint.h>

#include "../stack_mark.h"

#define CPACR (*(volatile uint32_t *)0xe000ed88u) /* coprocessor access */
#define AIRCR (*(volatile uint32_t *)0xe000ed0cu) /* application interrupt and reset control */

extern uint32_t _stack_top[], _data_load[], _data[], _data_end[], _bss[], _bss_end[];
int main(void);
void start(void);
void board_fault(void);

static void halt(void)
{
    AIRCR = 0x05fa0004u; /* system reset: the emulator ends with -no-reboot */
    for (;;) {
    }
}

void start(void)
{
    const uint32_t *from = _data_load;

    for (uint32_t *to = _data; to < _data_end; to++)
        *to = *from++;
    for (uint32_t *to = _bss; to < _bss_end; to++)
        *to = 0;
    stack_mark(_stack, __builtin_frame_address(0));
    CPACR |= 0xfu << 20; /* the floating-point unit */
    __asm__ volatile("dsb\nisb");
    main();
    halt();
}

/* Any exception is a fault here: no interrupt is switched on. */
static void fault(void)
{
    board_fault();
    halt();
}

union vector {
    const void *stack;
    void (*handler)(void);
};
__attribute__((section(".vectors"), used)) static const union vector vectors[16] = {
    {.stack = _stack_top}, {.handler = start}, {.handler = fault}, /* NMI */
    {.handler = fault}, /* HardFault, to which all the others escalate */
    {.handler = fault},    {.handler = fault}, {.handler = fault},
};
