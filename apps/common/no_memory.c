/* SPDX-License-Identifier: MIT */
#include "common/text.h"

#include <errno.h>
#include <stdlib.h>

void lab_no_memory(void)
{
    fprintf(stderr, "%s: out of memory\n", program_invocation_short_name);
    exit(1);
}
