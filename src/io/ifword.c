/* SPDX-License-Identifier: MIT */
#include "io/ifword.h"

#include "io/tunaddr.h"

#include <stdlib.h>
#include <string.h>

/* Returns the duration of unit s, as in "500ms", in µs; 0: s is no unit. */
static scps_dur unit_of(const char *s)
{
    static const struct {
        const char *name;
        scps_dur us;
    } units[] = {{"", SCPS_SEC(1)},
                 {"s", SCPS_SEC(1)},
                 {"ms", SCPS_MS(1)},
                 {"us", 1},
                 {"min", SCPS_SEC(60)}};

    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(s, units[i].name) == 0)
            return units[i].us;
    return 0;
}

bool scps_ifword_seconds(const char *s, scps_dur *out)
{
    const size_t whole = strspn(s, "0123456789");
    size_t parts = 0;
    scps_dur thousandths = 0, unit, us;

    if (!whole || whole > 10)
        return false;
    for (size_t i = 0; i < whole; i++)
        thousandths = thousandths * 10 + (s[i] - '0');
    s += whole;
    if (*s == '.') {
        parts = strspn(++s, "0123456789");
        if (!parts || parts > 3)
            return false;
    }
    for (size_t i = 0; i < 3; i++)
        thousandths = thousandths * 10 + (i < parts ? s[i] - '0' : 0);
    unit = unit_of(s + parts);
    if (!unit || thousandths > SCPS_SEC(10000) * 1000 / unit)
        return false;
    us = thousandths * unit / 1000;
    /* A time that is not zero, but less than one microsecond, is refused. */
    if (us == 0 && thousandths != 0)
        return false;
    *out = us;
    return true;
}

bool scps_ifword_size(const char *s, uint32_t *out)
{
    size_t n = strspn(s, "0123456789");
    unsigned long v = strtoul(s, NULL, 10);

    *out = (uint32_t)(s[n] ? v << 10 : v);
    return n && n < 7 && (!s[n] || ((s[n] == 'k' || s[n] == 'K') && !s[n + 1]));
}

bool scps_ifword_number(const char *s, uint32_t *out)
{
    size_t n = strspn(s, "0123456789");

    *out = (uint32_t)strtoul(s, NULL, 10);
    return n && n < 10 && !s[n];
}

/* key: a place within `list`, which is ",KEY[=VALUE]...", where an item with a key of key_len
 * characters begins. Returns true if an earlier item of the list has the same key. */
static bool is_repeated(const char *list, const char *key, size_t key_len)
{
    for (const char *w = list + 1; w < key; w += strcspn(w, ",") + 1)
        if (strcspn(w, ",=") == key_len && memcmp(w, key, key_len) == 0)
            return true;
    return false;
}

int scps_ifword_list(const char *option, const char *words, struct scps_ifopts *o,
                     scps_ifword_take *take, char *msg)
{
    for (const char *at = words; *at;) {
        char word[SCPS_IFWORD_ROOM], *value;
        size_t n = strcspn(++at, ","); /* length of the item, without the comma before it */
        const char *wanted;

        if (!n) {
            scps_io_message(msg, "%s: a comma without a key behind it: leave it out", option);
            return SCPS_ERR_INVAL;
        }
        memcpy(word, at, n);
        word[n] = 0;
        value = strchr(word, '=');
        if (value)
            *value++ = 0;
        if (is_repeated(words, at, strlen(word))) {
            scps_io_message(msg, "%s: %.40s is given twice: leave out one of them", option, word);
            return SCPS_ERR_INVAL;
        }
        at += n;
        wanted = take(o, word, value);
        if (wanted) {
            scps_io_message(msg, "%s: %.40s%s%.40s: give %s", option, word, value ? "=" : "",
                            value ? value : "", wanted);
            return SCPS_ERR_INVAL;
        }
    }
    return 0;
}
