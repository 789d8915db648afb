/* SPDX-License-Identifier: MIT */
/* malloc over the memory that the linker script leaves: pieces of powers of two, and what is freed
 * waits for the next request of its size. errno is here, too. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#define LEAST 5 /* 32 bytes, of which a piece needs 16 for its order */
#define HEAD  16

union piece {
    struct {
        unsigned order;
        union piece *next;
    } of;
    _Alignas(HEAD) uint8_t head[HEAD];
};

extern uint8_t _heap[], _heap_end[];

int errno;
static union piece *spare[sizeof(size_t) * 8];
static uint8_t *unused = _heap;

void *malloc(size_t size)
{
    unsigned order = LEAST;
    union piece *p;

    if (size > (size_t)(_heap_end - _heap))
        return NULL;
    while ((size_t)1 << order < size + HEAD)
        order++;
    p = spare[order];
    if (p) {
        spare[order] = p->of.next;
    } else {
        if ((size_t)(_heap_end - unused) < (size_t)1 << order)
            return NULL;
        p = (union piece *)(void *)unused;
        unused += (size_t)1 << order;
    }
    p->of.order = order;
    return p + 1;
}

void free(void *at)
{
    union piece *p = (union piece *)at - 1;

    if (!at)
        return;
    p->of.next = spare[p->of.order];
    spare[p->of.order] = p;
}
