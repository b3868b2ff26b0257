#pragma once

#include "experiment/experiment.hpp"
#include "experiment/plan.hpp"
#include "measure/session.hpp"
#include "model/run_data.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace shardline {

/// Where a run stands, for a person who waits.
struct Progress {
    std::string phase;      ///< "calibrating", "sweeping"
    int64_t visits_done = 0;
    int64_t visits_planned = 0; ///< of this phase; 0 while that is not known
    double seconds_left = 0;    ///< estimate for this phase
};

/// What a run hands out while it goes. Called on rank 0 only, never while a region is timed; what they
/// throw ends the run on all ranks. The mains join them to a file and to the terminal.
struct RunOutput {
    std::function<void(std::span<const Point>)> points;
    std::function<void(const Repetitions&)> repetitions;
    std::function<void(const Check&)> check;
    std::function<void(const Finding&)> finding;
    std::function<void(std::span<const ClockModel>)> clocks;
    std::function<void(std::span<const RankSummary>)> rank_summaries;
    std::function<void(const Progress&)> progress;
};

struct RunOutcome {
    RunData data; ///< on rank 0; elsewhere the points alone
    bool stopped = false; ///< a rank was asked to stop before all was measured
};

/// Throws InputError where this build or the nodes' memory cannot serve the experiment: to be known before anything is
/// written or measured. `ranks`: what they run on, on rank 0. Collective over session.
void require_feasible(const Session& session, const Experiment& experiment, std::span<const RankInfo> ranks = {});

/// Readings kept of each repetition in a run of so many ranks; 0: every rank's.
int32_t readings_kept(const Experiment& experiment, int32_t job);

/// Runs the experiment: calibrates, predicts, sweeps over D, refines where the curves cross, checks results, until
/// what was asked for is known. `data` on rank 0 holds what is known beforehand: ranks, findings, provenance,
/// how many readings of a repetition are kept, and where a run is resumed all that it measured, which is not measured again. Throws InputError where
/// the experiment does not fit this machine. Collective over session.
RunOutcome run_experiment(const Session& session, const Experiment& experiment, RunData data, const RunOutput& output);

/// Bytes one rank needs for a shard of width K that P of the job's ranks share: operands, the calibration's message buffers and, on
/// rank 0, the samples of all ranks and crossovers.
int64_t memory_per_rank_bytes(const Experiment& experiment, const Shape& shape, int64_t K, int32_t P, int32_t job);

/// What a run would do for one crossover, on paper.
struct PlannedShape {
    int64_t B = 0, F = 0;
    int32_t P = 0;
    ElementType compute_type = ElementType::f32, wire_type = ElementType::f32;
    std::vector<int64_t> D; ///< of the sweep; where the experiment says "auto", as a first probe predicts them
    int64_t message_bytes = 0; ///< V
    int64_t mpi_calls = 0;     ///< calls to MPI for one allreduce: more than one where the count exceeds 2^31 − 1
    int64_t memory_per_rank_bytes = 0;
    double seconds = 0; ///< rough estimate
};

/// The points of one kind, on paper.
struct PlannedPoints {
    PointKind kind = PointKind::crossover;
    int64_t points = 0;
    double seconds = 0; ///< rough estimate
};

struct Plan {
    double probed_flop_per_s = 0;  ///< of one rank, the slowest
    double probed_bytes_per_s = 0; ///< one way, while as much comes in; 0 where there is no other rank
    bool D_given = false; ///< false: D was predicted
    std::vector<PlannedShape> shapes; ///< of a measure of crossovers
    std::vector<PlannedPoints> blocks; ///< of other measures, whose memory is:
    int64_t memory_per_rank_bytes = 0;
};

/// Plans the experiment with estimates from a probe of under a second on this machine. `ranks`: what they run on, on
/// rank 0. Collective over session.
Plan plan_experiment(const Session& session, const Experiment& experiment, std::span<const RankInfo> ranks = {});

} // namespace shardline
