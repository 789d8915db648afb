/* SPDX-License-Identifier: MIT */
/* Pages of a stream: their memory is in slabs, and a hash table finds them. The pages are numbered
 * through all slabs:
 *
 *      number   0 .. 7 | 8 .. 15 | 16 .. 31 | 32 .. 63 | ...
 *               slab 0 | slab 1  | slab 2   | slab 3   |
 *
 * Dropped pages form a list: the first octets of a dropped page hold the number of the next dropped
 * page.
 */
#include "base/pages.h"

#include <scps/error.h>
#include <string.h>

#define FIRST      8u /* number of pages in the first slab */
#define FIRST_BITS 4u

/* An entry of the hash table that finds the page of a stream offset: the key of the page, and its
 * number in the slabs (the blocks of memory that hold the pages). */
struct scps_page_slot {
    uint32_t key;    /* offset / SCPS_PAGE, modulo 2^32: unique within 2^40 octets */
    uint32_t number; /* Number of the page in the slabs, plus one; 0: the entry is free */
};

static uint32_t slab_pages(uint32_t slab)
{
    return slab ? FIRST << (slab - 1) : FIRST;
}

static uint32_t capacity(const struct scps_pages *p)
{
    return p->n_slabs ? FIRST << (p->n_slabs - 1) : 0;
}

static size_t table_size(uint32_t bits)
{
    return sizeof(struct scps_page_slot) << bits;
}

/* Returns the address of page `number`. */
static uint8_t *at(const struct scps_pages *p, uint32_t number)
{
    uint32_t slab = 0, first = 0;

    if (number >= FIRST) {
        slab = 32u - (uint32_t)__builtin_clz(number / FIRST);
        first = FIRST << (slab - 1);
    }
    return p->slab[slab] + (size_t)(number - first) * SCPS_PAGE;
}

/* Fibonacci hashing: spreads pages over the table at whatever distances they follow each other. */
static uint32_t hash(uint32_t key, uint32_t bits)
{
    return (key * 2654435769u) >> (32 - bits);
}

void scps_pages_init(struct scps_pages *p)
{
    memset(p, 0, sizeof *p);
}

void scps_pages_fini(struct scps_pages *p, const struct scps_alloc *a)
{
    for (uint32_t i = 0; i < p->n_slabs; i++)
        a->free(a->ctx, p->slab[i], (size_t)slab_pages(i) * SCPS_PAGE);
    if (p->table)
        a->free(a->ctx, p->table, table_size(p->table_bits));
    scps_pages_init(p);
}

size_t scps_pages_memory(const struct scps_pages *p)
{
    return (size_t)capacity(p) * SCPS_PAGE + (p->table ? table_size(p->table_bits) : 0);
}

static void insert(struct scps_page_slot *table, uint32_t bits, struct scps_page_slot s)
{
    uint32_t mask = (1u << bits) - 1, i = hash(s.key, bits);

    while (table[i].number)
        i = (i + 1) & mask;
    table[i] = s;
}

/* Makes the hash table large enough for n pages in use (at most half of its entries are used). */
static int table_for(struct scps_pages *p, const struct scps_alloc *a, uint32_t n)
{
    uint32_t bits = p->table ? p->table_bits : FIRST_BITS;
    struct scps_page_slot *t;

    while (n > 1u << (bits - 1))
        bits++;
    if (p->table && bits == p->table_bits)
        return 0;
    t = a->alloc(a->ctx, table_size(bits));
    if (!t)
        return SCPS_ERR_NOMEM;
    memset(t, 0, table_size(bits));
    if (p->table) {
        for (uint32_t i = 0; i < 1u << p->table_bits; i++)
            if (p->table[i].number)
                insert(t, bits, p->table[i]);
        a->free(a->ctx, p->table, table_size(p->table_bits));
    }
    p->table = t;
    p->table_bits = bits;
    return 0;
}

