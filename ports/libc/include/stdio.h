/* SPDX-License-Identifier: MIT */
/* Text into memory is all that the library and the programs of the boards print. */
#ifndef SCPS_PORTS_STDIO_H
#define SCPS_PORTS_STDIO_H

#include <stdarg.h>
#include <stddef.h>

int vsnprintf(char *buf, size_t size, const char *fmt, va_list args);
int snprintf(char *buf, size_t size, const char *fmt, ...);

#endif
