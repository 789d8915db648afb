/* SPDX-License-Identifier: MIT */
/* A pipe, as large as the kernel permits, and a process that copies what is written to the pipe to
 * a file.
 *
 *     tap, truth -> stdio -> pipe -> this process -> file
 *
 * A write to a busy disk can take milliseconds; a write to a pipe takes microseconds, as long as
 * the pipe has room. The process ends at the end of the pipe, also when the emulator was killed, so
 * the file is complete up to that moment. The process ignores signals from the terminal. If it
 * cannot write to the file, it continues to read the pipe, so that the emulator never waits, and
 * reports the failure when the pipe ends.
 */
#include "scps_link/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHUNK (256u << 10)

static void copy(int from, int to)
{
    static char buf[CHUNK];
    int err = 0;

    for (;;) {
        ssize_t n = read(from, buf, sizeof buf);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        for (ssize_t done = 0; done < n && err == 0;) {
            ssize_t w = write(to, buf + done, (size_t)(n - done));
            if (w < 0 && errno != EINTR)
                err = errno;
            if (w > 0)
                done += w;
        }
    }
    if (close(to) != 0 && err == 0)
        err = errno;
    _exit(err < 255 ? err : 255);
}

/* Runs in the child process: copies from the pipe (from) to the file (to), and exits. It closes all
 * other descriptors, among them the pipes of other spools, whose readers would otherwise never see
 * the end of their input. */
static void child(int from, int to)
{
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    from = fcntl(from, F_DUPFD, 100);
    to = fcntl(to, F_DUPFD, 100);
    for (int fd = 3; fd < 100; fd++)
        close(fd);
    copy(from, to);
}

int spool_open(struct spool *s, const char *path, char *msg, size_t msglen)
{
    int pipe_fd[2] = {-1, -1};
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

    *s = (struct spool){.fd = -1};
    if (file < 0) {
        snprintf(msg, msglen, "%s: %s: give a file that can be written", path, strerror(errno));
        return -1;
    }
    if (pipe2(pipe_fd, O_CLOEXEC) != 0)
        goto fail;
    for (int room = 16 << 20; room >= 128 << 10; room /= 2)
        if (fcntl(pipe_fd[1], F_SETPIPE_SZ, room) >= 0)
            break;
    s->pid = fork();
    if (s->pid < 0)
        goto fail;
    if (s->pid == 0)
        child(pipe_fd[0], file);
    close(pipe_fd[0]);
    close(file);
    s->path = path;
    s->fd = pipe_fd[1];
    snprintf(s->name, sizeof s->name, "/proc/self/fd/%d", s->fd);
    return 0;

fail:
    snprintf(msg, msglen, "%s: %s", path, strerror(errno));
    for (int i = 0; i < 2; i++)
        if (pipe_fd[i] >= 0)
            close(pipe_fd[i]);
    close(file);
    return -1;
}

const char *spool_name(const struct spool *s)
{
    return s->name;
}

void spool_opened(struct spool *s)
{
    if (s->path && s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}

int spool_close(struct spool *s, char *msg, size_t msglen)
{
    int status = 0;

    if (!s->path)
        return 0;
    spool_opened(s);
    while (waitpid(s->pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (status != 0)
        snprintf(msg, msglen, "%s: %s: it ends there", s->path,
                 WIFEXITED(status) ? strerror(WEXITSTATUS(status)) : "its writer was killed");
    s->path = NULL;
    return status ? -1 : 0;
}
