# What was taken, in a few lines at the end of the configuration.
string(REGEX REPLACE "[\n,].*" "" mpi "${MPI_C_LIBRARY_VERSION_STRING}")
string(REPLACE "\t" " " mpi "${mpi}")
if(NOT mpi)
  set(mpi "MPI ${MPI_C_VERSION}")
endif()
if(SHARDLINE_HAVE_ALLREDUCE_INIT OR SHARDLINE_HAVE_MPIX_ALLREDUCE_INIT)
  set(persistent "yes")
else()
  set(persistent "no: strategy mpi_persistent is refused")
endif()
if(SHARDLINE_BLAS MATCHES "does not name")
  set(threads "not known to shardline: set by the environment, recorded as unknown")
else()
  set(threads "set and read back")
endif()
if(SHARDLINE_HAVE_SBGEMM)
  set(sbgemm "yes")
else()
  set(sbgemm "no: bf16 is a wire type only")
endif()
if(HDF5_IS_PARALLEL)
  set(hdf5_build "parallel build, of which only the serial part is used; it has to be of the MPI above")
else()
  set(hdf5_build "serial build")
endif()
list(JOIN BLAS_LIBRARIES " " blas_libraries)
list(GET HDF5_LIBRARIES 0 hdf5_library)
message(STATUS "shardline ${PROJECT_VERSION}, ${CMAKE_BUILD_TYPE}, ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}, takes
     MPI     ${mpi}
             ${MPI_C_COMPILER}, started by ${MPIEXEC_EXECUTABLE}
             persistent allreduce: ${persistent}
     BLAS    ${SHARDLINE_BLAS}: ${blas_libraries}
             ${CBLAS_INCLUDE_DIR}/${SHARDLINE_CBLAS_HEADER}
             threads: ${threads}; matmul of bf16: ${sbgemm}
     HDF5    ${HDF5_VERSION}, ${hdf5_build}: ${hdf5_library}
     hwloc   ${hwloc_VERSION}; fmt ${fmt_VERSION}, toml++ ${tomlplusplus_VERSION}, CLI11 ${CLI11_VERSION}, nlohmann-json ${nlohmann_json_VERSION}
     install to ${CMAKE_INSTALL_PREFIX}")
