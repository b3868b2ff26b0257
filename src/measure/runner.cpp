#include "measure/runner.hpp"

#include "experiment/plan.hpp"
#include "measure/allreduce_algorithms.hpp"
#include "measure/blas.hpp"
#include "measure/clock.hpp"
#include "measure/memory.hpp"
#include "measure/placement.hpp"
#include "measure/strategy.hpp"
#include "measure/timed_step.hpp"
#include "measure/visitor.hpp"
#include "model/allreduce_study.hpp"
#include "model/analysis.hpp"
#include "model/error.hpp"
#include "model/law.hpp"
#include "model/links.hpp"
#include "model/precision.hpp"
#include "model/roofline.hpp"
#include "model/run_data.hpp"
#include "model/samples.hpp"
#include "model/thinning.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <sstream>

namespace shardline {

namespace {

constexpr int64_t MiB = 1024 * 1024;
constexpr int64_t largest_exchange_bytes = 16 * MiB;
constexpr double long_exchange_s = 0.25; ///< of one exchange: larger messages would only repeat it, slowly
constexpr double long_peak_s = 0.05;     ///< of one square matmul
constexpr int64_t widest_calibration = int64_t{1} << 22;

/// When a matmul of width K shows enough of the curve: past the crossover, and near the full rate unless that takes long.
bool reaches_far_enough(int64_t K, double time_s, double reach_s) { return time_s > reach_s && (K >= 1024 || time_s > 0.1); }

double to_seconds(int64_t ns) { return static_cast<double>(ns) * 1e-9; }

/// Bytes of each of the roofline's vectors on a rank: as the experiment says, else well beyond the caches. Collective over control.
int64_t vector_bytes_of(const Session& session, const Experiment& experiment, std::span<const RankInfo> ranks)
{
    int64_t bytes = experiment.vector_bytes > 0 ? experiment.vector_bytes : least_vector_bytes(ranks); // known on rank 0
    MPI_Bcast(&bytes, 1, MPI_INT64_T, 0, session.control());
    constexpr int64_t whole_lines = 64;
    return (bytes + whole_lines - 1) / whole_lines * whole_lines;
}

/// Algorithms to measure beside the MPI's own choice. Throws InputError where one is asked for that it does not know.
std::vector<std::string> algorithms_of(const Session& session, const Experiment& experiment)
{
    const std::vector<std::string> known = AllreduceAlgorithms(session.work()).names();
    std::vector<std::string> names;
    for (const std::string& name : experiment.algorithms) {
        if (name == "all") return known;
        if (name == default_algorithm) continue;
        if (std::ranges::find(known, name) == known.end())
            throw InputError(fmt::format("algorithm '{}' is not known to this MPI ({}): {}", name, mpi_version_text(),
                                         known.empty() ? "it lets none be chosen, so give algorithms = \"default\""
                                                       : fmt::format("its own are {}", fmt::join(known, ", "))));
        names.push_back(name);
    }
    return names;
}

/// What was done at one point so far. The same on every rank.
struct PointHistory {
    int32_t visits = 0;     ///< complete ones
    int32_t last_pass = -1; ///< of the last complete visit
    int32_t begun_pass = -1; ///< of a visit that was broken off; -1: none
    int32_t begun_rows = 0; ///< repetitions it took, warm-ups included
    int32_t begun_kept = 0; ///< without warm-ups
    int32_t checks = 0;     ///< results checked
};

/// A run asked to stop: not an error, and the same on every rank.
struct Stopped {};

class Runner {
public:
    Runner(const Session& session, const Experiment& experiment, RunData data, const RunOutput& output)
        : session_(session), experiment_(experiment), output_(output), data_(std::move(data)), ranks_(ranks_of(experiment, session.size())),
          visitor_(session, experiment), rank_summaries_(ranks_.back()), started_ns_(now_ns())
    {
        data_.repetitions.ranks = session.size();
        recall();
    }

    RunOutcome run()
    {
        bool stopped = false;
        try {
            model_clocks();
            if (experiment_.measure != Measure::crossover) {
                lay_points();
                sweep();
                record_precision();
                return {std::move(data_), false};
            }
            note_ranks_left_out();
            for (const int32_t P : ranks_) calibrate(P);
            summarise_ranks();
            if (ranks_.back() > 1) {
                plan_sweep();
                sweep();
                make_up_checks();
                record_precision();
            }
        } catch (const Stopped&) {
            stopped = true;
            summarise_ranks(); // of the pass that was begun
        }
        return {std::move(data_), stopped};
    }

private:
    void note_ranks_left_out()
    {
        const auto left_out = ranks_left_out(experiment_, session_.size());
        if (left_out.empty()) return;
        on_root(session_, [&] {
            keep({"ranks_left_out", Severity::note, -1,
                  fmt::format("ranks = {} are left out (this run has {}): start as many for them", fmt::join(left_out, ", "), session_.size())});
        });
    }

    /// Of an experiment whose points follow from it and the machine alone: those a resumed run has already stay.
    void lay_points()
    {
        std::vector<Point> points;
        if (experiment_.measure == Measure::roofline) {
            const int64_t vector_bytes = vector_bytes_of(session_, experiment_, data_.ranks);
            visitor_.evict_with(vector_bytes);
            points = roofline_points(experiment_, vector_bytes, session_.size());
        } else if (experiment_.measure == Measure::allreduce) {
            points = collective_points(experiment_, algorithms_of(session_, experiment_), session_.size());
        } else {
            const auto rounds = link_rounds(hosts_of_ranks(session_));
            points = link_points(experiment_, rounds.size(), session_.size());
            visitor_.use_rounds(rounds);
        }
        if (data_.points.empty()) add_points(points);
    }

    // Calibration, for each number of ranks: W and alpha, the allreduce around V, then matmuls long enough to reach past the crossover.

