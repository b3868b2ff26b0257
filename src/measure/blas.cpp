#include "measure/blas.hpp"

#include <cblas.h>

namespace shardline {

int set_blas_threads(int threads)
{
    openblas_set_num_threads(threads);
    return openblas_get_num_threads();
}

std::string blas_version_text() { return openblas_get_config(); }

std::string blas_kernel_name() { return openblas_get_corename(); }

int64_t blas_work_bytes() { return int64_t{openblas_get_num_threads()} * (int64_t{128} << 20); }

bool blas_supports([[maybe_unused]] ElementType compute_type)
{
#ifdef SHARDLINE_HAVE_SBGEMM
    return true;
#else
    return compute_type != ElementType::bf16;
#endif
}

} // namespace shardline
