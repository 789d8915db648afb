/* SPDX-License-Identifier: MIT */
/* What a program has taken of the stack, as a line that begins with '#'. */
#include "board.h"

static void number(size_t n)
{
    char digits[20];
    size_t at = sizeof digits;

    do
        digits[--at] = (char)('0' + n % 10);
    while (n /= 10);
    board_write(digits + at, sizeof digits - at);
}

void board_report(void)
{
    board_write("# stack: ", 9);
    number(board_stack_used());
    board_write(" of ", 4);
    number(board_stack_size());
    board_write(" bytes\n", 7);
}
