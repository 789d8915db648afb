/* SPDX-License-Identifier: MIT */
/* The version of the library, which may differ from that of the headers with which a program was
 * compiled. */
#include <scps/scps.h>

const char *scps_version(void)
{
    return SCPS_VERSION;
}

uint32_t scps_version_number(void)
{
    return SCPS_VERSION_NUMBER;
}
