/* SPDX-License-Identifier: MIT */
/* The length modifiers of printf for the integers of <stdint.h>. */
#ifndef SCPS_PORTS_INTTYPES_H
#define SCPS_PORTS_INTTYPES_H

#include <stdint.h>

#if __SIZEOF_LONG__ == 8
#define SCPS_PRI64 "l"
#else
#define SCPS_PRI64 "ll"
#endif
#if defined(__arm__) /* its compiler takes long for int32_t */
#define SCPS_PRI32 "l"
#else
#define SCPS_PRI32 ""
#endif

#define PRId32 SCPS_PRI32 "d"
#define PRIu32 SCPS_PRI32 "u"
#define PRIx32 SCPS_PRI32 "x"
#define PRId64 SCPS_PRI64 "d"
#define PRIu64 SCPS_PRI64 "u"
#define PRIx64 SCPS_PRI64 "x"

#endif
