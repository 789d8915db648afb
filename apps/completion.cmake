# SPDX-License-Identifier: MIT
# Writes what PROGRAM prints as its completion to OUT.
execute_process(COMMAND ${PROGRAM} --completion bash OUTPUT_FILE ${OUT} RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "${PROGRAM} --completion bash: ${failed}")
endif()
