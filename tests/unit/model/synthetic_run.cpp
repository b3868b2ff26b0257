#include "tests/unit/model/synthetic_run.hpp"

#include "model/draws.hpp"
#include "model/law.hpp"
#include "model/shard.hpp"
#include "model/thinning.hpp"
#include "model/tiles.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace shardline {

void begin_row(Repetitions& r, size_t point, int32_t pass, int32_t repetition)
{
    r.point.push_back(static_cast<int32_t>(point));
    r.mode.push_back(static_cast<uint8_t>(Mode::phases));
    r.pass.push_back(pass);
    r.repetition.push_back(repetition);
    r.warmup.push_back(0);
    r.late.push_back(0);
    r.start_skew_ns.push_back(-1);
}

namespace {

double message_bytes(const SyntheticPlan& plan)
{
    return static_cast<double>(bytes_of(plan.wire_type)) * static_cast<double>(plan.B) *
           static_cast<double>(plan.F);
}

double allreduce_s(const SyntheticPlan& plan, double bytes)
{
    const SyntheticMachine& machine = plan.machine;
    return allreduce_time_s(AllreduceAlgorithm::ring, bytes, plan.P, machine.alpha_s,
                            machine.allreduce_efficiency * machine.W_bytes_per_s);
}

double matmul_s(const SyntheticPlan& plan, double width)
{
    const double flops = matmul_flops(static_cast<double>(plan.B), width, static_cast<double>(plan.F));
    return plan.machine.matmul_overhead_s + flops / plan.machine.C_flop_per_s;
}

int64_t multiple_of(int64_t P, double D)
{
    return P * std::max<int64_t>(1, static_cast<int64_t>(std::lround(D / static_cast<double>(P))));
}

std::vector<int64_t> sweep_D(const SyntheticPlan& plan)
{
    if (!plan.D.empty()) return plan.D;
    std::vector<int64_t> D;
    // Where the crossover lies between two points is left to chance, as it is on a real machine.
    const double middle = true_crossover(plan) * std::pow(2.0, (NormalDraws(plan.seed).uniform() - 0.5) / 2);
    for (int i = -4; i <= 4; ++i) D.push_back(multiple_of(plan.P, middle * std::pow(2.0, i / 2.0)));
    D.erase(std::unique(D.begin(), D.end()), D.end());
    return D;
}

Point point_of(const SyntheticPlan& plan, PointKind kind)
{
    Point point;
    point.kind = kind;
    point.P = plan.P;
    return point;
}

void add_matmul_points(const SyntheticPlan& plan, std::vector<Point>& points)
{
    for (double factor : {0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0}) {
        Point point = point_of(plan, PointKind::matmul);
        point.B = plan.B;
        point.F = plan.F;
        point.D = multiple_of(plan.P, factor * true_crossover(plan));
        point.compute_type = plan.compute_type;
        points.push_back(point);
    }
}

void add_exchange_points(const SyntheticPlan& plan, std::vector<Point>& points)
{
    for (int64_t bytes : {int64_t{8}, int64_t{1} << 16, int64_t{1} << 20, int64_t{1} << 22, int64_t{1} << 24})
        for (int64_t segment : {int64_t{1} << 17, int64_t{1} << 20, bytes}) {
            if (segment > bytes) continue;
            Point point = point_of(plan, PointKind::exchange);
            point.message_bytes = bytes;
            point.segment_bytes = segment;
            if (std::find(points.begin(), points.end(), point) == points.end()) points.push_back(point);
        }
}

void add_allreduce_points(const SyntheticPlan& plan, std::vector<Point>& points)
{
    for (const SyntheticStrategy& strategy : plan.strategies)
        for (double factor : {0.25, 0.5, 2.0, 4.0}) {
            Point point = point_of(plan, PointKind::allreduce);
            point.message_bytes = static_cast<int64_t>(factor * message_bytes(plan));
            point.compute_type = plan.compute_type;
            point.wire_type = plan.wire_type;
            point.strategy = strategy.name;
            points.push_back(point);
        }
}

void add_sweep_points(const SyntheticPlan& plan, std::vector<Point>& points)
{
    for (int64_t D : sweep_D(plan))
        for (const SyntheticStrategy& strategy : plan.strategies) {
            Point point = point_of(plan, PointKind::crossover);
            point.B = plan.B;
            point.F = plan.F;
            point.D = D;
            point.message_bytes = static_cast<int64_t>(message_bytes(plan));
            point.compute_type = plan.compute_type;
            point.wire_type = plan.wire_type;
            point.strategy = strategy.name;
            if (strategy.hidden > 0) point.tiles = text_of(Tiling{TileAxis::B, equal_tiles(plan.B, 2)});
            points.push_back(point);
        }
}

/// Noise factors of one part of the repetitions, in order of execution.
class Noise {
public:
    Noise(const SyntheticPlan& plan, NormalDraws& draws)
        : kind_(plan.noise_kind),
          size_(plan.noise),
          rank_share_(plan.rank_noise),
          draws_(draws)
    {
    }

