# SPDX-License-Identifier: MIT
# Writes OUT, a C header with one array for each file of FILES, which contains the octets of the
# file. The array of page.js is page_js[].
#   cmake -DOUT=HEADER -DFILES=a;b -P embed.cmake
set(text "/* Made by the build from files of the source tree. */\n")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME)
  string(MAKE_C_IDENTIFIER ${name} name)
  file(READ ${file} octets HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," octets "${octets}")
  string(REGEX REPLACE "(................................................................................)" "\\1\n" octets "${octets}")
  string(APPEND text "static const char ${name}[] = {\n${octets}0};\n")
endforeach()
file(WRITE ${OUT} "${text}")
