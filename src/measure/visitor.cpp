#include "measure/visitor.hpp"

#include "measure/check.hpp"
#include "measure/clock.hpp"
#include "measure/memory.hpp"
#include "measure/stop_signal.hpp"
#include "model/error.hpp"
#include "model/tiles.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>

namespace shardline {

Visitor::Visitor(const Session& session, const Experiment& experiment)
    : session_(session), experiment_(experiment), groups_(session), start_(session, experiment.sync),
      injector_(experiment.inject, session.rank()),
      watchdog_(static_cast<double>(experiment.watchdog_s), session.rank(), host_name())
{
    if (experiment.measure == Measure::allreduce) algorithms_.emplace(session.work());
}

VisitOutcome Visitor::visit(const Point& point, const Visit& visit)
{
    watchdog_.enter("preparation of a visit");
    injector_.before_visit(visits_);
    group_ = &groups_.of(point.P);
    VisitOutcome outcome;
    Repetitions& rows = outcome.rows;
    rows.ranks = session_.size();
    // Ranks that only stand by are asked here, since nobody listens to them later in the visit.
    if (!group_->is_whole) {
        watchdog_.enter("waiting for the other ranks");
        outcome.stopped = stop_agreed(session_.control());
        watchdog_.enter("preparation of a visit");
    }
    const bool measures = group_->takes_part && !outcome.stopped;
    if (measures) prepare_buffers(point);
    std::vector<LocalRow> local;
    for (int64_t i = 0; measures && i < visit.warmups + visit.repetitions; ++i) {
        watchdog_.enter("waiting for the other ranks");
        outcome.stopped = stop_agreed(group_->control);
        if (outcome.stopped) break; // between repetitions, so that a resumed visit has as many of each mode
        for (const Mode mode : {Mode::phases, Mode::step}) {
            if (mode == Mode::step && point.kind != PointKind::crossover) continue;
            watchdog_.enter("waiting for the other ranks");
            local.push_back(take_repetition(point, mode));
            rows.point.push_back(visit.point);
            rows.mode.push_back(static_cast<uint8_t>(mode));
            rows.pass.push_back(visit.pass);
            rows.repetition.push_back(visit.first_repetition + static_cast<int32_t>(i));
            rows.warmup.push_back(i < visit.warmups);
        }
    }
    if (!group_->is_whole) {
        stand_by();
        int64_t result[] = {static_cast<int64_t>(local.size()), outcome.stopped};
        MPI_Bcast(result, 2, MPI_INT64_T, 0, session_.control());
        local.resize(static_cast<size_t>(result[0]));
        outcome.stopped = result[1] != 0;
    }
    watchdog_.enter("waiting to bring the readings together");
    gather(point, local, rows);
    watchdog_.enter(between_visits());
    ++visits_;
    return outcome;
}

Visitor::LocalRow Visitor::take_repetition(const Point& point, Mode mode)
{
    if (point.kind == PointKind::crossover || point.kind == PointKind::matmul) poison(operands_, operands_.Z_partial);
    if (point.kind == PointKind::cold_matmul) evict_caches(vectors_);
    readings_ = {};
    injector_.before_start(visits_);
    const bool late = start_.wait(group_->work, group_->control);
    const bool may_overlap = point.kind == PointKind::crossover && overlaps(exchange_->strategy);
    const bool takes_cpu_time = may_overlap || point.kind == PointKind::arithmetic;
    const int64_t cpu_before_ns = takes_cpu_time ? thread_cpu_ns() : 0;
    watchdog_.enter("repetition", &readings_);
    switch (point.kind) {
    case PointKind::crossover:
        if (mode == Mode::phases)
            timed_phases(operands_, *exchange_, readings_);
        else
            timed_step(operands_, *exchange_, readings_);
        break;
    case PointKind::matmul:
    case PointKind::cold_matmul: timed_matmul(operands_, readings_); break;
    case PointKind::arithmetic: timed_arithmetic(vectors_, width_of(point), readings_); break;
    case PointKind::triad: timed_triad(vectors_, readings_); break;
    case PointKind::dot: timed_dot(vectors_, readings_); break;
    case PointKind::exchange:
        timed_exchange(send_.as<char>(), receive_.as<char>(), point.message_bytes, point.segment_bytes, requests_.data(),
                       group_->work, readings_);
        break;
    case PointKind::allreduce:
    case PointKind::collective: timed_allreduce(operands_, *exchange_, readings_); break;
    case PointKind::link: take_link(point); break;
    }
    if (takes_cpu_time) readings_.main_cpu_ns = thread_cpu_ns() - cpu_before_ns;
    if (may_overlap && exchange_->strategy == Strategy::pipelined_thread) readings_.comm_cpu_ns = exchange_->thread->cpu_ns();
    watchdog_.enter("bookkeeping after a repetition");
    LocalRow row{readings_, late, peer_in(point), 0};
    injector_.after_repetition(visits_, row.t);
    return row;
}

void Visitor::stand_by()
{
    // Those that measure watch themselves: each sign of life here counts anew.
    const auto waiting = [this] { watchdog_.enter("waiting for the ranks that measure"); };
    waiting();
    meet_asleep(session_.control(), waiting);
}

/// Another one where the ranks or the type are others than those of the last.
void Visitor::prepare_exchange(const Point& point)
{
    const WireType& wire = wires_.try_emplace(point.wire_type, point.wire_type).first->second;
    if (!exchange_ || &exchange_->wire != &wire || exchange_ranks_ != point.P) {
        exchange_.reset(); // its thread and requests go before others come
        exchange_.emplace(wire, group_->work, experiment_.poll_sleep_us);
        exchange_ranks_ = point.P;
    }
    if (point.kind == PointKind::collective) exchange_->work = algorithms_->communicator(point.algorithm);
    exchange_->prepare(point, operands_);
}

void Visitor::prepare_buffers(const Point& point)
{
    Readings untimed;
    prepared_ = point;
    switch (point.kind) {
    case PointKind::crossover:
    case PointKind::matmul:
    case PointKind::cold_matmul:
        operands_.compute_type = point.compute_type;
        operands_.wire_type = point.wire_type;
        if (point.kind == PointKind::cold_matmul) prepare(vectors_, eviction_bytes_ / bytes_of(ElementType::f64), ElementType::f64);
        prepare(operands_, point.B, point.F, shard_of(point.D, point.P, session_.rank()));
        if (point.kind == PointKind::crossover) prepare_exchange(point);
        return;
    case PointKind::arithmetic: vectors_.type = point.compute_type; return;
    case PointKind::triad:
    case PointKind::dot: prepare(vectors_, width_of(point), point.compute_type); return;
    case PointKind::link: {
        const bool all = point.algorithm == link_all_at_once;
        send_.grow_to(point.message_bytes);
        receive_.grow_to(point.message_bytes * (all ? session_.size() - 1 : 1));
        if (all) requests_.resize(2 * static_cast<size_t>(session_.size() - 1));
        return;
    }
    case PointKind::collective:
    case PointKind::allreduce: // a Z of the wanted size, all zeros, with nothing to multiply
        operands_.compute_type = point.compute_type;
        operands_.wire_type = point.wire_type;
        prepare(operands_, 1, point.message_bytes / bytes_of(point.wire_type), {});
        timed_matmul(operands_, untimed);
        prepare_exchange(point);
        return;
    case PointKind::exchange:
        send_.grow_to(point.message_bytes);
        receive_.grow_to(point.message_bytes);
        requests_.resize(static_cast<size_t>(exchange_requests(point.message_bytes, point.segment_bytes)));
        return;
    }
}

void Visitor::take_link(const Point& point)
{
    const int bytes = static_cast<int>(point.message_bytes), peer = peer_in(point), rank = session_.rank();
    const MPI_Comm work = session_.work();
    if (point.algorithm == link_all_at_once)
        timed_all_at_once(send_.as<char>(), receive_.as<char>(), bytes, requests_.data(), work, readings_);
    else if (peer < 0)
        return; // rests in this round
    else if (point.algorithm == link_both_ways)
        timed_both_ways(send_.as<char>(), receive_.as<char>(), bytes, peer, work, readings_);
    else if ((point.algorithm == link_forth) == (rank < peer))
        timed_send(send_.as<char>(), bytes, peer, work, readings_);
    else
        timed_receive(receive_.as<char>(), bytes, peer, work, readings_);
}

int32_t Visitor::peer_in(const Point& point) const
{
    if (point.kind != PointKind::link || point.algorithm == link_all_at_once || static_cast<size_t>(point.round) >= rounds_.size()) return -1;
    for (const RankPair& pair : rounds_[static_cast<size_t>(point.round)]) {
        if (pair.a == session_.rank()) return pair.b;
        if (pair.b == session_.rank()) return pair.a;
    }
    return -1;
}

int64_t Visitor::width_of(const Point& point) const { return shard_of(point.D, point.P, session_.rank()).width; }

/// Brings the ranks' rows of this visit together on rank 0, row-major [row][rank].
void Visitor::gather(const Point& point, const std::vector<LocalRow>& local, Repetitions& rows)
{
    static_assert(std::is_trivially_copyable_v<LocalRow>);
    const size_t n = local.size(), ranks = static_cast<size_t>(session_.size());
    std::vector<LocalRow> all(session_.is_root() ? n * ranks : 0);
    const int bytes = static_cast<int>(n * sizeof(LocalRow));
    MPI_Gather(local.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, 0, session_.control());
    if (!session_.is_root()) return;

    const bool starts_with_comm = point.kind != PointKind::crossover && !only_computes(point.kind);
    const auto measuring = static_cast<size_t>(group_->size);
    std::vector<int64_t> starts(ranks);
    int64_t late_rows = 0;
    for (size_t row = 0; row < n; ++row) {
        bool late = false;
        // The skew that matters is that of the last synchronised start: of the allreduce where a barrier stands before it.
        const bool at_comm = starts_with_comm || (point.kind == PointKind::crossover && rows.mode[row] == static_cast<uint8_t>(Mode::phases));
        for (size_t rank = 0; rank < ranks; ++rank) {
            const LocalRow& its = all[rank * n + row];
            rows.comp_begin_ns.push_back(its.t.comp_begin_ns);
            rows.comp_end_ns.push_back(its.t.comp_end_ns);
            rows.comm_begin_ns.push_back(its.t.comm_begin_ns);
            rows.comm_end_ns.push_back(its.t.comm_end_ns);
            rows.main_cpu_ns.push_back(its.t.main_cpu_ns);
            rows.comm_cpu_ns.push_back(its.t.comm_cpu_ns);
            rows.peer.push_back(its.peer);
            starts[rank] = at_comm ? its.t.comm_begin_ns : its.t.comp_begin_ns;
            late = late || its.late != 0;
        }
        rows.late.push_back(late);
        // A rank that rests in a round has not started at all.
        rows.start_skew_ns.push_back(point.kind == PointKind::link ? -1 : start_.skew_ns(starts.data(), measuring));
        late_rows += late;
    }
    start_.adapt_window(late_rows, static_cast<int64_t>(n));
}

/// Between visits rank 0 writes and analyses, and a hang there is its own.
const char* Visitor::between_visits() const { return session_.is_root() ? "bookkeeping between visits" : "waiting for rank 0"; }

Point Visitor::with_tiles(Point point)
{
    const auto strategy = strategy_named(point.strategy);
    if (!strategy || !overlaps(*strategy)) return point;
    group_ = &groups_.of(point.P);
    const TileAxis axis = cheaper_axis(point.B, point.F);
    const int64_t size = axis == TileAxis::B ? point.B : point.F;
    if (experiment_.tiles > 0) {
        point.tiles = text_of({axis, equal_tiles(size, experiment_.tiles)});
        return point;
    }
    if (group_->takes_part) point.tiles = chosen_tiles(point, axis, size, *strategy);
    if (!group_->is_whole) {
        stand_by();
        point.tiles = broadcast_text(point.tiles, session_.control());
    }
    watchdog_.enter(between_visits());
    return point;
}

std::string Visitor::chosen_tiles(Point point, TileAxis axis, int64_t size, Strategy strategy)
{
    watchdog_.enter("choice of tiles");
    constexpr int repetitions = 3;
    const std::vector<int64_t> eighths = equal_tiles(size, 8);
    const int64_t tile_size = eighths.front();
    point.tiles = text_of({axis, eighths});
    prepare_buffers(point);
    enum : size_t { whole, tile, comm, comm_cpu, parts };
    std::array<double, parts> best_s;
    best_s.fill(std::numeric_limits<double>::infinity());
    for (int i = 0; i < repetitions; ++i) {
        Readings t;
        const auto keep = [&](size_t part, int64_t ns) { best_s[part] = std::min(best_s[part], static_cast<double>(ns) * 1e-9); };
        MPI_Barrier(group_->work);
        timed_matmul(operands_, t);
        keep(whole, t.comp_end_ns - t.comp_begin_ns);
        timed_tile(operands_, tile_size, t);
        keep(tile, t.comp_end_ns - t.comp_begin_ns);
        MPI_Barrier(group_->work);
        timed_allreduce(operands_, *exchange_, t);
        keep(comm, t.comm_end_ns - t.comm_begin_ns);
        MPI_Barrier(group_->work);
        timed_step(operands_, *exchange_, t);
        // Within a step the exchange finds cold caches and costs half as much again; after the last tile its thread only spins.
        const int64_t spun_ns = t.comm_end_ns - t.comp_end_ns;
        keep(comm_cpu, strategy == Strategy::pipelined_thread ? std::max<int64_t>(0, exchange_->thread->cpu_ns() - spun_ns) : 0);
    }
    MPI_Allreduce(MPI_IN_PLACE, best_s.data(), parts, MPI_DOUBLE, MPI_MAX, group_->control);
    const double share = static_cast<double>(tile_size) / static_cast<double>(size);
    return text_of({axis, plan_tiles(size, {.t_comp_s = best_s[whole],
                                            .repack_s = std::max(0.0, best_s[tile] - share * best_s[whole]),
                                            .t_comm_s = best_s[comm],
                                            .comm_cpu_s = best_s[comm_cpu]})});
}

Check Visitor::check(const Point& point, const Visit& visit, std::vector<Finding>& findings)
{
    group_ = &groups_.of(point.P);
    Check check{.point = visit.point, .pass = visit.pass};
    if (group_->takes_part) check = check_here(point, visit, findings);
    if (!group_->is_whole) stand_by();
    watchdog_.enter(between_visits());
    return check;
}

Check Visitor::check_here(const Point& point, const Visit& visit, std::vector<Finding>& findings)
{
    const bool prepared = prepared_ == point;
    if (!prepared) prepare_buffers(point);
    poison(operands_, operands_.Z_partial);
    poison(operands_, operands_.Z);
    watchdog_.enter("check of a result");
    Readings untimed;
    timed_step(operands_, *exchange_, untimed);
    injector_.before_check(visits_ - 1, operands_);
    const CheckResult result = check_step(operands_, point.D, group_->control);
    const Check check{visit.point, visit.pass, result.max_error, result.bound, result.dissenting_ranks.empty()};
    const std::string shape = fmt::format("B = {}, D = {}, F = {}", point.B, point.D, point.F);
    if (!(check.max_error <= check.bound))
        findings.push_back({"wrong_result", Severity::invalid, result.worst_rank,
                            fmt::format("{}: an error of {:.4g} where {:.4g} is allowed: the times are those of a wrong result; "
                                        "suspect the BLAS kernel (try another OPENBLAS_CORETYPE) or the MPI library",
                                        shape, check.max_error, check.bound)});
    if (!check.ranks_agree)
        findings.push_back({"ranks_disagree", Severity::invalid, result.dissenting_ranks.front(),
                            fmt::format("{}: the sum on rank{} {} differs bit for bit from rank 0's: code that branches on it will "
                                        "diverge between ranks; an allreduce that sums in one order everywhere avoids it",
                                        shape, result.dissenting_ranks.size() == 1 ? "" : "s", fmt::join(result.dissenting_ranks, ", "))});
    return check;
}

std::vector<ClockModel> Visitor::model_clocks()
{
    watchdog_.enter("waiting to compare clocks");
    auto models = start_.model_clocks();
    watchdog_.enter(between_visits());
    return models;
}

bool Visitor::fits(const Shape& shape, int64_t K) const
{
    const int64_t bytes = operand_bytes(shape.B, shape.F, K, shape.compute_type, shape.wire_type);
    return memory_shortage(bytes - held_bytes(), session_).empty();
}

int64_t Visitor::held_bytes() const
{
    return operands_.X.bytes() + operands_.Y.bytes() + operands_.Z.bytes() + operands_.Z_partial.bytes() +
           vectors_.a.bytes() + vectors_.b.bytes() + vectors_.c.bytes() + operands_.wire_partial.bytes() + operands_.wire_sum.bytes() + (exchange_ ? exchange_->ring.memory_bytes() : 0) + send_.bytes() + receive_.bytes();
}

} // namespace shardline
