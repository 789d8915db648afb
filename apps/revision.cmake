# SPDX-License-Identifier: MIT
# Writes OUT, a C header with the revision of the source: the last commit in SOURCE that changed
# code, followed by "+" if files have changed since. In an archive made by git, git has written the
# commit into this file (.gitattributes); otherwise the revision is "unknown".
set(archive "$Format:%h$")
set(code src include apps CMakeLists.txt)
set(revision "unknown")
if(NOT archive MATCHES "Format")
  set(revision "${archive}")
endif()
find_package(Git QUIET)
if(GIT_FOUND AND EXISTS "${SOURCE}/.git")
  execute_process(COMMAND ${GIT_EXECUTABLE} log -1 --format=%h --abbrev=10 -- ${code}
                  WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE last ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${GIT_EXECUTABLE} diff --quiet HEAD -- ${code}
                  WORKING_DIRECTORY ${SOURCE} RESULT_VARIABLE changed ERROR_QUIET)
  if(last)
    set(revision "${last}")
    if(NOT changed EQUAL 0)
      string(APPEND revision "+")
    endif()
  endif()
endif()
file(WRITE "${OUT}.new" "/* SPDX-License-Identifier: MIT */\n/* Made by apps/revision.cmake. */\n#define SCPS_REVISION \"${revision}\"\n")
execute_process(COMMAND ${CMAKE_COMMAND} -E copy_if_different "${OUT}.new" "${OUT}")
file(REMOVE "${OUT}.new")
