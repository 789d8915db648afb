/* SPDX-License-Identifier: MIT */
/* Decodes the path of a request and opens the file that it names below the root. */
#include "scps_httpd/httpd.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int unhex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

bool httpd_decode(char *path)
{
    char *out = path;
    for (char *p = path; *p && *p != '?' && *p != '#'; p++) {
        if (*p == '%') {
            int hi = unhex(p[1]), lo = hi < 0 ? -1 : unhex(p[2]);
            if (lo < 0 || hi * 16 + lo == 0)
                return false;
            *out++ = (char)(hi * 16 + lo);
            p += 2;
        } else {
            *out++ = *p;
        }
    }
    *out = 0;
    return true;
}

int httpd_open_below(int root, char *path, struct stat *st)
{
    char *save = NULL, *name = strtok_r(path, "/", &save), *next;
    int dir = dup(root), fd = -1;
    while (dir >= 0 && name && strcmp(name, "..") != 0) {
        next = strtok_r(NULL, "/", &save);
        fd = openat(dir, name,
                    O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | (next ? O_DIRECTORY : 0));
        close(dir);
        dir = fd;
        name = next;
        fd = -1;
        if (!name) {
            fd = dir;
            dir = -1;
        }
    }
    if (dir >= 0)
        close(dir);
    if (fd >= 0 && (fstat(fd, st) || !S_ISREG(st->st_mode))) {
        close(fd);
        fd = -1;
    }
    return fd;
}
