# How every target of the project is compiled: link to shardline_options.
add_library(shardline_options INTERFACE)
target_compile_features(shardline_options INTERFACE cxx_std_20)
target_compile_options(shardline_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  -Wno-restrict) # GCC 12 reports it for correct std::string concatenation
# Sources include by path from src/, and postprocess/ by its own name.
target_include_directories(shardline_options INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
if(SHARDLINE_SANITIZE)
  target_compile_options(shardline_options INTERFACE -fsanitize=address,undefined -fno-omit-frame-pointer)
  target_link_options(shardline_options INTERFACE -fsanitize=address,undefined)
endif()
