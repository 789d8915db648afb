/* SPDX-License-Identifier: MIT */
/* SCPS_SANITIZED: 1 in a build with the address sanitizer, else 0.
 *
 * A test that repeats the same code with many values, to judge figures that do not depend on the
 * build, may take fewer of them there: that build takes four times the time and looks for faults of
 * memory, not for figures.
 */
#ifndef TESTS_SANITIZED_H
#define TESTS_SANITIZED_H

#define SCPS_SANITIZED 0
#if defined(__SANITIZE_ADDRESS__) /* gcc */
#undef SCPS_SANITIZED
#define SCPS_SANITIZED 1
#elif defined(__has_feature) /* clang */
#if __has_feature(address_sanitizer)
#undef SCPS_SANITIZED
#define SCPS_SANITIZED 1
#endif
#endif

#endif
