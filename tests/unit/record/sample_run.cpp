#include "sample_run.hpp"

#include "model/thinning.hpp"
#include "record/schema.hpp"

#include <filesystem>
#include <stdexcept>

#include <cstdlib>

namespace shardline::test {

RunData sample_header(int32_t ranks)
{
    RunData run;
    run.experiment_text = "# does D* depend on B?\n[problem]\nB = 64\n";
    run.overrides = {"problem.B=128", "problem.F=256"};
    run.experiment_effective = "[problem]\nB = 128\nF = 256\n";
    run.provenance = {{"mpi_version", "Open MPI 4.1.4"}, {"command_line", "shardline-run a.toml"}, {"started_utc", "2024-01-02T03:04:05Z"}};
    run.environment = {{"OMP_NUM_THREADS", "1"}, {"EMPTY", ""}};
    for (int32_t rank = 0; rank < ranks; ++rank)
        run.ranks.push_back({"node" + std::to_string(rank), "boot-1", "Some CPU", "0-3,8", "SkylakeX", rank + 1, int64_t{16} << 30});
    run.findings = {{"oversubscribed", Severity::warning, -1, "4 ranks on 2 cores: times are too long; use 2 ranks"}};
    return run;
}

Point sample_point(int64_t D, int32_t ranks)
{
    Point point;
    point.B = 128;
    point.D = D;
    point.F = 256;
    point.P = ranks;
    point.message_bytes = 4 * 128 * 256;
    point.strategy = "mpi_allreduce";
    return point;
}

Repetitions sample_repetitions(int32_t ranks, size_t first, size_t count, int32_t point)
{
    Repetitions rows;
    rows.ranks = ranks;
    for (size_t i = first; i < first + count; ++i) {
        rows.point.push_back(point);
        rows.mode.push_back(i % 2);
        rows.pass.push_back(static_cast<int32_t>(i / 10));
        rows.repetition.push_back(static_cast<int32_t>(i % 10));
        rows.warmup.push_back(i % 10 < 2);
        rows.late.push_back(i % 7 == 0);
        rows.start_skew_ns.push_back(static_cast<int64_t>(i));
        for (int32_t rank = 0; rank < ranks; ++rank) {
            const int64_t start = static_cast<int64_t>(i * 1'000'000) + rank * 10;
            rows.comp_begin_ns.push_back(start + 1);
            rows.comp_end_ns.push_back(start + 100 + static_cast<int64_t>(i * 37 % 1000));
            rows.comm_begin_ns.push_back(start + 2000);
            rows.comm_end_ns.push_back(start + 3000 + static_cast<int64_t>(i * 53 % 1000));
            rows.main_cpu_ns.push_back(2500 + static_cast<int64_t>(i * 31 % 100));
            rows.comm_cpu_ns.push_back(i % 2 == 0 ? Repetitions::no_reading : 400 + static_cast<int64_t>(i));
            rows.peer.push_back(i % 3 == 0 ? -1 : (rank + 1) % ranks);
        }
    }
    return rows;
}

Repetitions thinned_repetitions(int32_t ranks, size_t first, size_t count)
{
    const Point point = sample_point(100, ranks);
    return thinned(sample_repetitions(ranks, first, count), {&point, 1});
}

void append_rows(Repetitions& rows, const Repetitions& more)
{
    rows.ranks = more.ranks;
    schema::Table<Repetitions>::columns([&](const schema::Column&, auto field) {
        (rows.*field).insert((rows.*field).end(), (more.*field).begin(), (more.*field).end());
    });
}

ScratchFolder::ScratchFolder()
{
    auto pattern = (std::filesystem::temp_directory_path() / "shardline-record-XXXXXX").string();
    if (!::mkdtemp(pattern.data())) throw std::runtime_error("no scratch folder");
    path_ = pattern;
}

ScratchFolder::~ScratchFolder()
{
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

} // namespace shardline::test
