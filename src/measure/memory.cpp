#include "measure/memory.hpp"

#include "measure/cgroup.hpp"
#include "measure/proc_file.hpp"
#include "model/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace shardline {

int64_t memory_available_bytes()
{
    const std::string available = field_of("/proc/meminfo", "MemAvailable");
    const int64_t machine = available.empty() ? std::numeric_limits<int64_t>::max() : std::stoll(available) * 1024;
    return std::min(machine, cgroup_memory_left_bytes());
}

std::string memory_shortage(int64_t bytes_per_rank, const Session& session)
{
    MPI_Comm node;
    MPI_Comm_split_type(session.control(), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    int ranks_on_node = 1;
    MPI_Comm_size(node, &ranks_on_node);
    MPI_Comm_free(&node);

    const int64_t have = memory_available_bytes() / ranks_on_node;
    struct {
        double shortage;
        int rank;
    } worst{static_cast<double>(bytes_per_rank) - static_cast<double>(have), session.rank()};
    MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_DOUBLE_INT, MPI_MAXLOC, session.control());
    if (worst.shortage <= 0) return "";
    int64_t numbers[] = {bytes_per_rank, have, ranks_on_node};
    MPI_Bcast(numbers, 3, MPI_INT64_T, worst.rank, session.control());
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
