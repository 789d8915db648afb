/* SPDX-License-Identifier: MIT */
/* Start-up of a LEON3 (The SPARC Architecture Manual, version 8): supervisor mode, floating-point unit
 * on, traps off, so that any trap but the last one puts the processor into error mode. */
        .section .start, "ax"
        .globl  start
start:  set     0x1080, %g1             ! PSR: EF, S
        wr      %g1, 0, %psr
        nop
        nop
        nop
        wr      %g0, 0, %wim            ! no window is ever invalid
        set     _stack_top - 96, %sp    ! room for the registers of one frame
        clr     %fp
        call    board_start
        nop
        ta      0                       ! with traps off the emulator ends
        nop
        .section .note.GNU-stack, "", @progbits
