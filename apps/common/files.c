/* SPDX-License-Identifier: MIT */
#include "common/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINKS 40 /* largest number of symbolic links that are followed, as in Linux */

/* Returns true if the file is a device that does not store what is written to it. */
static bool keeps_nothing(const struct stat *st)
{
    static const char *const device[] = {"/dev/null", "/dev/full"};
    struct stat other;

    for (size_t i = 0; i < sizeof(device) / sizeof(device[0]); i++)
        if (S_ISCHR(st->st_mode) && stat(device[i], &other) == 0 && other.st_rdev == st->st_rdev)
            return true;
    return false;
}

/* Sets device and inode number in *one to those of a file that exists, and returns true. Returns
 * false if it does no harm to use the file twice, so that it need not be recorded: the file is read
 * and is a terminal, pipe or other character device, or it is written and is a device that stores
 * nothing, such as /dev/null. */
static bool existing(const struct stat *st, enum files_use use, struct files_one *one)
{
    one->dev = st->st_dev;
    one->ino = st->st_ino;
    return use == FILES_READ ? S_ISREG(st->st_mode) || S_ISBLK(st->st_mode) : !keeps_nothing(st);
}

/* Called for a path where no file exists: sets *one to the folder in which open() would create it,
 * and its name there, after following symbolic links. Returns false if the folder does not exist or
 * a path is too long, so that open() would fail. */
static bool missing(const char *path, struct files_one *one)
{
    char at[PATH_MAX], target[PATH_MAX];
    struct stat st;
    ssize_t n;

    if (snprintf(at, sizeof(at), "%s", path) >= (int)sizeof(at))
        return false;
    for (int links = 0; links < LINKS; links++) {
        char *slash = strrchr(at, '/');
        size_t folder = slash != NULL ? (size_t)(slash + 1 - at) : 0;

        n = readlink(at, target, sizeof(target) - 1);
        if (n < 0) {
            if (snprintf(one->name, sizeof(one->name), "%s", at + folder) >= (int)sizeof(one->name))
                return false;
            at[folder] = '\0';
            if (stat(folder != 0 ? at : ".", &st) != 0)
                return false;
            one->dev = one->folder_dev = st.st_dev;
            one->ino = one->folder_ino = st.st_ino;
            memcpy(one->base, one->name, sizeof(one->base));
            return true;
        }
        target[n] = '\0';
        if (target[0] == '/')
            folder = 0;
        if (folder + (size_t)n >= sizeof(at))
            return false;
        memcpy(at + folder, target, (size_t)n + 1);
    }
    return false;
}

/* Sets one->folder_dev, folder_ino and base to the folder of the existing file `path` and its name
 * in that folder, after following symbolic links. On failure leaves base empty. */
static void place(const char *path, struct files_one *one)
{
    char real[PATH_MAX], *slash;
    struct stat st;

    if (realpath(path, real) == NULL || (slash = strrchr(real, '/')) == NULL ||
        strlen(slash + 1) >= sizeof(one->base))
        return;
    memcpy(one->base, slash + 1, strlen(slash + 1) + 1);
    slash[slash == real] = '\0'; /* The root folder is "/". */
    if (stat(real, &st) != 0)
        one->base[0] = '\0';
    one->folder_dev = st.st_dev;
    one->folder_ino = st.st_ino;
}

/* Adds a file to the list f. Returns false, with one line in msg, if the list contains the same
 * file already and at least one of its two entries is for writing. shown: label and path, for the
 * message. */
static bool add(struct files *f, const struct files_one *one, const char *shown, char *msg,
                size_t msglen)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct files_one *o = &f->v[i];

        if ((o->use == FILES_READ && one->use == FILES_READ) || o->dev != one->dev ||
            o->ino != one->ino || strcmp(o->name, one->name) != 0)
            continue;
        snprintf(msg, msglen, "%s: %s is the same file: give another one", shown, o->label);
        return false;
    }
    if (f->n == FILES_MAX)
        return true;
    f->v[f->n++] = *one;
    return true;
}

bool files_add(struct files *f, const char *label, const char *path, enum files_use use, char *msg,
               size_t msglen)
{
    struct files_one one = {.label = label, .use = use};
    char shown[320];
    struct stat st;

    if (path == NULL || path[0] == '\0')
        return true;
    if (stat(path, &st) == 0 ? !existing(&st, use, &one) : !missing(path, &one))
        return true;
    if (one.name[0] == '\0')
        place(path, &one);
    snprintf(shown, sizeof(shown), "%.64s %.200s", label, path);
    return add(f, &one, shown, msg, msglen);
}

/* Returns true if `name` is a name of the family `of`: it begins with the family's prefix (n
 * bytes), contains the family's text `within` behind the prefix, and ends in one of the family's
 * endings. */
static bool is_of(const struct files_family *of, const char *name, size_t n)
{
    size_t len = strlen(name);

    for (size_t i = 0; i < 4 && of->end[i] != NULL; i++) {
        size_t end = strlen(of->end[i]);
        if (len >= n + end && strcmp(name + len - end, of->end[i]) == 0)
            return strstr(name + n, of->within) != NULL;
    }
    return false;
}

bool files_check_family(const struct files *f, const char *label, const struct files_family *of,
                        char *msg, size_t msglen)
{
    const char *slash = strrchr(of->prefix, '/'), *stem = slash != NULL ? slash + 1 : of->prefix;
    char folder[PATH_MAX];
    struct stat st;

    if (snprintf(folder, sizeof(folder), "%.*s", (int)(stem - of->prefix), of->prefix) >=
            (int)sizeof(folder) ||
        stat(folder[0] != '\0' ? folder : ".", &st) != 0)
        return true;
    for (size_t i = 0; i < f->n; i++) {
        const struct files_one *o = &f->v[i];

        if (o->base[0] == '\0' || o->folder_dev != st.st_dev || o->folder_ino != st.st_ino ||
            strncmp(o->base, stem, strlen(stem)) != 0 || !is_of(of, o->base, strlen(stem)))
            continue;
        snprintf(msg, msglen, "%.64s %.200s: %s may be one of its files: give another one", label,
                 of->prefix, o->label);
        return false;
    }
    return true;
}

bool files_add_fd(struct files *f, const char *label, int fd, enum files_use use, char *msg,
                  size_t msglen)
{
    struct files_one one = {.label = label, .use = use};
    struct stat st;

    if (fstat(fd, &st) != 0 || !existing(&st, use, &one))
        return true;
    return add(f, &one, label, msg, msglen);
}
