# SPDX-License-Identifier: MIT
# Target: a 64-bit RISC-V without floating-point unit; the board is qemu's "virt"
# (qemu-system-riscv64).
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(CMAKE_C_COMPILER riscv64-unknown-elf-gcc)
set(CMAKE_C_FLAGS_INIT "-march=rv64imac -mabi=lp64 -mcmodel=medany")
set(SCPS_BOARD riscv64)
include(${CMAKE_CURRENT_LIST_DIR}/../board.cmake)
