/* SPDX-License-Identifier: MIT */
#include "io/ifword.h"

#include "io/tunaddr.h"

#include <stdlib.h>
#include <string.h>

bool scps_ifword_seconds(const char *s, scps_dur *out)
{
    size_t whole = strspn(s, "0123456789"), parts = 0;
    scps_dur us = 0, unit = SCPS_MS(100);

    if (!whole || whole > 5)
        return false;
    for (size_t i = 0; i < whole; i++)
        us = us * 10 + (s[i] - '0');
    us = SCPS_SEC(us);
    s += whole;
    if (*s == '.') {
        parts = strspn(++s, "0123456789");
        if (!parts || parts > 3)
            return false;
        for (size_t i = 0; i < parts; i++, unit /= 10)
            us += (s[i] - '0') * unit;
    }
    *out = us;
    return !s[parts] && us <= SCPS_SEC(10000);
}

bool scps_ifword_number(const char *s, uint32_t *out)
{
    size_t n = strspn(s, "0123456789");

    *out = (uint32_t)strtoul(s, NULL, 10);
    return n && n < 10 && !s[n];
}

int scps_ifword_list(const char *option, const char *words, struct scps_ifopts *o,
                     scps_ifword_take *take, char *msg)
{
    char text[SCPS_IFWORD_ROOM], *word, *save = NULL;

    strcpy(text, words);
    for (word = strtok_r(text, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
        char *value = strchr(word, '=');
        const char *wanted;

        if (value)
            *value++ = 0;
        wanted = take(o, word, value);
        if (wanted) {
            scps_io_say(msg, "%s: %.40s%s%.40s: give %s", option, word, value ? "=" : "",
                        value ? value : "", wanted);
            return SCPS_ERR_INVAL;
        }
    }
    return 0;
}
