/* SPDX-License-Identifier: MIT */
/* Start-up in machine mode: one hart runs, any trap ends the program. */
        .option arch, +zicsr
        .section .start, "ax"
        .globl  start
start:
        csrr    t0, mhartid
        bnez    t0, sleep
        .option push
        .option norelax
        la      gp, __global_pointer$
        .option pop
        la      sp, _stack_top
        la      t0, trap
        csrw    mtvec, t0
        call    board_start             # never returns
        .align  2
trap:   la      sp, _stack_top
        csrr    a0, mcause
        csrr    a1, mepc
        call    board_trap              # nor does this
sleep:  wfi
        j       sleep
