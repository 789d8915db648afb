/* SPDX-License-Identifier: MIT */
/* The program of all tests of unit/, script/ and sim/, where CMake's option SCPS_TESTS_TOGETHER is
 * on. Each test has a link to this program; the name of the link, which is argv[0] without its
 * folders, selects the test that is run. */
#include <stdio.h>
#include <string.h>

#define TEST(name) int main_of_##name(void);
#include "together.def"
#undef TEST

static const struct test {
    const char *name;
    int (*run)(void);
} all[] = {
#define TEST(name) {#name, main_of_##name},
#include "together.def"
};

int main(int argc, char **argv)
{
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    const char *name = slash ? slash + 1 : argc > 0 ? argv[0] : "";

    for (const struct test *t = all; t < all + sizeof all / sizeof *all; t++)
        if (strcmp(t->name, name) == 0)
            return t->run();
    fprintf(stderr, "%s: no test has this name: call the program by the name of a test\n", name);
    return 2;
}
