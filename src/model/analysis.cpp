#include "model/analysis.hpp"

#include "model/error.hpp"
#include "model/findings.hpp"
#include "model/law.hpp"
#include "model/text.hpp"

#include <algorithm>
#include <future>
#include <map>
#include <set>
#include <tuple>

namespace shardline {

namespace {

constexpr const char* one_rank_reason =
    "one rank has nothing to sum: calibration only; start 2 or more ranks";

bool in_table_order(const PointSummary& a, const PointSummary& b)
{
    const auto key = [](const Point& p) {
        return std::tie(p.B, p.F, p.compute_type, p.wire_type, p.strategy, p.P, p.D);
    };
    return key(a.point) < key(b.point);
}

std::vector<PointSummary> sweep_table(std::span<const PointSamples> points)
{
    std::vector<PointSummary> table;
    for (const PointSamples& samples : points)
        if (samples.point.kind == PointKind::crossover) table.push_back(summary_of(samples));
    std::sort(table.begin(), table.end(), in_table_order);
    return table;
}

/// The machine as a whole: calibration with the most ranks, in the compute type that comes first.
Calibration calibration_of(std::span<const PointSamples> points)
{
    int32_t P = 0;
    std::optional<ElementType> compute_type;
    for (const PointSamples& samples : points) {
        P = std::max(P, samples.point.P);
        const bool computes =
            samples.point.kind == PointKind::crossover || samples.point.kind == PointKind::matmul;
        if (computes && !compute_type) compute_type = samples.point.compute_type;
    }
    return calibrate(points, P, compute_type.value_or(ElementType::f32));
}

/// Text of the first thing that makes the sweep's numbers mean nothing; empty where there is none.
std::string invalidity(std::span<const RunData> launches, const Sweep& sweep)
{
    for (const RunData& run : launches)
        for (const Finding& finding : run.findings)
            if (finding.severity == Severity::invalid) return finding.text;
    const std::vector<Finding> failed = failed_checks(launches, &sweep);
    return failed.empty() ? "" : failed.front().text;
}

/// No allreduce is quicker than the link: where one was, W is not what the link can do. Empty where all is possible.
std::string impossible_speed(const Sweep& sweep, const Calibration& calibration, const Observation& observation)
{
    constexpr double least_share = 0.8; // buffers on the way let a message look somewhat quicker than the link
    if (!observation.crossing || !calibration.W_bytes_per_s) return "";
    const double bound_s = allreduce_bandwidth_bound_s(sweep.V(), sweep.P, calibration.W_bytes_per_s->value);
    if (observation.crossing->t_s >= least_share * bound_s) return "";
    return sweep.strategy + " takes " + number_text(observation.crossing->t_s) + " s, less than the " + number_text(bound_s) +
           " s that the calibrated W allows, so W is not what the link can do: quieten the machine, or take B and F "
           "so large that V is near the calibration's largest message";
}

Crossover crossover_of(std::span<const RunData> launches, std::span<const PointSamples> points,
                       const Sweep& sweep, double tolerance)
{
    const Calibration calibration = calibrate(points, sweep.P, sweep.compute_type);
    const Observation observation = observe(points, sweep);

    Crossover result;
    result.B = sweep.B;
    result.F = sweep.F;
    result.P = sweep.P;
    result.compute_type = sweep.compute_type;
    result.wire_type = sweep.wire_type;
    result.strategy = sweep.strategy;
    result.calibration = calibration;
    result.D_law = law_crossover(calibration, sweep);
    result.D_model = model_crossover(points, sweep);
    if (observation.crossing) result.D_obs = observation.crossing->D;
    if (result.D_obs && result.D_law) {
        result.ratio = result.D_obs->value / result.D_law->value;
        result.factors = factors_of(sweep, {result.D_obs->value, observation.crossing->t_s,
                                            observation.mean_over_max, calibration.C_flop_per_s->value,
                                            calibration.W_bytes_per_s->value, allreduce_cost(points, sweep)});
    }

    Evidence evidence;
    for (const PointSummary& point : observation.points)
        evidence.points.push_back({point.point.D, side_of(*point.t_comp_s, *point.t_comm_s)});
    evidence.D_law = result.D_law;
    evidence.D_model = result.D_model;
    evidence.D_obs = result.D_obs;
    evidence.fewest_samples = observation.fewest_samples;
    evidence.invalid = invalidity(launches, sweep);
    evidence.tolerance = tolerance;
    evidence.factors = result.factors;
    Judgement judgement = judge(evidence);
    // Agreement with a law that rests on a wrong W is none; a refutation stays one.
    const std::string impossible = impossible_speed(sweep, calibration, observation);
    if (!impossible.empty() && judgement.verdict != Verdict::refuted && judgement.verdict != Verdict::inconclusive)
        judgement = {Verdict::inconclusive, impossible};
    result.verdict = judgement.verdict;
    result.reason = std::move(judgement.reason);
    return result;
}

bool is_recorded(const std::vector<Finding>& findings, const Finding& finding)
{
    return std::any_of(findings.begin(), findings.end(), [&](const Finding& other) {
        return other.code == finding.code && other.rank == finding.rank && other.text == finding.text;
    });
}

/// What a run noted of its precision and its time holds until it was resumed and noted it again, and for that run alone.
bool is_superseded(const Finding& finding, const RunData& run, size_t launches)
{
    if (finding.code != "precision" && finding.code != "time_budget") return false;
    if (launches > 1) return true;
    const std::string subject = finding.code == "precision" ? finding.text.substr(0, finding.text.find(':') + 1) : "";
    const auto last = std::find_if(run.findings.rbegin(), run.findings.rend(), [&](const Finding& other) {
        return other.code == finding.code && other.text.starts_with(subject);
    });
    return last->text != finding.text;
}

/// Findings of the runs, then those seen in the data, each once.
std::vector<Finding> all_findings(std::span<const RunData> launches, std::span<const PointSamples> points)
{
    std::vector<Finding> findings;
    const auto add = [&](const Finding& finding) {
        if (!is_recorded(findings, finding)) findings.push_back(finding);
    };
    for (const RunData& run : launches)
        for (const Finding& finding : run.findings)
            if (!is_superseded(finding, run, launches.size())) add(finding);
    const std::vector<Finding> seen = findings_in(launches, points);
    std::for_each(seen.begin(), seen.end(), add);
    return findings;
}

/// True where there is more to say of a step than that it lies between its bounds.
bool compares_strategies(std::span<const PointSamples> points)
{
    std::string first;
    for (const PointSamples& samples : points) {
        if (samples.point.kind != PointKind::crossover) continue;
        if (!samples.point.tiles.empty()) return true;
        if (first.empty()) first = samples.point.strategy;
        if (samples.point.strategy != first) return true;
    }
    return false;
}

std::string name_of(const Crossover& crossover)
{
    return "B = " + std::to_string(crossover.B) + ", F = " + std::to_string(crossover.F) +
           ", P = " + std::to_string(crossover.P);
}

void add_study(Analysis& analysis, const std::vector<Claim>& claims, const std::vector<Finding>& findings)
{
    analysis.claims.insert(analysis.claims.end(), claims.begin(), claims.end());
    analysis.findings.insert(analysis.findings.end(), findings.begin(), findings.end());
}

/// Of a run that means nothing no claim holds.
void void_claims(Analysis& analysis)
{
    const auto invalid = std::ranges::find(analysis.findings, Severity::invalid, &Finding::severity);
    if (invalid == analysis.findings.end()) return;
    for (Claim& claim : analysis.claims) claim.verdict = Verdict::inconclusive, claim.reason = invalid->text;
}

std::string reason_of(const Crossover& crossover, const std::vector<Crossover>& all)
{
    if (all.size() == 1) return crossover.reason;
    const auto differs = [&](auto member) {
        return std::ranges::any_of(all, [&](const Crossover& other) { return other.*member != crossover.*member; });
    };
    const std::string compute = differs(&Crossover::compute_type) ? ", " + std::string(name_of(crossover.compute_type)) + " matmul" : "",
                      wire = differs(&Crossover::wire_type) ? ", " + std::string(name_of(crossover.wire_type)) + " on the wire" : "",
                      strategy = differs(&Crossover::strategy) ? ", " + crossover.strategy : "";
    return name_of(crossover) + compute + wire + strategy + ": " + crossover.reason;
}

/// Verdict and reason of the whole: those of its worst crossover or claim.
void conclude(Analysis& analysis, int32_t ranks)
{
    void_claims(analysis);
    const Crossover* crossover = worst_of(analysis.crossovers, &Crossover::verdict);
    const Claim* claim = worst_of(analysis.claims, &Claim::verdict);
    if (!crossover && !claim) {
        analysis.verdict = Verdict::inconclusive;
        analysis.reason = ranks == 1 ? one_rank_reason : "no sweep over D was measured: calibration only";
        return;
    }
    // Of equals the claim, which is what the run was for; but where a crossover itself is amiss, that comes first.
    const bool amiss = crossover && (crossover->verdict == Verdict::refuted || crossover->verdict == Verdict::inconclusive);
    const bool by_claim = claim && (!crossover || worse_of(claim->verdict, crossover->verdict) != crossover->verdict ||
                                    (claim->verdict == crossover->verdict && !amiss));
    analysis.verdict = by_claim ? claim->verdict : crossover->verdict;
    analysis.reason = by_claim ? claim->reason : reason_of(*crossover, analysis.crossovers);
}

std::string provenance_value(const RunData& run, std::string_view name)
{
    for (const auto& [key, value] : run.provenance)
        if (key == name) return value;
    return "unknown";
}

/// Keys that may differ between launches of one experiment: they order the points, or say how long to go on.
constexpr std::string_view keys_of_a_launch[] = {"title", "seed", "max_passes", "target_point", "target_D_obs",
                                                 "time_budget_s", "watchdog_s"};

/// Line by line, without those keys.
std::vector<std::string> experiment_lines(const RunData& run)
{
    std::vector<std::string> lines;
    for (size_t begin = 0; begin < run.experiment_effective.size();) {
        const size_t end =
            std::min(run.experiment_effective.find('\n', begin), run.experiment_effective.size());
        const std::string line = run.experiment_effective.substr(begin, end - begin);
        const std::string key = line.substr(0, line.find_first_of(" ="));
        if (!line.empty() && std::ranges::find(keys_of_a_launch, key) == std::end(keys_of_a_launch)) lines.push_back(line);
        begin = end + 1;
    }
    return lines;
}

std::string lines_missing_from(const std::vector<std::string>& lines, const std::vector<std::string>& other)
{
    std::string missing;
    for (const std::string& line : lines)
        if (std::find(other.begin(), other.end(), line) == other.end())
            missing += (missing.empty() ? "" : "; ") + line;
    return missing.empty() ? "nothing" : missing;
}

std::string text_of(int64_t number) { return std::to_string(number); }
std::string text_of(const std::string& text) { return text; }

/// "2, 2".
template <class Items> std::string joined(const Items& items)
{
    std::string all;
    for (const auto& item : items) all += (all.empty() ? "" : ", ") + text_of(item);
    return all;
}

/// The different texts of one RankInfo member, sorted, as one text.
std::string texts_of(const RunData& run, std::string RankInfo::*member)
{
    std::vector<std::string> texts;
    for (const RankInfo& rank : run.ranks) texts.push_back(rank.*member);
    std::sort(texts.begin(), texts.end());
    texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
    const std::string all = joined(texts);
    return all.empty() ? "unknown" : all;
}

/// How many ranks each host has, sorted: "2, 2".
std::string ranks_by_host(const RunData& run)
{
    std::map<std::string, int64_t> by_host;
    for (const RankInfo& rank : run.ranks) ++by_host[rank.host];
    std::multiset<int64_t> counts;
    for (const auto& [host, count] : by_host) counts.insert(count);
    return joined(counts);
}

/// BLAS threads of a rank: the different numbers, sorted.
std::string blas_threads(const RunData& run)
{
    std::set<int32_t> numbers;
    for (const RankInfo& rank : run.ranks) numbers.insert(rank.blas_threads);
    return joined(numbers);
}

} // namespace

Sweep sweep_of(const Crossover& c) { return {c.B, c.F, c.P, c.compute_type, c.wire_type, c.strategy}; }

Analysis analyse(std::span<const RunData> launches, const AnalysisOptions& options)
{
    if (launches.empty()) throw InputError("no run to analyse (no file was given): name at least one");
    for (const RunData& run : launches) check_run(run);
    const std::vector<PointSamples> points = collect_samples(launches);

    // They take a third of a large run's time and depend on nothing else: beside it where there is a second core.
    auto findings = std::async([&] { return all_findings(launches, points); });
    Analysis analysis;
    analysis.calibration = calibration_of(points);
    analysis.points = sweep_table(points);
    for (const Sweep& sweep : sweeps_in(points))
        if (sweep.P >= 2)
            analysis.crossovers.push_back(crossover_of(launches, points, sweep, options.tolerance));
    analysis.allreduce_rates = allreduce_rates(points);
    if (compares_strategies(points)) {
        analysis.overlap = overlap_points(points);
        analysis.advice = advise(analysis.overlap);
    }
    analysis.findings = findings.get();
    if ((analysis.roofline = roofline_of(launches, points))) add_study(analysis, analysis.roofline->claims, analysis.roofline->findings);
    if ((analysis.links = link_map_of(launches))) add_study(analysis, analysis.links->claims, analysis.links->findings);
    if ((analysis.allreduce = allreduce_study_of(points))) add_study(analysis, analysis.allreduce->claims, {});
    analysis.scalings = scalings_of(analysis.crossovers, points, options.tolerance);
    for (const Scaling& scaling : analysis.scalings) add_study(analysis, scaling.claims, {});
    conclude(analysis, launches.front().repetitions.ranks);
    return analysis;
}

std::vector<std::string> differences_between(const RunData& a, const RunData& b)
{
    std::vector<std::string> differences;
    const auto compare = [&](const std::string& what, const std::string& of_a, const std::string& of_b) {
        if (of_a != of_b) differences.push_back(what + ": " + of_a + " / " + of_b);
    };
    compare("ranks", std::to_string(a.ranks.size()), std::to_string(b.ranks.size()));
    if (a.ranks.size() == b.ranks.size()) compare("ranks on each host", ranks_by_host(a), ranks_by_host(b));
    compare("CPU models", texts_of(a, &RankInfo::cpu_model), texts_of(b, &RankInfo::cpu_model));
    const auto lines_a = experiment_lines(a), lines_b = experiment_lines(b);
    compare("experiment", lines_missing_from(lines_a, lines_b), lines_missing_from(lines_b, lines_a));
    compare("MPI", provenance_value(a, "mpi_version"), provenance_value(b, "mpi_version"));
    compare("BLAS", provenance_value(a, "blas_version"), provenance_value(b, "blas_version"));
    compare("BLAS kernels", texts_of(a, &RankInfo::blas_kernel), texts_of(b, &RankInfo::blas_kernel));
    compare("BLAS threads", blas_threads(a), blas_threads(b));
    return differences;
}

} // namespace shardline
