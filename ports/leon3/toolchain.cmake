# SPDX-License-Identifier: MIT
# A LEON3 (SPARC V8, big endian) with its floating-point unit, qemu's board "leon3_generic"
# (qemu-system-sparc). The compiler is the distribution's for SPARC V9, told to make code for a LEON3;
# without register windows (-mflat) the start-up needs no trap handlers for them.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR sparc)
set(CMAKE_C_COMPILER sparc64-linux-gnu-gcc)
set(CMAKE_C_FLAGS_INIT "-m32 -mcpu=leon3 -mflat -fno-pic -fno-pie")
set(SCPS_BOARD leon3)
include(${CMAKE_CURRENT_LIST_DIR}/../board.cmake)
