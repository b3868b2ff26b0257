#include "measure/preflight.hpp"
#include "model/error.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>

namespace shardline {
namespace {

using Ranks = std::vector<RankFacts>;
using Threads = std::vector<int>;

/// A rank with nothing to find, alone on a core of a machine of eight.
RankFacts rank_on(const std::vector<int>& cores, const std::string& machine = "m")
{
    RankFacts rank;
    rank.info = {.host = machine, .machine = machine, .cpu_model = "CPU", .allowed_cores = fmt::format("{}", cores.front()),
                 .blas_kernel = "SkylakeX", .blas_threads = 1, .memory_available_bytes = 1 << 30};
    rank.hardware_threads = cores;
    rank.cores = cores;
    rank.machine_cores = 8;
    rank.blas_threads_asked = 1;
    rank.vector_unit = VectorUnit::avx512;
    rank.clock = {.tick_ns = 25};
    rank.transports = {"btl/tcp", "btl/vader", "pml/ob1"};
    return rank;
}

void give_threads(RankFacts& rank, int threads) { rank.info.blas_threads = rank.blas_threads_asked = threads; }

std::optional<Finding> found(const Ranks& ranks, const std::string& code)
{
    for (const Finding& finding : preflight_findings(ranks))
        if (finding.code == code) return finding;
    return std::nullopt;
}

std::string codes(const Ranks& ranks)
{
    std::string all;
    for (const Finding& finding : preflight_findings(ranks)) all += finding.code + " ";
    return all;
}

/// The finding, with its severity and every one of these pieces in its text.
void expect_found(const Ranks& ranks, const std::string& code, Severity severity, const std::vector<std::string>& pieces)
{
    const auto finding = found(ranks, code);
    ASSERT_TRUE(finding) << code << " is missing among: " << codes(ranks);
    EXPECT_EQ(finding->severity, severity) << code;
    for (const std::string& piece : pieces) EXPECT_NE(finding->text.find(piece), std::string::npos) << piece << "\n" << finding->text;
}

TEST(Preflight, FindsNothingOnSoundGround)
{
    EXPECT_EQ(codes({rank_on({0})}), "");
    EXPECT_EQ(codes({rank_on({0}), rank_on({1}), rank_on({2, 3})}), "");
}

// Placement

TEST(RanksShareCore, BoundToOneCoreWhileOthersAreFree)
{
    expect_found({rank_on({0}), rank_on({1}), rank_on({0})}, "ranks_share_core", Severity::invalid,
                 {"ranks 0, 2", "core 0 only", "of 8 cores"});
    EXPECT_FALSE(found({rank_on({0}), rank_on({0})}, "oversubscribed")); // the crowd says it better
}

TEST(RanksShareCore, AcrossHostNamesOfOneMachine)
{
    Ranks ranks{rank_on({0}), rank_on({0})};
    ranks[1].info.host = "n1";
    expect_found(ranks, "ranks_share_core", Severity::invalid, {"ranks 0-1"});
    ranks[1].info.machine = "another";
    EXPECT_FALSE(found(ranks, "ranks_share_core"));
}

TEST(RanksShareCore, NotWhereCoresAreLacking)
{
    Ranks ranks{rank_on({0}), rank_on({1}), rank_on({0}), rank_on({1})};
    for (RankFacts& rank : ranks) rank.machine_cores = 2;
    EXPECT_FALSE(found(ranks, "ranks_share_core"));
    expect_found(ranks, "oversubscribed", Severity::warning, {"4 BLAS threads of 4 ranks share 2 cores"});

    Ranks one_core{rank_on({0}), rank_on({0})};
    for (RankFacts& rank : one_core) rank.machine_cores = 1;
    EXPECT_FALSE(found(one_core, "ranks_share_core"));
    expect_found(one_core, "oversubscribed", Severity::warning, {"share 1 core on"});
}

TEST(RanksShareCore, CrowdedBeyondWhatTheLackOfCoresExplains)
{
    Ranks ranks{rank_on({0}), rank_on({0}), rank_on({0}), rank_on({1})};
    for (RankFacts& rank : ranks) rank.machine_cores = 2;
    expect_found(ranks, "ranks_share_core", Severity::invalid, {"ranks 0-2"});
}

TEST(RanksShareCore, NotWhereRanksMayMove)
{
    EXPECT_FALSE(found({rank_on({0, 1}), rank_on({0, 1})}, "ranks_share_core"));
}

TEST(RanksShareThreads, OneHardwareThreadEach)
{
    Ranks ranks{rank_on({0}), rank_on({0})};
    ranks[1].hardware_threads = {64};
    expect_found(ranks, "ranks_share_threads", Severity::warning, {"ranks 0-1", "core 0"});
    EXPECT_FALSE(found(ranks, "ranks_share_core"));
}

TEST(RanksShareThreads, BothThreadsOfTheCoreForBothIsSharingTheCore)
{
    Ranks ranks{rank_on({0, 0}), rank_on({0, 0})};
    for (RankFacts& rank : ranks) rank.hardware_threads = {0, 64};
    EXPECT_TRUE(found(ranks, "ranks_share_core"));
    EXPECT_FALSE(found(ranks, "ranks_share_threads"));
}

TEST(Oversubscribed, ThreadsOfAllRanksAgainstTheirCores)
{
    Ranks ranks{rank_on({0, 1}), rank_on({0, 1})};
    EXPECT_FALSE(found(ranks, "oversubscribed"));
    for (RankFacts& rank : ranks) give_threads(rank, 8);
    expect_found(ranks, "oversubscribed", Severity::warning, {"16 BLAS threads of 2 ranks share 2 cores on m"});
}

TEST(Oversubscribed, SomeRanksOnPartOfTheMachine)
{
    Ranks ranks{rank_on({0, 1}), rank_on({0, 1}), rank_on({0, 1}), rank_on({2, 3, 4, 5, 6, 7})};
    expect_found(ranks, "oversubscribed", Severity::warning, {"3 BLAS threads of 3 ranks share 2 cores"});
}

TEST(Oversubscribed, EachMachineForItself)
{
    Ranks ranks{rank_on({0, 1}, "a"), rank_on({0, 1}, "b")};
    for (RankFacts& rank : ranks) give_threads(rank, 2);
    EXPECT_FALSE(found(ranks, "oversubscribed"));
}

TEST(Quota, LessThanTheThreadsThatShareIt)
{
    Ranks ranks{rank_on({0}), rank_on({1})};
    for (RankFacts& rank : ranks) rank.quota_cores = 1.5, rank.quota_group = "/job";
    expect_found(ranks, "quota", Severity::warning, {"1.5 cores", "2 BLAS threads of ranks 0-1"});

    ranks[1].quota_group = "/other"; // each has its own
    EXPECT_FALSE(found(ranks, "quota"));
    give_threads(ranks[1], 2);
    expect_found(ranks, "quota", Severity::warning, {"2 BLAS threads of rank 1"});
}

TEST(Quota, EnoughOrNone)
{
    Ranks ranks{rank_on({0}), rank_on({1})};
    for (RankFacts& rank : ranks) rank.quota_cores = 2, rank.quota_group = "/job";
    EXPECT_FALSE(found(ranks, "quota"));
    for (RankFacts& rank : ranks) rank.quota_cores = 0;
    EXPECT_FALSE(found(ranks, "quota"));
}

// Threads

TEST(ThreadsShareCore, MoreThreadsThanCoresOfTheRank)
{
    Ranks ranks{rank_on({0}), rank_on({1})};
    for (RankFacts& rank : ranks) give_threads(rank, 2);
    expect_found(ranks, "threads_share_core", Severity::warning, {"2 BLAS threads", "1 core (CPUs 0)", "likewise rank 1"});
    EXPECT_EQ(found(ranks, "threads_share_core")->rank, 0);
}

TEST(ThreadsShareCore, TwoHardwareThreadsAreOneCore)
{
    Ranks ranks{rank_on({0, 0})};
    ranks[0].hardware_threads = {0, 64};
    EXPECT_FALSE(found(ranks, "threads_share_core"));
    give_threads(ranks[0], 2);
    EXPECT_TRUE(found(ranks, "threads_share_core"));
}

TEST(BlasThreads, AskedAgainstReadBack)
{
    Ranks ranks{rank_on({0, 1, 2, 3})};
    give_threads(ranks[0], 4);
    EXPECT_FALSE(found(ranks, "blas_threads"));
    ranks[0].info.blas_threads = 1;
    expect_found(ranks, "blas_threads", Severity::warning, {"asked the BLAS for 4 threads, it uses 1"});
    ranks[0].info.blas_threads = 0;
    expect_found(ranks, "blas_threads", Severity::note, {"cannot be asked for its threads (4 wanted)"});
}

TEST(BlasThreadsEnvironment, OverruledByTheExperiment)
{
    Ranks ranks{rank_on({0, 1, 2, 3})};
    give_threads(ranks[0], 2);
    ranks[0].threads_variable = "OPENBLAS_NUM_THREADS";
    ranks[0].threads_in_environment = 4;
    expect_found(ranks, "blas_threads_environment", Severity::note, {"OPENBLAS_NUM_THREADS=4", "blas_threads = 2"});
    ranks[0].threads_in_environment = 2;
    EXPECT_FALSE(found(ranks, "blas_threads_environment"));
}

TEST(SlurmCpusPerTask, MoreThanTheMaskHolds)
{
    Ranks ranks{rank_on({0})};
    ranks[0].slurm_cpus_per_task = 4;
    expect_found(ranks, "slurm_cpus_per_task", Severity::warning,
                 {"SLURM_CPUS_PER_TASK=4", "may use 1 CPU (0)", "--cpus-per-task=4", "SRUN_CPUS_PER_TASK=4"});
}

TEST(SlurmCpusPerTask, AgreesInCoresOrInHardwareThreads)
{
    Ranks ranks{rank_on({0, 0, 1, 1})};
    ranks[0].hardware_threads = {0, 1, 64, 65};
    give_threads(ranks[0], 2);
    for (int cpus : {0, 2, 4}) {
        ranks[0].slurm_cpus_per_task = cpus;
        EXPECT_FALSE(found(ranks, "slurm_cpus_per_task")) << cpus;
    }
}

TEST(SlurmCpusPerTask, FewerThanTheThreadsThatRun)
{
    Ranks ranks{rank_on({0, 1, 2, 3})};
    ranks[0].slurm_cpus_per_task = 2;
    EXPECT_FALSE(found(ranks, "slurm_cpus_per_task")); // one thread takes nothing from others
    give_threads(ranks[0], 4);
    expect_found(ranks, "slurm_cpus_per_task", Severity::warning, {"SLURM_CPUS_PER_TASK=2", "4 BLAS threads"});
}

TEST(SharedNode, WhereTheJobHasPartOfTheNode)
{
    Ranks ranks{rank_on({0}), rank_on({0}, "b")};
    for (RankFacts& rank : ranks) rank.slurm_job_cpus = rank.node_cpus = 64;
    EXPECT_FALSE(found(ranks, "shared_node"));
    ranks[1].slurm_job_cpus = 2;
    expect_found(ranks, "shared_node", Severity::warning, {"2 of 64 CPUs of b", "--exclusive"});
    EXPECT_EQ(found(ranks, "shared_node")->rank, 1);
    ranks[1].slurm_job_cpus = 0; // no job of Slurm
    EXPECT_FALSE(found(ranks, "shared_node"));
}

TEST(BlasThreadsOf, SharesTheCoresOfRanksThatAreNotBound)
{
    EXPECT_EQ(blas_threads_of({rank_on({0, 1, 2, 3})}, 0), (Threads{4}));
    EXPECT_EQ(blas_threads_of({rank_on({0, 1, 2, 3}), rank_on({0, 1, 2, 3})}, 0), (Threads{2, 2}));
    EXPECT_EQ(blas_threads_of({rank_on({0, 1}), rank_on({0, 1}), rank_on({0, 1})}, 0), (Threads{1, 1, 1}));
}

TEST(BlasThreadsOf, OneThreadForOneAllowedCore) { EXPECT_EQ(blas_threads_of({rank_on({0})}, 0), (Threads{1})); }

TEST(BlasThreadsOf, RanksBoundApartShareNothing)
{
    EXPECT_EQ(blas_threads_of({rank_on({0, 1}), rank_on({2, 3})}, 0), (Threads{2, 2}));
    EXPECT_EQ(blas_threads_of({rank_on({0, 1}, "a"), rank_on({0, 1}, "b")}, 0), (Threads{2, 2}));
}

TEST(BlasThreadsOf, CountsCoresNotHardwareThreads)
{
    RankFacts rank = rank_on({0, 0, 1, 1});
    rank.hardware_threads = {0, 1, 64, 65};
    EXPECT_EQ(blas_threads_of({rank}, 0), (Threads{2}));
}

TEST(BlasThreadsOf, KeepsToTheQuota)
{
    RankFacts rank = rank_on({0, 1, 2, 3, 4, 5, 6, 7});
    rank.quota_cores = 2.5;
    EXPECT_EQ(blas_threads_of({rank}, 0), (Threads{2}));
    EXPECT_EQ(blas_threads_of({rank, rank}, 0), (Threads{1, 1}));
}

TEST(BlasThreadsOf, TheExperimentThenTheEnvironmentDecide)
{
    RankFacts rank = rank_on({0, 1});
    rank.threads_variable = "OMP_NUM_THREADS";
    rank.threads_in_environment = 8;
    EXPECT_EQ(blas_threads_of({rank}, 0), (Threads{8}));
    EXPECT_EQ(blas_threads_of({rank}, 3), (Threads{3}));
}

// Processors

TEST(MixedProcessors, ModelsAndKernels)
{
    Ranks ranks{rank_on({0}, "a"), rank_on({0}, "b"), rank_on({1}, "b")};
    EXPECT_FALSE(found(ranks, "mixed_cpu_models"));
    EXPECT_FALSE(found(ranks, "mixed_blas_kernels"));
    ranks[0].info.cpu_model = "Old CPU";
    ranks[0].info.blas_kernel = "Haswell";
    expect_found(ranks, "mixed_cpu_models", Severity::warning, {"2 models", "Old CPU (rank 0)", "CPU (ranks 1-2)"});
    expect_found(ranks, "mixed_blas_kernels", Severity::warning, {"Haswell (rank 0)", "SkylakeX (ranks 1-2)"});
}

TEST(BlasKernelOld, WarnsWhereTheKernelsUseNeitherAvx2NorAvx512)
{
    Ranks ranks{rank_on({0})};
    for (const char* kernel : {"Prescott", "Core2", "Nehalem", "Sandybridge"}) {
        ranks[0].info.blas_kernel = kernel;
        ranks[0].vector_unit = VectorUnit::avx512;
        expect_found(ranks, "blas_kernel_old", Severity::warning, {"AVX-512", kernel, "OPENBLAS_CORETYPE=SkylakeX"});
        ranks[0].vector_unit = VectorUnit::avx2;
        expect_found(ranks, "blas_kernel_old", Severity::warning, {"AVX2", kernel, "OPENBLAS_CORETYPE=Haswell"});
        ranks[0].vector_unit = VectorUnit::unknown; // an old processor, and right so
        EXPECT_FALSE(found(ranks, "blas_kernel_old")) << kernel;
    }
}

TEST(BlasKernelOld, IsANoteForAvx2KernelsOnAvx512)
{
    Ranks ranks{rank_on({0})};
    for (const char* kernel : {"Haswell", "Zen"}) {
        ranks[0].info.blas_kernel = kernel;
        ranks[0].vector_unit = VectorUnit::avx512;
        expect_found(ranks, "blas_kernel_old", Severity::note, {kernel});
        ranks[0].vector_unit = VectorUnit::avx2;
        EXPECT_FALSE(found(ranks, "blas_kernel_old")) << kernel;
    }
}

TEST(BlasKernelOld, NotForKernelsThatFitOrAreNotKnown)
{
    Ranks ranks{rank_on({0})};
    for (const char* kernel : {"SkylakeX", "Cooperlake", "SapphireRapids", "Zen9", ""}) {
        ranks[0].info.blas_kernel = kernel;
        EXPECT_FALSE(found(ranks, "blas_kernel_old")) << kernel;
    }
}

TEST(CpuGovernor, IsANoteUnlessPerformance)
{
    Ranks ranks{rank_on({0})};
    ranks[0].frequency_governor = "performance";
    EXPECT_FALSE(found(ranks, "cpu_governor"));
    ranks[0].frequency_governor = "powersave";
    expect_found(ranks, "cpu_governor", Severity::note, {"\"powersave\""});
}

// Clock and network

TEST(Clock, CoarseOrStanding)
{
    Ranks ranks{rank_on({0})};
    ranks[0].clock.tick_ns = 1000;
    EXPECT_FALSE(found(ranks, "clock_coarse"));
    ranks[0].clock.tick_ns = 4'000'000;
    expect_found(ranks, "clock_coarse", Severity::warning, {"steps of 4000000 ns"});
    ranks[0].clock.tick_ns = 0;
    expect_found(ranks, "clock_coarse", Severity::warning, {"did not move"});
}

TEST(Clock, Backwards)
{
    Ranks ranks{rank_on({0})};
    EXPECT_FALSE(found(ranks, "clock_backwards"));
    ranks[0].clock.backwards_ns = 12;
    expect_found(ranks, "clock_backwards", Severity::invalid, {"by 12 ns"});
}

TEST(Machines, OneMachineUnderSeveralNames)
{
    Ranks ranks{rank_on({0}), rank_on({1})};
    EXPECT_FALSE(found(ranks, "one_machine"));
    ranks[0].info.host = "n0";
    ranks[1].info.host = "n1";
    expect_found(ranks, "one_machine", Severity::note, {"hosts n0, n1 are one machine (same boot id)"});
    EXPECT_FALSE(found(ranks, "several_machines"));
}

TEST(Machines, Several)
{
    expect_found({rank_on({0}, "a"), rank_on({0}, "b")}, "several_machines", Severity::note, {"2 ranks on 2 machines, 1 on each"});
    expect_found({rank_on({0}, "a"), rank_on({0}, "b"), rank_on({1}, "b")}, "several_machines", Severity::note,
                 {"3 ranks on 2 machines, 1 to 2 on each"});
    EXPECT_FALSE(found({rank_on({0}), rank_on({1})}, "several_machines"));
}

TEST(TcpBesideFabric, OnSeveralMachinesThatHaveOne)
{
    Ranks ranks{rank_on({0}, "a"), rank_on({0}, "b")};
    EXPECT_FALSE(found(ranks, "tcp_beside_fabric")); // no fabric
    for (RankFacts& rank : ranks) rank.fabrics = {"mlx5_0"};
    expect_found(ranks, "tcp_beside_fabric", Severity::warning, {"ranks 0-1", "mlx5_0"});
}

TEST(TcpBesideFabric, NotWhereTheFabricIsUsedOrNotNeeded)
{
    Ranks ranks{rank_on({0}, "a"), rank_on({0}, "b")};
    const std::vector<std::vector<std::string>> others{
        {"pml/ucx"}, {"pml/cm", "mtl/ofi"}, {"btl/openib", "btl/tcp", "pml/ob1"}, {}};
    for (RankFacts& rank : ranks) rank.fabrics = {"mlx5_0"};
    for (const auto& transports : others) {
        for (RankFacts& rank : ranks) rank.transports = transports;
        EXPECT_FALSE(found(ranks, "tcp_beside_fabric"));
    }
    Ranks together{rank_on({0}), rank_on({1})};
    for (RankFacts& rank : together) rank.fabrics = {"mlx5_0"};
    EXPECT_FALSE(found(together, "tcp_beside_fabric"));
}

// What stops a run

TEST(RefuseMeaningless, NamesTheWayToMeasureAllTheSame)
{
    const std::vector<Finding> findings{{"oversubscribed", Severity::warning, -1, ""}, {"ranks_share_core", Severity::invalid, -1, ""}};
    try {
        refuse_meaningless(findings, {});
        FAIL() << "two ranks on one core were accepted";
    } catch (const InputError& e) {
        EXPECT_NE(std::string(e.what()).find("--allow ranks_share_core"), std::string::npos) << e.what();
    }
    EXPECT_THROW(refuse_meaningless(findings, {"clock_backwards"}), InputError);
    EXPECT_NO_THROW(refuse_meaningless(findings, {"ranks_share_core"}));
}

TEST(RefuseMeaningless, LetsWarningsPass)
{
    EXPECT_NO_THROW(refuse_meaningless({{"oversubscribed", Severity::warning, -1, ""}, {"injected", Severity::invalid, -1, ""}}, {}));
}

} // namespace
} // namespace shardline
