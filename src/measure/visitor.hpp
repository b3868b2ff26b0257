#pragma once

#include "experiment/plan.hpp"
#include "measure/allreduce_algorithms.hpp"
#include "measure/common_start.hpp"
#include "measure/exchange.hpp"
#include "measure/inject.hpp"
#include "measure/operands.hpp"
#include "measure/placement.hpp"
#include "measure/session.hpp"
#include "measure/timed_step.hpp"
#include "measure/vectors.hpp"
#include "measure/watchdog.hpp"
#include "measure/wire.hpp"
#include "model/links.hpp"
#include "model/run_data.hpp"
#include "model/tiles.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace shardline {

/// A visit to make: a point of the plan, in which pass, and how many repetitions.
struct Visit {
    int32_t point = 0; ///< row of the points table
    int32_t pass = 0;
    int64_t warmups = 1;
    int64_t repetitions = 5;      ///< beside the warm-ups, of each mode
    int32_t first_repetition = 0; ///< number of the first one in the table
};

struct VisitOutcome {
    Repetitions rows; ///< on rank 0, of all ranks
    bool stopped = false; ///< a rank was asked to stop; the rows are those taken before
};

/// Visits points: holds the buffers, takes the repetitions, brings the ranks' readings together. Ranks beyond a point's own sleep
/// meanwhile and have no readings.
class Visitor {
public:
    Visitor(const Session& session, const Experiment& experiment);

    /// Collective over session.
    VisitOutcome visit(const Point& point, const Visit& visit);

    /// The point with its tiles, chosen by timing the matmul, a tile and the exchange alone, where its strategy overlaps.
    /// Its segment size must be set. Collective over session.
    Point with_tiles(Point point);

    /// One more step of a sweep point, untimed, with its output poisoned beforehand, and its result
    /// checked. The findings are those the check gives rise to. Collective over session.
    Check check(const Point& point, const Visit& visit, std::vector<Finding>& findings);

    /// See CommonStart. Collective over session.
    std::vector<ClockModel> model_clocks();

    /// Bytes to read before a matmul from memory, so that no cache holds its operands.
    void evict_with(int64_t bytes) { eviction_bytes_ = bytes; }

    /// Which ranks exchange in which round of links.
    void use_rounds(std::vector<std::vector<RankPair>> rounds) { rounds_ = std::move(rounds); }

    /// True where every node can give its ranks operands of width K for that shape. Collective over session.
    bool fits(const Shape& shape, int64_t K) const;
    /// Bytes of all buffers held now.
    int64_t held_bytes() const;

private:
    /// A repetition on this rank, as it travels to rank 0.
    struct LocalRow {
        Readings t;
        int64_t late = 0;
        int32_t peer = -1;
        int32_t unused = 0;
    };

    const char* between_visits() const; ///< name of a phase
    void stand_by();                    ///< until all ranks have done so
    void prepare_buffers(const Point& point);
    void prepare_exchange(const Point& point);
    int64_t width_of(const Point& point) const; ///< of this rank's shard of D
    std::string chosen_tiles(Point point, TileAxis axis, int64_t size, Strategy strategy);
    Check check_here(const Point& point, const Visit& visit, std::vector<Finding>& findings);
    void take_link(const Point& point);
    int32_t peer_in(const Point& point) const; ///< of this rank at a link point; −1: none
    LocalRow take_repetition(const Point& point, Mode mode);
    void gather(const Point& point, const std::vector<LocalRow>& local, Repetitions& rows);

    const Session& session_;
    const Experiment& experiment_;
    RankGroups groups_;
    const RankGroup* group_ = nullptr; ///< of the point that is visited
    std::map<ElementType, WireType> wires_;
    Operands operands_;
    std::optional<Exchange> exchange_; ///< of the ranks and the wire type of the last point that had one:
    int32_t exchange_ranks_ = 0;
    Buffer send_, receive_;
    Vectors vectors_;
    int64_t eviction_bytes_ = 0;
    std::vector<std::vector<RankPair>> rounds_;
    std::optional<AllreduceAlgorithms> algorithms_; ///< of a measure of them
    std::vector<MPI_Request> requests_;
    CommonStart start_;
    Injector injector_;
    Readings readings_; ///< of the repetition under way; the watchdog looks at it
    Watchdog watchdog_;
    Point prepared_; ///< the point for which the buffers stand ready
    int64_t visits_ = 0;
};

} // namespace shardline
