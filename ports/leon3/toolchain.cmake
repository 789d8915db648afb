# SPDX-License-Identifier: MIT
# Target: a LEON3 (SPARC V8, big endian) with floating-point unit; the board is qemu's
# "leon3_generic" (qemu-system-sparc). The compiler is that of the distribution for SPARC V9, with
# options for a LEON3. Code without register windows (-mflat) needs no trap handlers for them in the
# start-up code.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR sparc)
set(CMAKE_C_COMPILER sparc64-linux-gnu-gcc)
set(CMAKE_C_FLAGS_INIT "-m32 -mcpu=leon3 -mflat -fno-pic -fno-pie")
set(SCPS_BOARD leon3)
include(${CMAKE_CURRENT_LIST_DIR}/../board.cmake)
