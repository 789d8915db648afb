/* SPDX-License-Identifier: MIT */
/* A series of runs in one process that goes on after an input that fails.
 *
 * FUZZ_FINDS=DIR in the environment asks for it. An input for which a check fails, an assertion of
 * the stack fails, or 10 s of processor time pass, is written to DIR/find-N, where N counts the
 * runs of the process, and is not added to the corpus. The memory of its run is not freed. A fault
 * of memory access still ends the process. libFuzzer's options -fork=1 -ignore_crashes=1 go on as
 * well, but start a process every few seconds, which reads the corpus again.
 *
 * The file is for builds with libFuzzer.
 */
#include "pair.h"

#ifdef SCPS_LIBFUZZER

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#define LONGEST 10  /* The most seconds of processor time for one input. */
#define MOST    500 /* The most inputs that are written. */

/* clang keeps the counters of edges between these addresses; libFuzzer reads them after each
 * run. */
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

    sigaction(SIGABRT, &sa, NULL); /* libFuzzer's handler of SIGABRT would end the process. */
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
