#include "tests/unit/model/synthetic_studies.hpp"

#include "model/law.hpp"
#include "model/links.hpp"
#include "tests/unit/model/synthetic_run.hpp"

#include <cmath>
#include <map>
#include <random>
#include <string_view>

namespace shardline {
namespace {

RunData run_on_hosts(const std::vector<std::string>& host_of_rank, std::string_view measure)
{
    RunData run;
    run.status = RunStatus::complete;
    run.experiment_text = "measure = \"" + std::string(measure) + "\"\n";
    run.experiment_effective = "title = \"synthetic " + std::string(measure) + "\"\n" + run.experiment_text;
    run.provenance = {{"mpi_version", "synthetic MPI 1.0"}, {"blas_version", "synthetic BLAS 1.0"}};
    for (const std::string& host : host_of_rank) {
        run.ranks.emplace_back();
        run.ranks.back().host = run.ranks.back().machine = host;
    }
    run.repetitions.ranks = static_cast<int32_t>(host_of_rank.size());
    return run;
}

/// Adds the readings of one rank to the row begun last: of a matmul, or of a communication, that took `seconds`.
void read_rank(Repetitions& r, bool computes, double seconds, int32_t peer = -1)
{
    constexpr int64_t begin_ns = 1000;
    const int64_t end_ns = begin_ns + std::llround(1e9 * seconds), none = Repetitions::no_reading;
    r.comp_begin_ns.push_back(computes ? begin_ns : none);
    r.comp_end_ns.push_back(computes ? end_ns : none);
    r.comm_begin_ns.push_back(computes ? none : begin_ns);
    r.comm_end_ns.push_back(computes ? none : end_ns);
    r.main_cpu_ns.push_back(none);
    r.comm_cpu_ns.push_back(none);
    r.peer.push_back(peer);
}

void read_idle_rank(Repetitions& r)
{
    for (auto* column : {&r.comp_begin_ns, &r.comp_end_ns, &r.comm_begin_ns, &r.comm_end_ns, &r.main_cpu_ns, &r.comm_cpu_ns})
        column->push_back(Repetitions::no_reading);
    r.peer.push_back(-1);
}

} // namespace

std::vector<std::string> synthetic_hosts(int count, int ranks_each)
{
    std::vector<std::string> names;
    for (int host = 0; host < count; ++host)
        for (int rank = 0; rank < ranks_each; ++rank) names.push_back("n" + std::to_string(host));
    return names;
}

RunData synthetic_links(const SyntheticNetwork& network)
{
    std::mt19937_64 random(network.seed);
    std::normal_distribution<double> normal;
    const auto names = synthetic_hosts(network.hosts, network.ranks_on_host);
    RunData run = run_on_hosts(names, "links");
    Repetitions& r = run.repetitions;
    const auto rounds = link_rounds(names);
    for (size_t round = 0; round < rounds.size(); ++round)
        for (const int64_t bytes : {8, 1024, 8192, 32768, 65536, 131072, 262144, 1048576, 4194304})
            for (const std::string_view direction : {link_forth, link_back, link_both_ways}) {
                run.points.push_back({.kind = PointKind::link, .P = r.ranks, .message_bytes = bytes, .segment_bytes = bytes, .strategy = "",
                                      .round = static_cast<int32_t>(round), .algorithm = std::string(direction), .tiles = ""});
                for (int32_t i = 0; i < 12; ++i) {
                    begin_row(r, run.points.size() - 1, i / 3, i % 3);
                    for (int rank = 0; rank < r.ranks; ++rank) {
                        int peer = -1;
                        for (const RankPair& pair : rounds[round]) peer = pair.a == rank ? pair.b : pair.b == rank ? pair.a : peer;
                        const double noise = std::exp(network.noise * normal(random));
                        if (peer < 0) {
                            read_idle_rank(r);
                            continue;
                        }
                        const double start_s = bytes > 65536 ? 1.4e-4 : 4e-5;
                        double seconds = 1e-6; // a receiver's reading is of no use
                        if (direction == link_both_ways)
                            seconds = start_s + static_cast<double>(bytes) / (network.both_share * network.W(peer, rank));
                        else if ((direction == link_forth) == (rank < peer))
                            seconds = start_s + static_cast<double>(bytes) / network.W(rank, peer);
                        read_rank(r, false, seconds * noise, peer);
                    }
                }
            }
    if (network.core_share > 0) {
        run.points.push_back({.kind = PointKind::arithmetic, .B = 1, .D = 1000, .F = 1, .P = r.ranks, .strategy = "", .tiles = ""});
        for (int32_t i = 0; i < 12; ++i) {
            begin_row(r, run.points.size() - 1, i / 3, i % 3);
            for (int rank = 0; rank < r.ranks; ++rank) {
                read_rank(r, true, 0.1);
                r.main_cpu_ns.back() = std::llround(1e8 * network.core_share * (1 - 0.01 * std::abs(normal(random))));
            }
        }
    }
    return run;
}

RunData few_samples_of(RunData run)
{
    Repetitions& rows = run.repetitions;
    std::map<int32_t, int> used;
    for (size_t row = 0; row < rows.size(); ++row)
        if (!rows.warmup[row] && ++used[rows.point[row]] > 2) rows.warmup[row] = 1;
    return run;
}

RunData synthetic_allreduce(const std::vector<SyntheticAlgorithm>& algorithms, int32_t P, double W, double noise, uint64_t seed)
{
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    RunData run = run_on_hosts(synthetic_hosts(P), "allreduce");
    const auto add = [&](Point point, double seconds) {
        point.P = P;
        run.points.push_back(point);
        for (int32_t i = 0; i < 24; ++i) {
            const double its = seconds * std::exp(noise * normal(random));
            begin_row(run.repetitions, run.points.size() - 1, i / 4, i % 4);
            for (int32_t rank = 0; rank < P; ++rank) read_rank(run.repetitions, false, its);
        }
    };
    for (const int64_t bytes : {int64_t{1} << 20, int64_t{4} << 20})
        add({.kind = PointKind::exchange, .message_bytes = bytes, .segment_bytes = bytes, .strategy = "", .tiles = ""}, static_cast<double>(bytes) / W);
    for (const int64_t bytes : {8, 1000, 10'000, 100'000, 1'000'000, 10'000'000})
        for (const SyntheticAlgorithm& algorithm : algorithms)
            add({.kind = PointKind::collective, .message_bytes = bytes, .strategy = "mpi_allreduce", .algorithm = algorithm.name, .tiles = ""},
                algorithm.cost_s(static_cast<double>(bytes)));
    return run;
}

RunData synthetic_roofline(const SyntheticProcessor& processor)
{
    constexpr int32_t P = 2;
    RunData run = run_on_hosts({"n0", "n0"}, "roofline");
    for (RankInfo& rank : run.ranks) rank.cache_bytes = processor.cache_bytes;
    const auto add = [&](PointKind kind, int64_t B, int64_t K, int64_t F, double seconds) {
        run.points.push_back({.kind = kind, .B = B, .D = K * P, .F = F, .P = P, .strategy = "", .tiles = ""});
        run.points.back().compute_type = kind == PointKind::triad ? ElementType::f64 : ElementType::f32;
        for (int32_t i = 0; i < 24; ++i) {
            begin_row(run.repetitions, run.points.size() - 1, i / 3, i % 3);
            for (int rank = 0; rank < P; ++rank) read_rank(run.repetitions, true, seconds * (1 + 0.002 * ((i * 7 + rank * 3) % 5 - 2)));
        }
    };
    const auto bytes = static_cast<double>(processor.vector_bytes);
    add(PointKind::triad, 1, processor.vector_bytes / 8, 1, 3 * bytes / processor.M);
    add(PointKind::arithmetic, 1, 1 << 30, 1, 2.0 * (1 << 30) / (1.1 * processor.C));
    add(PointKind::dot, 1, processor.vector_bytes / 4, 1, 2 * bytes / (processor.dot_share * processor.M));
    for (const int64_t n : {512, 1024}) add(PointKind::matmul, n, n, n, 2 * std::pow(static_cast<double>(n), 3) / processor.C);
    for (const int64_t B : processor.B) {
        const double b = static_cast<double>(B), n = 4096;
        const double memory_s = 4 * (2 * b * n + n * n) * processor.packing / processor.M;
        const double compute_s = matmul_flops(b, n, n) / processor.C;
        const double seconds = processor.matmul_overlap == 1 ? std::max(memory_s, compute_s) : memory_s * std::pow(b, processor.matmul_overlap);
        add(PointKind::cold_matmul, B, 4096, 4096, seconds);
    }
    return run;
}

} // namespace shardline
