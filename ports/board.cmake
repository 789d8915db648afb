# SPDX-License-Identifier: MIT
# Settings that the toolchain files of all boards include.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY) # CMake tests the compiler with a library, because a program would need the linker script of the board
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_DISABLE_FIND_PACKAGE_PkgConfig TRUE) # pkg-config would find libraries of the machine on which the build runs
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES SCPS_BOARD_SPECS)

# -DSCPS_BOARD_SPECS=picolibc.specs chooses the C library that the distribution provides
# for the compiler. The default is ports/libc, which has only the functions that the stack needs.
set(SCPS_BOARD_SPECS "" CACHE STRING "Specs file of the board's C library; empty: ports/libc")
if(SCPS_BOARD_SPECS)
  string(APPEND CMAKE_C_FLAGS_INIT " --specs=${SCPS_BOARD_SPECS}")
else()
  # -fbuiltin permits the compiler to replace calls of memcpy() and similar functions by
  # instructions
  string(APPEND CMAKE_C_FLAGS_INIT " -ffreestanding -fbuiltin -isystem ${CMAKE_CURRENT_LIST_DIR}/libc/include")
endif()
string(APPEND CMAKE_C_FLAGS_INIT " -ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables")
string(APPEND CMAKE_C_FLAGS_INIT " -fno-ipa-cp") # gcc makes no copies of functions for constant arguments, because these would need more memory for code
set(CMAKE_C_FLAGS_MINSIZEREL_INIT "-Os -DNDEBUG")
