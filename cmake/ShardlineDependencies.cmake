# Outside libraries, each used by one library of the project (docs/architecture.md says which and why).
include(CheckSymbolExists)
include(ShardlineModules)
if(NOT CMAKE_CROSSCOMPILING)
  set(MPI_DETERMINE_LIBRARY_VERSION ON) # for the summary
endif()
find_package(MPI REQUIRED COMPONENTS C)
set(HDF5_PREFER_PARALLEL OFF)
find_package(HDF5 REQUIRED COMPONENTS C)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(hwloc REQUIRED IMPORTED_TARGET hwloc)
include(ShardlineBlas)

# The C++ bindings were removed from MPI; OMPI_SKIP_MPICXX keeps their headers out.
add_library(shardline_mpi INTERFACE)
target_link_libraries(shardline_mpi INTERFACE MPI::MPI_C)
target_compile_definitions(shardline_mpi INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)

# Persistent collectives: MPI-4's, or the extension that Open MPI has had before.
set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_C)
check_symbol_exists(MPI_Allreduce_init mpi.h SHARDLINE_HAVE_ALLREDUCE_INIT)
check_symbol_exists(MPIX_Allreduce_init "mpi.h;mpi-ext.h" SHARDLINE_HAVE_MPIX_ALLREDUCE_INIT)
unset(CMAKE_REQUIRED_LIBRARIES)
foreach(have SHARDLINE_HAVE_ALLREDUCE_INIT SHARDLINE_HAVE_MPIX_ALLREDUCE_INIT)
  if(${have})
    target_compile_definitions(shardline_mpi INTERFACE ${have})
  endif()
endforeach()

# Rank 0 alone writes, so that the serial build is preferred. Where there is only a parallel one, its header wants that of its MPI.
add_library(shardline_hdf5 INTERFACE)
target_include_directories(shardline_hdf5 SYSTEM INTERFACE ${HDF5_INCLUDE_DIRS})
target_compile_definitions(shardline_hdf5 INTERFACE ${HDF5_DEFINITIONS})
target_link_libraries(shardline_hdf5 INTERFACE ${HDF5_LIBRARIES})
if(HDF5_IS_PARALLEL)
  target_link_libraries(shardline_hdf5 INTERFACE shardline_mpi)
endif()
