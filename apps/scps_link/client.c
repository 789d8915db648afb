/* SPDX-License-Identifier: MIT */
/* The command "scps_link ctl" sends one command to a running emulator and prints the answer. */
#include "scps_link/control.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

static int say_error(int status, const char *path, const char *why, const char *remedy)
{
    fprintf(stderr, "scps_link: %s: %s: %s\n", path, why, remedy);
    return status;
}

/* Reads the emulator's answer from `in`. If its first line is "ok", prints the lines behind it on
 * standard output; if it is "error: " and a reason, prints the reason on standard error. path: path
 * of the control socket, for messages. Returns the exit status. */
static int print(FILE *in, const char *path)
{
    char line[4096];

    if (!fgets(line, sizeof line, in))
        return say_error(1, path, "no answer", "is an emulator of this version listening?");
    if (strncmp(line, "error: ", 7) == 0) {
        fprintf(stderr, "scps_link: %s", line + 7);
        return 2;
    }
    while (fgets(line, sizeof line, in))
        fputs(line, stdout);
    return !ferror(in) ? 0 : say_error(1, path, "the answer broke off", "again");
}

int control_client(char **words)
{
    const char *path = words[0];
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    struct timeval patience = {.tv_sec = 5};
    char line[CONTROL_LINE];
    size_t n = 0;
    FILE *in;
    int fd, status;

    for (char **w = words + 1; *w; w++) {
        size_t len = strlen(*w);
        if (n + len + 2 > sizeof line || strchr(*w, '\n'))
            return say_error(2, path, "the command is too long", "give it in several");
        memcpy(line + n, *w, len);
        n += len;
        line[n++] = w[1] ? ' ' : '\n';
    }
    if (strlen(path) >= sizeof addr.sun_path)
        return say_error(2, path, "not the path of a socket", "give the one of --ctl");
    strcpy(addr.sun_path, path);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return say_error(1, path, "no socket", strerror(errno));
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (connect(fd, (struct sockaddr *)&addr, sizeof addr) != 0) {
        close(fd);
        if (errno == EACCES || errno == EPERM)
            return say_error(2, path, "no permission", "run as the user who runs the emulator");
        return say_error(2, path, "nobody listens there",
                         "start scps_link with --ctl and this path");
    }
    if (send(fd, line, n, MSG_NOSIGNAL) != (ssize_t)n) {
        close(fd);
        return say_error(1, path, "the emulator does not listen", "try again");
    }
    in = fdopen(fd, "r");
    if (!in) {
        close(fd);
        return say_error(1, path, "no memory", "try again");
    }
    status = print(in, path);
    fclose(in);
    return status;
}