    void calibrate(int32_t P)
    {
        if (P > 1) {
            calibrate_exchange(P);
            segment_bytes_[P] = agreed_segment_bytes(P);
            for (const Shape& shape : shapes_of(experiment_))
                for (const Point& point : allreduce_points(experiment_, shape, P)) measure_once(with_segments(point));
        }
        for (const Shape& shape : shapes_of(experiment_)) calibrate_matmul(shape, P);
        for (const ElementType type : experiment_.compute_type) calibrate_peak(type, P);
    }

    void calibrate_exchange(int32_t P)
    {
        measure_once(exchange_points(8, P).front());
        for (int64_t bytes = MiB; bytes <= largest_exchange_bytes; bytes *= 4) {
            double longest_s = 0;
            for (const Point& point : exchange_points(bytes, P)) longest_s = std::max(longest_s, measure_once(point));
            if (longest_s > long_exchange_s) break; // larger ones would only repeat it, slowly
        }
    }

    /// Of the strategies that cut messages themselves: the smallest with which the largest exchange went as fast as with any.
    int64_t agreed_segment_bytes(int32_t P)
    {
        if (experiment_.segment_bytes > 0) return experiment_.segment_bytes;
        constexpr double as_fast = 1.02;
        double chosen = 0;
        if (session_.is_root()) {
            std::map<int64_t, double> time_s; // of the largest exchange, by segment size
            int64_t largest = 0;
            for (size_t i = 0; i < data_.points.size(); ++i) {
                const Point& point = data_.points[i];
                if (point.kind != PointKind::exchange || point.P != P || point.message_bytes < largest) continue;
                if (point.message_bytes > largest) time_s.clear();
                largest = point.message_bytes;
                time_s[point.segment_bytes] = measured_time_s(static_cast<int32_t>(i));
            }
            const double best_s = std::ranges::min_element(time_s, {}, [](const auto& pair) { return pair.second; })->second;
            chosen = static_cast<double>(
                std::ranges::find_if(time_s, [&](const auto& pair) { return pair.second <= as_fast * best_s; })->first);
        }
        return static_cast<int64_t>(agreed(chosen));
    }

    Point with_segments(Point point) const
    {
        const auto strategy = strategy_named(point.strategy);
        if (strategy && is_segmented(*strategy)) point.segment_bytes = segment_bytes_.at(point.P);
        return point;
    }

    /// Widths in factors of two until the matmul takes four times as long as the allreduce, so that D_model lies inside.
    void calibrate_matmul(const Shape& shape, int32_t P)
    {
        const double reach_s = 4 * allreduce_time_near_s(shape, P);
        for (int64_t K = 8; K <= widest_calibration && visitor_.fits(shape, K); K *= 2) {
            const double time_s = measure_once(matmul_point(experiment_, shape, K, P));
            if (reaches_far_enough(K, time_s, reach_s)) break;
        }
    }

    /// C is the rate of large matmuls: square ones, larger while they are quick.
    void calibrate_peak(ElementType type, int32_t P)
    {
        for (int64_t n = 1024; n <= 4096; n *= 2) {
            const Shape square{n, n, type, experiment_.wire_type.front()};
            if (!visitor_.fits(square, n) || measure_once(matmul_point(experiment_, square, n, P)) > long_peak_s) break;
        }
    }

    /// The longest of the allreduce calibrations next to V; 0 for one rank.
    double allreduce_time_near_s(const Shape& shape, int32_t P)
    {
        const int64_t bytes = message_bytes(shape);
        double time_s = 0;
        for (size_t i = 0; session_.is_root() && i < data_.points.size(); ++i) {
            const Point& point = data_.points[i];
            const bool same = point.P == P && point.compute_type == shape.compute_type && point.wire_type == shape.wire_type;
            if (point.kind == PointKind::allreduce && same && point.message_bytes <= 2 * bytes && point.message_bytes >= bytes / 2)
                time_s = std::max(time_s, measured_time_s(static_cast<int32_t>(i)));
        }
        return agreed(time_s);
    }

    // The sweep.

    void plan_sweep()
    {
        for (const int32_t P : ranks_)
            for (const Shape& shape : shapes_of(experiment_)) {
                if (!swept_D(shape, P).empty()) continue; // planned before the run was stopped
                add_sweep_points(shape, P, experiment_.D ? *experiment_.D : D_around(agreed(predicted_D(shape, P)), P));
            }
    }

    /// On rank 0, as all analysis of samples: it may refuse them, and then all ranks must learn of it.
    double predicted_D(const Shape& shape, int32_t P)
    {
        double D = 0;
        on_root(session_, [&] {
            const auto prediction = predicted_crossover(data_, sweep_of(sweep_point(shape, P, P, experiment_.strategy.front())));
            // Without a prediction (curves that do not cross) start somewhere: the sweep extends itself until it brackets.
            D = prediction ? prediction->D.value : 64.0 * P;
        });
        return D;
    }

    void add_sweep_points(const Shape& shape, int32_t P, const std::vector<int64_t>& D_values)
    {
        std::vector<Point> points;
        for (int64_t D : D_values) {
            if (experiment_.D || visitor_.fits(shape, largest_shard_width(D, P))) {
                for (const std::string& strategy : experiment_.strategy)
                    points.push_back(visitor_.with_tiles(with_segments(sweep_point(shape, D, P, strategy))));
                continue;
            }
            on_root(session_, [&] {
                keep({"memory_limits_D", Severity::warning, -1,
                      fmt::format("D = {} with B = {}, F = {} does not fit into memory and is left out: the crossover may stay "
                                  "unbracketed; use more nodes or smaller B and F",
                                  D, shape.B, shape.F)});
            });
        }
        add_points(points);
    }

