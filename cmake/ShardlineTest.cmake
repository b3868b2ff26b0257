# One way to register a test, so that labels, processors and time limits are set in one place.
#
# PROCESSORS counts halves of processors, so that tests that wait share one: a test that computes on one takes 2, one whose ranks keep
# two busy 4, one that mostly waits 1. `ctest -j 4` then fills two processors.

# Sanitizers make the same work several times as long. What Open MPI leaks is told from leaks of ours by whole stacks.
set(SHARDLINE_RANKS_ENVIRONMENT "")
if(SHARDLINE_SANITIZE)
  set(SHARDLINE_TIME_FACTOR 10)
  set(SHARDLINE_RANKS_ENVIRONMENT ASAN_OPTIONS=fast_unwind_on_malloc=0
    LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/sanitizer/leaks_of_others.txt:print_suppressions=0)
else()
  set(SHARDLINE_TIME_FACTOR 1)
endif()

# shardline_unit_test(NAME sources... LIBRARIES libs...): a GoogleTest program without mpirun, label "unit".
function(shardline_unit_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;LIBRARIES" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  math(EXPR arg_TIMEOUT "${SHARDLINE_TIME_FACTOR} * ${arg_TIMEOUT}")
  add_executable(${name} ${arg_SOURCES})
  target_compile_options(${name} PRIVATE -O0) # compiles in half the time; what is tested is optimised in its library
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} GTest::gtest GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT ${arg_TIMEOUT} PROCESSORS 2)
endfunction()

# shardline_mpi_test(NAME SOURCES ... LIBRARIES ... RANKS 1 2 3 4): a GoogleTest program whose main is
# tests/mpi/mpi_main.cpp, registered once for each number of ranks, label "mpi".
function(shardline_mpi_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;LIBRARIES;RANKS" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  math(EXPR arg_TIMEOUT "${SHARDLINE_TIME_FACTOR} * ${arg_TIMEOUT}")
  add_executable(${name} ${arg_SOURCES} ${PROJECT_SOURCE_DIR}/tests/mpi/mpi_main.cpp)
  target_compile_options(${name} PRIVATE -O0)
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} shardline_mpi GTest::gtest)
  foreach(ranks IN LISTS arg_RANKS)
    math(EXPR halves "2 * ${ranks}")
    add_test(NAME ${name}_${ranks}
      COMMAND ${PROJECT_SOURCE_DIR}/scripts/launch.sh ${ranks} $<TARGET_FILE:${name}>)
    set_tests_properties(${name}_${ranks} PROPERTIES
      LABELS mpi TIMEOUT ${arg_TIMEOUT} PROCESSORS ${halves} ENVIRONMENT "${SHARDLINE_RANKS_ENVIRONMENT}")
  endforeach()
endfunction()

# shardline_script_test(NAME COMMAND ... LABEL system): a script with the built programs' folder in SHARDLINE_BIN; exit code 77 means
# skipped. It keeps two processors busy, or ONE (one process, or a rank that waits for one that sleeps), or mostly WAITS for timers.
# The script multiplies the limits of its waits by SHARDLINE_TIME_FACTOR.
function(shardline_script_test name)
  cmake_parse_arguments(arg "SERIAL;ONE;WAITS" "TIMEOUT;LABEL" "COMMAND" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  math(EXPR arg_TIMEOUT "${SHARDLINE_TIME_FACTOR} * ${arg_TIMEOUT}")
  set(halves 4)
  if(arg_ONE)
    set(halves 2)
  elseif(arg_WAITS)
    set(halves 1)
  endif()
  add_test(NAME ${name} COMMAND ${arg_COMMAND})
  set_tests_properties(${name} PROPERTIES
    LABELS ${arg_LABEL} TIMEOUT ${arg_TIMEOUT} SKIP_RETURN_CODE 77
    RUN_SERIAL ${arg_SERIAL} PROCESSORS ${halves}
    ENVIRONMENT "SHARDLINE_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY};SHARDLINE_SOURCE=${PROJECT_SOURCE_DIR};SHARDLINE_TIME_FACTOR=${SHARDLINE_TIME_FACTOR};${SHARDLINE_RANKS_ENVIRONMENT}")
endfunction()
