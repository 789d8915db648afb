/* SPDX-License-Identifier: MIT */
/* The keys that a scenario file of scps_lab sets or sweeps, with their values, in memory. A hash of
 * them shows whether two results are of the same scenario. */
#include "common/scenario_data.h"

#include <stdlib.h>
#include <string.h>

void lab_sets_add(struct lab_sets *s, const char *key, const char *value, int line)
{
    s->v = lab_grow(s->v, (s->n + 1) * sizeof *s->v);
    s->v[s->n++] = (struct lab_set){lab_copy(key), lab_copy(value), line};
}

static void sets_free(struct lab_sets *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->v[i].key);
        free(s->v[i].value);
    }
    free(s->v);
}

struct lab_axis *lab_axis_find(struct lab_scenario *s, const char *key)
{
    for (size_t i = 0; i < s->naxes; i++)
        if (strcmp(s->axis[i].key, key) == 0)
            return &s->axis[i];
    return NULL;
}

void lab_axis_clear(struct lab_axis *a)
{
    for (size_t i = 0; i < a->n; i++)
        free(a->value[i]);
    a->n = 0;
}

void lab_axis_value(struct lab_axis *a, const char *value)
{
    a->value = lab_grow(a->value, (a->n + 1) * sizeof *a->value);
    a->value[a->n++] = lab_copy(value);
}

static uint64_t hash_sets(uint64_t h, const struct lab_sets *s)
{
    for (size_t i = 0; i < s->n; i++) {
        h = lab_hash(s->v[i].key, strlen(s->v[i].key) + 1, h);
        h = lab_hash(s->v[i].value, strlen(s->v[i].value) + 1, h);
    }
    return h;
}

/* Returns hash h continued with the names of those sections [link NAME] and [flow NAME] that have
 * no keys. The names of other sections are parts of their dotted keys, which are in h already. */
static uint64_t hash_empty_sections(uint64_t h, const struct lab_scenario *s)
{
    for (size_t i = 0; i < s->sections.n; i++) {
        const char *name = s->sections.v[i].key;
        size_t k = 0;

        while (k < s->base.n && strncmp(s->base.v[k].key, name, strlen(name)) != 0)
            k++;
        if (k == s->base.n)
            h = lab_hash(name, strlen(name) + 1, h);
    }
    return h;
}

uint64_t lab_scenario_hash(const struct lab_scenario *s)
{
    uint64_t h = lab_hash(&s->runs, sizeof s->runs, 0);

    h = lab_hash(&s->timeout, sizeof s->timeout, h);
    h = lab_hash(s->name, strlen(s->name), h);
    h = hash_sets(h, &s->base);
    h = hash_empty_sections(h, s);
    for (size_t i = 0; i < s->naxes; i++) {
        h = lab_hash(s->axis[i].key, strlen(s->axis[i].key) + 1, h);
        for (size_t j = 0; j < s->axis[i].n; j++)
            h = lab_hash(s->axis[i].value[j], strlen(s->axis[i].value[j]) + 1, h);
    }
    for (size_t i = 0; i < s->ncases; i++) {
        h = lab_hash(s->cases[i].when, strlen(s->cases[i].when) + 1, h);
        h = lab_hash(&s->cases[i].skip, sizeof s->cases[i].skip, h);
        h = hash_sets(h, &s->cases[i].sets);
    }
    return hash_sets(h, &s->over);
}

void lab_scenario_free(struct lab_scenario *s)
{
    if (!s)
        return;
    sets_free(&s->base);
    sets_free(&s->over);
    sets_free(&s->sections);
    for (size_t i = 0; i < s->naxes; i++) {
        lab_axis_clear(&s->axis[i]);
        free(s->axis[i].value);
        free(s->axis[i].key);
    }
    free(s->axis);
    for (size_t i = 0; i < s->ncases; i++) {
        free(s->cases[i].when);
        sets_free(&s->cases[i].sets);
    }
    free(s->cases);
    free(s->path);
    free(s->name);
    free(s->about);
    free(s->published);
    free(s->text);
    free(s);
}
