/* SPDX-License-Identifier: MIT */
/* The version of the library, for programs that were compiled with other headers. */
#include <scps/scps.h>

const char *scps_version(void)
{
    return SCPS_VERSION;
}

uint32_t scps_version_number(void)
{
    return SCPS_VERSION_NUMBER;
}