    void begin_visit() { shift_ = draws_.next(); }

    /// Factor of one repetition, common to its ranks.
    double of_repetition()
    {
        switch (kind_) {
        case NoiseKind::normal: return around_one(draws_.next());
        case NoiseKind::lognormal: return std::exp(size_ * draws_.next());
        case NoiseKind::exponential: return 1 + size_ * (-std::log(draws_.uniform()) - std::log(2.0));
        case NoiseKind::autocorrelated:
            previous_ = 0.5 * previous_ + std::sqrt(0.75) * draws_.next();
            return around_one(previous_);
        case NoiseKind::visit_shift: return around_one(draws_.next() + shift_);
        }
        return 1;
    }

    double of_rank() { return around_one(rank_share_ * draws_.next()); }

private:
    /// Held above zero: a time that noise turns negative would be refused.
    double around_one(double deviation) const { return std::max(1 + size_ * deviation, 0.02); }

    NoiseKind kind_;
    double size_, rank_share_;
    NormalDraws& draws_;
    double previous_ = 0, shift_ = 0;
};

/// Writes rows as the ranks would: each on its own clock.
class Recorder {
public:
    Recorder(const SyntheticPlan& plan, RunData& run)
        : plan_(plan),
          run_(run),
          draws_(plan.seed * 7919 + 17),
          comp_noise_(plan, draws_),
          comm_noise_(plan, draws_)
    {
        for (int32_t rank = 0; rank < plan.P; ++rank) clock_ns_.push_back(1'000'000'000LL * (1 + rank * 7));
    }

    void record()
    {
        run_.repetitions.ranks = plan_.P;
        for (int32_t pass = 0; pass < plan_.passes; ++pass)
            for (int32_t point : shuffled_points()) visit(point, pass);
    }

private:
    std::vector<int32_t> shuffled_points()
    {
        std::vector<int32_t> order;
        for (size_t i = 0; i < run_.points.size(); ++i) order.push_back(static_cast<int32_t>(i));
        for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[draws_.bits() % i]);
        return order;
    }

    void visit(int32_t point, int32_t pass)
    {
        comp_noise_.begin_visit();
        comm_noise_.begin_visit();
        repetitions(point, pass, Mode::phases);
        if (run_.points[static_cast<size_t>(point)].kind == PointKind::crossover)
            repetitions(point, pass, Mode::step);
    }

    void repetitions(int32_t point, int32_t pass, Mode mode)
    {
        for (int32_t repetition = 0; repetition < plan_.warmups + plan_.repetitions; ++repetition)
            row(point, pass, mode, repetition);
    }

    double rows_expected() const
    {
        const double sweep_points =
            static_cast<double>(std::count_if(run_.points.begin(), run_.points.end(),
                                              [](const Point& p) { return p.kind == PointKind::crossover; }));
        return (static_cast<double>(run_.points.size()) + sweep_points) * plan_.passes *
               (plan_.warmups + plan_.repetitions);
    }

    /// What befalls both parts of a repetition.
    double disturbance(int32_t repetition, bool warmup, bool late)
    {
        const double progress = static_cast<double>(run_.repetitions.size()) / rows_expected();
        const double creep = 1 + plan_.creep_per_repetition * (repetition - plan_.warmups);
        return (1 + plan_.drift_over_run * progress) * creep * (warmup ? 10 : 1) * (late ? 5 : 1);
    }

    double comp_s(const Point& point, Mode mode, int32_t rank) const
    {
        const double width = static_cast<double>(shard_of(point.D, plan_.P, rank).width);
        double time_s = matmul_s(plan_, width);
        if (point.kind == PointKind::crossover && plan_.comp_exponent != 1) {
            const double crossing = true_crossover(plan_);
            time_s = matmul_s(plan_, crossing / plan_.P) *
                     std::pow(static_cast<double>(point.D) / crossing, plan_.comp_exponent);
        }
        if (mode == Mode::step) time_s *= plan_.comp_in_step_factor;
        const bool slow = plan_.slow_rank >= 0 && rank / plan_.ranks_on_host == plan_.slow_rank / plan_.ranks_on_host;
        return slow ? time_s * plan_.slow_factor : time_s;
    }

