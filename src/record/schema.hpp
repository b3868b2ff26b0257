#pragma once

// Every group and column of the file, with the field of run_data.hpp that it holds. Writer and reader
// both go by these tables; docs/file-format.md says the same in words.

#include "model/run_data.hpp"

#include <array>
#include <string_view>

namespace shardline::schema {

inline constexpr const char* format_name = "shardline";
inline constexpr int32_t format_version = 3; ///< 2: further kinds of point; 3: repetitions may be thinned

/// How the values of a column stand in the file. Flags and enumerations are HDF5 enumerations of one byte.
enum class Type { int32, int64, float64, flag, mode, severity, status, text };

/// One dataset of a table: a value for each row, or one for each row and rank (where repetitions are thinned, each rank kept).
struct Column {
    const char* name;
    Type type;
    const char* unit; ///< "1": a plain number; "": not a number
    const char* description;
    size_t text_bytes = 0; ///< bytes of every text in a table that grows; 0: those of the longest text
    bool per_rank = false;
    bool later = false; ///< added since version 1 was first written: files may be without it
    bool thinned = false; ///< stands only in files whose repetitions are thinned
};

inline constexpr size_t name_bytes = 64;
inline constexpr size_t tiles_bytes = 256;
inline constexpr size_t prose_bytes = 2048;

/// The group that holds rows of this type, and its columns with the fields they hold.
template <class Row> struct Table;

using NameAndValue = std::pair<std::string, std::string>;

template <> struct Table<NameAndValue> {
    static constexpr const char* group = "environment";

    template <class Visit> static void columns(Visit&& visit)
    {
        visit(Column{"name", Type::text, "", "environment variable of rank 0"}, &NameAndValue::first);
        visit(Column{"value", Type::text, "", "its value"}, &NameAndValue::second);
    }
};

template <> struct Table<RankInfo> {
    static constexpr const char* group = "ranks";

    template <class Visit> static void columns(Visit&& visit)
    {
        visit(Column{"host", Type::text, "", "MPI processor name"}, &RankInfo::host);
        visit(Column{"machine", Type::text, "", "identity of the running kernel: equal on two ranks of one machine"},
              &RankInfo::machine);
        visit(Column{"cpu_model", Type::text, "", "processor as the system names it"}, &RankInfo::cpu_model);
        visit(Column{"allowed_cores", Type::text, "", "cores the rank may run on, as 0-3,8"}, &RankInfo::allowed_cores);
        visit(Column{"blas_kernel", Type::text, "", "kernels the BLAS chose, by its own name"}, &RankInfo::blas_kernel);
        visit(Column{"blas_threads", Type::int32, "1", "threads of the BLAS, as read back; 0: it does not say"}, &RankInfo::blas_threads);
        visit(Column{"memory_available_bytes", Type::int64, "byte", "memory available at the start"},
              &RankInfo::memory_available_bytes);
        visit(Column{"cache_bytes", Type::int64, "byte", "of the machine's last-level caches together; 0: not known", 0, false, true},
              &RankInfo::cache_bytes);
    }
};

template <> struct Table<Point> {
    static constexpr const char* group = "points";

    template <class Visit> static void columns(Visit&& visit)
    {
        visit(Column{"kind", Type::text, "", "what is timed", 16}, &Point::kind);
        visit(Column{"B", Type::int64, "element", "rows of X[B,D] and Z[B,F]"}, &Point::B);
        visit(Column{"D", Type::int64, "element", "contraction dimension of X[B,D] Y[D,F] = Z[B,F]"}, &Point::D);
        visit(Column{"F", Type::int64, "element", "columns of Y[D,F] and Z[B,F]"}, &Point::F);
        visit(Column{"P", Type::int32, "1", "ranks that share D: 0 to P-1"}, &Point::P);
        visit(Column{"message_bytes", Type::int64, "byte", "bytes of an allreduce, or each way of an exchange"},
              &Point::message_bytes);
        visit(Column{"segment_bytes", Type::int64, "byte", "bytes of one message of an exchange, or of a strategy that cuts messages itself"}, &Point::segment_bytes);
        visit(Column{"compute_type", Type::text, "", "element type of the matmul: f32, f64 or bf16", 16},
              &Point::compute_type);
        visit(Column{"wire_type", Type::text, "", "element type of the message: f32, f64 or bf16", 16}, &Point::wire_type);
        visit(Column{"strategy", Type::text, "", "collective strategy", name_bytes}, &Point::strategy);
        visit(Column{"round", Type::int32, "1", "link: which pairs of ranks exchange", 0, false, true}, &Point::round);
        visit(Column{"algorithm", Type::text, "", "collective: algorithm of the MPI's allreduce; link: direction", name_bytes, false, true},
              &Point::algorithm);
        visit(Column{"tiles", Type::text, "", "tiles of a strategy that overlaps: the dimension of Z they cut, and how much each takes", tiles_bytes, false, true}, &Point::tiles);
    }
};

template <> struct Table<Repetitions> {
    static constexpr const char* group = "repetitions";

    template <class Visit> static void columns(Visit&& visit)
    {
        visit(Column{"point", Type::int32, "1", "row of /points"}, &Repetitions::point);
        visit(Column{"mode", Type::mode, "", "whether the parts were timed apart or as one step"}, &Repetitions::mode);
        visit(Column{"pass", Type::int32, "1", "pass over the points, from 0"}, &Repetitions::pass);
        visit(Column{"repetition", Type::int32, "1", "repetition within the visit, warm-ups first, from 0"},
              &Repetitions::repetition);
        visit(Column{"warmup", Type::flag, "", "true: a warm-up, kept but not used"}, &Repetitions::warmup);
        visit(Column{"late", Type::flag, "", "true: a rank came late to the agreed start; kept but not used"},
              &Repetitions::late);
        visit(Column{"start_skew_ns", Type::int64, "ns", "latest minus earliest start over ranks; -1: unknown"},
              &Repetitions::start_skew_ns);
        clock_reading(visit, "comp_begin_ns", "the matmul begins, on the rank's clock; -1: no matmul",
                      &Repetitions::comp_begin_ns);
        clock_reading(visit, "comp_end_ns", "the matmul has ended; -1: no matmul", &Repetitions::comp_end_ns);
        clock_reading(visit, "comm_begin_ns", "communication begins; -1: none", &Repetitions::comm_begin_ns);
        clock_reading(visit, "comm_end_ns", "communication has ended; -1: none", &Repetitions::comm_end_ns);
        visit(Column{"main_cpu_ns", Type::int64, "ns", "CPU time of the thread that computes; -1: not taken", 0, true, true},
              &Repetitions::main_cpu_ns);
        visit(Column{"comm_cpu_ns", Type::int64, "ns", "CPU time of the thread that communicates beside it; -1: none", 0, true, true},
              &Repetitions::comm_cpu_ns);
        visit(Column{"peer", Type::int32, "1", "rank that a link was shared with; -1: none", 0, true, true}, &Repetitions::peer);
        visit(Column{"rank", Type::int32, "1", "rank whose readings these are", 0, true, false, true}, &Repetitions::rank);
        visit(Column{"comp_mean_ns", Type::int64, "ns", "mean over all ranks of the matmul's time; -1: no matmul", 0, false, false, true},
              &Repetitions::comp_mean_ns);
    }

private:
    template <class Visit, class Field>
    static void clock_reading(Visit&& visit, const char* name, const char* description, Field field)
    {
        visit(Column{name, Type::int64, "ns", description, 0, true}, field);
    }
};

template <> struct Table<RankSummary> {
    static constexpr const char* group = "rank_summaries";

    template <class Visit> static void columns(Visit&& visit)
    {
        visit(Column{"rank", Type::int32, "1", "rank it is about"}, &RankSummary::rank);
        visit(Column{"pass", Type::int32, "1", "pass over the points"}, &RankSummary::pass);
        visit(Column{"matmuls", Type::int32, "1", "repetitions it is of"}, &RankSummary::matmuls);
        visit(Column{"relative_comp", Type::float64, "1", "median over them of the matmul's time per column against the median over ranks"},
              &RankSummary::relative_comp);
    }
};

template <> struct Table<Check> {
    static constexpr const char* group = "checks";

    template <class Visit> static void columns(Visit&& visit)
    {
        visit(Column{"point", Type::int32, "1", "row of /points"}, &Check::point);
        visit(Column{"pass", Type::int32, "1", "pass over the points, from 0"}, &Check::pass);
        visit(Column{"max_error", Type::float64, "1", "largest absolute error of the result; NaN: it held NaN"},
              &Check::max_error);
        visit(Column{"bound", Type::float64, "1", "largest absolute error allowed; 0: must be exact"}, &Check::bound);
        visit(Column{"ranks_agree", Type::flag, "", "true: all ranks hold the same bits"}, &Check::ranks_agree);
    }
};

template <> struct Table<Finding> {
    static constexpr const char* group = "findings";

    template <class Visit> static void columns(Visit&& visit)
    {
        visit(Column{"code", Type::text, "", "stable short name", name_bytes}, &Finding::code);
        visit(Column{"severity", Type::severity, "", "what it means for the numbers"}, &Finding::severity);
        visit(Column{"rank", Type::int32, "1", "rank it is about; -1: not of one rank"}, &Finding::rank);
        visit(Column{"text", Type::text, "", "what it is, what it means, what to change", prose_bytes}, &Finding::text);
    }
};

template <> struct Table<ClockModel> {
    static constexpr const char* group = "clocks";

    template <class Visit> static void columns(Visit&& visit)
    {
        visit(Column{"rank", Type::int32, "1", "whose clock"}, &ClockModel::rank);
        visit(Column{"at_ns", Type::int64, "ns", "when the offset was taken, on the rank's clock"}, &ClockModel::at_ns);
        visit(Column{"offset_ns", Type::int64, "ns", "rank 0's clock minus the rank's, at at_ns"}, &ClockModel::offset_ns);
        visit(Column{"drift", Type::float64, "s/s", "growth of the offset"}, &ClockModel::drift);
        visit(Column{"error_ns", Type::int64, "ns", "bound on the offset's error"}, &ClockModel::error_ns);
    }
};

// What is not a table of rows.
inline constexpr Column experiment_text{"text", Type::text, "", "the experiment's TOML as the user wrote it"};
inline constexpr Column experiment_overrides{"overrides", Type::text, "", "--set arguments, in order"};
inline constexpr Column experiment_effective{"effective", Type::text, "", "TOML with every key and its value as used"};
inline constexpr Column progress_status{"status", Type::status, "", "how far the run got"};

/// The dataset /progress/TABLE of a table that grows.
constexpr Column committed_rows(const char* table)
{
    return {table, Type::int64, "row", "rows of the table of this name that are complete; those beyond do not count"};
}

/// Names of an enumeration's values, in the order of their numbers.
inline constexpr std::array<const char*, 2> flag_names{"FALSE", "TRUE"}; ///< as h5py writes and reads bool
inline constexpr std::array<const char*, 2> mode_names{"phases", "step"};
inline constexpr std::array<const char*, 3> severity_names{"note", "warning", "invalid"};
inline constexpr std::array<const char*, 4> status_names{"running", "complete", "stopped", "failed"};

} // namespace shardline::schema
