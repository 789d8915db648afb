/* SPDX-License-Identifier: MIT */
#include "link/linkopen.h"

#include <string.h>

#include <scps/error.h>

#include "base/alloc.h"

void *scps_link_open(const struct scps_alloc *given, size_t size, struct scps_alloc *used, int *err)
{
    void *object = NULL;
    int result = SCPS_ERR_RANGE;

    *used = scps_alloc_or_default(given);
    if (size) {
        object = used->alloc(used->ctx, size);
        result = object ? 0 : SCPS_ERR_NOMEM;
    }
    if (object)
        memset(object, 0, size);
    if (err)
        *err = result;
    return object;
}
