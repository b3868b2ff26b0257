#include "measure/exchange.hpp"

#include "measure/persistent.hpp"
#include "measure/timed_step.hpp"

#include <algorithm>

namespace shardline {

namespace {

/// One call takes so many elements at most.
void split_beyond_counts(std::vector<int64_t>& sizes, int64_t elements_each)
{
    const int64_t most = std::max<int64_t>(1, max_mpi_count / elements_each);
    std::vector<int64_t> tiles;
    for (int64_t size : sizes)
        for (; size > 0; size -= std::min(size, most)) tiles.push_back(std::min(size, most));
    sizes = tiles;
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
    tiles = overlaps(strategy) ? tiling_from(point.tiles) : Tiling{};
    if (tiles.sizes.empty()) tiles = {TileAxis::B, {o.B}};
    o.Z_order = tiles.axis == TileAxis::B ? MatrixOrder::row_major : MatrixOrder::column_major;
    split_beyond_counts(tiles.sizes, o.elements_of_tile(1));
    requests.assign(tiles.sizes.size(), MPI_REQUEST_NULL);
    if (is_segmented(strategy)) {
        std::vector<int64_t> elements;
        for (int64_t size : tiles.sizes) elements.push_back(o.elements_of_tile(size));
        ring.prepare(elements, point.segment_bytes);
    }
    if (strategy == Strategy::pipelined_thread && !thread) thread.emplace(ring, poll_sleep_us);
    if (strategy == Strategy::mpi_persistent)
        persistent = persistent_allreduce(o.sent(), o.summed(), o.elements_of_Z(), wire, work);
}

} // namespace shardline
