/* SPDX-License-Identifier: MIT */
#include "scps_ttcp/path_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static bool say_error(char msg[PATHFILE_MSGLEN], const char *what)
{
    snprintf(msg, PATHFILE_MSGLEN, "%s", what);
    return false;
}

bool pathfile_check(const char *name, char msg[PATHFILE_MSGLEN])
{
    struct stat st;
    char *copy;
    bool writable;

    if (stat(name, &st) == 0) {
        if (!S_ISREG(st.st_mode))
            return say_error(msg, "it is no regular file: give the name of one, or of a new one");
        if (access(name, R_OK) != 0)
            return say_error(msg, "it cannot be read: give a file that can");
    } else if (errno != ENOENT) {
        snprintf(msg, PATHFILE_MSGLEN, "%s: give another file", strerror(errno));
        return false;
    }
    /* The folder of the file must be writable, because pathfile_save() replaces the file. If `name`
     * is a symbolic link, pathfile_save() replaces its target, so the folder of the target is
     * checked. */
    copy = realpath(name, NULL);
    if (copy == NULL)
        copy = strdup(name);
    if (copy == NULL)
        return say_error(msg, strerror(errno));
    writable = access(dirname(copy), W_OK | X_OK) == 0;
    free(copy);
    return writable ||
           say_error(msg, "its folder is not there or cannot be written: give another one");
}

bool pathfile_restore(struct pathfile *f, struct scps_conn *c, int64_t now,
                      char msg[PATHFILE_MSGLEN])
{
    /* one octet longer than a path state, to detect a file that is too long */
    uint8_t state[SCPS_PATH_STATE_SIZE + 1];
    enum scps_path_verdict v;
    ssize_t len;

    f->fd = open(f->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (f->fd < 0)
        return errno == ENOENT || say_error(msg, strerror(errno));
    /* RFC 9959 section 3.2: "Only one connection can use a specific set of saved CC parameters." */
    if (flock(f->fd, LOCK_EX | LOCK_NB) != 0) {
        f->keep = true;
        return say_error(msg, "in-use: another connection uses it; it is left as it is");
    }
    len = read(f->fd, state, sizeof(state));
    if (len < 0)
        return say_error(msg, strerror(errno));
    v = scps_path_restore(c, state, (size_t)len, now, NULL);
    /* If the file is not empty and no path state, perhaps because the user mistyped its name, it is
     * kept: pathfile_save() then does not replace it by this connection's state. */
    f->keep = v == SCPS_PATH_FOREIGN && len > 0;
    snprintf(msg, PATHFILE_MSGLEN, "%s: %s%s", scps_path_verdict_name(v),
             scps_path_verdict_words(v), f->keep ? "; it is left as it is" : "");
    return v == SCPS_PATH_TAKEN;
}

/* Replaces the file `name` by one with path state s and the same mode: writes NAME.new and renames
 * it, so that a reader sees either the old state or the new one, never a part. Returns false, with
 * the reason in msg, on an error. */
static bool replace(const char *name, const struct scps_path_state *s, char msg[PATHFILE_MSGLEN])
{
    char *real = realpath(name, NULL); /* A symbolic link stays a link: its target is replaced. */
    const char *target = real != NULL ? real : name;
    size_t room = strlen(target) + sizeof(".new");
    char *new = malloc(room);
    struct stat old;
    bool ok = false;
    int fd = -1;

    if (new != NULL) {
        snprintf(new, room, "%s.new", target);
        fd = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    }
    if (fd >= 0) {
        ok = write(fd, s->octet, sizeof(s->octet)) == (ssize_t)sizeof(s->octet) && fsync(fd) == 0;
        ok = ok && (stat(target, &old) != 0 || fchmod(fd, old.st_mode & 07777) == 0);
        ok = close(fd) == 0 && ok;
    }
    ok = ok && rename(new, target) == 0;
    if (!ok) {
        say_error(msg, strerror(errno));
        if (fd >= 0)
            unlink(new);
    }
    free(new);
    free(real);
    return ok;
}

bool pathfile_save(struct pathfile *f, const struct scps_conn *c, int64_t now, bool *wrote,
                   char msg[PATHFILE_MSGLEN])
{
    struct scps_path_state s;
    unsigned been = 0;
    bool ok = true;

    *wrote = false;
    scps_path_phase(c, &been);
    if (f->keep)
        ; /* keep is set: the file is left unchanged, and the new state is not saved. */
    else if (scps_path_save(c, now, &s) == 0)
        ok = *wrote = replace(f->name, &s, msg);
    /* The connection was in the phase Safe Retreat, so the saved state was wrong and is deleted
     * (RFC 9959 section 3.5). */
    else if (been & 1u << SCPS_RESUME_RETREAT)
        ok = unlink(f->name) == 0 || errno == ENOENT || say_error(msg, strerror(errno));
    if (f->fd >= 0)
        close(f->fd); /* Closing the file also releases the lock. */
    f->fd = -1;
    return ok;
}
