# SPDX-License-Identifier: MIT
# Target: a Cortex-M4 with floating-point unit, little endian; the board is Arm's mps2-an386
# (qemu-system-arm).
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_C_FLAGS_INIT "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16")
# With these options the code that gcc 12 makes is smaller: those with "no" switch optimisations off
# that enlarge it.
string(APPEND CMAKE_C_FLAGS_INIT " -fno-move-loop-invariants -fno-schedule-insns2 -fsplit-wide-types-early")
string(APPEND CMAKE_C_FLAGS_INIT " -fno-tree-dominator-opts -fno-reorder-blocks -fno-tree-ch -fno-jump-tables -fno-tree-loop-im")
string(APPEND CMAKE_C_FLAGS_INIT " -fno-if-conversion -fno-guess-branch-probability -fno-caller-saves")
set(SCPS_BOARD cortex-m4)
include(${CMAKE_CURRENT_LIST_DIR}/../board.cmake)