    /// What a step of the point's strategy hides of the smaller part.
    double hidden_s(const Point& point, double communication_s) const
    {
        const auto its = std::ranges::find(plan_.strategies, point.strategy, &SyntheticStrategy::name);
        return its->hidden * std::min(communication_s, comp_s(point, Mode::step, 0));
    }

    double comm_s(const Point& point, Mode mode)
    {
        const double bytes = static_cast<double>(point.message_bytes);
        if (point.kind == PointKind::exchange)
            return (plan_.machine.alpha_s + bytes / plan_.machine.W_bytes_per_s) *
                   (plan_.second_mode_of_exchange != 1 && draws_.uniform() < 0.5 ? plan_.second_mode_of_exchange : 1);
        double time_s = allreduce_s(plan_, bytes);
        if (point.kind == PointKind::crossover) time_s *= plan_.comm_factor_in_sweep;
        if (mode == Mode::step) time_s = plan_.step_factor * (time_s - hidden_s(point, time_s));
        return draws_.uniform() < 0.5 ? time_s * plan_.second_mode : time_s;
    }

    void row(int32_t index, int32_t pass, Mode mode, int32_t repetition)
    {
        const Point& point = run_.points[static_cast<size_t>(index)];
        Repetitions& r = run_.repetitions;
        const bool warmup = repetition < plan_.warmups;
        const bool late = plan_.late_share > 0 && draws_.uniform() < plan_.late_share;
        const double disturbed = disturbance(repetition, warmup, late);
        const bool computes = point.kind == PointKind::crossover || point.kind == PointKind::matmul;
        const bool communicates = point.kind != PointKind::matmul;
        const double comp_factor = disturbed * comp_noise_.of_repetition(),
                     comm_factor = disturbed * comm_noise_.of_repetition();
        const double communication_s = communicates ? comm_s(point, mode) : 0;

        r.point.push_back(index);
        r.mode.push_back(static_cast<uint8_t>(mode));
        r.pass.push_back(pass);
        r.repetition.push_back(repetition);
        r.warmup.push_back(warmup);
        r.late.push_back(late);
        r.start_skew_ns.push_back(static_cast<int64_t>(static_cast<double>(plan_.start_skew_ns) * draws_.uniform()));
        for (int32_t rank = 0; rank < plan_.P; ++rank) {
            int64_t& now_ns = clock_ns_[static_cast<size_t>(rank)];
            now_ns += 1'000'000;
            int64_t reading[4] = {Repetitions::no_reading, Repetitions::no_reading, Repetitions::no_reading,
                                  Repetitions::no_reading};
            if (computes) {
                reading[0] = now_ns;
                now_ns += duration_ns(comp_s(point, mode, rank) * comp_factor * comp_noise_.of_rank());
                reading[1] = now_ns;
            }
            if (communicates) {
                if (mode == Mode::phases) now_ns += 2000; // the barrier between the parts
                reading[2] = now_ns;
                now_ns += duration_ns(communication_s * comm_factor * comm_noise_.of_rank());
                reading[3] = now_ns;
            }
            r.comp_begin_ns.push_back(reading[0]);
            r.comp_end_ns.push_back(reading[1]);
            r.comm_begin_ns.push_back(reading[2]);
            r.comm_end_ns.push_back(reading[3]);
            r.main_cpu_ns.push_back(Repetitions::no_reading);
            r.comm_cpu_ns.push_back(Repetitions::no_reading);
            r.peer.push_back(-1);
        }
    }

    static int64_t duration_ns(double seconds) { return std::max<int64_t>(1, std::llround(1e9 * seconds)); }

