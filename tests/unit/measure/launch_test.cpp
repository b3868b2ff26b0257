#include "measure/launch.hpp"
#include "model/error.hpp"
#include "temporary_folder.hpp"

#include <gtest/gtest.h>

#include <map>

namespace shardline {
namespace {

using Variables = std::map<std::string, std::string>;

std::optional<Launch> launch_of(const Variables& variables)
{
    return find_launch([&](const char* name) -> const char* {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
    });
}

int tasks_of(const Variables& variables)
{
    const auto launch = launch_of(variables);
    return launch ? launch->tasks : 0;
}

TEST(FindLaunch, SeesNothingOnAWorkstation) { EXPECT_FALSE(launch_of({{"HOME", "/home/user"}})); }

TEST(FindLaunch, KnowsTheLaunchers)
{
    EXPECT_EQ(tasks_of({{"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_RANK", "1"}}), 2);
    EXPECT_EQ(tasks_of({{"PMI_SIZE", "3"}, {"PMI_RANK", "1"}}), 3);
    EXPECT_EQ(tasks_of({{"MV2_COMM_WORLD_SIZE", "4"}}), 4);
    EXPECT_EQ(tasks_of({{"JSM_NAMESPACE_SIZE", "5"}}), 5);
    EXPECT_EQ(tasks_of({{"FLUX_JOB_SIZE", "7"}, {"FLUX_TASK_RANK", "2"}}), 7);
    EXPECT_EQ(tasks_of({{"SLURM_STEP_NUM_TASKS", "6"}, {"SLURM_PROCID", "2"}}), 6);
    EXPECT_EQ(launch_of({{"PMI_SIZE", "3"}, {"PMI_RANK", "1"}})->rank, 1);
    EXPECT_EQ(launch_of({{"SLURM_STEP_NUM_TASKS", "6"}, {"SLURM_PROCID", "2"}})->rank, 2);
}

TEST(FindLaunch, MpirunOfOneInsideALargerAllocationIsOne)
{
    EXPECT_EQ(tasks_of({{"OMPI_COMM_WORLD_SIZE", "1"}, {"SLURM_NTASKS", "8"}, {"SLURM_PROCID", "0"}}), 1);
    EXPECT_EQ(tasks_of({{"PMI_SIZE", "1"}, {"SLURM_STEP_NUM_TASKS", "8"}}), 1);
    EXPECT_EQ(tasks_of({{"OMPI_COMM_WORLD_SIZE", "1"}, {"PBS_ENVIRONMENT", "PBS_BATCH"}, {"PBS_NP", "8"}}), 1);
}

TEST(FindLaunch, SrunOfOneInsideALargerJobIsOne)
{
    EXPECT_EQ(tasks_of({{"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_NTASKS", "8"}, {"SLURM_PROCID", "0"}}), 1);
}

TEST(FindLaunch, PlainStartInABatchScript)
{
    const auto slurm = launch_of({{"SLURM_NTASKS", "2"}, {"SLURM_PROCID", "0"}});
    ASSERT_TRUE(slurm);
    EXPECT_EQ(slurm->tasks, 2);
    EXPECT_FALSE(slurm->by_launcher);
    EXPECT_EQ(tasks_of({{"PBS_ENVIRONMENT", "PBS_BATCH"}, {"PBS_NP", "2"}}), 2);
    EXPECT_EQ(tasks_of({{"LSB_DJOB_NUMPROC", "2"}}), 2);

    const test::TemporaryFolder folder;
    folder.write("nodes", "n0\nn0\nn1\n");
    const std::string nodes = folder / "nodes";
    EXPECT_EQ(tasks_of({{"PBS_ENVIRONMENT", "PBS_BATCH"}, {"PBS_NODEFILE", nodes}}), 3);
}

TEST(FindLaunch, InteractiveShellsMayTryOneProcess)
{
    EXPECT_FALSE(launch_of({{"SLURM_NTASKS", "2"}, {"SLURM_JOB_ID", "7"}})); // salloc: no task number
    EXPECT_FALSE(launch_of({{"PBS_ENVIRONMENT", "PBS_INTERACTIVE"}, {"PBS_NP", "2"}}));
    EXPECT_FALSE(launch_of({{"LSB_DJOB_NUMPROC", "2"}, {"LSB_INTERACTIVE", "Y"}}));
}

int job_cpus(const Variables& variables)
{
    return slurm_job_cpus([&](const char* name) -> const char* {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
    });
}

TEST(SlurmJobCpus, OfThisNodeInTheList)
{
    const std::string list = "16(x2),8,4(x3)";
    const int expected[] = {16, 16, 8, 4, 4, 4, 0};
    for (int node = 0; node < 7; ++node)
        EXPECT_EQ(job_cpus({{"SLURM_JOB_CPUS_PER_NODE", list}, {"SLURM_NODEID", std::to_string(node)}}), expected[node]) << node;
    EXPECT_EQ(job_cpus({{"SLURM_JOB_CPUS_PER_NODE", "72"}}), 72);
    EXPECT_EQ(job_cpus({{"SLURM_NODEID", "0"}}), 0);
}

TEST(RefuseLonelyLaunch, NamesBothNumbersOnce)
{
    try {
        refuse_lonely_launch(Launch{"PMI_SIZE", 2, 0, true}, 1);
        FAIL() << "2 tasks of one rank each were accepted";
    } catch (const InputError& e) {
        EXPECT_NE(std::string(e.what()).find("launched as 2 tasks, MPI sees 1"), std::string::npos) << e.what();
        EXPECT_NE(std::string(e.what()).find("PMI_SIZE"), std::string::npos) << e.what();
    }
    try {
        refuse_lonely_launch(Launch{"PMI_SIZE", 2, 1, true}, 1);
        FAIL() << "2 tasks of one rank each were accepted";
    } catch (const InputError& e) {
        EXPECT_STREQ(e.what(), "");
    }
}

TEST(RefuseLonelyLaunch, AcceptsWhatIsAsItShouldBe)
{
    EXPECT_NO_THROW(refuse_lonely_launch(std::nullopt, 1));
    EXPECT_NO_THROW(refuse_lonely_launch(Launch{"OMPI_COMM_WORLD_SIZE", 1, 0, true}, 1));
    EXPECT_NO_THROW(refuse_lonely_launch(Launch{"OMPI_COMM_WORLD_SIZE", 2, 0, true}, 2));
}

} // namespace
} // namespace shardline
