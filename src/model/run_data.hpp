#pragma once

// The content of one recorded run as plain tables: what the ranks measure, the record library
// stores and the analysis reads. docs/file-format.md describes the same tables as they stand in the file.

#include "model/element.hpp"

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shardline {

/// What is timed at a point. `matmul`, `exchange` and `allreduce` are calibration: they predict, and do not enter D_obs.
enum class PointKind : uint8_t {
    crossover, ///< a point of the sweep over D: matmul, allreduce and step
    matmul,    ///< calibration: matmul alone on all ranks at once
    exchange,  ///< calibration: every rank sends message_bytes to its right neighbour and receives as many from its left
    allreduce, ///< calibration: allreduce alone of message_bytes
    arithmetic,  ///< roofline: D fused multiply-adds in registers, the bound of C
    triad,       ///< roofline: a = b + s·c, D elements in each of the three
    dot,         ///< roofline: dot product of two vectors of D elements
    cold_matmul, ///< roofline: matmul alone on all ranks at once, its operands in memory and not in a cache
    link,        ///< links: message_bytes between the two ranks of every pair of a round
    collective,  ///< allreduce alone of message_bytes by `algorithm`
};

/// As the kind stands in a file: "crossover", "matmul", ...
std::string_view name_of(PointKind kind);

/// True where ranks compute and nothing travels.
constexpr bool only_computes(PointKind kind)
{
    return kind == PointKind::matmul || kind == PointKind::arithmetic || kind == PointKind::triad || kind == PointKind::dot ||
           kind == PointKind::cold_matmul;
}

/// One point of the plan. Fields that mean nothing for the kind are 0 (strategy: empty).
struct Point {
    PointKind kind = PointKind::crossover;
    int64_t B = 0, D = 0, F = 0; ///< X[B,D] · Y[D,F], elements
    int32_t P = 0;               ///< ranks that share D: ranks 0 .. P-1 of the run
    int64_t message_bytes = 0;   ///< V = s·B·F of an allreduce, or bytes each way of an exchange
    int64_t segment_bytes = 0;   ///< exchange: bytes of one message; equal to message_bytes when sent whole.
                                 ///< crossover, allreduce: the same of a strategy that cuts messages itself
    ElementType compute_type = ElementType::f32;
    ElementType wire_type = ElementType::f32;
    std::string strategy; ///< name of the collective strategy, e.g. "mpi_allreduce"
    int32_t round = 0;    ///< link: which pairs exchange (links.hpp); the peers stand in the repetitions
    std::string algorithm = ""; ///< collective: of the MPI's allreduce, by the MPI's own name; empty: the MPI chooses. link: direction
    std::string tiles;    ///< crossover, a strategy that overlaps: how Z was cut, as "B:128,448,384,64" (tiles.hpp)
};

/// The same point of the plan. How a strategy cut its work there is chosen by measurement, and does not
/// make it another point.
std::strong_ordering operator<=>(const Point& a, const Point& b);
bool operator==(const Point& a, const Point& b);

/// How one repetition is taken.
enum class Mode : uint8_t {
    phases = 0, ///< matmul and communication each from a synchronised start (calibration: the one part there is)
    step = 1,   ///< matmul, then communication, with nothing between
};

/// Repetitions in order of execution, one row each; clock readings are row-major [row][rank], or, where they are
/// thinned (thinning.hpp), of a few ranks each, which `rank` names. A reading is integer nanoseconds of that rank's own monotonic clock, `no_reading` where the part
/// was not run. In Mode::step comm_begin is the same reading as comp_end, or, where the strategy overlaps,
/// the moment at which the first tile was ready to be sent.
struct Repetitions {
    static constexpr int64_t no_reading = -1;

    int32_t ranks = 0; ///< of the run
    int32_t kept = 0;  ///< readings in a row, where they are thinned; 0: every rank's
    std::vector<int32_t> point;      ///< row of the points table
    std::vector<uint8_t> mode;       ///< Mode
    std::vector<int32_t> pass;       ///< pass over the points, from 0
    std::vector<int32_t> repetition; ///< within the visit, warm-ups first, from 0
    std::vector<uint8_t> warmup;     ///< 1: kept but not used
    std::vector<uint8_t> late;       ///< 1: a rank reached the agreed start too late; kept but not used
    std::vector<int64_t> start_skew_ns; ///< latest minus earliest start over ranks on the common clock; -1 unknown
    std::vector<int64_t> comp_begin_ns, comp_end_ns, comm_begin_ns, comm_end_ns;
    /// CPU time of the repetition, row-major likewise: of the thread that computes, and of the one that
    /// communicates beside it (`no_reading` where there is none).
    std::vector<int64_t> main_cpu_ns, comm_cpu_ns;
    std::vector<int32_t> peer; ///< row-major likewise: the rank a link was shared with, −1 for none
    std::vector<int32_t> rank; ///< thinned, row-major: whose readings these are; else empty
    std::vector<int64_t> comp_mean_ns; ///< thinned: mean over ranks of the matmul's time, −1 where there is none; else empty

    size_t size() const { return point.size(); }
    int32_t readings_per_row() const { return kept > 0 ? kept : ranks; }
    int32_t rank_of(size_t reading) const { return kept > 0 ? rank[reading] : static_cast<int32_t>(reading % static_cast<size_t>(ranks)); }
};

/// Adds the rows of `more`, which are of as many ranks and as many readings a row.
void append(Repetitions& repetitions, const Repetitions& more);

/// What is left of a rank's matmuls in one pass where the repetitions are thinned.
struct RankSummary {
    int32_t rank = 0;
    int32_t pass = 0;
    int32_t matmuls = 0;      ///< how many it is of
    double relative_comp = 0; ///< median over them: time per column of the shard against the median over ranks
};

/// Result check of one visit.
struct Check {
    int32_t point = 0;
    int32_t pass = 0;
    double max_error = 0; ///< largest |error| found; NaN where the result held NaN
    double bound = 0;     ///< largest |error| allowed; 0: must be exact
    bool ranks_agree = true; ///< all ranks hold the same bits
    bool passed() const { return ranks_agree && max_error <= bound; }
};

enum class Severity : uint8_t {
    note = 0,    ///< worth knowing
    warning = 1, ///< the numbers may be off
    invalid = 2, ///< the numbers mean nothing
};

/// Something the run or the analysis noticed. `code` is a stable short name for programs
/// ("oversubscribed"), `text` says what it is, what it means for the numbers, and what to change.
struct Finding {
    std::string code;
    Severity severity = Severity::note;
    int32_t rank = -1; ///< -1: not of one rank
    std::string text;
};

/// "note", "warning" or "invalid".
std::string_view name_of(Severity severity);

/// Every kind, in the order of their numbers.
inline constexpr std::array<std::string_view, 10> kind_names{"crossover",  "matmul", "exchange", "allreduce",   "arithmetic",
                                                             "triad",      "dot",    "cold_matmul", "link", "collective"};

/// Whether a finding of that code and text is among them, of whichever rank.
bool holds(const std::vector<Finding>& findings, const Finding& finding);

/// Clock of one rank against rank 0's: t_rank0 = t_rank + offset_ns + drift·(t_rank − at_ns).
struct ClockModel {
    int32_t rank = 0;
    int64_t at_ns = 0; ///< on this rank's clock
    int64_t offset_ns = 0;
    double drift = 0; ///< s/s
    int64_t error_ns = 0; ///< bound on the offset's error when it was taken
};

/// What one rank runs on.
struct RankInfo {
    std::string host;      ///< MPI processor name
    std::string machine;   ///< identity of the running kernel: equal on two ranks of one machine whatever the host names
    std::string cpu_model;
    std::string allowed_cores; ///< as "0-3,8"
    std::string blas_kernel;   ///< name the BLAS gives the kernels it chose
    int32_t blas_threads = 0;  ///< as read back; 0: the BLAS does not say
    int64_t memory_available_bytes = 0;
    int64_t cache_bytes = 0; ///< of the machine's last-level caches together; 0: not known
};

/// Facts about the run as a whole, each a name and a text ("mpi_version", "command_line", "started_utc", ...).
using Provenance = std::vector<std::pair<std::string, std::string>>;

/// How far the run got.
enum class RunStatus : uint8_t { running = 0, complete = 1, stopped = 2, failed = 3 };

/// "running", "complete", "stopped" or "failed".
std::string_view name_of(RunStatus status);

struct RunData {
    std::string path; ///< file it was read from; empty for a run in progress
    RunStatus status = RunStatus::running;
    std::string experiment_text;      ///< TOML as the user wrote it
    std::vector<std::string> overrides; ///< --set arguments, in order
    std::string experiment_effective; ///< TOML with every key and its value as used
    Provenance provenance;
    std::vector<std::pair<std::string, std::string>> environment; ///< name, value
    std::vector<RankInfo> ranks;
    std::vector<Point> points;
    Repetitions repetitions;
    std::vector<RankSummary> rank_summaries; ///< empty unless the repetitions are thinned
    std::vector<Check> checks;
    std::vector<Finding> findings;
    std::vector<ClockModel> clocks;
};

} // namespace shardline
