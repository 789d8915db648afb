/* SPDX-License-Identifier: MIT */
/* The boards are built with NDEBUG: an assertion is not evaluated. */
#undef assert
#define assert(x) ((void)0)
