/* SPDX-License-Identifier: MIT */
/* cmocka with the headers it wants to see first. */
#ifndef SCPS_TESTS_CM_H
#define SCPS_TESTS_CM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
