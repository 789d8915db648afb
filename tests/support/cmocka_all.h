/* SPDX-License-Identifier: MIT */
/* Includes cmocka after the headers that it needs. */
#ifndef SCPS_TESTS_CM_H
#define SCPS_TESTS_CM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
