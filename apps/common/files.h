/* SPDX-License-Identifier: MIT */
/* The files that a run reads and writes. No output may overwrite an input or another output: this
 * is checked by device and inode number before the first file is opened for writing. */
#ifndef SCPS_COMMON_FILES_H
#define SCPS_COMMON_FILES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define FILES_MAX 64

enum files_use { FILES_READ, FILES_WRITTEN };

struct files {
    struct files_one {
        /* name of the option with which the user gave the file, or another text that shows which
         * file is meant; it is not copied */
        const char *label;
        enum files_use use;
        dev_t dev;
        ino_t ino; /* inode number of the file, or of the folder where the file will be created */
        /* name of the file in the folder `ino`; empty: the file exists, and `ino` is its own inode
         * number */
        char name[NAME_MAX + 1];
        /* folder (device and inode number) in which the file is or will be created, and its name
         * there; base empty: the name is unknown, because the file was given as an open
         * descriptor */
        dev_t folder_dev;
        ino_t folder_ino;
        char base[NAME_MAX + 1];
    } v[FILES_MAX];
    size_t n;
};

/* Adds the file at path; path NULL: adds nothing. Returns false, with one line in msg that begins
 * with label and path, if the file is one that was added before and one of the two uses is
 * writing. */
bool files_add(struct files *f, const char *label, const char *path, enum files_use use, char *msg,
               size_t msglen);
/* A family of files that a program will write, whose names depend on its input, such as one file
 * for each connection. */
struct files_family {
    const char *prefix; /* folder and beginning of each name */
    const char *within; /* text that each name contains behind the prefix */
    const char *end[4]; /* the endings of which each name has one; NULL ends the list */
};
/* Returns false, with one line in msg that begins with label, if a file that was added to f has a
 * name of the family `of`, so that the program might overwrite that file when it creates the files
 * of the family. */
bool files_check_family(const struct files *f, const char *label, const struct files_family *of,
                        char *msg, size_t msglen);
/* Adds the file behind an open descriptor, such as standard output. Returns false, with one line in
 * msg that begins with label, if that file was added before and one of the two uses is writing. */
bool files_add_fd(struct files *f, const char *label, int fd, enum files_use use, char *msg,
                  size_t msglen);

#endif
