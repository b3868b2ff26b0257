#include "measure/exchange.hpp"

#include "measure/persistent.hpp"
#include "model/tiles.hpp"

#include <algorithm>
#include <limits>

namespace shardline {

namespace {

constexpr int64_t max_count_of_one_call = std::numeric_limits<int32_t>::max();

/// One call takes so many elements at most.
void split_beyond_counts(std::vector<int64_t>& tile_rows, int64_t F)
{
    const int64_t most_rows = std::max<int64_t>(1, max_count_of_one_call / F);
    std::vector<int64_t> tiles;
    for (int64_t rows : tile_rows)
        for (; rows > 0; rows -= std::min(rows, most_rows)) tiles.push_back(std::min(rows, most_rows));
    tile_rows = tiles;
}

} // namespace

Exchange::Exchange(const WireType& wire_type, MPI_Comm comm, int64_t sleep_us)
    : wire(wire_type), work(comm), poll_sleep_us(sleep_us), ring(wire_type, comm)
{
}

Exchange::~Exchange() { free_persistent(); }

void Exchange::free_persistent()
{
    if (persistent != MPI_REQUEST_NULL) MPI_Request_free(&persistent);
}

void Exchange::prepare(const Point& point, Operands& o)
{
    free_persistent();
    strategy = strategy_named(point.strategy).value_or(Strategy::mpi_allreduce);
    tile_rows = overlaps(strategy) && !point.tiles.empty() ? tiles_from(point.tiles) : std::vector<int64_t>{o.B};
    split_beyond_counts(tile_rows, o.F);
    requests.assign(tile_rows.size(), MPI_REQUEST_NULL);
    if (is_segmented(strategy)) {
        std::vector<int64_t> elements;
        for (int64_t rows : tile_rows) elements.push_back(rows * o.F);
        ring.prepare(elements, point.segment_bytes);
    }
    if (strategy == Strategy::pipelined_thread && !thread) thread.emplace(ring, poll_sleep_us);
    if (strategy == Strategy::mpi_persistent)
        persistent = persistent_allreduce(o.sent(), o.summed(), o.elements_of_Z(), wire, work);
}

} // namespace shardline
