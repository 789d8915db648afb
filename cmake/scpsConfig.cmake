# SPDX-License-Identifier: MIT
# What find_package(scps) reads: the libraries that were installed, as scps::scps, scps::sim and so on.
# A component is a library: find_package(scps REQUIRED COMPONENTS io) fails where the library was built
# without libev and libnl-3, and so without scps::io.
include("${CMAKE_CURRENT_LIST_DIR}/scpsTargets.cmake")
foreach(scps_component IN LISTS scps_FIND_COMPONENTS)
  if(TARGET scps::${scps_component})
    set(scps_${scps_component}_FOUND TRUE)
  else()
    set(scps_${scps_component}_FOUND FALSE)
    if(scps_FIND_REQUIRED_${scps_component})
      set(scps_FOUND FALSE)
      list(APPEND scps_NOT_FOUND_MESSAGE
           "This installation of libscps has no library scps::${scps_component}. Its README.md names what each library needs.")
    endif()
  endif()
endforeach()
unset(scps_component)
