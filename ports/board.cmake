# SPDX-License-Identifier: MIT
# What the toolchain files of all boards share.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY) # a program would need the board's linker script
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_DISABLE_FIND_PACKAGE_PkgConfig TRUE) # it would find the libraries of the machine that builds
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES SCPS_BOARD_SPECS)

# -DSCPS_BOARD_SPECS=picolibc.specs: the C library that the distribution has
# for the compiler. By default it is ports/libc, which has what the stack needs and nothing more.
set(SCPS_BOARD_SPECS "" CACHE STRING "Specs file of the board's C library; empty: ports/libc")
if(SCPS_BOARD_SPECS)
  string(APPEND CMAKE_C_FLAGS_INIT " --specs=${SCPS_BOARD_SPECS}")
else()
  # -fbuiltin: the compiler may put instructions in place of calls of memcpy and the like
  string(APPEND CMAKE_C_FLAGS_INIT " -ffreestanding -fbuiltin -isystem ${CMAKE_CURRENT_LIST_DIR}/libc/include")
endif()
string(APPEND CMAKE_C_FLAGS_INIT " -ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables")
string(APPEND CMAKE_C_FLAGS_INIT " -fno-ipa-cp") # copies of functions for constant arguments add text
set(CMAKE_C_FLAGS_MINSIZEREL_INIT "-Os -DNDEBUG")
