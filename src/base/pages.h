/* SPDX-License-Identifier: MIT */
/* Pages of a stream of octets: memory for the parts of a 64-bit offset space that are in use. A
 * page is found by its offset in constant time, and its place in memory never changes.
 *
 * Memory is taken in slabs, each as large as all before it together, so that n pages have taken
 * less than 2 n + 8, and no allocation is made for a single page. Dropped pages are used again;
 * slabs are given back all at once. */
#ifndef SCPS_BASE_PAGES_H
#define SCPS_BASE_PAGES_H

#include <scps/alloc.h>
#include <stdbool.h>

#define SCPS_PAGE       256u /* octets in a page, a power of two */
#define SCPS_PAGE_SLABS 22   /* enough for 2^32 octets in pages */

/* Invariant: used pages are in the table, which is never more than half full. */
struct scps_pages {
    uint8_t *slab[SCPS_PAGE_SLABS]; /* the first n_slabs are taken */
    struct scps_page_slot *table;   /* NULL: none; open addressing, linear probing */
    uint32_t n_slabs, table_bits;   /* the table has 2^table_bits places */
    uint32_t used;                  /* pages in use */
    uint32_t touched;               /* pages that were ever in use since the slabs were taken */
    uint32_t free_list;             /* first dropped page, by its number plus one; 0: none */
};

void scps_pages_init(struct scps_pages *p);
/* Drops all pages and gives all memory back. */
void scps_pages_fini(struct scps_pages *p, const struct scps_alloc *a);
/* Makes sure that n more pages can be made. 0, or SCPS_ERR_NOMEM: nothing is lost. */
int scps_pages_reserve(struct scps_pages *p, const struct scps_alloc *a, uint32_t n);
/* The page in which offset off lies, by its first octet; NULL if there is none. */
uint8_t *scps_pages_find(const struct scps_pages *p, uint64_t off);
/* Makes the page in which off lies. The page does not exist, and room for it has been reserved. Its
 * contents are undefined. */
uint8_t *scps_pages_make(struct scps_pages *p, uint64_t off);
/* Drops the page in which off lies, if there is one. */
void scps_pages_drop(struct scps_pages *p, uint64_t off);
/* Drops the pages that lie wholly in [from, to). Costs O(min(to - from, memory)). */
void scps_pages_drop_range(struct scps_pages *p, uint64_t from, uint64_t to);
/* Drops all pages and keeps the memory. */
void scps_pages_clear(struct scps_pages *p);
/* Bytes taken from the allocator. */
size_t scps_pages_memory(const struct scps_pages *p);

#endif
