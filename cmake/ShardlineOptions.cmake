# How every target of the project is compiled: link to shardline_options.
add_library(shardline_options INTERFACE)
target_compile_features(shardline_options INTERFACE cxx_std_20)
target_compile_options(shardline_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>) # GCC 12 reports it for correct std::string concatenation
# Sources include by path from src/, and postprocess/ by its own name.
target_include_directories(shardline_options INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
if(SHARDLINE_SANITIZE OR SHARDLINE_FUZZ)
  # Any finding ends the program, so that no test can pass over one. -O1: whole runs are tested too, and -O0 is slow.
  set(sanitizers -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all)
  target_compile_options(shardline_options INTERFACE ${sanitizers} -fno-omit-frame-pointer -O1)
  target_compile_definitions(shardline_options INTERFACE SHARDLINE_SANITIZED)
  target_link_options(shardline_options INTERFACE ${sanitizers})
endif()
if(SHARDLINE_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL Clang)
    message(FATAL_ERROR "SHARDLINE_FUZZ needs Clang, whose libFuzzer runs the targets: cmake --preset fuzz")
  endif()
  target_compile_options(shardline_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
