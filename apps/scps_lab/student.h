/* SPDX-License-Identifier: MIT */
/* Computes Student's t distribution, which confidence intervals and Welch's test need. */
#ifndef SCPS_LAB_STUDENT_H
#define SCPS_LAB_STUDENT_H

/* Returns the probability that |T| is t or more, for t >= 0 and df > 0 degrees of freedom, which
 * need not be a whole number. */
double lab_student_two_sided(double t, double df);
/* Returns the value that |T| exceeds with a probability of 0.05, for df >= 1 degrees of freedom. */
double lab_student_quantile(double df);

#endif
