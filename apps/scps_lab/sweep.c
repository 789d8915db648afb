/* SPDX-License-Identifier: MIT */
/* scps_lab sweep: runs every cell (combination of swept values) the configured number of times, on
 * all processors.
 *
 *     parent: jobs, largest first  --index-->  worker   (a process for each core)
 *             rows.csv, one writer <--lines--
 *
 * The rows do not depend on which worker ran a job, when, or what it ran before; when all jobs are
 * done the rows are sorted. So the result has the same bytes for any number of workers, after
 * interruptions, and when shards are merged.
 */
#include "scps_lab/sweep.h"
#include "scps_lab/outputs.h"
#include "scps_lab/rows.h"
#include "scps_lab/stats.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct job {
    /* index in sweep.cells.v of the cell (combination of swept values) that is simulated */
    size_t cell;
    unsigned run;
    bool done;
    double cost;
};

struct worker {
    pid_t pid;
    int fd;
    bool busy;
    size_t job;
};

struct sweep {
    const struct lab_sweep_options *o;
    struct lab_cells cells;
    struct job *job; /* the runs that this process has to make, the most costly one first */
    /* where[cell index * number of runs + run - 1]: index + 1 in `job` of this run; 0: it belongs
     * to another shard */
    size_t *where;
    size_t njobs, next, done, had;
    /* estimated costs, in packets: of all runs, of those done, and of those that were done when the
     * program started (an interrupted sweep continues) */
    double cost, cost_done, cost_had;
    struct worker *worker;
    unsigned nworkers;
    struct lab_rows rows;
    double began, shown, synced;
    bool terminal;
    char msg[LAB_MSGLEN];
};

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
    (void)sig;
    interrupted = 1;
}

