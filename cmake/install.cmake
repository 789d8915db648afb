# SPDX-License-Identifier: MIT
# Installs the libraries that could be built, their headers, a pkg-config file for each, and one
# package for CMake.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
file(RELATIVE_PATH pc_to_include /x/${CMAKE_INSTALL_LIBDIR}/pkgconfig /x/${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/scps DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set(cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/scps)
function(scps_install name part words requires libs)
  foreach(target ${name} ${name}_shared)
    if(TARGET ${target})
      string(REPLACE "${name}" "${part}" export ${target})
      set_target_properties(${target} PROPERTIES EXPORT_NAME ${export})
      install(TARGETS ${target} EXPORT scps ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
              LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
      get_target_property(type ${target} TYPE)
      if(CMAKE_OBJCOPY AND type STREQUAL "STATIC_LIBRARY")
        # Only machine code is installed, because no other compiler or version reads gcc's
        # intermediate code.
        install(CODE "execute_process(COMMAND ${CMAKE_OBJCOPY} --wildcard --remove-section .gnu.lto_*
                                              --remove-section .gnu.debuglto_* --strip-symbol __gnu_lto_*
                                              \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/lib${name}.a\"
                                      RESULT_VARIABLE failed)
                      if(failed)
                        message(FATAL_ERROR \"lib${name}.a: ${CMAKE_OBJCOPY} could not remove gcc's intermediate code\")
                      endif()")
      endif()
    endif()
  endforeach()
  file(WRITE ${PROJECT_BINARY_DIR}/${name}.pc
"libdir=\${pcfiledir}/..
includedir=\${pcfiledir}/${pc_to_include}

Name: ${name}
Description: ${words}
Version: ${PROJECT_VERSION}
Requires: ${requires}
Cflags: -I\${includedir}
Libs: -L\${libdir} -l${name} ${libs}
")
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
scps_install(scps scps "TCP and SCPS-TP without I/O, clock or globals" "" "")
scps_install(scps_sim sim "Virtual time for scps" "scps" "")
scps_install(scps_cctest cctest "Tests for congestion controllers of scps" "scps_sim" "-lm")
if(SCPS_HAVE_TRACE)
  scps_install(scps_trace trace "Captures for scps" "scps" "-lpcap ${trace_libs} -lm")
endif()
if(SCPS_HAVE_IO)
  scps_install(scps_io io "TUN, UDP and an event loop for scps" "scps libnl-3.0 libnl-route-3.0" "-lev")
endif()
install(EXPORT scps NAMESPACE scps:: FILE scpsTargets.cmake DESTINATION ${cmake_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/scpsConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/scpsConfig.cmake ${PROJECT_BINARY_DIR}/scpsConfigVersion.cmake
        DESTINATION ${cmake_dir})
# The documents are installed in the same folders relative to each other, so that the links between
# them are valid.
install(FILES README.md CONTRIBUTING.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES python/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/python)
install(DIRECTORY python/examples DESTINATION ${CMAKE_INSTALL_DOCDIR}/python)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN man EXCLUDE)
foreach(section 1 3 5)
  file(GLOB manpages CONFIGURE_DEPENDS docs/man/*.${section})
  install(FILES ${manpages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
endforeach()
