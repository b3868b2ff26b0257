// Writes the file that a run on a known machine would leave:
//
//   make_synthetic_file OUT.h5 [knob=value ...]
//
// Knobs are members of SyntheticPlan and SyntheticMachine, and: measure (crossover, links, allreduce, roofline; links: W between
// hosts, five times as much within, what the slow_rank's host sends divided by slow_factor), M (of a roofline), status (running, complete, stopped, failed; running
// leaves the file as a killed run does), host (of rank 0), cpu, kernel, threads (of all ranks), mpi, blas (versions), title, finding
// (text of a warning), thinned (1: as above thin_above_ranks). Bs, Ps and wires are lists in place of B, P and wire: a run that measured every pairing.

#include "model/error.hpp"
#include "model/law.hpp"
#include "record/writer.hpp"
#include "tests/unit/model/synthetic_run.hpp"
#include "tests/unit/model/synthetic_studies.hpp"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>

namespace {

using namespace shardline;

struct Order {
    SyntheticPlan plan;
    std::string measure = "crossover";
    double M = 1e10;
    RunStatus status = RunStatus::complete;
    std::string host, title, finding;
    bool thinned = false;
    RankInfo rank;            ///< what is set here, of all ranks
    std::string mpi, blas;    ///< versions
    std::vector<int64_t> Bs, Ps;
    std::vector<ElementType> wires;
};

using Knob = std::function<void(Order&, const std::string&)>;

template <class T>
Knob number(T SyntheticPlan::*member)
{
    return [=](Order& order, const std::string& text) { order.plan.*member = static_cast<T>(std::stod(text)); };
}

Knob number(double SyntheticMachine::*member)
{
    return [=](Order& order, const std::string& text) { order.plan.machine.*member = std::stod(text); };
}

Knob text(std::string Order::*member)
{
    return [=](Order& order, const std::string& value) { order.*member = value; };
}

RunStatus status_named(const std::string& name)
{
    static const std::map<std::string, RunStatus> statuses{{"running", RunStatus::running}, {"complete", RunStatus::complete},
                                                           {"stopped", RunStatus::stopped}, {"failed", RunStatus::failed}};
    return statuses.at(name);
}

/// The words between commas.
std::vector<std::string> words_of(const std::string& value)
{
    std::vector<std::string> words;
    for (size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
        end = value.find(',', begin);
        words.push_back(value.substr(begin, end - begin));
    }
    return words;
}

std::vector<int64_t> numbers_of(const std::string& value)
{
    std::vector<int64_t> numbers;
    for (const std::string& word : words_of(value)) numbers.push_back(std::stoll(word));
    return numbers;
}

std::vector<ElementType> types_of(const std::string& value)
{
    std::vector<ElementType> types;
    for (const std::string& word : words_of(value)) types.push_back(element_type_named(word).value());
    return types;
}

/// "mpi_allreduce:0,pipelined_thread:0.9": names, and what each hides.
void set_strategies(Order& order, const std::string& value)
{
    order.plan.strategies.clear();
    for (const std::string& one : words_of(value)) {
        const size_t colon = one.find(':');
        order.plan.strategies.push_back({one.substr(0, colon), std::stod(one.substr(colon + 1))});
    }
}

const std::map<std::string, Knob>& knobs()
{
    static const std::map<std::string, Knob> table{
        {"C", number(&SyntheticMachine::C_flop_per_s)},
        {"W", number(&SyntheticMachine::W_bytes_per_s)},
        {"alpha", number(&SyntheticMachine::alpha_s)},
        {"allreduce_efficiency", number(&SyntheticMachine::allreduce_efficiency)},
        {"B", number(&SyntheticPlan::B)},
        {"F", number(&SyntheticPlan::F)},
        {"P", number(&SyntheticPlan::P)},
        {"D", [](Order& order, const std::string& value) { order.plan.D = numbers_of(value); }},
        {"Bs", [](Order& order, const std::string& value) { order.Bs = numbers_of(value); }},
        {"Ps", [](Order& order, const std::string& value) { order.Ps = numbers_of(value); }},
        {"wires", [](Order& order, const std::string& value) { order.wires = types_of(value); }},
        {"wire", [](Order& order, const std::string& name) { order.plan.wire_type = element_type_named(name).value(); }},
        {"compute", [](Order& order, const std::string& name) { order.plan.compute_type = element_type_named(name).value(); }},
        {"strategies", set_strategies},
        {"measure", text(&Order::measure)},
        {"M", [](Order& order, const std::string& number) { order.M = std::stod(number); }},
        {"passes", number(&SyntheticPlan::passes)},
        {"repetitions", number(&SyntheticPlan::repetitions)},
        {"warmups", number(&SyntheticPlan::warmups)},
        {"calibrated", number(&SyntheticPlan::calibrated)},
        {"noise", number(&SyntheticPlan::noise)},
        {"seed", number(&SyntheticPlan::seed)},
        {"comm_factor_in_sweep", number(&SyntheticPlan::comm_factor_in_sweep)},
        {"comp_exponent", number(&SyntheticPlan::comp_exponent)},
        {"slow_rank", number(&SyntheticPlan::slow_rank)},
        {"slow_factor", number(&SyntheticPlan::slow_factor)},
        {"creep_per_repetition", number(&SyntheticPlan::creep_per_repetition)},
        {"wrong_point", number(&SyntheticPlan::wrong_point)},
        {"late_share", number(&SyntheticPlan::late_share)},
        {"status", [](Order& order, const std::string& name) { order.status = status_named(name); }},
        {"host", text(&Order::host)},
        {"title", text(&Order::title)},
        {"ranks_on_host", number(&SyntheticPlan::ranks_on_host)},
        {"mpi", text(&Order::mpi)},
        {"blas", text(&Order::blas)},
        {"cpu", [](Order& order, const std::string& name) { order.rank.cpu_model = name; }},
        {"kernel", [](Order& order, const std::string& name) { order.rank.blas_kernel = name; }},
        {"threads", [](Order& order, const std::string& number) { order.rank.blas_threads = std::stoi(number); }},
        {"finding", text(&Order::finding)},
        {"thinned", [](Order& order, const std::string& number) { order.thinned = std::stoi(number) != 0; }},
    };
    return table;
}

Order order_of(int argc, char** argv)
{
    Order order;
    for (int i = 2; i < argc; ++i) {
        const std::string argument = argv[i];
        const size_t equals = argument.find('=');
        knobs().at(argument.substr(0, equals))(order, argument.substr(equals + 1));
    }
    return order;
}

RunData links_of(const SyntheticPlan& plan)
{
    SyntheticNetwork network;
    network.ranks_on_host = plan.ranks_on_host;
    network.hosts = plan.P / plan.ranks_on_host;
    network.seed = plan.seed;
    network.noise = plan.noise;
    network.core_share = 1;
    network.W = [plan](int from, int to) {
        const auto host = [&](int rank) { return rank / plan.ranks_on_host; };
        const double W = plan.machine.W_bytes_per_s * (host(from) == host(to) ? 5 : 1);
        return plan.slow_rank >= 0 && host(from) == host(plan.slow_rank) && host(to) != host(from) ? W / plan.slow_factor : W;
    };
    return synthetic_links(network);
}

/// As many algorithms as Open MPI has, most of them poor.
RunData allreduce_of(const SyntheticPlan& plan)
{
    const auto cost = [plan](AllreduceAlgorithm algorithm, double factor) {
        return [=](double bytes) { return factor * allreduce_time_s(algorithm, bytes, plan.P, plan.machine.alpha_s + 1e-6, plan.machine.W_bytes_per_s); };
    };
    const auto ring = AllreduceAlgorithm::ring, doubling = AllreduceAlgorithm::recursive_doubling;
    return synthetic_allreduce({{"", cost(ring, 2)}, {"basic_linear", cost(doubling, 3)}, {"nonoverlapping", cost(doubling, 2)},
                                {"rabenseifner", cost(ring, 1.1)}, {"recursive_doubling", cost(doubling, 1)}, {"ring", cost(ring, 1)},
                                {"segmented_ring", cost(ring, 1.3)}, {"a_further_one", cost(ring, 5)}},
                               plan.P, plan.machine.W_bytes_per_s, plan.noise, plan.seed);
}

/// Every pairing of the lists.
RunData crossovers_of(const Order& order)
{
    if (order.Bs.empty() && order.Ps.empty() && order.wires.empty()) return synthetic_run(order.plan);
    const std::vector<int64_t> Bs = order.Bs.empty() ? std::vector{order.plan.B} : order.Bs,
                               Ps = order.Ps.empty() ? std::vector<int64_t>{order.plan.P} : order.Ps;
    const std::vector<ElementType> wires = order.wires.empty() ? std::vector{order.plan.wire_type} : order.wires;
    std::vector<RunData> runs;
    SyntheticPlan plan = order.plan;
    for (const int64_t P : Ps)
        for (const int64_t B : Bs)
            for (const ElementType wire : wires) {
                plan.B = B;
                plan.P = static_cast<int32_t>(P);
                plan.wire_type = wire;
                ++plan.seed;
                runs.push_back(synthetic_run(plan));
            }
    return joined(runs);
}

RunData run_of(const Order& order)
{
    if (order.measure == "links") return links_of(order.plan);
    if (order.measure == "allreduce") return allreduce_of(order.plan);
    if (order.measure == "roofline") return synthetic_roofline({.C = order.plan.machine.C_flop_per_s, .M = order.M});
    return crossovers_of(order);
}

void write(const std::string& path, const Order& order)
{
    RunData run = order.thinned ? thinned_run(run_of(order)) : run_of(order);
    if (!order.host.empty()) run.ranks[0].host = order.host;
    for (RankInfo& rank : run.ranks) {
        if (!order.rank.cpu_model.empty()) rank.cpu_model = order.rank.cpu_model;
        if (!order.rank.blas_kernel.empty()) rank.blas_kernel = order.rank.blas_kernel;
        if (order.rank.blas_threads > 0) rank.blas_threads = order.rank.blas_threads;
    }
    for (auto& [name, value] : run.provenance) {
        if (name == "mpi_version" && !order.mpi.empty()) value = order.mpi;
        if (name == "blas_version" && !order.blas.empty()) value = order.blas;
    }
    if (!order.title.empty()) run.experiment_effective = "title = \"" + order.title + "\"\n" + run.experiment_effective;
    if (!order.finding.empty()) run.findings.push_back({"planted", Severity::warning, -1, order.finding});

    RunWriter writer(path, run, Overwrite::allow);
    writer.append(run.points);
    writer.append(run.repetitions);
    writer.append(run.rank_summaries);
    for (const Check& check : run.checks) writer.append(check);
    if (order.status == RunStatus::running) std::_Exit(0); // no destructor: what a kill leaves
    writer.close(order.status);
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 2) return 2;
    try {
        write(argv[1], order_of(argc, argv));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "make_synthetic_file: %s\n", error.what());
        return 2;
    }
    return 0;
}
