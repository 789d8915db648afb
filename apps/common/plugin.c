/* SPDX-License-Identifier: MIT */
/* Congestion controllers from shared objects.
 *
 * A new controller may loop, crash or return nonsense. So its hooks are first called in a child
 * process, with random histories and a time limit. The program continues only with a controller
 * that passes.
 */
#include "common/plugin.h"

#include <scps/cc_plugin.h>
#include <scps/cctest.h>

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRIAL_DONE "done" /* The child process writes this when it has called all hooks. */
enum { TRIAL_SEEDS = 10, TRIAL_SECONDS = 5, PATH_LEN = 1024 };

static bool fails(char *msg, size_t len, const char *path, const char *what)
{
    snprintf(msg, len, "%.200s: %s", path, what);
    return false;
}

/* ---- functions that check the controller's structure and call no hook ---- */

static bool shape_ok(const struct scps_cc_plugin *p, const char *path, char *msg, size_t len)
{
    char why[200], text[300];

    if (p->abi != SCPS_CC_ABI) {
        snprintf(text, sizeof text,
                 "made for ABI %u of <scps/cc_plugin.h>, this program has %u: compile it against "
                 "this version",
                 (unsigned)p->abi, (unsigned)SCPS_CC_ABI);
        return fails(msg, len, path, text);
    }
    if (p->size != sizeof *p || p->ops_size != sizeof(struct scps_cc_ops) ||
        p->view_size != sizeof(struct scps_cc_view) || p->ack_size != sizeof(struct scps_cc_ack) ||
        p->loss_size != sizeof(struct scps_cc_loss) ||
        p->sent_size != sizeof(struct scps_cc_sent) || p->ctl_size != sizeof(struct scps_cc_ctl))
        return fails(msg, len, path,
                     "its structures have other sizes than those of this program: compile it "
                     "against the <scps/cc.h> of this version");
    if (!p->ops)
        return fails(msg, len, path, "scps_cc_plugin.ops is NULL: give it the operations");
    if (!scps_cctest_ops_ok(p->ops, why, sizeof why)) {
        snprintf(text, sizeof text, "no controller: %s", why);
        return fails(msg, len, path, text);
    }
    if (scps_cc_find(p->ops->name)) {
        snprintf(text, sizeof text, "a controller that is built in has the name %s: take another",
                 p->ops->name);
        return fails(msg, len, path, text);
    }
    return true;
}

/* ---- functions that call the controller's hooks in a child process ---- */

/* Calls the hooks in the child process and writes the first error to the pipe `to`: outputs that no
 * controller may have. Whether the controller is a good one is checked by scps_cctest. */
static void try_hooks(const struct scps_cc_ops *ops, const int64_t *param, int to)
{
    const uint64_t mask = SCPS_CCTEST_BIT(SCPS_CCTEST_FLOOR) |
                          SCPS_CCTEST_BIT(SCPS_CCTEST_CEILING) | SCPS_CCTEST_BIT(SCPS_CCTEST_RATE);
    struct scps_cctest_history h;
    char why[SCPS_CCTEST_MSGLEN];

    for (uint64_t seed = 1; seed <= TRIAL_SEEDS; seed++) {
        scps_cctest_random(seed, &h);
        if (scps_cctest_run(ops, param, &h, ops->needs_rate ? 1250000 : 0, mask, why, sizeof why) ==
            SCPS_CCTEST_CHECKS)
            continue;
        if (write(to, why, strlen(why)) < 0)
            _exit(2);
        _exit(1);
    }
    _exit(write(to, TRIAL_DONE, strlen(TRIAL_DONE)) < 0 ? 2 : 0);
}

static size_t read_all(int from, char *to, size_t room)
{
    size_t n = 0;
    ssize_t got;

    while (n + 1 < room && (got = read(from, to + n, room - 1 - n)) != 0) {
        if (got < 0 && errno != EINTR)
            break;
        n += got > 0 ? (size_t)got : 0;
    }
    to[n] = '\0';
    return n;
}

static bool trial_ok(const struct scps_cc_ops *ops, const int64_t *param, const char *path,
                     char *msg, size_t len)
{
    char why[SCPS_CCTEST_MSGLEN] = "", text[SCPS_CCTEST_MSGLEN + 100];
    int fds[2], status = 0;
    pid_t child;

    if (pipe(fds) != 0 || (child = fork()) < 0) {
        snprintf(text, sizeof text, "cannot try it: %s", strerror(errno));
        return fails(msg, len, path, text);
    }
    if (child == 0) {
        close(fds[0]);
        signal(SIGALRM, SIG_DFL);
        alarm(TRIAL_SECONDS);
        try_hooks(ops, param, fds[1]);
    }
    close(fds[1]);
    read_all(fds[0], why, sizeof why);
    close(fds[0]);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && strcmp(why, TRIAL_DONE) == 0)
        return true;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        snprintf(text, sizeof text, "%s: a hook does not return: given up after %d s", ops->name,
                 TRIAL_SECONDS);
    else if (WIFSIGNALED(status))
        snprintf(text, sizeof text, "%s: a hook crashes (%s)", ops->name,
                 strsignal(WTERMSIG(status)));
    else if (!*why)
        snprintf(text, sizeof text, "%s: a hook ends the program: return instead", ops->name);
    else
        snprintf(text, sizeof text, "%s returns nonsense: %.300s", ops->name, why);
    return fails(msg, len, path, text);
}

/* ---- functions that load a shared object ---- */

static void *open_object(const char *path, char *msg, size_t len)
{
    char name[PATH_LEN + 2];
    void *so;
    const char *why;

    /* Without a slash in the name, dlopen() would look in the folders of the system. */
    snprintf(name, sizeof name, "%s%s", strchr(path, '/') ? "" : "./", path);
    so = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!so) {
        why = dlerror();
        snprintf(msg, len, "%.600s: give a shared object made with cc -shared -fPIC",
                 why ? why : path);
    }
    return so;
}

bool plugin_load(const char *text, const struct scps_cc_ops **ops, int64_t param[SCPS_CC_PARAMS],
                 char *msg, size_t msglen)
{
    size_t n = strcspn(text, ",");
    char path[PATH_LEN], why[300];
    const struct scps_cc_plugin *p;
    int64_t got[SCPS_CC_PARAMS];
    void *so;

    if (n == 0 || n >= sizeof path)
        return fails(msg, msglen, text, "give FILE.so[,key=value...]");
    memcpy(path, text, n);
    path[n] = '\0';
    so = open_object(path, msg, msglen);
    if (!so)
        return false;
    p = dlsym(so, "scps_cc_plugin");
    if (!p) {
        dlclose(so);
        return fails(msg, msglen, path,
                     "it has no symbol scps_cc_plugin: add SCPS_CC_PLUGIN(operations) of "
                     "<scps/cc_plugin.h>");
    }
    if (!shape_ok(p, path, msg, msglen) ||
        (scps_cc_parse_params(p->ops, text[n] ? text + n + 1 : "", got, why, sizeof why) != 0 &&
         !fails(msg, msglen, path, why)) ||
        !trial_ok(p->ops, got, path, msg, msglen)) {
        dlclose(so);
        return false;
    }
    *ops = p->ops;
    memcpy(param, got, sizeof got);
    return true;
}