    void sweep()
    {
        // Pass 0 was the calibration's own; from here on its points are visited like any other, so that a drift of
        // the machine meets them and the sweep alike.
        int32_t pass = std::max(experiment_.measure == Measure::crossover ? 1 : 0, last_begun_pass());
        for (std::set<int32_t> wanted = wanted_points(); !wanted.empty() && time_is_left(); wanted = wanted_points(), ++pass) {
            const auto order = visiting_order(data_.points, experiment_.seed, pass);
            size_t visited = 0;
            for (int32_t index : order) {
                if (!wanted.contains(index) || history_[static_cast<size_t>(index)].last_pass >= pass) continue;
                if (!time_is_left()) break;
                visit(index, pass);
                if (++visited % std::max<size_t>(1, wanted.size() / summaries_in_pass()) == 0) summarise_ranks();
                show_progress(wanted.size());
            }
            model_clocks();
            summarise_ranks();
            if (experiment_.measure == Measure::crossover && !experiment_.D && pass <= last_refining_pass) refine();
        }
    }

    /// Points to visit in the next pass: all of them until each has its visits, then those not known well enough.
    std::set<int32_t> wanted_points()
    {
        std::vector<int32_t> wanted;
        for (size_t i = 0; i < history_.size(); ++i) {
            if (history_[i].visits < experiment_.passes + visits_before_sweep(data_.points[i])) wanted.push_back(static_cast<int32_t>(i));
        }
        if (wanted.empty()) on_root(session_, [&] { wanted = imprecise_points(); });
        int32_t n = static_cast<int32_t>(wanted.size());
        MPI_Bcast(&n, 1, MPI_INT32_T, 0, session_.control());
        wanted.resize(static_cast<size_t>(n));
        MPI_Bcast(wanted.data(), n, MPI_INT32_T, 0, session_.control());
        return {wanted.begin(), wanted.end()};
    }

    /// Calibration has had pass 0.
    int32_t visits_before_sweep(const Point& point) const
    {
        return experiment_.measure == Measure::crossover && point.kind != PointKind::crossover ? 1 : 0;
    }

    /// Those that may still be visited among the points whose intervals are too wide; while D_obs is not known well enough
    /// only the points that bracket it, as long as they may be.
    std::vector<int32_t> imprecise_points() const
    {
        std::vector<int32_t> imprecise;
        if (experiment_.measure != Measure::crossover) {
            for (const Point& point : imprecise_points_of({&data_, 1}, experiment_.target_point)) {
                const auto index = std::ranges::find(data_.points, point) - data_.points.begin();
                if (history_[static_cast<size_t>(index)].visits < experiment_.max_passes) imprecise.push_back(static_cast<int32_t>(index));
            }
            return imprecise;
        }
        const Precision precision = precision_of({&data_, 1}, {experiment_.target_point, experiment_.target_D_obs});
        for (size_t i = 0; i < precision.wanting.size(); ++i) {
            if (i == precision.decisive && !imprecise.empty()) break;
            const Point& point = precision.wanting[i];
            const auto index = static_cast<size_t>(std::ranges::find(data_.points, point) - data_.points.begin());
            if (history_[index].visits < experiment_.max_passes) imprecise.push_back(static_cast<int32_t>(index));
        }
        return imprecise;
    }

    bool time_is_left() { return agreed(time_is_left_here() ? 1 : 0) != 0; }

    bool time_is_left_here() const
    {
        return experiment_.time_budget_s == 0 ||
               to_seconds(now_ns() - started_ns_) < static_cast<double>(experiment_.time_budget_s);
    }

    /// Adds points where the curves now seem to cross, or outwards where they do not.
    void refine()
    {
        Analysis analysis; // on rank 0
        on_root(session_, [&] { analysis = analyse({&data_, 1}); });
        for (const int32_t P : ranks_)
            for (const Shape& shape : shapes_of(experiment_)) {
                const std::vector<int64_t> measured = swept_D(shape, P);
                if (measured.empty()) continue;
                // All strategies get the points that one of them needs, so that they can be compared at each.
                std::set<int64_t> added;
                for (const std::string& strategy : experiment_.strategy) {
                    const Sweep sweep = sweep_of(sweep_point(shape, P, P, strategy));
                    const double crossing = agreed(session_.is_root() ? crossing_in(analysis, sweep) : 0);
                    for (int64_t D : D_to_add(measured, crossing, P)) added.insert(D);
                }
                add_sweep_points(shape, P, {added.begin(), added.end()});
            }
    }

    /// D where the curves cross; 0 when every point is compute-bound, infinity when none is.
    static double crossing_in(const Analysis& analysis, const Sweep& sweep)
    {
        const auto ours = [&](const auto& it) { return sweep_of(it) == sweep; };
        for (const Crossover& crossover : analysis.crossovers)
            if (ours(crossover) && crossover.D_obs) return crossover.D_obs->value;
        for (const PointSummary& summary : analysis.points)
            if (ours(summary.point) && summary.t_comp_s && summary.t_comm_s && summary.t_comp_s->value < summary.t_comm_s->value)
                return std::numeric_limits<double>::infinity();
        return 0;
    }

    /// D of the sweep's points, ascending.
    std::vector<int64_t> swept_D(const Shape& shape, int32_t P) const
    {
        std::vector<int64_t> D;
        for (const Point& point : data_.points)
            if (point.kind == PointKind::crossover && point.B == shape.B && point.F == shape.F && point.P == P &&
                point.compute_type == shape.compute_type && point.wire_type == shape.wire_type)
                D.push_back(point.D);
        std::ranges::sort(D);
        D.erase(std::unique(D.begin(), D.end()), D.end());
        return D;
    }

    /// What was reached, for the file and the person.
    void record_precision()
    {
        on_root(session_, [&] {
            if (experiment_.measure != Measure::crossover) {
                const size_t wanting = imprecise_points_of({&data_, 1}, experiment_.target_point).size();
                keep({"precision", Severity::note, -1,
                      fmt::format("{} of {} points are known to ±{:.3g} %", data_.points.size() - wanting, data_.points.size(),
                                  100 * experiment_.target_point)});
                if (!time_is_left_here()) keep(budget_note());
                return;
            }
            const Precision precision = precision_of({&data_, 1}, {experiment_.target_point, experiment_.target_D_obs});
            for (const SweepPrecision& sweep : precision.sweeps) keep(precision_note(sweep));
            if (!time_is_left_here()) keep(budget_note());
        });
    }

