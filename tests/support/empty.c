/* SPDX-License-Identifier: MIT */
/* Keeps the support library non-empty where no helper is needed. */
extern int scps_test_support_present;
int scps_test_support_present = 1;
