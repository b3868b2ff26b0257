// Every algorithm of the MPI sums right, also where ranks and elements do not divide.

#include "measure/allreduce_algorithms.hpp"
#include "mpi_test.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace shardline {
namespace {

using test::session;

TEST(AllreduceAlgorithms, SumRight)
{
    AllreduceAlgorithms algorithms(session->work());
    std::vector<std::string> names = algorithms.names();
    names.emplace_back();
    const int P = session->size(), rank = session->rank();
    for (const std::string& name : names)
        for (const int count : {1, 2, 7, 1000, 100'003}) {
            std::vector<float> mine(static_cast<size_t>(count)), sum(mine.size());
            for (int i = 0; i < count; ++i) mine[static_cast<size_t>(i)] = static_cast<float>(rank + i % 5);
            MPI_Allreduce(mine.data(), sum.data(), count, MPI_FLOAT, MPI_SUM, algorithms.communicator(name));
            for (int i = 0; i < count; ++i)
                ASSERT_EQ(sum[static_cast<size_t>(i)], static_cast<float>(P * (P - 1) / 2 + P * (i % 5))) << name << ", element " << i << " of " << count;
        }
}

TEST(AllreduceAlgorithms, OfOneNameShareACommunicator)
{
    AllreduceAlgorithms algorithms(session->work());
    const MPI_Comm first = algorithms.communicator(""), again = algorithms.communicator("");
    EXPECT_EQ(first, again);
    int same = 0;
    MPI_Comm_compare(first, session->work(), &same);
    EXPECT_EQ(same, MPI_CONGRUENT);
    for (const std::string& name : algorithms.names()) EXPECT_NE(algorithms.communicator(name), first) << name;
}

// The variable that says which algorithm a communicator takes is left as it was found, so that no later communicator is surprised.
TEST(AllreduceAlgorithms, LeaveTheVariableAlone)
{
    AllreduceAlgorithms algorithms(session->work());
    if (algorithms.names().empty()) GTEST_SKIP() << "this MPI lets no algorithm be chosen";
    algorithms.communicator(algorithms.names().back());
    int index = 0, count = 0, value = -1;
    MPI_T_cvar_handle handle;
    ASSERT_EQ(MPI_T_cvar_get_index("coll_tuned_allreduce_algorithm", &index), MPI_SUCCESS);
    ASSERT_EQ(MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count), MPI_SUCCESS);
    MPI_T_cvar_read(handle, &value);
    MPI_T_cvar_handle_free(&handle);
    EXPECT_EQ(value, 0);
}

} // namespace
} // namespace shardline