    Finding budget_note() const
    {
        const auto fewest = std::ranges::min(history_, {}, &PointHistory::visits).visits;
        return {"time_budget", fewest < experiment_.passes ? Severity::warning : Severity::note, -1,
                fmt::format("the time budget of {} s is spent; the least visited point has {} of {} visits: for more, go on with "
                            "--resume and a --time-budget",
                            experiment_.time_budget_s, fewest, experiment_.passes)};
    }

    /// "B = 1024, F = 1024", and what else several sweeps differ in.
    std::string subject_of(const Sweep& sweep) const
    {
        std::string text = fmt::format("B = {}, F = {}", sweep.B, sweep.F);
        if (ranks_.size() > 1) text += fmt::format(", P = {}", sweep.P);
        if (experiment_.compute_type.size() > 1) text += fmt::format(", {} matmul", name_of(sweep.compute_type));
        if (experiment_.wire_type.size() > 1) text += fmt::format(", {} on the wire", name_of(sweep.wire_type));
        return text;
    }

    Finding precision_note(const SweepPrecision& sweep) const
    {
        const auto known = std::ranges::count_if(sweep.points, &PointPrecision::reached);
        const std::string D_obs = !sweep.D_obs ? "D_obs is not bracketed"
                                  : std::isfinite(sweep.D_obs_relative_half_width)
                                      ? fmt::format("D_obs is known to ±{:.1f} %", 100 * sweep.D_obs_relative_half_width)
                                      : "D_obs rests on too few samples for an interval";
        return {"precision", Severity::note, -1,
                fmt::format("{}: {} (target ±{:.3g} %), {} of {} points to ±{:.3g} % in each time", subject_of(sweep.sweep), D_obs, 100 * experiment_.target_D_obs, known, sweep.points.size(),
                            100 * experiment_.target_point)};
    }

    // Points and visits.

    /// All at once, so that a run killed meanwhile has none of a plan or the whole of it.
    void add_points(std::span<const Point> points)
    {
        data_.points.insert(data_.points.end(), points.begin(), points.end());
        history_.resize(data_.points.size());
        on_root(session_, [&] { output_.points(points); });
    }

    /// The calibration's first visit to a point, unless a resumed run has made it. Median time in s, on every rank.
    double measure_once(const Point& point)
    {
        auto index = static_cast<size_t>(std::ranges::find(data_.points, point) - data_.points.begin());
        if (index == data_.points.size()) add_points({&point, 1});
        if (history_[index].visits == 0) visit(static_cast<int32_t>(index), 0);
        on_root(session_, [&] { output_.progress({"calibrating", static_cast<int64_t>(index) + 1, 0, 0}); });
        return agreed(session_.is_root() ? measured_time_s(static_cast<int32_t>(index)) : 0);
    }

    void visit(int32_t index, int32_t pass)
    {
        const Point point = data_.points[static_cast<size_t>(index)];
        PointHistory& history = history_[static_cast<size_t>(index)];
        const bool continues = history.begun_pass == pass;
        const Visit plan{.point = index, .pass = pass, .warmups = experiment_.warmups,
                         .repetitions = repetitions_of(point) - (continues ? history.begun_kept : 0),
                         .first_repetition = continues ? history.begun_rows : 0};
        VisitOutcome outcome = visitor_.visit(point, plan);
        on_root(session_, [&] {
            if (data_.repetitions.kept > 0) {
                rank_summaries_.add(outcome.rows, data_.points);
                outcome.rows = thinned(outcome.rows, data_.points);
            }
            append(data_.repetitions, outcome.rows);
            output_.repetitions(outcome.rows);
        });
        if (outcome.stopped) throw Stopped{};
        ++history.visits;
        history.last_pass = pass;
        history.begun_pass = -1;
        if (history.checks < checks_wanted(point, history.visits)) check(point, plan);
    }

    /// The first and the last of the visits every point gets are checked.
    int32_t checks_wanted(const Point& point, int32_t visits) const
    {
        if (point.kind != PointKind::crossover || visits == 0) return 0;
        return experiment_.passes > 1 && visits >= experiment_.passes ? 2 : 1;
    }

    /// A run killed between a visit and its check has the visit without it.
    void make_up_checks()
    {
        for (size_t i = 0; i < history_.size(); ++i)
            while (history_[i].checks < checks_wanted(data_.points[i], history_[i].visits))
                check(data_.points[i], {.point = static_cast<int32_t>(i), .pass = history_[i].last_pass});
    }

    void check(const Point& point, const Visit& visit)
    {
        std::vector<Finding> findings;
        const Check check = visitor_.check(point, visit, findings);
        if (session_.is_root()) data_.checks.push_back(check);
        ++history_[static_cast<size_t>(visit.point)].checks;
        on_root(session_, [&] { output_.check(check); });
        on_root(session_, [&] {
            for (const Finding& finding : findings) keep(finding);
        });
    }

    int64_t repetitions_of(const Point& point) const
    {
        // The shortest messages are quick and noisy: more of them cost nothing.
        return point.kind == PointKind::exchange && point.message_bytes <= 8 ? 10 * experiment_.repetitions : experiment_.repetitions;
    }

    /// Median in s over the kept repetitions of the point's first visit of the maximum over ranks, so that a resumed run
    /// finds what the first one found. On rank 0.
    double measured_time_s(int32_t index) const
    {
        const Repetitions& all = data_.repetitions;
        const auto readings = static_cast<size_t>(all.readings_per_row());
        std::vector<double> times;
        for (size_t row = 0; row < all.size(); ++row) {
            if (all.point[row] != index || all.pass[row] != 0 || all.warmup[row]) continue;
            int64_t longest = 0;
            for (size_t i = row * readings; i < (row + 1) * readings; ++i)
                longest = std::max({longest, all.comp_end_ns[i] - all.comp_begin_ns[i], all.comm_end_ns[i] - all.comm_begin_ns[i]});
            times.push_back(to_seconds(longest));
        }
        return median(times);
    }

