/* SPDX-License-Identifier: MIT */
/* malloc gives pieces of what lies between _heap and _heap_end of the linker script. */
#ifndef SCPS_PORTS_STDLIB_H
#define SCPS_PORTS_STDLIB_H

#include <stddef.h>

void *malloc(size_t size);
void free(void *p);

#endif