    const SyntheticPlan& plan_;
    RunData& run_;
    NormalDraws draws_;
    Noise comp_noise_, comm_noise_; // core and network are disturbed independently
    std::vector<int64_t> clock_ns_;
};

void add_checks(const SyntheticPlan& plan, RunData& run)
{
    int32_t sweep_index = 0;
    for (size_t i = 0; i < run.points.size(); ++i) {
        if (run.points[i].kind != PointKind::crossover) continue;
        const bool wrong = sweep_index++ == plan.wrong_point;
        for (int32_t pass = 0; pass < plan.passes; ++pass)
            run.checks.push_back({static_cast<int32_t>(i), pass, wrong && !plan.ranks_disagree ? 3.5 : 0.0,
                                  0.0, !(wrong && plan.ranks_disagree)});
    }
}

void add_surroundings(const SyntheticPlan& plan, RunData& run)
{
    run.status = RunStatus::complete;
    run.experiment_text = "title = \"synthetic\"\n";
    run.experiment_effective = "title = \"synthetic\"\nseed = " + std::to_string(plan.seed) + "\nB = [" +
                               std::to_string(plan.B) + "]\nF = [" + std::to_string(plan.F) + "]\n";
    run.provenance = {{"mpi_version", "synthetic MPI 1.0"}, {"blas_version", "synthetic BLAS 1.0"}};
    for (int32_t rank = 0; rank < plan.P; ++rank) {
        RankInfo info;
        info.host = "node" + std::to_string(rank / plan.ranks_on_host);
        info.machine = "machine" + std::to_string(rank / plan.ranks_on_host);
        info.cpu_model = "synthetic CPU";
        info.allowed_cores = "0";
        info.blas_kernel = "synthetic kernel";
        info.blas_threads = 1;
        info.memory_available_bytes = int64_t{1} << 34;
        run.ranks.push_back(info);
    }
}

} // namespace

double true_crossover(const SyntheticPlan& plan)
{
    const double t_comm_s = allreduce_s(plan, message_bytes(plan));
    return plan.P * (t_comm_s - plan.machine.matmul_overhead_s) /
           matmul_flops(static_cast<double>(plan.B), 1, static_cast<double>(plan.F)) *
           plan.machine.C_flop_per_s;
}

RunData synthetic_run(const SyntheticPlan& plan)
{
    RunData run;
    if (plan.calibrated) {
        add_matmul_points(plan, run.points);
        add_exchange_points(plan, run.points);
        if (plan.P > 1) add_allreduce_points(plan, run.points);
    }
    if (plan.P > 1) add_sweep_points(plan, run.points);
    Recorder(plan, run).record();
    add_checks(plan, run);
    add_surroundings(plan, run);
    return run;
}

RunData thinned_run(RunData run)
{
    Repetitions& all = run.repetitions;
    RankSummaries summaries(std::ranges::max_element(run.points, {}, &Point::P)->P);
    const std::vector<uint8_t> late = all.late;
    for (int32_t pass = 0; pass <= std::ranges::max(all.pass); ++pass) {
        for (size_t row = 0; row < all.size(); ++row) all.late[row] = late[row] || all.pass[row] != pass; // as what is late is not used
        summaries.add(all, run.points);
        for (const RankSummary& its : summaries.take(pass)) run.rank_summaries.push_back(its);
    }
    all.late = late;
    all = thinned(all, run.points);
    return run;
}

RunData joined(const std::vector<RunData>& runs)
{
    RunData all = *std::ranges::max_element(runs, {}, [](const RunData& run) { return run.repetitions.ranks; });
    const auto ranks = static_cast<size_t>(all.repetitions.ranks);
    all.points.clear();
    all.checks.clear();
    all.repetitions = {};
    all.repetitions.ranks = static_cast<int32_t>(ranks);
    for (const RunData& run : runs) {
        const auto first = static_cast<int32_t>(all.points.size());
        all.points.insert(all.points.end(), run.points.begin(), run.points.end());
        for (Check check : run.checks) {
            check.point += first;
            all.checks.push_back(check);
        }
        Repetitions more = run.repetitions;
        for (int32_t& point : more.point) point += first;
        const auto own = static_cast<size_t>(more.ranks);
        const auto widen = [&](auto& column) {
            std::remove_reference_t<decltype(column)> wide;
            for (size_t i = 0; i < column.size(); ++i) {
                wide.push_back(column[i]);
                if (i % own + 1 == own) wide.resize(wide.size() + ranks - own, -1);
            }
            column = std::move(wide);
        };
        for (auto* column : {&more.comp_begin_ns, &more.comp_end_ns, &more.comm_begin_ns, &more.comm_end_ns, &more.main_cpu_ns, &more.comm_cpu_ns}) widen(*column);
        widen(more.peer);
        append(all.repetitions, more);
    }
    return all;
}

} // namespace shardline
