/* SPDX-License-Identifier: MIT */
/* Makes the cells of a scenario file. A key is swept if [sweep] lists several values for it; a cell
 * is one combination of swept values. The settings of a cell are applied in this order, and later
 * ones override earlier ones: sections [link] and [flow]; sections [link NAME] and [flow NAME]; the
 * swept values; the sections [case] whose conditions hold for this combination, in the order of the
 * file; the settings of the command line. */
#include "common/cells.h"
#include "common/seed.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool named(const char *key)
{
    return strchr(strchr(key, '.') + 1, '.') != NULL;
}

/* Returns true if the cell (a combination of swept values) fulfils every condition AXIS=VALUE|VALUE
 * of a [case] section. */
static bool applies(const struct lab_scenario *sc, const struct lab_cell *cell, const char *when)
{
    char item[512], value[512];

    while (lab_item(&when, ' ', item, sizeof item)) {
        char *eq = strchr(item, '=');
        const char *values = eq + 1;
        bool any = false;
        size_t a = 0;

        *eq = '\0';
        while (strcmp(sc->axis[a].key, item) != 0)
            a++;
        while (!any && lab_item(&values, '|', value, sizeof value))
            any = strcmp(value, cell->value[a]) == 0;
        if (!any)
            return false;
    }
    return true;
}

/* Estimates the cost of one simulation with setup s, that of a cell (one combination of swept
 * values), as the number of packets that its flows send, expected retransmissions included. A sweep
 * starts its most costly runs first, and its progress line shows which share of the total cost is
 * done. */
static double cost_of(const struct lab_setup *s)
{
    double cost = 0;

    for (size_t i = 0; i < s->nflows; i++) {
        const struct lab_flow *f = &s->flow[i];
        const struct lab_link *l = &s->link[f->link];
        const struct scps_link_config *c = f->back ? &l->back : &l->fwd;
        double payload = f->payload ? f->payload : l->mtu - 40;
        double bytes = (double)f->size;
        double p = 1 - pow(1 - c->ber, 8 * (payload + 40)) * (1 - c->loss);

        if (f->time != 0)
            bytes = (double)c->rate_bps / 8 * (double)f->time / 1e6 / f->copies;
        cost += f->copies * (bytes / payload / fmax(1 - p, 0.01) + 20);
    }
    return cost;
}

static bool make_cell(struct lab_cells *c, size_t number, char msg[LAB_MSGLEN])
{
    const struct lab_scenario *sc = c->sc;
    struct lab_cell cell = {.number = number};
    const struct lab_set **set;
    struct lab_set *swept;
    struct lab_str id = {0};
    size_t n = 0, all = sc->base.n + sc->naxes + sc->over.n, rest = number;
    bool skip = false;

    cell.value = lab_alloc((sc->naxes + 1) * sizeof *cell.value);
    for (size_t a = sc->naxes; a-- > 0; rest /= sc->axis[a].n)
        cell.value[a] = sc->axis[a].value[rest % sc->axis[a].n];
    for (size_t i = 0; i < sc->ncases; i++)
        all += sc->cases[i].sets.n;
    set = lab_alloc((all + 1) * sizeof *set);
    swept = lab_alloc((sc->naxes + 1) * sizeof *swept);
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < sc->base.n; i++)
            if (named(sc->base.v[i].key) == (pass == 1))
                set[n++] = &sc->base.v[i];
    lab_add(&id, "%s", "");
    for (size_t a = 0; a < sc->naxes; a++) {
        lab_add(&id, "%s%s=%s", a ? " " : "", sc->axis[a].key, cell.value[a]);
        swept[a] =
            (struct lab_set){sc->axis[a].key, (char *)(uintptr_t)cell.value[a], sc->axis[a].line};
        if (strchr(sc->axis[a].key, '.'))
            set[n++] = &swept[a];
    }
    for (size_t i = 0; i < sc->ncases; i++) {
        if (!applies(sc, &cell, sc->cases[i].when))
            continue;
        skip = skip || sc->cases[i].skip;
        for (size_t j = 0; j < sc->cases[i].sets.n; j++)
            set[n++] = &sc->cases[i].sets.v[j];
    }
    for (size_t i = 0; i < sc->over.n; i++)
        set[n++] = &sc->over.v[i];
    cell.id = id.p;
    cell.setup = skip ? NULL : lab_setup_new(sc, set, n, msg);
    free(set);
    free(swept);
    if (!cell.setup) {
        if (!skip && sc->naxes != 0) {
            size_t len = strlen(msg);
            snprintf(msg + len, LAB_MSGLEN - len, " (in the cell %s)", cell.id);
        }
        free(cell.value);
        free(cell.id);
        return skip;
    }
    cell.cost = cost_of(cell.setup);
    c->v = lab_grow(c->v, (c->n + 1) * sizeof *c->v);
    c->v[c->n++] = cell;
    return true;
}

bool lab_cells_make(const struct lab_scenario *sc, struct lab_cells *c, char msg[LAB_MSGLEN])
{
    size_t all = 1;

    *c = (struct lab_cells){.sc = sc};
    for (size_t a = 0; a < sc->naxes; a++) {
        all *= sc->axis[a].n;
        if (all > 1000000) {
            snprintf(msg, LAB_MSGLEN, "%.300s: more than a million cells: sweep less", sc->path);
            return false;
        }
    }
    for (size_t i = 0; i < all; i++)
        if (!make_cell(c, i, msg)) {
            lab_cells_free(c);
            return false;
        }
    if (c->n == 0) {
        snprintf(msg, LAB_MSGLEN, "%.300s: every cell is skipped", sc->path);
        return false;
    }
    return true;
}

bool lab_cells_single(const struct lab_scenario *sc, struct lab_cells *c, char msg[LAB_MSGLEN])
{
    for (size_t i = 0; i < sc->naxes; i++)
        if (sc->axis[i].n > 1) {
            snprintf(msg, LAB_MSGLEN,
                     "%.200s sweeps over %.50s: choose with --set %.50s=%.50s, or use 'scps_lab "
                     "sweep'",
                     sc->path, sc->axis[i].key, sc->axis[i].key, sc->axis[i].value[0]);
            return false;
        }
    return lab_cells_make(sc, c, msg);
}

void lab_cells_free(struct lab_cells *c)
{
    for (size_t i = 0; i < c->n; i++) {
        free(c->v[i].value);
        free(c->v[i].id);
        lab_setup_free(c->v[i].setup);
    }
    free(c->v);
    *c = (struct lab_cells){.sc = c->sc};
}

uint64_t lab_cell_seed(const struct lab_cells *c, const struct lab_cell *cell, unsigned run)
{
    char text[64];
    uint64_t h = lab_hash(cell->id, strlen(cell->id), 0);

    snprintf(text, sizeof text, "%" PRIu64 " %u", c->sc->seed, run);
    h = lab_hash(text, strlen(text), h);
    /* The low bits of an FNV hash depend little on its high bits, so these steps mix them. */
    h ^= h >> 31;
    h *= UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

uint64_t lab_link_seed(uint64_t run_seed, size_t i, int dir)
{
    return seed_draw(run_seed, 2 * i + (unsigned)dir);
}
