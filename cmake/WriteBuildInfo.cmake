# Run by every build: writes build_info.hpp with the state of the source, touched only when it changes.
execute_process(COMMAND git -C ${SOURCE_DIR} describe --always --dirty --abbrev=12
  OUTPUT_VARIABLE SHARDLINE_GIT_STATE OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT SHARDLINE_GIT_STATE)
  set(SHARDLINE_GIT_STATE "not a git checkout")
endif()
configure_file(${SOURCE_DIR}/src/measure/build_info.hpp.in ${OUTPUT} @ONLY)
