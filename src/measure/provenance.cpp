#include "measure/provenance.hpp"

#include "measure/blas.hpp"
#include "measure/build_info.hpp"
#include "measure/proc_file.hpp"
#include "measure/rank_facts.hpp"
#include "measure/session.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <iterator>

extern char** environ;

namespace shardline {

Provenance find_provenance(int argc, char** argv)
{
    std::string command_line;
    for (int i = 0; i < argc; ++i) command_line += fmt::format("{}{}", i == 0 ? "" : " ", argv[i]);
    return {
        {"shardline_version", SHARDLINE_VERSION},
        {"git_state", SHARDLINE_GIT_STATE},
        {"compiler", SHARDLINE_COMPILER},
        {"build_type", SHARDLINE_BUILD_TYPE},
        {"mpi_version", mpi_version_text()},
        {"mpi_transports", fmt::format("{}", fmt::join(find_transports(), " "))},
        {"blas_version", blas_version_text()},
        {"command_line", command_line},
        {"started_utc", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
        {"kernel", first_line_of("/proc/sys/kernel/osrelease")},
        {"inputs", "integers in {-2 .. 2}"},
        {"clock", "CLOCK_MONOTONIC"},
    };
}

std::vector<std::pair<std::string, std::string>> relevant_environment()
{
    constexpr const char* prefixes[] = {"OMPI_", "MPICH_", "MPIR_", "I_MPI_", "MV2_",  "PMIX_", "PMI_", "UCX_", "FI_",  "OPENBLAS_",
                                        "GOTO_", "MKL_",   "BLIS_", "OMP_",   "HDF5_", "SLURM_", "PBS_", "LSB_"};
    std::vector<std::pair<std::string, std::string>> found;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string text = *entry;
        const auto equals = text.find('=');
        const bool relevant = std::any_of(std::begin(prefixes), std::end(prefixes),
                                          [&](const char* prefix) { return text.starts_with(prefix); });
        if (relevant && equals != std::string::npos) found.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
    std::sort(found.begin(), found.end());
    return found;
}

} // namespace shardline
