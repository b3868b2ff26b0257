#include "measure/blas.hpp"

#include <cstdint>

// Which of these the library has was found out at configure time. They are declared here, not taken from its headers, because the
// cblas.h that is found need not be its own.
extern "C" {
#if defined(SHARDLINE_OPENBLAS)
void openblas_set_num_threads(int);
int openblas_get_num_threads(void);
char* openblas_get_config(void);
char* openblas_get_corename(void);
#elif defined(SHARDLINE_MKL)
void MKL_Set_Dynamic(int);
void MKL_Set_Num_Threads(int);
int MKL_Get_Max_Threads(void);
void MKL_Get_Version_String(char*, int);
#elif defined(SHARDLINE_BLIS)
void bli_thread_set_num_threads(int64_t);
int64_t bli_thread_get_num_threads(void);
const char* bli_info_get_version_str(void);
int bli_arch_query_id(void);
const char* bli_arch_string(int);
#endif
}

namespace shardline {

#if defined(SHARDLINE_OPENBLAS)

int set_blas_threads(int threads)
{
    openblas_set_num_threads(threads);
    return openblas_get_num_threads();
}

std::string blas_version_text() { return openblas_get_config(); }

std::string blas_kernel_name() { return openblas_get_corename(); }

int64_t blas_work_bytes() { return int64_t{openblas_get_num_threads()} * (int64_t{128} << 20); }

std::vector<const char*> blas_thread_variables() { return {"OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS"}; }

#elif defined(SHARDLINE_MKL)

int set_blas_threads(int threads)
{
    MKL_Set_Dynamic(0); // else it takes fewer where it thinks best
    MKL_Set_Num_Threads(threads);
    return MKL_Get_Max_Threads();
}

std::string blas_version_text()
{
    char text[256] = "";
    MKL_Get_Version_String(text, sizeof text);
    const std::string padded = text;
    return padded.substr(0, padded.find_last_not_of(' ') + 1);
}

std::string blas_kernel_name() { return "unknown"; }

int64_t blas_work_bytes() { return 0; }

std::vector<const char*> blas_thread_variables() { return {"MKL_NUM_THREADS", "OMP_NUM_THREADS"}; }

#elif defined(SHARDLINE_BLIS)

int set_blas_threads(int threads)
{
    bli_thread_set_num_threads(threads);
    return static_cast<int>(bli_thread_get_num_threads());
}

std::string blas_version_text() { return std::string("BLIS ") + bli_info_get_version_str(); }

// Its names are not OpenBLAS's: "haswell" of one and of the other are different kernels.
std::string blas_kernel_name() { return std::string("BLIS ") + bli_arch_string(bli_arch_query_id()); }

int64_t blas_work_bytes() { return 0; }

std::vector<const char*> blas_thread_variables() { return {"BLIS_NUM_THREADS", "OMP_NUM_THREADS"}; }

#else

int set_blas_threads(int) { return 0; }

std::string blas_version_text() { return "unknown"; }

std::string blas_kernel_name() { return "unknown"; }

int64_t blas_work_bytes() { return 0; }

std::vector<const char*> blas_thread_variables() { return {"OMP_NUM_THREADS"}; }

#endif

bool blas_supports([[maybe_unused]] ElementType compute_type)
{
#ifdef SHARDLINE_HAVE_SBGEMM
    return true;
#else
    return compute_type != ElementType::bf16;
#endif
}

} // namespace shardline
