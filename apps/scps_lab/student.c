/* SPDX-License-Identifier: MIT */
/* Student's distribution by the regularised incomplete beta function I_x(a, b):
 * P(|T| >= t) = I_x(df / 2, 1 / 2) at x = df / (df + t^2).
 *
 * docs/decisions/0010-students-distribution.md says why no library computes it. The values are
 * compared with Boost.Math's in tests/cli/test_lab_student.c.
 */
#include "scps_lab/student.h"

#include <math.h>

/* The regularised incomplete beta function, computed by Lentz's continued fraction. */
static double ibeta(double a, double b, double x)
{
    double front, f = 1, c = 1, d = 0;

    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    if (x > (a + 1) / (a + b + 2))
        return 1 - ibeta(b, a, 1 - x);
    front = exp(a * log(x) + b * log(1 - x) + lgamma(a + b) - lgamma(a) - lgamma(b)) / a;
    for (int i = 0; i <= 400; i++) {
        double m = i / 2, t, cd;

        if (i == 0)
            t = 1;
        else if (i % 2 == 0)
            t = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        else
            t = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 + t * d;
        d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
        c = 1 + t / c;
        c = fabs(c) < 1e-300 ? 1e-300 : c;
        cd = c * d;
        f *= cd;
        if (fabs(1 - cd) < 1e-14)
            break;
    }
    return front * (f - 1);
}

double lab_student_two_sided(double t, double df)
{
    return ibeta(df / 2, 0.5, df / (df + t * t));
}

double lab_student_quantile(double df)
{
    double lo = 0, hi = 1000;

    for (int i = 0; i < 60; i++) {
        double mid = (lo + hi) / 2;
        if (lab_student_two_sided(mid, df) > 0.05)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}
