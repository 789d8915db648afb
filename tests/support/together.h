/* SPDX-License-Identifier: MIT */
/* Declares the main() of a test, which is renamed by a macro where all tests are one program
 * (CMake's option SCPS_TESTS_TOGETHER): -Wmissing-prototypes wants a declaration of a function that
 * is not called main. The compiler includes this header before the test. */
int main(void);
