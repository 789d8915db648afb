/* SPDX-License-Identifier: MIT */
/* What the files of the module share. */
#ifndef SCPS_PYTHON_GLUE_PRIV_H
#define SCPS_PYTHON_GLUE_PRIV_H

#include <scps/scps.h>
#include <scps/sim.h>

#include "glue.h"

#include <locale.h>

struct py_config {
    struct scps_conn_config c;
};

/* 0, or SCPS_ERR_RANGE with the bounds of setting i in msg. */
int py_setting_allowed(int i, int64_t value, char *msg, size_t msglen);
/* The numbers of info in the order of py_figure_name. */
void py_figures_of(const struct scps_info *info, int64_t *out);

struct py_kept { /* an array that grows */
    void *v;
    size_t n, cap, size; /* size: bytes of an item */
    bool lost;           /* there was no memory for more */
};
/* Room for one more item; NULL: no memory, which is remembered. */
void *py_keep(struct py_kept *k);

struct py_listener { /* keeps the notes of one stack */
    struct py_kept *notes;
    uint32_t host;
};
/* An scps_observer's note function; ctx is a struct py_listener. */
void py_on_note(void *ctx, const struct scps_note *n);
/* Keeps what became of a packet of that direction. */
void py_keep_packet(struct py_kept *k, uint32_t direction, const struct scps_verdict *v);
/* Makes this thread read numbers as C writes them, whatever locale the Python program has set;
 * returns the thread's locale before, for uselocale(). */
locale_t py_c_numbers(void);
/* Appends both directions' packets to `all`, in order of the time they were offered. Returns false
 * if there was no memory for some. */
bool py_merge_packets(const struct py_kept packets[2], struct py_kept *all);

#endif
