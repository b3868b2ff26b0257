# Outside libraries, each used by one library of the project (docs/architecture.md says which and why).
find_package(MPI REQUIRED COMPONENTS C)
set(BLA_VENDOR OpenBLAS)
find_package(BLAS REQUIRED)
find_path(CBLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES openblas openblas-pthread REQUIRED)
set(HDF5_PREFER_PARALLEL OFF)
find_package(HDF5 REQUIRED COMPONENTS C)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(hwloc REQUIRED IMPORTED_TARGET hwloc)

add_library(shardline_cblas INTERFACE)
target_include_directories(shardline_cblas SYSTEM INTERFACE ${CBLAS_INCLUDE_DIR})
target_link_libraries(shardline_cblas INTERFACE BLAS::BLAS)

# The header declares cblas_sbgemm even where the library was built without it: only linking tells.
include(CheckSymbolExists)
set(CMAKE_REQUIRED_INCLUDES ${CBLAS_INCLUDE_DIR})
set(CMAKE_REQUIRED_LIBRARIES BLAS::BLAS)
check_symbol_exists(cblas_sbgemm cblas.h SHARDLINE_HAVE_SBGEMM)
unset(CMAKE_REQUIRED_INCLUDES)
unset(CMAKE_REQUIRED_LIBRARIES)
if(SHARDLINE_HAVE_SBGEMM)
  target_compile_definitions(shardline_cblas INTERFACE SHARDLINE_HAVE_SBGEMM)
endif()

# The C++ bindings were removed from MPI; OMPI_SKIP_MPICXX keeps their headers out.
add_library(shardline_mpi INTERFACE)
target_link_libraries(shardline_mpi INTERFACE MPI::MPI_C)
target_compile_definitions(shardline_mpi INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)

add_library(shardline_hdf5 INTERFACE)
target_include_directories(shardline_hdf5 SYSTEM INTERFACE ${HDF5_INCLUDE_DIRS})
target_compile_definitions(shardline_hdf5 INTERFACE ${HDF5_DEFINITIONS})
target_link_libraries(shardline_hdf5 INTERFACE ${HDF5_LIBRARIES})
