/* SPDX-License-Identifier: MIT */
/* The table of the keys that the sections [link] and [flow] of a scenario file may set. setup.c
 * uses it to make the links and flows of a cell, which is one combination of the values that the
 * scenario sweeps. */
#ifndef SCPS_LAB_SETUP_KEYS_H
#define SCPS_LAB_SETUP_KEYS_H

#include "common/setup.h"

/* A dotted key in its parts: "link.rtt" or "flow.NAME.size". */
struct lab_dotted {
    char kind[8];        /* "link" or "flow", the first part of the key */
    char name[LAB_NAME]; /* name of the link or flow; empty: the key applies to all of that kind */
    char key[64];
};

/* Splits a dotted key, "link.KEY", "link.NAME.KEY" or the same with "flow", at its dots, and stores
 * the parts in *d. Returns false if text does not have this form; whether KEY exists is not
 * checked. */
bool lab_key_split(const char *text, struct lab_dotted *d);
/* Returns true if `name` is a key of [link] that belongs to scenario files only: preset, a, b, mtu,
 * ipv6 or vj-compression. Any other key of [link] (such as rate or delay) is one of the link
 * description (SPEC) "PRESET,KEY=VALUE,...", and is added to that text. */
bool lab_key_is_link(const char *name);
/* These functions parse text as the value of key `name`, and store the value in the field of the
 * link *l or flow *f that belongs to the key. Precondition: lab_setup_check() has accepted the key.
 * They return false, with the reason in why, if the key does not take this value. */
bool lab_key_put_link(const char *name, const char *text, struct lab_link *l, char why[LAB_MSGLEN]);
bool lab_key_put_flow(const char *name, const char *text, struct lab_flow *f, char why[LAB_MSGLEN]);

#endif