    // Resuming.

    /// Makes every rank know the points of a resumed run and what was done at each. Collective.
    void recall()
    {
        on_root(session_, [&] { history_ = history_of(data_); });
        int64_t known[] = {static_cast<int64_t>(history_.size()), data_.repetitions.kept};
        MPI_Bcast(known, 2, MPI_INT64_T, 0, session_.control());
        const int64_t n = known[0];
        data_.repetitions.kept = static_cast<int32_t>(known[1]);
        history_.resize(static_cast<size_t>(n));
        MPI_Bcast(history_.data(), static_cast<int>(history_.size() * sizeof(PointHistory)), MPI_BYTE, 0, session_.control());

        struct Numbers {
            int64_t kind, B, D, F, P, message_bytes, segment_bytes, compute_type, wire_type, round;
        };
        std::vector<Numbers> numbers;
        for (const Point& point : data_.points)
            numbers.push_back({static_cast<int64_t>(point.kind), point.B, point.D, point.F, point.P, point.message_bytes, point.segment_bytes,
                               static_cast<int64_t>(point.compute_type), static_cast<int64_t>(point.wire_type), point.round});
        numbers.resize(static_cast<size_t>(n));
        MPI_Bcast(numbers.data(), static_cast<int>(numbers.size() * sizeof(Numbers)), MPI_BYTE, 0, session_.control());
        std::string lines;
        for (const Point& point : data_.points) lines += point.strategy + "\n" + point.algorithm + "\n" + point.tiles + "\n";
        std::istringstream texts(broadcast_text(lines, session_.control()));
        if (session_.is_root()) return;
        for (const Numbers& its : numbers) {
            Point point{.kind = static_cast<PointKind>(its.kind), .B = its.B, .D = its.D, .F = its.F, .P = static_cast<int32_t>(its.P),
                        .message_bytes = its.message_bytes, .segment_bytes = its.segment_bytes,
                        .compute_type = static_cast<ElementType>(its.compute_type), .wire_type = static_cast<ElementType>(its.wire_type),
                        .strategy = "", .tiles = ""};
            point.round = static_cast<int32_t>(its.round);
            std::getline(texts, point.strategy);
            std::getline(texts, point.algorithm);
            std::getline(texts, point.tiles);
            data_.points.push_back(point);
        }
    }

    std::vector<PointHistory> history_of(const RunData& data) const
    {
        std::vector<PointHistory> histories(data.points.size());
        const Repetitions& all = data.repetitions;
        for (size_t row = 0; row < all.size();) {
            const auto index = static_cast<size_t>(all.point[row]);
            const int32_t pass = all.pass[row];
            const bool both_modes = data.points[index].kind == PointKind::crossover;
            PointHistory& history = histories[index];
            if (history.begun_pass != pass) history.begun_pass = pass, history.begun_rows = history.begun_kept = 0;
            int32_t rows = 0, kept = 0;
            for (; row < all.size() && static_cast<size_t>(all.point[row]) == index && all.pass[row] == pass; ++row) {
                ++rows;
                kept += all.warmup[row] ? 0 : 1;
            }
            history.begun_rows += both_modes ? rows / 2 : rows;
            history.begun_kept += both_modes ? kept / 2 : kept;
            if (history.begun_kept < repetitions_of(data.points[index])) continue;
            ++history.visits;
            history.last_pass = pass;
            history.begun_pass = -1;
        }
        for (const Check& check : data.checks) ++histories[static_cast<size_t>(check.point)].checks;
        return histories;
    }

    int32_t last_begun_pass() const
    {
        int32_t last = 0;
        for (const PointHistory& history : history_) last = std::max({last, history.last_pass, history.begun_pass});
        return last;
    }

    // Small services.

    void model_clocks()
    {
        const auto models = visitor_.model_clocks();
        if (session_.is_root()) data_.clocks.insert(data_.clocks.end(), models.begin(), models.end());
        on_root(session_, [&] { output_.clocks(models); });
    }

    /// So many that each rank has an interval, however few the passes are.
    size_t summaries_in_pass() const { return static_cast<size_t>((min_samples_for_95 + experiment_.passes - 1) / experiment_.passes); }

    /// What is left of single ranks since the last time, where the samples are thinned.
    void summarise_ranks()
    {
        if (data_.repetitions.kept == 0) return;
        on_root(session_, [&] {
            const auto summaries = rank_summaries_.take(last_begun_pass());
            if (summaries.empty()) return;
            data_.rank_summaries.insert(data_.rank_summaries.end(), summaries.begin(), summaries.end());
            output_.rank_summaries(summaries);
        });
    }

    /// Keeps and hands out a finding, once. On rank 0.
    void keep(const Finding& finding)
    {
        if (holds(data_.findings, finding)) return;
        data_.findings.push_back(finding);
        output_.finding(finding);
    }

    /// Rank 0's number on every rank. Collective over control.
    double agreed(double value) const
    {
        MPI_Bcast(&value, 1, MPI_DOUBLE, 0, session_.control());
        return value;
    }

    void show_progress(size_t points_in_pass)
    {
        int64_t done = 0, planned = 0;
        for (size_t i = 0; i < history_.size(); ++i) {
            const int64_t extra = visits_before_sweep(data_.points[i]);
            done += history_[i].visits - extra;
            planned += std::max<int64_t>(experiment_.passes, history_[i].visits - extra);
        }
        if (done == planned) planned += static_cast<int64_t>(points_in_pass);
        if (sweep_started_ns_ == 0) sweep_started_ns_ = now_ns(), done_at_start_ = done;
        const double spent_s = to_seconds(now_ns() - sweep_started_ns_);
        double left_s = spent_s / static_cast<double>(std::max<int64_t>(1, done - done_at_start_)) * static_cast<double>(planned - done);
        if (experiment_.time_budget_s > 0)
            left_s = std::min(left_s, static_cast<double>(experiment_.time_budget_s) - to_seconds(now_ns() - started_ns_));
        on_root(session_, [&] { output_.progress({"sweeping", done, planned, std::max(0.0, left_s)}); });
    }

