#pragma once

#include "model/element.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace shardline {

/// Asks the BLAS for that many threads and returns how many it says it will use; 0 where it cannot be asked (CBLAS has no such function).
int set_blas_threads(int threads);

/// Version and build as the BLAS names itself, and the kernels it chose for this processor; "unknown" where it does not say.
std::string blas_version_text();
std::string blas_kernel_name();

/// Address space that the BLAS takes for itself when it first multiplies: without it OpenBLAS never returns.
int64_t blas_work_bytes();

/// Environment variables that set its threads, the one that it obeys first.
std::vector<const char*> blas_thread_variables();

/// True where the BLAS found at configure time can multiply that type.
bool blas_supports(ElementType compute_type);

} // namespace shardline
