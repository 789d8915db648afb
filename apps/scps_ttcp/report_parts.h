/* SPDX-License-Identifier: MIT */
/* Functions that write parts of the report of a run, most of them members of the JSON document of
 * --json: for the report of a TCP transfer (report_json.c), that of a UDP transfer (-u,
 * report_udp.c), or both. */
#ifndef SCPS_TTCP_REPORT_PARTS_H
#define SCPS_TTCP_REPORT_PARTS_H

#include "scps_ttcp/result.h"

#include <scps/json.h>

/* Writes the member "bits_per_second" of the JSON report: the rate of `bytes` in a time of us µs.
 * The function is in report_json.c. */
void ttcp_json_rate(struct scps_json *j, uint64_t bytes, scps_dur us);

/* The following functions are in json_start.c. ttcp_json_start() writes the member "start" of the
 * JSON report of a transfer by TCP. The other functions each write a member that the JSON report of
 * a transfer by UDP (-u) has, too. */
void ttcp_json_start(struct scps_json *j, const struct ttcp_result *r);
/* Writes the member "seed" of the random errors. */
void ttcp_json_seed(struct scps_json *j, const struct ttcp_result *r);
/* Writes the member "link", the configuration of the link, if there is one. */
void ttcp_json_link(struct scps_json *j, const struct ttcp_result *r);

/* The following functions are in json_end.c. ttcp_json_end() writes the member "end" of the JSON
 * report of a transfer by TCP. The other functions each write a member that the JSON report of a
 * transfer by UDP (-u) has, too. */
void ttcp_json_end(struct scps_json *j, const struct ttcp_result *r);
/* Writes, in a run over a real interface, the member "cpu_utilization_percent": the processor time
 * of this process. In a run over a virtual link, writes in its place the member "link": the
 * counters of both directions of the link. */
void ttcp_json_ran(struct scps_json *j, const struct ttcp_result *r);
/* Writes how the transfer ended (outcome and exit status) and its duration. */
void ttcp_json_outcome(struct scps_json *j, const struct ttcp_result *r);
void ttcp_json_verified(struct scps_json *j, const struct ttcp_result *r);
/* Writes the member "interface": packets that the link layer (PPP, Ethernet, CCSDS) of a real
 * interface dropped. Writes nothing if there is no such layer. */
void ttcp_json_interface(struct scps_json *j, const struct ttcp_result *r);
void ttcp_json_drops(struct scps_json *j, const char *key, const struct ttcp_side *s);

/* Functions of report_udp.c, which report a transfer of UDP datagrams. */
/* Writes the object "scps" of the member "start": rate, seed, virtual time or not, and link. */
void ttcp_json_udp_scps(struct scps_json *j, const struct ttcp_result *r);
void ttcp_json_udp_interval(struct scps_json *j, const struct ttcp_result *r,
                            const struct ttcp_interval *i);
void ttcp_json_udp_end(struct scps_json *j, const struct ttcp_result *r);
void ttcp_report_udp_interval(const struct ttcp_result *r, const struct ttcp_interval *i, FILE *f);
void ttcp_report_udp_text(const struct ttcp_result *r, FILE *f);

#endif