static double wall(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- functions of the list of jobs (the runs that are to be made) ---- */

static int larger_first(const void *a, const void *b)
{
    const struct job *x = a, *y = b;

    if (x->cost != y->cost)
        return x->cost > y->cost ? -1 : 1;
    if (x->cell != y->cell)
        return x->cell < y->cell ? -1 : 1;
    return x->run < y->run ? -1 : x->run > y->run;
}

static void make_jobs(struct sweep *s)
{
    size_t runs = (size_t)s->cells.sc->runs, all = s->cells.n * runs;

    s->job = lab_alloc((all + 1) * sizeof *s->job);
    for (size_t i = 0; i < all; i++)
        s->job[i] =
            (struct job){i / runs, (unsigned)(i % runs) + 1, false, s->cells.v[i / runs].cost};
    qsort(s->job, all, sizeof *s->job, larger_first);
    for (size_t i = s->o->shard - 1; i < all; i += s->o->shards)
        s->job[s->njobs++] = s->job[i];
    s->where = lab_alloc((all + 1) * sizeof *s->where);
    for (size_t i = 0; i < s->njobs; i++) {
        s->cost += s->job[i].cost;
        s->where[s->job[i].cell * runs + s->job[i].run - 1] = i + 1;
    }
}

static void was_done(void *ctx, size_t number, unsigned run)
{
    struct sweep *s = ctx;
    struct job *j;
    size_t i = 0, k;

    while (i < s->cells.n && s->cells.v[i].number != number)
        i++;
    if (i == s->cells.n || run < 1 || run > s->cells.sc->runs)
        return;
    k = s->where[i * (size_t)s->cells.sc->runs + run - 1];
    if (k == 0)
        return;
    j = &s->job[k - 1];
    if (j->done)
        return;
    j->done = true;
    s->done++;
    s->cost_done += j->cost;
}

/* ---- functions of a worker process, which runs jobs ---- */

static bool all_of(int fd, void *buf, size_t len, bool out)
{
    char *p = buf;

    while (len > 0) {
        ssize_t n = out ? write(fd, p, len) : read(fd, p, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n;
        len -= (size_t)n;
    }
    return true;
}

static void work(struct sweep *s, int fd)
{
    uint32_t index, len;

    while (all_of(fd, &index, sizeof index, false)) {
        const struct job *j = &s->job[index];
        const struct lab_cell *cell = &s->cells.v[j->cell];
        struct lab_watch w = {0};
        struct lab_result r;
        struct lab_str text = {0};

        if (!lab_job(cell->setup, lab_cell_seed(&s->cells, cell, j->run), &w, &r)) {
            lab_add(&text, "!%s", w.msg);
        } else {
            lab_rows_format(&s->cells, cell, j->run, &r, &text);
        }
        lab_result_free(&r);
        len = (uint32_t)text.len;
        /* If the write fails, the parent process has ended, so no process reads the results. */
        if (!all_of(fd, &len, sizeof len, true) || !all_of(fd, text.p, len, true))
            _exit(0);
        lab_free(&text);
    }
    _exit(0);
}

static bool hire(struct sweep *s, struct worker *w)
{
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return false;
    fflush(NULL);
    w->pid = fork();
    if (w->pid == 0) {
        /* A terminal sends SIGINT to all processes of the program. The workers ignore it, because
         * the parent process, which receives it too, ends them. */
        signal(SIGINT, SIG_IGN);
        signal(SIGTERM, SIG_DFL);
        close(pair[0]);
        /* A worker ends when the parent closes the socket from which it reads. This works only if
         * no other process keeps the parent's end of the socket open, so a new worker closes the
         * parent's ends of the sockets of all other workers. */
        for (unsigned i = 0; i < s->nworkers; i++)
            if (&s->worker[i] != w && s->worker[i].fd > 0)
                close(s->worker[i].fd);
        close(s->rows.fd);
        work(s, pair[1]);
    }
    close(pair[1]);
    w->fd = pair[0];
    w->busy = false;
    return w->pid > 0;
}

static void dismiss(struct sweep *s)
{
    for (unsigned i = 0; i < s->nworkers; i++) {
        struct worker *w = &s->worker[i];
        if (w->pid <= 0)
            continue;
        close(w->fd);
        if (w->busy)
            kill(w->pid, SIGTERM);
        while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
            ;
        w->pid = 0;
    }
}

/* ---- functions of the parent process, which hands out jobs and writes results ---- */

static void show_progress(struct sweep *s, bool last)
{
    double now = wall(), spent = now - s->began, done = s->cost_done - s->cost_had;
    double left = done > 0 ? (s->cost - s->cost_done) / done * spent : 0;
    char eta[64] = "";

    if (s->o->quiet || (!last && now - s->shown < (s->terminal ? 0.5 : 30)))
        return;
    s->shown = now;
    if (!last && done > 0)
        snprintf(eta, sizeof eta, ", %d:%02d:%02d left", (int)left / 3600, (int)left / 60 % 60,
                 (int)left % 60);
    if (s->terminal) {
        int filled = s->cost > 0 ? (int)(30 * s->cost_done / s->cost) : 30;
        fprintf(stderr, "\r[%.*s%.*s] %zu of %zu runs%s  %s", filled,
                "##############################", 30 - filled, "..............................",
                s->done, s->njobs, eta, last ? "\n" : "");
        fflush(stderr);
    } else {
        fprintf(stderr, "scps_lab: %zu of %zu runs, %.0f %% of the work, %.0f s%s\n", s->done,
                s->njobs, s->cost > 0 ? 100 * s->cost_done / s->cost : 100, spent, eta);
    }
}

static bool deal(struct sweep *s, struct worker *w)
{
    uint32_t index;

    while (s->next < s->njobs && s->job[s->next].done)
        s->next++;
    if (s->next == s->njobs || interrupted)
        return false;
    index = (uint32_t)(w->job = s->next++);
    w->busy = all_of(w->fd, &index, sizeof index, true);
    return w->busy;
}

static bool lost_worker(struct sweep *s, struct worker *w)
{
    const struct job *j = &s->job[w->job];
    int status = 0;

    waitpid(w->pid, &status, 0);
    close(w->fd);
    w->pid = 0;
    snprintf(s->msg, sizeof s->msg,
             "a worker died (%s %d) in the cell '%.300s', run %u: run it alone",
             WIFSIGNALED(status) ? "signal" : "status",
             WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), s->cells.v[j->cell].id,
             j->run);
    return false;
}

static bool take_result(struct sweep *s, struct worker *w)
{
    uint32_t len;
    char *text;
    bool ok;

    if (!all_of(w->fd, &len, sizeof len, false))
        return lost_worker(s, w);
    text = lab_alloc((size_t)len + 1);
    if (!all_of(w->fd, text, len, false)) {
        free(text);
        return lost_worker(s, w);
    }
    w->busy = false;
    if (*text == '!') {
        snprintf(s->msg, sizeof s->msg, "%.300s (in the cell %.150s)", text + 1,
                 s->cells.v[s->job[w->job].cell].id);
        ok = false;
    } else {
        ok = lab_rows_append(&s->rows, text, len, s->msg);
    }
    free(text);
    if (!ok)
        return false;
    s->job[w->job].done = true;
    s->done++;
    s->cost_done += s->job[w->job].cost;
    if (wall() - s->synced > 5) {
        s->synced = wall();
        return lab_rows_sync(&s->rows, s->msg);
    }
    return true;
}

static bool run_all(struct sweep *s)
{
    struct pollfd *p = lab_alloc((s->nworkers + 1) * sizeof *p);
    bool ok = true;

    for (unsigned i = 0; ok && i < s->nworkers; i++) {
        ok = hire(s, &s->worker[i]);
        if (!ok)
            snprintf(s->msg, sizeof s->msg, "cannot start a worker: %s", strerror(errno));
        else
            deal(s, &s->worker[i]);
    }
    while (ok) {
        unsigned busy = 0;

        for (unsigned i = 0; i < s->nworkers; i++) {
            p[i] =
                (struct pollfd){.fd = s->worker[i].busy ? s->worker[i].fd : -1, .events = POLLIN};
            busy += s->worker[i].busy;
        }
        if (busy == 0 || interrupted)
            break;
        if (poll(p, s->nworkers, 500) < 0 && errno != EINTR)
            break;
        for (unsigned i = 0; ok && i < s->nworkers; i++)
            if (p[i].revents) {
                ok = take_result(s, &s->worker[i]);
                if (ok)
                    deal(s, &s->worker[i]);
            }
        show_progress(s, false);
    }
    dismiss(s);
    free(p);
    return ok;
}

/* Called when rows.csv has the rows of all runs of the sweep, in the order in which the runs ended:
 * replaces rows.csv by a file with the same rows sorted by cell (combination of swept values) and
 * run, and writes cells.csv (the statistics of each cell) and scenario.ini, a copy of the scenario.
 * Returns false, with the reason in s->msg, on an error. */
static bool conclude(struct sweep *s)
{
    const struct lab_scenario *sc = s->cells.sc;
    const char *dir = s->o->out;
    struct lab_str meta = {0};
    struct lab_table t;
    bool ok = lab_table_read(dir, "rows.csv", &t, s->msg);

    if (ok) {
        lab_rows_meta(&s->cells, s->o->shard, s->o->shards, &meta);
        ok = lab_rows_write_sorted(&t, meta.p, dir, s->msg) &&
             lab_file_write(dir, "scenario.ini", sc->text, strlen(sc->text), s->msg) &&
             lab_cells_write(dir, s->msg);
        lab_table_free(&t);
        lab_free(&meta);
    }
    return ok;
}

static unsigned cores(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    return n > 0 ? (unsigned)n : 1;
}

static void summary(const struct sweep *s)
{
    struct rusage u;

    getrusage(RUSAGE_CHILDREN, &u);
    if (!s->o->quiet)
        fprintf(stderr,
                "scps_lab: %zu runs of %zu cells in %.1f s (%u workers, %.1f s of CPU, largest "
                "%ld MB); %s/rows.csv, cells.csv\n",
                s->njobs, s->cells.n, wall() - s->began, s->nworkers,
                (double)u.ru_utime.tv_sec + (double)u.ru_utime.tv_usec / 1e6 +
                    (double)u.ru_stime.tv_sec,
                u.ru_maxrss / 1024, s->o->out);
}

static void finish(struct sweep *s)
{
    lab_cells_free(&s->cells);
    free(s->job);
    free(s->where);
    free(s->worker);
}

int lab_sweep(const struct lab_scenario *sc, const struct lab_sweep_options *o)
{
    struct sweep s = {.o = o, .rows.fd = -1};
    struct sigaction act = {.sa_handler = on_signal};
    bool ok;

    if (!lab_cells_make(sc, &s.cells, s.msg)) {
        fprintf(stderr, "scps_lab: %s\n", s.msg);
        return 2;
    }
    if (o->check) {
        if (!o->quiet)
            printf("%zu cells, %zu runs\n", s.cells.n, s.cells.n * (size_t)sc->runs);
        lab_cells_free(&s.cells);
        return 0;
    }
    if (!lab_sweep_files(sc, o->out, s.msg)) {
        fprintf(stderr, "scps_lab: %s\n", s.msg);
        finish(&s);
        return 2;
    }
    if (mkdir(o->out, 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "scps_lab: %s: %s: give another --out\n", o->out, strerror(errno));
        finish(&s);
        return 2;
    }
    make_jobs(&s);
    if (!lab_rows_open(&s.rows, o->out, &s.cells, o->shard, o->shards, was_done, &s, s.msg)) {
        fprintf(stderr, "scps_lab: %s\n", s.msg);
        finish(&s);
        return 2;
    }
    s.had = s.done;
    s.cost_had = s.cost_done;
    s.terminal = isatty(2);
    s.nworkers = o->jobs ? o->jobs : cores();
    s.worker = lab_alloc(s.nworkers * sizeof *s.worker);
    s.began = s.shown = s.synced = wall();
    sigemptyset(&act.sa_mask);
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    signal(SIGPIPE, SIG_IGN);
    /* Without SIGXFSZ, a write beyond the limit of a file's size fails with an error, which is
     * reported. */
    signal(SIGXFSZ, SIG_IGN);
    if (s.had && !o->quiet)
        fprintf(stderr, "scps_lab: %zu of %zu runs are done already\n", s.had, s.njobs);
    ok = run_all(&s);
    ok = lab_rows_sync(&s.rows, s.msg) && ok;
    lab_rows_close(&s.rows);
    show_progress(&s, true);
    if (ok && s.done == s.njobs) {
        ok = conclude(&s);
        if (ok)
            summary(&s);
    } else if (ok) {
        snprintf(s.msg, sizeof s.msg, "stopped");
        ok = false;
    }
    if (!ok)
        fprintf(stderr, "scps_lab: %s; %zu of %zu runs are kept in %s: the same command goes on\n",
                s.msg, s.done, s.njobs, s.rows.path);
    finish(&s);
    return ok ? 0 : 1;
}
