/* SPDX-License-Identifier: MIT */
/* Prints the physical limit of a link for one bulk transfer, as tests/bench/pure_rate prints it
 * beside ours:
 *
 *     bench_limit LINK BYTES PAYLOAD HEADERS RATE_BPS WINDOW [ACK_MS]
 *
 * Mbit/s of payload without a window; with it; with it and acknowledgements every ACK_MS (0: at
 * once).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <scps/sim.h>

int main(int argc, char **argv)
{
    struct scps_link_config fwd, back;
    char msg[200];

    if (argc != 7 && argc != 8) {
        fprintf(stderr, "usage: bench_limit LINK BYTES PAYLOAD HEADERS RATE_BPS WINDOW [ACK_MS]\n");
        return 2;
    }
    if (scps_link_parse(argv[1], &fwd, &back, msg, sizeof msg) != 0) {
        fprintf(stderr, "bench_limit: %s\n", msg);
        return 2;
    }
    uint64_t bytes = strtoull(argv[2], NULL, 10), rate = strtoull(argv[5], NULL, 10);
    uint32_t payload = (uint32_t)strtoul(argv[3], NULL, 10),
             headers = (uint32_t)strtoul(argv[4], NULL, 10);
    uint64_t window = strtoull(argv[6], NULL, 10);
    scps_dur every = argc > 7 ? (scps_dur)(1000 * strtod(argv[7], NULL) + 0.5) : 0;
    printf("%.6f %.6f %.6f\n", scps_link_limit(&fwd, &back, bytes, payload, headers, rate) * 1e-6,
           scps_link_limit_window(&fwd, &back, bytes, payload, headers, rate, window, 0) * 1e-6,
           scps_link_limit_window(&fwd, &back, bytes, payload, headers, rate, window, every) *
               1e-6);
    return 0;
}
