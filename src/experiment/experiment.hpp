#pragma once

#include "model/element.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shardline {

/// How the ranks are brought to a repetition's start.
enum class Sync {
    barrier, ///< MPI_Barrier
    window,  ///< an agreed moment of the modelled clocks
};

/// What a run is about: which points it lays, and which claims they test.
enum class Measure {
    crossover, ///< where computation and communication cross over D
    roofline,  ///< C and M of a rank, and where dot products and matmuls lie under them
    links,     ///< latency and bandwidth between every two ranks
    allreduce, ///< the algorithms of the MPI's allreduce over the size of the message
};

/// Which numbers of ranks share D, each in crossovers of its own.
enum class RankChoice {
    all,    ///< all ranks of the job alone
    sweep,  ///< 2, 3, 4, 6, 8, 12, ... up to all
    listed, ///< those of a list
};

/// The order of a job's ranks in a run; ranks 0 .. P−1 share a point of P ranks.
enum class Placement {
    as_started, ///< the launcher's
    spread,     ///< over hosts, as evenly as the first P can be
    pack,       ///< one host after the other
};

/// A fault that a run makes on purpose, to show that it is seen. Such a run gives no verdict.
struct Injection {
    std::string what;   ///< one of injection_names(); empty: none
    int64_t rank = 0;   ///< the rank that misbehaves
    double amount = 2;  ///< slow_rank: factor of its matmul time; late_rank: ms late; drift: % slower with each visit; clock_step: ms
    int64_t visit = 0;  ///< the first visit of the run that it touches
};

/// What a user asks for: an experiment file with its overrides applied. Each member is the TOML key of
/// the same name (rank_choice and ranks are one key); docs/experiment.md lists them with their defaults and limits.
struct Experiment {
    std::string title;
    Measure measure = Measure::crossover;
    std::vector<int64_t> B{1024}; ///< rows of X and Z; several make one crossover each
    std::vector<int64_t> F{1024}; ///< columns of Y and Z; several make one crossover each
    std::optional<std::vector<int64_t>> D; ///< contraction dimensions; nothing: "auto"
    std::vector<ElementType> compute_type{ElementType::f32}; ///< several make crossovers of their own
    std::vector<ElementType> wire_type{ElementType::f32};    ///< several make crossovers of their own
    RankChoice rank_choice = RankChoice::all;
    std::vector<int64_t> ranks; ///< where they are listed
    Placement placement = Placement::as_started;
    std::vector<ElementType> types{ElementType::f32, ElementType::f64}; ///< roofline: of matmuls and dot products
    std::vector<int64_t> message_bytes{8, 65536, 262144, 1048576, 4194304}; ///< links, allreduce: sizes
    std::vector<std::string> algorithms{"all"}; ///< allreduce: "all", or names the MPI knows, beside its default
    int64_t vector_bytes = 0; ///< roofline: of each of the triad's arrays; 0: well beyond the caches
    std::vector<std::string> strategy{"mpi_allreduce"}; ///< how partial results are summed; several are measured side by side
    int64_t segment_bytes = 0;   ///< of a message of the strategies that cut messages themselves; 0: as calibrated
    int64_t tiles = 0;           ///< equal tiles of the strategies that overlap; 0: as a model of the step likes best
    int64_t poll_sleep_us = 500; ///< pipelined_thread: between two looks of the thread that communicates
    int64_t passes = 6;      ///< visits to every point at least
    int64_t max_passes = 30; ///< visits to a point whose interval is still too wide, at most
    double target_point = 0.02; ///< relative half-width of a point's intervals at which it is known
    double target_D_obs = 0.05; ///< relative half-width of D_obs at which the run may stop
    int64_t time_budget_s = 0;  ///< no further visit starts after this; 0: no limit
    int64_t repetitions = 5; ///< per visit and mode, beside the warm-ups
    int64_t warmups = 1;     ///< per visit and mode
    int64_t thin_above_ranks = 1024; ///< above, the readings of a few ranks are kept of each repetition; 0: always every rank's
    uint64_t seed = 1;       ///< of the order of points
    int64_t blas_threads = 0; ///< 0: as many as the rank's cores allow
    Sync sync = Sync::barrier;
    int64_t watchdog_s = 300; ///< a rank that stays longer in one phase ends the job; 0: never
    Injection inject;

    std::string text;                   ///< the file verbatim
    std::vector<std::string> overrides; ///< as given
};

/// Faults a run can make on purpose.
std::span<const std::string_view> injection_names();

/// Reads and checks an experiment file, then applies overrides of the form "key=value" (value in TOML
/// syntax; a bare word is taken as a string). Throws InputError naming file, line and key.
Experiment read_experiment(const std::string& path, const std::vector<std::string>& overrides);

/// The same from text already in memory; `name` stands for the file in messages.
Experiment parse_experiment(const std::string& text, const std::string& name,
                            const std::vector<std::string>& overrides);

/// The collective strategies an experiment may name.
std::span<const std::string_view> strategy_names();

/// TOML that holds every key with the value in use; reads back to the same experiment.
std::string to_toml(const Experiment& experiment);

} // namespace shardline
