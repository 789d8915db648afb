/* SPDX-License-Identifier: MIT */
/* Allocates the memory of a network interface (Ethernet, PPP, CCSDS) when it is opened. */
#ifndef SCPS_LINK_LINKOPEN_H
#define SCPS_LINK_LINKOPEN_H

#include <scps/alloc.h>

/* Allocates an object of `size` octets, all 0, from the allocator `given`, or from the default
 * allocator if given is NULL. *used becomes the allocator that has to free the object. A size of 0
 * means that the configuration of the interface was refused. Sets *err to 0, SCPS_ERR_RANGE if size
 * is 0, or SCPS_ERR_NOMEM; err may be NULL. Returns the object, or NULL on an error. */
void *scps_link_open(const struct scps_alloc *given, size_t size, struct scps_alloc *used,
                     int *err);

#endif
