// How far off are the clock models, and what do they cost? Alternates, in one job, the tree of compare_clocks with rank 0 answering every rank,
// one after the other. For ranks of one machine, which all read one clock: an offset is then an error. Prints, over all comparisons, the error of
// the rank that is furthest off, the largest bound, and the wall time until rank 0 has all models.
//
//   mpirun -n 8 clocks [COMPARISONS]

#include "measure/rank_clocks.hpp"
#include "measure/session.hpp"
#include "model/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

namespace shardline {
namespace {

ClockModel by_star(const Session& session)
{
    ClockModel mine;
    mine.rank = session.rank();
    mine.at_ns = now_ns();
    if (!session.is_root()) return ask_clock(session.control(), 0);
    for (int rank = 1; rank < session.size(); ++rank) answer_clock(session.control(), rank, mine);
    return mine;
}

struct Comparisons {
    std::vector<double> worst_error_us, worst_bound_us, wall_us;
    int64_t beyond_bound = 0;
};

template <class Compare> void compare(const Session& session, Comparisons& results, Compare&& scheme)
{
    std::vector<ClockModel> all(static_cast<size_t>(session.size()));
    MPI_Barrier(session.control());
    const int64_t begin_ns = now_ns();
    const ClockModel mine = scheme();
    MPI_Gather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, 0, session.control());
    const int64_t wall_ns = now_ns() - begin_ns;
    int64_t error_ns = 0, bound_ns = 0;
    for (const ClockModel& model : all) {
        error_ns = std::max(error_ns, std::abs(model.offset_ns));
        bound_ns = std::max(bound_ns, model.error_ns);
        results.beyond_bound += std::abs(model.offset_ns) > model.error_ns;
    }
    results.worst_error_us.push_back(static_cast<double>(error_ns) * 1e-3);
    results.worst_bound_us.push_back(static_cast<double>(bound_ns) * 1e-3);
    results.wall_us.push_back(static_cast<double>(wall_ns) * 1e-3);
}

double share(std::vector<double> values, double q)
{
    std::sort(values.begin(), values.end());
    return values[static_cast<size_t>(q * static_cast<double>(values.size() - 1))];
}

void print(const char* name, const Session& session, const Comparisons& c)
{
    fmt::print("{:5} {:5} | {:8.3f} {:8.3f} {:9.3f} | {:8.3f} {:9.3f} | {:6} | {:9.1f}\n", session.size(), name, median(c.worst_error_us),
               share(c.worst_error_us, 0.95), share(c.worst_error_us, 1), median(c.worst_bound_us), share(c.worst_bound_us, 0.95), c.beyond_bound,
               median(c.wall_us));
}

} // namespace
} // namespace shardline

int main(int argc, char** argv)
{
    using namespace shardline;
    Session session(argc, argv);
    const int64_t comparisons = argc > 1 ? std::atoll(argv[1]) : 500;
    Comparisons star, tree;
    for (int64_t i = 0; i < comparisons; ++i) {
        compare(session, star, [&] { return by_star(session); });
        compare(session, tree, [&] { return compare_clocks(session.control(), std::nullopt); });
    }
    if (session.is_root()) {
        fmt::print("us; {} comparisons by each\nranks       | error: median, 95 %, largest | bound: median, 95 % | beyond it | wall: median\n", comparisons);
        print("star", session, star);
        print("tree", session, tree);
    }
}
