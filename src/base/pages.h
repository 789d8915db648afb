/* SPDX-License-Identifier: MIT */
/* Pages of a stream of octets: memory for the parts of a 64-bit offset space that are in use. A
 * page is found by its offset in constant time, and its address never changes.
 *
 * Memory is allocated in slabs, each as large as all earlier ones together, so that n pages need
 * less than 2 n + 8 pages of memory, and no allocation is made for a single page. Dropped pages are
 * used again; slabs are freed all at once.
 */
#ifndef SCPS_BASE_PAGES_H
#define SCPS_BASE_PAGES_H

#include <scps/alloc.h>
#include <stdbool.h>

#define SCPS_PAGE 256u /* octets in a page: a power of two */
/* largest number of slabs; their pages together hold at least 2^32 octets */
#define SCPS_PAGE_SLABS 22

/* Invariant: all pages in use are in the hash table, which is never more than half full. */
struct scps_pages {
    uint8_t *slab[SCPS_PAGE_SLABS]; /* slab[0] to slab[n_slabs - 1] are allocated */
    /* hash table with linear probing; NULL: no memory is allocated yet */
    struct scps_page_slot *table;
    uint32_t n_slabs, table_bits; /* the table has 2^table_bits places */
    uint32_t used;                /* number of pages in use */
    /* Number of pages that have been in use since scps_pages_init() or scps_pages_clear(): the
     * pages 0 to touched - 1 of the slabs. Each of them holds data now, or was dropped
     * (scps_pages_drop()) and is in the free list. */
    uint32_t touched;
    /* number of the first page in the list of dropped pages, which are used again before the page
     * `touched`, plus one; 0: the list is empty */
    uint32_t free_list;
};

void scps_pages_init(struct scps_pages *p);
/* Drops all pages and frees all memory. */
void scps_pages_fini(struct scps_pages *p, const struct scps_alloc *a);
/* Allocates memory so that scps_pages_make() can add n more pages. Returns 0, or SCPS_ERR_NOMEM
 * with nothing changed. */
int scps_pages_reserve(struct scps_pages *p, const struct scps_alloc *a, uint32_t n);
/* Returns the address of the page that contains offset off; NULL if there is none. */
uint8_t *scps_pages_find(const struct scps_pages *p, uint64_t off);
/* Adds the page that holds stream offset off, with undefined contents, and returns its address.
 * Precondition: the page does not exist, and scps_pages_reserve() has reserved room for it. */
uint8_t *scps_pages_make(struct scps_pages *p, uint64_t off);
/* Drops the page that holds offset off, if there is one. */
void scps_pages_drop(struct scps_pages *p, uint64_t off);
/* Drops the pages that are completely in [from, to). Takes time in proportion to to - from, or to
 * the size of the hash table of all pages if that is less. */
void scps_pages_drop_range(struct scps_pages *p, uint64_t from, uint64_t to);
/* Drops all pages and keeps the memory. */
void scps_pages_clear(struct scps_pages *p);
/* Returns the bytes taken from the allocator. */
size_t scps_pages_memory(const struct scps_pages *p);

#endif
