# SPDX-License-Identifier: MIT
# Runs PROGRAM --completion bash and writes its output to the file OUT.
execute_process(COMMAND ${PROGRAM} --completion bash OUTPUT_FILE ${OUT} RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "${PROGRAM} --completion bash: ${failed}")
endif()