    static constexpr int32_t last_refining_pass = 4;

    const Session& session_;
    const Experiment& experiment_;
    const RunOutput& output_;
    RunData data_; ///< points on every rank, samples on rank 0
    std::vector<int32_t> ranks_; ///< numbers of ranks that share D, ascending
    std::vector<PointHistory> history_; ///< of each point
    Visitor visitor_;
    RankSummaries rank_summaries_; ///< of the pass under way, on rank 0
    int64_t started_ns_;
    std::map<int32_t, int64_t> segment_bytes_; ///< of strategies that cut messages themselves, by number of ranks
    int64_t sweep_started_ns_ = 0, done_at_start_ = 0;
};

struct Machine {
    double C = 0; ///< FLOP/s
    double W = 0; ///< bytes/s
};

/// A rough C and W from a few small repetitions, for the plan's estimates only. Collective over session.
Machine probe(const Session& session, const Experiment& experiment)
{
    constexpr int64_t n = 256, bytes = MiB, repetitions = 3;
    Operands operands;
    operands.compute_type = experiment.compute_type.front();
    operands.wire_type = experiment.wire_type.front();
    prepare(operands, n, n, {0, n});
    const Buffer send(bytes), receive(bytes);
    std::vector<MPI_Request> requests(static_cast<size_t>(exchange_requests(bytes, bytes)));
    Machine machine;
    for (int64_t i = 0; i < repetitions; ++i) {
        MPI_Barrier(session.work());
        Readings matmul, exchange;
        timed_matmul(operands, matmul);
        timed_exchange(send.as<char>(), receive.as<char>(), bytes, bytes, requests.data(), session.work(), exchange);
        machine.C = std::max(machine.C, matmul_flops(n, n, n) / to_seconds(matmul.comp_end_ns - matmul.comp_begin_ns));
        machine.W = std::max(machine.W, static_cast<double>(bytes) / to_seconds(exchange.comm_end_ns - exchange.comm_begin_ns));
    }
    MPI_Allreduce(MPI_IN_PLACE, &machine.C, 1, MPI_DOUBLE, MPI_MIN, session.control());
    MPI_Allreduce(MPI_IN_PLACE, &machine.W, 1, MPI_DOUBLE, MPI_MIN, session.control());
    return machine;
}

[[noreturn]] void refuse_type(ElementType type)
{
    throw InputError(fmt::format("element type {0} is not available (the BLAS found at configure time, {1}, has no cblas_sbgemm): leave it "
                                 "out, use compute_type = \"f32\" with wire_type = \"bf16\", or build with a BLAS that has it",
                                 name_of(type), blas_version_text()));
}

void refuse_unsupported_strategies(const Experiment& experiment)
{
    const auto asks_for = [&](std::string_view name) { return std::ranges::find(experiment.strategy, name) != experiment.strategy.end(); };
    for (const std::string& name : experiment.strategy)
        if (const std::string why = why_unavailable(*strategy_named(name)); !why.empty())
            throw InputError(fmt::format("strategy {} is not available ({}): use another", name, why));
    if (!asks_for("mpi_persistent")) return;
    for (const Shape& shape : shapes_of(experiment))
        if (shape.B * shape.F > max_mpi_count)
            throw InputError(fmt::format("strategy mpi_persistent cannot sum {} elements (one request takes {} at most): leave it out, or "
                                         "use smaller B and F",
                                         shape.B * shape.F, max_mpi_count));
}

void refuse_unsupported(const Experiment& experiment)
{
    const auto types = experiment.measure == Measure::roofline ? experiment.types : experiment.compute_type;
    for (const ElementType type : types)
        if (!blas_supports(type)) refuse_type(type);
    if (experiment.measure == Measure::crossover) refuse_unsupported_strategies(experiment);
}

} // namespace

int32_t readings_kept(const Experiment& experiment, int32_t job)
{
    // Links are of single ranks, and refused where they are many.
    const bool all = experiment.measure == Measure::links || experiment.thin_above_ranks == 0 || job <= experiment.thin_above_ranks;
    return all ? 0 : kept_readings;
}

RunOutcome run_experiment(const Session& session, const Experiment& experiment, RunData data, const RunOutput& output)
{
    refuse_unsupported(experiment);
    return Runner(session, experiment, std::move(data), output).run();
}

namespace {

int64_t collective_memory_bytes(const Experiment& experiment)
{
    const ElementType type = experiment.wire_type.front();
    const int64_t elements = std::ranges::max(experiment.message_bytes) / bytes_of(type) + 1;
    return operand_bytes(1, elements, 0, type, type) + 2 * largest_exchange_bytes;
}

/// One message each way; all at once shares the largest among the peers.
int64_t link_memory_bytes(const Experiment& experiment) { return 2 * std::ranges::max(experiment.message_bytes); }

int64_t roofline_memory_bytes(const std::vector<Point>& points, int64_t vector_bytes)
{
    int64_t operands = 0;
    for (const Point& point : points)
        if (point.kind == PointKind::matmul || point.kind == PointKind::cold_matmul)
            operands = std::max(operands, operand_bytes(point.B, point.F, largest_shard_width(point.D, point.P), point.compute_type, point.wire_type));
    return 3 * vector_bytes + operands;
}

void require_ranks(const Experiment& experiment, int32_t job)
{
    if (experiment.rank_choice == RankChoice::listed && (job < 2 || ranks_of(experiment, job).empty()))
        throw InputError(fmt::format("ranks = {} are more than this run has ({}): start as many, or give \"sweep\"", fmt::join(experiment.ranks, ", "), job));
}

} // namespace

void require_feasible(const Session& session, const Experiment& experiment, std::span<const RankInfo> ranks)
{
    refuse_unsupported(experiment);
    const auto P = static_cast<int32_t>(session.size());
    if (!experiment.inject.what.empty() && experiment.inject.rank >= P)
        throw InputError(fmt::format("inject.rank is {} (this run has the ranks 0 to {}, so nothing would be injected): name one of them",
                                     experiment.inject.rank, P - 1));
    if (experiment.measure == Measure::allreduce) {
        if (P < 2) throw InputError("one rank has nothing to sum (measure = \"allreduce\" times sums over ranks): start 2 or more ranks");
        algorithms_of(session, experiment);
        require_memory(collective_memory_bytes(experiment), session);
        return;
    }
    if (experiment.measure == Measure::links) {
        if (const std::string refusal = link_refusal(P); !refusal.empty()) throw InputError(refusal);
        require_memory(link_memory_bytes(experiment), session);
        return;
    }
    if (experiment.measure == Measure::roofline) {
        const int64_t vector_bytes = vector_bytes_of(session, experiment, ranks);
        require_memory(roofline_memory_bytes(roofline_points(experiment, vector_bytes, P), vector_bytes), session);
        return;
    }
    require_ranks(experiment, P);
    int64_t most_bytes = 0;
    for (const int32_t sharing : ranks_of(experiment, P))
        for (const Shape& shape : shapes_of(experiment)) {
            const int64_t widest = experiment.D && sharing > 1 ? std::ranges::max(*experiment.D) : sharing; // "auto" keeps to what fits
            most_bytes = std::max(most_bytes, memory_per_rank_bytes(experiment, shape, largest_shard_width(widest, sharing), sharing, P));
        }
    require_memory(most_bytes, session);
}

namespace {

/// The probe multiplies in the first type: how many times as long another takes, roughly.
double slower_than_probe(const Experiment& experiment, ElementType type)
{
    const auto cost = [](ElementType its) { return its == ElementType::f64 ? 2.0 : 1.0; };
    return cost(type) / cost(experiment.compute_type.front());
}

/// Seconds that one repetition of each calibration point that P ranks share takes at that C and W, whatever the shape: steps of
/// Runner::calibrate.
double common_calibration_s(const Experiment& experiment, int32_t P, const Machine& machine)
{
    double total_s = 0;
    for (int64_t bytes = MiB; P > 1 && bytes <= largest_exchange_bytes; bytes *= 4) {
        const double time_s = static_cast<double>(bytes) / machine.W;
        total_s += time_s * static_cast<double>(exchange_points(bytes, P).size());
        if (time_s > long_exchange_s) break;
    }
    for (const ElementType type : experiment.compute_type)
        for (int64_t n = 1024; n <= 4096; n *= 2) {
            const double time_s = slower_than_probe(experiment, type) * comp_time_s(n, n * P, n, P, machine.C);
            total_s += time_s;
            if (time_s > long_peak_s) break;
        }
    return total_s;
}

/// The same of the points of one shape.
double calibration_s(const Experiment& experiment, const Shape& shape, int32_t P, const Machine& machine)
{
    double total_s = 0;
    if (P > 1)
        for (const Point& point : allreduce_points(experiment, shape, P))
            total_s += allreduce_bandwidth_bound_s(static_cast<double>(point.message_bytes), P, machine.W);
    const double reach_s =
        4 * allreduce_bandwidth_bound_s(static_cast<double>(message_bytes(shape)), P, machine.W);
    for (int64_t K = 8; K <= widest_calibration; K *= 2) {
        const double time_s = slower_than_probe(experiment, shape.compute_type) * comp_time_s(shape.B, K * P, shape.F, P, machine.C);
        total_s += time_s;
        if (reaches_far_enough(K, time_s, reach_s)) break;
    }
    return total_s;
}

} // namespace

int64_t memory_per_rank_bytes(const Experiment& experiment, const Shape& shape, int64_t K, int32_t P, int32_t job)
{
    const auto& [B, F, compute_type, wire_type] = shape;
    // The allreduce calibration takes a Z of one and a half times the size, the exchange two messages.
    const int64_t calibration = P > 1 ? operand_bytes(B, (F + 1) / 2, 0, compute_type, wire_type) + 2 * largest_exchange_bytes : 0;
    constexpr int64_t points_expected = 60, bytes_per_row = 32, bytes_per_reading = 6 * 8 + 4, bytes_gathered = 64;
    // In floating point: counts that a user may give make a product beyond 64 bits.
    const double crossovers = static_cast<double>(shapes_of(experiment).size() * ranks_of(experiment, job).size());
    const double rows = 2.0 * points_expected * crossovers * static_cast<double>(experiment.passes) *
                        static_cast<double>(experiment.repetitions + experiment.warmups);
    constexpr double beyond_any_memory = 0x1p60;
    const int32_t kept = readings_kept(experiment, job);
    const double row_bytes = static_cast<double>(bytes_per_row + (kept > 0 ? kept : job) * bytes_per_reading);
    const double visit_bytes = 2.0 * static_cast<double>(experiment.repetitions + experiment.warmups) * job * (bytes_per_reading + bytes_gathered);
    const double samples = std::min(beyond_any_memory, rows * row_bytes + visit_bytes);
    // Partial sums that a ring of more than two passes on.
    const int64_t ring = std::ranges::any_of(experiment.strategy, [](const std::string& name) { return is_segmented(*strategy_named(name)); })
                             ? bytes_of(wire_type) * B * F / P * std::max(0, P - 2)
                             : 0;
    return operand_bytes(B, F, K, compute_type, wire_type) + calibration + ring + static_cast<int64_t>(samples);
}

namespace {

/// How often each point is timed, as planned.
double times_of_a_point(const Experiment& experiment)
{
    return static_cast<double>(experiment.passes * (experiment.repetitions + experiment.warmups));
}

/// Points of one kind together, in order of first appearance.
std::vector<PlannedPoints> by_kind(const std::vector<Point>& points, const std::function<double(const Point&)>& seconds_of)
{
    std::vector<PlannedPoints> blocks;
    for (const Point& point : points) {
        auto block = std::ranges::find(blocks, point.kind, &PlannedPoints::kind);
        if (block == blocks.end()) block = blocks.insert(blocks.end(), PlannedPoints{point.kind, 0, 0});
        ++block->points;
        block->seconds += seconds_of(point);
    }
    return blocks;
}

Plan plan_roofline(const Session& session, const Experiment& experiment, const Machine& machine, std::span<const RankInfo> ranks)
{
    constexpr double M = 5e9; // bytes/s, of a rank beside others: for an estimate only
    const int64_t vector_bytes = vector_bytes_of(session, experiment, ranks);
    const auto points = roofline_points(experiment, vector_bytes, session.size());
    const double times = times_of_a_point(experiment);
    Plan plan;
    plan.memory_per_rank_bytes = roofline_memory_bytes(points, vector_bytes);
    plan.blocks = by_kind(points, [&](const Point& point) {
        if (point.kind == PointKind::triad) return times * 3 * static_cast<double>(vector_bytes) / M;
        if (point.kind == PointKind::dot) return times * 2 * static_cast<double>(vector_bytes) / M;
        const double operand_s = static_cast<double>(bytes_of(point.compute_type)) * static_cast<double>(point.D / point.P) * static_cast<double>(point.F) / M;
        const double half_speed = point.compute_type == ElementType::f64 ? 2 : 1; // the probe multiplies in f32
        const double comp_s = half_speed * comp_time_s(point.B, point.D, point.F, point.P, machine.C);
        return times * (point.kind == PointKind::cold_matmul ? std::max(comp_s, operand_s) + static_cast<double>(vector_bytes) / M : comp_s);
    });
    return plan;
}

Plan plan_collectives(const Session& session, const Experiment& experiment, const Machine& machine)
{
    Plan plan;
    plan.memory_per_rank_bytes = collective_memory_bytes(experiment);
    const double times = times_of_a_point(experiment);
    plan.blocks = by_kind(collective_points(experiment, algorithms_of(session, experiment), session.size()), [&](const Point& point) {
        return times * allreduce_bandwidth_bound_s(static_cast<double>(point.message_bytes), point.P, machine.W);
    });
    return plan;
}

Plan plan_links(const Session& session, const Experiment& experiment, const Machine& machine)
{
    Plan plan;
    plan.memory_per_rank_bytes = link_memory_bytes(experiment);
    const double times = times_of_a_point(experiment);
    plan.blocks = by_kind(link_points(experiment, link_rounds(hosts_of_ranks(session)).size(), session.size()),
                          [&](const Point& point) {
                              return times * (static_cast<double>(point.message_bytes) / machine.W + comp_time_s(point.B, point.D, point.F, point.P, machine.C));
                          });
    return plan;
}

/// How often each calibration point is timed, as planned.
double visits_of_calibration(const Experiment& experiment)
{
    return static_cast<double>((experiment.passes + 1) * (experiment.repetitions + experiment.warmups));
}

PlannedShape plan_shape(const Experiment& experiment, const Shape& shape, int32_t P, int32_t job, const Machine& machine)
{
    const auto s = static_cast<double>(bytes_of(shape.wire_type));
    const double C = machine.C / slower_than_probe(experiment, shape.compute_type);
    const double B = static_cast<double>(shape.B), F = static_cast<double>(shape.F);
    const double D = P > 1 ? D_star(s, P, C, machine.W) : 0;
    PlannedShape planned{.B = shape.B, .F = shape.F, .P = P, .compute_type = shape.compute_type, .wire_type = shape.wire_type, .D = {},
                         .message_bytes = message_bytes(shape)};
    if (P > 1) planned.D = experiment.D ? *experiment.D : D_around(D, P);
    planned.mpi_calls = (shape.B * shape.F + max_mpi_count - 1) / max_mpi_count;
    const int64_t widest = planned.D.empty() ? 0 : *std::max_element(planned.D.begin(), planned.D.end());
    planned.memory_per_rank_bytes = memory_per_rank_bytes(experiment, shape, largest_shard_width(widest, P), P, job);
    const double t_comm_s = allreduce_bandwidth_bound_s(s * B * F, P, machine.W);
    double sweep_s = 0; // of one repetition in both modes at every point
    for (int64_t value : planned.D) sweep_s += 2 * (comp_time_s(shape.B, value, shape.F, P, C) + t_comm_s);
    planned.seconds = times_of_a_point(experiment) * static_cast<double>(experiment.strategy.size()) * sweep_s +
                      visits_of_calibration(experiment) * calibration_s(experiment, shape, P, machine);
    return planned;
}

Plan plan_crossovers(const Session& session, const Experiment& experiment, const Machine& machine)
{
    const auto P = static_cast<int32_t>(session.size());
    Plan plan;
    plan.D_given = experiment.D.has_value();
    require_ranks(experiment, P);
    for (const int32_t sharing : ranks_of(experiment, P)) {
        const size_t first = plan.shapes.size(); // has what all shapes share counted with it
        for (const Shape& shape : shapes_of(experiment)) plan.shapes.push_back(plan_shape(experiment, shape, sharing, P, machine));
        plan.shapes[first].seconds += visits_of_calibration(experiment) * common_calibration_s(experiment, sharing, machine);
    }
    return plan;
}

Plan plan_measure(const Session& session, const Experiment& experiment, const Machine& machine, std::span<const RankInfo> ranks)
{
    if (experiment.measure == Measure::roofline) return plan_roofline(session, experiment, machine, ranks);
    if (experiment.measure == Measure::links) return plan_links(session, experiment, machine);
    if (experiment.measure == Measure::allreduce) return plan_collectives(session, experiment, machine);
    return plan_crossovers(session, experiment, machine);
}

} // namespace

Plan plan_experiment(const Session& session, const Experiment& experiment, std::span<const RankInfo> ranks)
{
    refuse_unsupported(experiment);
    const Machine machine = probe(session, experiment);
    Plan plan = plan_measure(session, experiment, machine, ranks);
    plan.probed_flop_per_s = machine.C;
    if (session.size() > 1) plan.probed_bytes_per_s = machine.W;
    return plan;
}

} // namespace shardline
