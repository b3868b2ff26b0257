#include "measure/memory.hpp"

#include "measure/blas.hpp"
#include "measure/cgroup.hpp"
#include "measure/proc_file.hpp"
#include "model/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include <sys/resource.h>

namespace shardline {

int64_t memory_available_bytes()
{
    const std::string available = field_of("/proc/meminfo", "MemAvailable");
    const int64_t machine = available.empty() ? std::numeric_limits<int64_t>::max() : std::stoll(available) * 1024;
    return std::min(machine, cgroup_memory_left_bytes());
}

int64_t memory_left_to_process_bytes()
{
    int64_t left = std::numeric_limits<int64_t>::max();
    const auto take_limit = [&](auto resource, const char* used) {
        rlimit limit{};
        if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
        const std::string used_kB = field_of("/proc/self/status", used);
        const auto most = static_cast<int64_t>(std::min<rlim_t>(limit.rlim_cur, std::numeric_limits<int64_t>::max()));
        left = std::min(left, std::max<int64_t>(0, most - (used_kB.empty() ? 0 : std::stoll(used_kB) * 1024)));
    };
    take_limit(RLIMIT_AS, "VmSize");
    take_limit(RLIMIT_DATA, "VmData");
    return left;
}

std::string memory_shortage(int64_t bytes_per_rank, const Session& session)
{
    MPI_Comm node;
    MPI_Comm_split_type(session.control(), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    int ranks_on_node = 1;
    MPI_Comm_size(node, &ranks_on_node);
    MPI_Comm_free(&node);

    const int64_t of_node = memory_available_bytes() / ranks_on_node, of_process = std::max<int64_t>(0, memory_left_to_process_bytes() - blas_work_bytes());
    const int64_t have = std::min(of_node, of_process);
    struct {
        double shortage;
        int rank;
    } worst{static_cast<double>(bytes_per_rank) - static_cast<double>(have), session.rank()};
    MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_DOUBLE_INT, MPI_MAXLOC, session.control());
    if (worst.shortage <= 0) return "";
    int64_t numbers[] = {bytes_per_rank, have, ranks_on_node, of_process < of_node};
    MPI_Bcast(numbers, 4, MPI_INT64_T, worst.rank, session.control());
    if (numbers[3] != 0)
        return fmt::format("not enough memory (rank {} needs {:.1f} MB, its limits leave it {:.1f} MB; 1 MB = 10^6 bytes): raise them "
                           "(ulimit -v, ulimit -d, or the batch system's memory of a process), or lower B, F or D",
                           worst.rank, static_cast<double>(numbers[0]) / 1e6, static_cast<double>(numbers[1]) / 1e6);
    return fmt::format("not enough memory (rank {} needs {:.1f} MB, its node has {:.1f} MB for each of its {} rank{}; "
                       "1 MB = 10^6 bytes): lower B, F or D, or use more nodes or fewer ranks on each",
                       worst.rank, static_cast<double>(numbers[0]) / 1e6, static_cast<double>(numbers[1]) / 1e6, numbers[2],
                       numbers[2] == 1 ? "" : "s");
}

void require_memory(int64_t bytes_per_rank, const Session& session)
{
    if (const std::string shortage = memory_shortage(bytes_per_rank, session); !shortage.empty()) throw InputError(shortage);
}

} // namespace shardline
