#include "apps/resume.hpp"

#include "model/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <sstream>

namespace shardline {

namespace {

std::string fact(const RunData& run, const std::string& name)
{
    for (const auto& [key, value] : run.provenance)
        if (key == name) return value;
    return "";
}

void compare(std::vector<std::string>& differences, const std::string& what, const std::string& then, const std::string& now)
{
    if (then != now) differences.push_back(fmt::format("{} was {}, is {}", what, then, now));
}

/// For each rank the first one on its machine.
std::vector<size_t> first_on_machine(const RunData& run)
{
    std::map<std::string, size_t> first;
    std::vector<size_t> of_rank;
    for (const RankInfo& rank : run.ranks) of_rank.push_back(first.try_emplace(rank.machine, of_rank.size()).first->second);
    return of_rank;
}

} // namespace

std::vector<std::string> lines_of(const std::string& text)
{
    std::istringstream in(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

Experiment experiment_to_resume(const RunData& earlier, const std::string& experiment_path,
                                const std::vector<std::string>& overrides)
{
    Experiment experiment = parse_experiment(earlier.experiment_text, earlier.path, earlier.overrides);
    if (experiment_path.empty() && overrides.empty()) return experiment;

    std::vector<std::string> all_overrides = experiment_path.empty() ? earlier.overrides : std::vector<std::string>{};
    all_overrides.insert(all_overrides.end(), overrides.begin(), overrides.end());
    Experiment asked = experiment_path.empty() ? parse_experiment(earlier.experiment_text, earlier.path, all_overrides)
                                               : read_experiment(experiment_path, all_overrides);
    std::swap(experiment.time_budget_s, asked.time_budget_s);
    const auto then = lines_of(to_toml(experiment)), now = lines_of(to_toml(asked));
    std::vector<std::string> differences;
    for (size_t i = 0; i < std::max(then.size(), now.size()); ++i) {
        const std::string before = i < then.size() ? then[i] : "nothing", after = i < now.size() ? now[i] : "nothing";
        if (before != after && !before.starts_with("time_budget_s")) compare(differences, "the key", before, after);
    }
    if (!differences.empty())
        throw InputError(fmt::format("cannot resume {} (another experiment: {}): resume without EXPERIMENT and --set, or start a "
                                     "new run with -o",
                                     earlier.path, fmt::join(differences, "; ")));
    return experiment;
}

std::vector<Finding> compare_machines(const RunData& earlier, const RunData& now, const std::vector<std::string>& allowed)
{
    if (earlier.ranks.size() != now.ranks.size())
        throw InputError(fmt::format("cannot resume {0} (it was measured on {1} rank{2}, this run has {3}): start {1}, or a new run with -o", earlier.path,
                                     earlier.ranks.size(), earlier.ranks.size() == 1 ? "" : "s", now.ranks.size()));
    std::vector<std::string> differences, moves;
    for (const char* name : {"mpi_version", "blas_version"})
        compare(differences, name, fact(earlier, name), fact(now, name));
    const std::vector<size_t> first_then = first_on_machine(earlier), first_now = first_on_machine(now);
    for (size_t r = 0; r < now.ranks.size() && differences.size() < 5; ++r) {
        const RankInfo &then = earlier.ranks[r], &is = now.ranks[r];
        compare(differences, fmt::format("the processor of rank {}", r), then.cpu_model, is.cpu_model);
        compare(differences, fmt::format("the BLAS kernel of rank {}", r), then.blas_kernel, is.blas_kernel);
        compare(differences, fmt::format("the BLAS threads of rank {}", r), fmt::to_string(then.blas_threads), fmt::to_string(is.blas_threads));
        // Memory or a network between two ranks: other numbers on whatever hosts.
        compare(differences, fmt::format("the first rank on the machine of rank {}", r), fmt::to_string(first_then[r]), fmt::to_string(first_now[r]));
        // A container has another name, a restarted kernel another identity, each time.
        if (then.machine != is.machine && moves.size() < 5) compare(moves, fmt::format("the host of rank {}", r), then.host, is.host);
    }
    const bool may_move = std::find(allowed.begin(), allowed.end(), other_hosts) != allowed.end();
    const std::string moved = fmt::format("{}", fmt::join(moves, "; "));
    if (!may_move) differences.insert(differences.end(), moves.begin(), moves.end());
    if (!differences.empty())
        throw InputError(fmt::format("cannot resume {} (not the machine it was measured on: {}): resume where it began, or start a new "
                                     "run with -o{}",
                                     earlier.path, fmt::join(differences, "; "),
                                     moves.size() == differences.size() && !may_move
                                         ? fmt::format("; on hosts of the same kind --allow {} goes on", other_hosts)
                                         : ""));
    if (moves.empty()) return {};
    return {{std::string(other_hosts), Severity::warning, -1,
             fmt::format("resumed on other hosts ({}): the times are those of both, and where they differ the medians stand for neither; "
                         "measure each in a file of its own, the report pools them",
                         moved)}};
}

} // namespace shardline