int scps_pages_reserve(struct scps_pages *p, const struct scps_alloc *a, uint32_t n)
{
    uint32_t need = p->used + n;

    if (need < n || need > FIRST << (SCPS_PAGE_SLABS - 1) || table_for(p, a, need))
        return SCPS_ERR_NOMEM;
    while (capacity(p) < need) {
        uint8_t *s = a->alloc(a->ctx, (size_t)slab_pages(p->n_slabs) * SCPS_PAGE);
        if (!s)
            return SCPS_ERR_NOMEM;
        p->slab[p->n_slabs++] = s;
    }
    return 0;
}

/* Returns the index of the hash table's entry for `key`; UINT32_MAX if there is none. */
static uint32_t place(const struct scps_pages *p, uint32_t key)
{
    uint32_t mask = (1u << p->table_bits) - 1, i;

    if (!p->used)
        return UINT32_MAX;
    for (i = hash(key, p->table_bits); p->table[i].number; i = (i + 1) & mask)
        if (p->table[i].key == key)
            return i;
    return UINT32_MAX;
}

uint8_t *scps_pages_find(const struct scps_pages *p, uint64_t off)
{
    uint32_t i = place(p, (uint32_t)(off / SCPS_PAGE));

    return i == UINT32_MAX ? NULL : at(p, p->table[i].number - 1);
}

uint8_t *scps_pages_make(struct scps_pages *p, uint64_t off)
{
    uint32_t number = p->free_list ? p->free_list - 1 : p->touched++;
    struct scps_page_slot s = {(uint32_t)(off / SCPS_PAGE), number + 1};
    uint8_t *page = at(p, number);

    if (p->free_list)
        memcpy(&p->free_list, page, sizeof p->free_list);
    insert(p->table, p->table_bits, s);
    p->used++;
    return page;
}

/* Frees entry i of the hash table, which uses linear probing. Entries behind i that were placed
 * there because i was taken are moved up, so that no search ends too early. */
static void vacate(struct scps_pages *p, uint32_t i)
{
    uint32_t mask = (1u << p->table_bits) - 1;

    for (uint32_t j = (i + 1) & mask; p->table[j].number; j = (j + 1) & mask) {
        uint32_t home = hash(p->table[j].key, p->table_bits);
        if (((j - home) & mask) >= ((j - i) & mask)) {
            p->table[i] = p->table[j];
            i = j;
        }
    }
    p->table[i].number = 0;
}

static void drop_place(struct scps_pages *p, uint32_t i)
{
    uint32_t number = p->table[i].number - 1;

    memcpy(at(p, number), &p->free_list, sizeof p->free_list);
    p->free_list = number + 1;
    p->used--;
    vacate(p, i);
}

void scps_pages_drop(struct scps_pages *p, uint64_t off)
{
    uint32_t i = place(p, (uint32_t)(off / SCPS_PAGE));

    if (i != UINT32_MAX)
        drop_place(p, i);
}

void scps_pages_drop_range(struct scps_pages *p, uint64_t from, uint64_t to)
{
    uint64_t first = from / SCPS_PAGE + (from % SCPS_PAGE != 0), end = to / SCPS_PAGE;

    if (!p->used || first >= end)
        return;
    if (end - first <= (uint64_t)1 << p->table_bits) {
        for (; first < end && p->used; first++)
            scps_pages_drop(p, first * SCPS_PAGE);
        return;
    }
    for (uint32_t i = 0; i < 1u << p->table_bits && p->used;) {
        if (p->table[i].number && p->table[i].key - (uint32_t)first < end - first)
            /* The index i stays the same, because removing its entry may have moved another entry
             * there. */
            drop_place(p, i);
        else
            i++;
    }
}

void scps_pages_clear(struct scps_pages *p)
{
    if (p->table && p->used)
        memset(p->table, 0, table_size(p->table_bits));
    p->used = p->touched = p->free_list = 0;
}
