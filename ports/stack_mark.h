/* SPDX-License-Identifier: MIT */
/* The start-up fills the stack with a pattern; what the pattern has left, nobody has used. */
#ifndef SCPS_PORTS_STACK_MARK_H
#define SCPS_PORTS_STACK_MARK_H

#include <stddef.h>
#include <stdint.h>

#define STACK_PATTERN UINT32_C(0x5ca1ab1e)

extern uint32_t _stack[], _stack_top[]; /* of the linker script: lowest address, one beyond */

/* Fills what lies 64 bytes and more below frame. */
static inline void stack_mark(uint32_t *lowest, const void *frame)
{
    for (uint32_t *p = lowest; (uintptr_t)p + 64 < (uintptr_t)frame; p++)
        *(volatile uint32_t *)p = STACK_PATTERN;
}

/* Bytes from the lowest word that has lost the pattern to the top. */
static inline size_t stack_used(void)
{
    const uint32_t *p = _stack;

    while (p < _stack_top && *p == STACK_PATTERN)
        p++;
    return (size_t)(_stack_top - p) * sizeof *p;
}

static inline size_t stack_size(void)
{
    return (size_t)(_stack_top - _stack) * sizeof *_stack;
}

#endif
