/* SPDX-License-Identifier: MIT */
/* Congestion controllers from shared objects.
 *
 * A shared object may be cut short, and code that it runs when it is opened may loop or crash. A
 * new controller may loop, crash, write beyond its state or return invalid values. So a child
 * process with a time limit first opens the object, and another one calls the controller's hooks
 * (functions). The program itself uses the controller only if neither child has found an error.
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

/* Text that a child process, which tries to open a shared object or to call the hooks of a
 * controller, writes to the pipe to its parent if it has found no error; any other text in the pipe
 * is the error that the child has found. */
#define TRIAL_DONE "done"
enum { TRIAL_SEEDS = 10, TRIAL_SECONDS = 5, TRIAL_ROUNDS = 100, PATH_LEN = 1024 };

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

/* What a child process tries: a shared object, which it opens, or a controller with its
 * parameters. */
struct trial {
    const char *file; /* name of the shared object; NULL: ops and param are tried */
    const struct scps_cc_ops *ops;
    const int64_t *param;
};

/* Called in the child process: writes text to the pipe with descriptor `to`, from which the parent
 * reads, and exits. text: TRIAL_DONE, or the error that was found. */
static void tell(int to, const char *text)
{
    _exit(write(to, text, strlen(text)) < 0 ? 2 : 0);
}

/* Checks in the child process that the controller does not write beyond the size of its state that
 * it declares (state_size), because a connection allocates no more memory than that for the
 * controller. */
static void try_state(const struct trial *t, int to)
{
    const struct scps_cc_ack a = {.bytes = 1000, .rtt = SCPS_MS(100), .rate = 100000};
    const struct scps_cc_loss l = {.bytes = 1000, .new_episode = true};
    size_t size = scps_cc_state_size(t->ops, t->param);
    struct scps_cctest bench = {.watch = NULL};
    char why[SCPS_CCTEST_MSGLEN];

    snprintf(why, sizeof why,
             "%s: its state has %zu octets with these parameters, at most %d are possible "
             "(SCPS_CC_STATE_MAX)",
             t->ops->name, size, SCPS_CC_STATE_MAX);
    if (size > SCPS_CC_STATE_MAX)
        tell(to, why);
    snprintf(why, sizeof why,
             "%s writes behind its state of %zu octets: set state_size to the size of its state",
             t->ops->name, size);
    scps_cctest_start(&bench, t->ops, t->param, &(struct scps_cc_view){.conf_rate = 1250000});
    for (unsigned i = 0; i < TRIAL_ROUNDS; i++) {
        for (size_t k = size; k < SCPS_CC_STATE_MAX; k++)
            if (bench.state.bytes[k] != 0)
                tell(to, why);
        bench.view.now += SCPS_MS(10);
        bench.view.outstanding = bench.view.inflight = bench.ctl.cwnd;
        scps_cctest_ack(&bench, &a);
        if (i % 10 == 9) {
            scps_cctest_loss(&bench, &l);
            scps_cctest_change(&bench, SCPS_CC_RECOVERED);
        }
    }
}

/* Calls the controller's hooks (functions) in the child process, and reports the first output that
 * no controller may have, such as a window below one segment. It does not check whether the
 * controller is a good one; scps_cctest does. */
static void try_hooks(const struct trial *t, int to)
{
    const uint64_t mask = SCPS_CCTEST_BIT(SCPS_CCTEST_FLOOR) |
                          SCPS_CCTEST_BIT(SCPS_CCTEST_CEILING) | SCPS_CCTEST_BIT(SCPS_CCTEST_RATE);
    struct scps_cctest_history h;
    char why[SCPS_CCTEST_MSGLEN], text[SCPS_CCTEST_MSGLEN + 100];

    try_state(t, to);
    for (uint64_t seed = 1; seed <= TRIAL_SEEDS; seed++) {
        scps_cctest_random(seed, &h);
        if (scps_cctest_run(t->ops, t->param, &h, t->ops->needs_rate ? 1250000 : 0, mask, why,
                            sizeof why) == SCPS_CCTEST_CHECKS)
            continue;
        snprintf(text, sizeof text, "%s returns nonsense: %.300s", t->ops->name, why);
        tell(to, text);
    }
    tell(to, TRIAL_DONE);
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

/* Tries, in a child process, the shared object or the controller that t describes. Returns true if
 * the child found no error and has not crashed. Otherwise returns false and writes to msg the path
 * and how the child ended. who: name, for msg, of the code that the child runs, for example
 * "opening it". */
static bool trial_ok(const struct trial *t, const char *who, const char *path, char *msg,
                     size_t len)
{
    char why[SCPS_CCTEST_MSGLEN + 100] = "", text[SCPS_CCTEST_MSGLEN + 100];
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
        if (!t->file)
            try_hooks(t, fds[1]);
        /* If dlopen() fails here, it will also fail in the parent process, which opens the object
         * next and reports the reason. */
        dlopen(t->file, RTLD_NOW | RTLD_LOCAL);
        tell(fds[1], TRIAL_DONE);
    }
    close(fds[1]);
    read_all(fds[0], why, sizeof why);
    close(fds[0]);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && strcmp(why, TRIAL_DONE) == 0)
        return true;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        snprintf(text, sizeof text, "%s does not return: given up after %d s", who, TRIAL_SECONDS);
    else if (WIFSIGNALED(status))
        snprintf(text, sizeof text, "%s crashes (%s)", who, strsignal(WTERMSIG(status)));
    else if (!*why)
        snprintf(text, sizeof text, "%s ends the program: return instead", who);
    else
        snprintf(text, sizeof text, "%s", why);
    return fails(msg, len, path, text);
}

/* ---- functions that load a shared object ---- */

static void *open_object(const char *path, char *msg, size_t len)
{
    char name[PATH_LEN + 2];
    void *so;
    const char *why;

    /* dlopen() searches the folders of the system for a name without a slash, so "./" is put before
     * it. */
    snprintf(name, sizeof name, "%s%s", strchr(path, '/') ? "" : "./", path);
    if (!trial_ok(&(struct trial){.file = name}, "opening it", path, msg, len))
        return NULL;
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
    /* who: name of the controller for messages, cut to 40 octets */
    char path[PATH_LEN], why[300], who[60] = "";
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
    if (shape_ok(p, path, msg, msglen))
        snprintf(who, sizeof who, "%s: a hook", p->ops->name);
    if (!*who ||
        (scps_cc_parse_params(p->ops, text[n] ? text + n + 1 : "", got, why, sizeof why) != 0 &&
         !fails(msg, msglen, path, why)) ||
        !trial_ok(&(struct trial){.ops = p->ops, .param = got}, who, path, msg, msglen)) {
        dlclose(so);
        return false;
    }
    *ops = p->ops;
    memcpy(param, got, sizeof got);
    return true;
}
