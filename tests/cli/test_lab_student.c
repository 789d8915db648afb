/* SPDX-License-Identifier: MIT */
/* Student's distribution beside the values of Boost.Math 1.74, which were printed once:
 *
 *     boost::math::students_t d(df);
 *     printf("%.15g %.15g\n", 2 * cdf(complement(d, t)), quantile(complement(d, 0.025)));
 */
#include "scps_lab/student.h"

#include <cmocka_all.h>
#include <math.h>

static void assert_close(double value, double expected, double most)
{
    if (!(fabs(value - expected) <= most * expected))
        fail_msg("%.15g, expected %.15g", value, expected);
}

static void two_sided_probabilities(void **state)
{
    static const struct {
        double t, df, p, most;
    } row[] = {
        {1, 1, 0.5, 1e-12},
        {0.5, 0.5, 0.757318072929437, 1e-12},
        {2.5, 1.3, 0.193280767156153, 1e-12}, /* Welch's degrees of freedom are no whole numbers */
        {0.01, 4, 0.992500156245899, 1e-12},
        {3.2, 7.5, 0.0137351538624083, 1e-12},
        {12, 29, 9.06070833313718e-13, 1e-12},
        {40, 49.5, 2.34859758579502e-39, 1e-12},
        {1.96, 1e6, 0.0499960675852698, 1e-7},
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        assert_close(lab_student_two_sided(row[i].t, row[i].df), row[i].p, row[i].most);
    assert_true(lab_student_two_sided(0, 5) == 1);
    assert_true(lab_student_two_sided(INFINITY, 5) == 0);
}

static void quantiles(void **state)
{
    static const struct {
        double df, t;
    } row[] = {
        {1, 12.7062047361747}, {2, 4.30265272974946},   {4, 2.77644510519779},
        {29, 2.0452296421327}, {999, 1.96234146113345},
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        assert_close(lab_student_quantile(row[i].df), row[i].t, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_sided_probabilities),
        cmocka_unit_test(quantiles),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
