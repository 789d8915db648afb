/* SPDX-License-Identifier: MIT */
/* A series of executions in one process that goes on after an input that fails.
 *
 * FUZZ_FINDS=DIR in the environment asks for it: an input at which something does not hold, an
 * assertion of the stack fails, or 10 s of processor time pass, is written to DIR/find-N, where N
 * counts the executions of the process, and is not kept in the corpus. The memory of its run is
 * not given back. A fault of memory access still ends the process. libFuzzer's -fork=1
 * -ignore_crashes=1 goes on, too, but starts a process each few seconds, which reads the corpus.
 *
 * Only for builds with libFuzzer.
 */
#include "pair.h"

#ifdef SCPS_LIBFUZZER

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#define LONGEST 10  /* seconds of processor time of one input */
#define MOST    500 /* inputs that are written */

/* Where clang keeps the counters of the edges, which libFuzzer reads after each execution. */
extern uint8_t __start___sancov_cntrs[], __stop___sancov_cntrs[];

static sigjmp_buf failed;

static void caught(int nr)
{
    siglongjmp(failed, nr);
}

static void limit(int seconds)
{
    struct itimerval t = {.it_value.tv_sec = seconds};

    setitimer(ITIMER_VIRTUAL, &t, NULL);
}

static void begin(void)
{
    struct sigaction sa = {.sa_handler = caught, .sa_flags = SA_NODEFER};

    sigaction(SIGABRT, &sa, NULL); /* libFuzzer's handler would end the process */
    sigaction(SIGVTALRM, &sa, NULL);
}

static void keep(const char *dir, unsigned long nr, const uint8_t *data, size_t size)
{
    static unsigned kept;
    char path[4096];
    FILE *f;

    fprintf(stderr, "execution %lu failed\n", nr);
    if (kept++ >= MOST)
        return;
    snprintf(path, sizeof path, "%s/find-%lu", dir, nr);
    f = fopen(path, "wb");
    if (!f || fwrite(data, 1, size, f) != size || fclose(f)) {
        perror(path);
        _exit(1);
    }
}

void pair_series(void (*run)(const uint8_t *data, size_t size), const uint8_t *data, size_t size)
{
    static const char *dir;
    static unsigned long nr;

    if (!nr++ && (dir = getenv("FUZZ_FINDS")))
        begin();
    if (!dir) {
        run(data, size);
        return;
    }
    if (!sigsetjmp(failed, 0)) {
        limit(LONGEST);
        run(data, size);
        limit(0);
        return;
    }
    limit(0);
    keep(dir, nr, data, size);
    memset(__start___sancov_cntrs, 0, (size_t)(__stop___sancov_cntrs - __start___sancov_cntrs));
}

#else

void pair_series(void (*run)(const uint8_t *data, size_t size), const uint8_t *data, size_t size)
{
    run(data, size);
}

#endif
