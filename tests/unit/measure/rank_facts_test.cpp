#include "measure/clock.hpp"
#include "measure/rank_facts.hpp"
#include "temporary_folder.hpp"

#include <gtest/gtest.h>

namespace shardline {
namespace {

using test::TemporaryFolder;
using Names = std::vector<std::string>;

TEST(ObserveClock, FindsTheSmallestStep)
{
    int64_t now = 0, n = 0;
    const ClockFacts clock = observe_clock([&] { return now += ++n % 7 == 0 ? 30 : 500; });
    EXPECT_EQ(clock.tick_ns, 30);
    EXPECT_EQ(clock.backwards_ns, 0);
}

TEST(ObserveClock, WaitsForACoarseTick)
{
    int64_t n = 0;
    EXPECT_EQ(observe_clock([&] { return ++n / 50'000 * 4'000'000; }).tick_ns, 4'000'000);
}

TEST(ObserveClock, GivesUpOnAClockThatStands) { EXPECT_EQ(observe_clock([] { return int64_t{5}; }).tick_ns, 0); }

TEST(ObserveClock, SeesItGoBack)
{
    int64_t n = 0;
    EXPECT_EQ(observe_clock([&] { return ++n == 1000 ? n * 100 - 700 : n * 100; }).backwards_ns, 600);
}

TEST(ObserveClock, ThisMachinesClockDoesNotGoBack) { EXPECT_EQ(observe_clock(now_ns).backwards_ns, 0); }

TEST(VectorUnit, FromTheFlagsOfTheProcessor)
{
    EXPECT_EQ(vector_unit_in("fpu sse2 avx"), VectorUnit::unknown);
    EXPECT_EQ(vector_unit_in("fpu fma avx avx2"), VectorUnit::avx2);
    EXPECT_EQ(vector_unit_in("fma avx2 avx512f avx512vl"), VectorUnit::avx512);
    EXPECT_EQ(vector_unit_in("fma avx2 avx512f avx512er"), VectorUnit::avx2); // the first AVX-512 had the foundation alone
    EXPECT_EQ(vector_unit_in("xavx2 fma"), VectorUnit::unknown);
    EXPECT_EQ(vector_unit_in(""), VectorUnit::unknown);
}

TEST(CoresIn, CountsEachCoreOnce)
{
    const TemporaryFolder folder;
    EXPECT_EQ(cores_in(folder / "cpu"), 0);
    for (const auto& [cpu, siblings] : {std::pair("cpu0", "0,2"), {"cpu1", "1,3"}, {"cpu2", "0,2"}, {"cpu3", "1,3"}})
        folder.write(std::string("cpu/") + cpu + "/topology/thread_siblings_list", siblings);
    folder.write("cpu/cpufreq/policy0", "");
    EXPECT_EQ(cores_in(folder / "cpu"), 2);
}

TEST(FabricsIn, ListsDevicesThatAreUp)
{
    const TemporaryFolder folder;
    EXPECT_EQ(fabrics_in(folder / "class"), Names{});
    folder.write("class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
    folder.write("class/infiniband/mlx5_1/ports/1/state", "1: DOWN\n");
    folder.write("class/cxi/cxi0/device", "");
    EXPECT_EQ(fabrics_in(folder / "class"), (Names{"cxi0", "mlx5_0"}));
}

TEST(TransportsIn, NamesTheMappedComponents)
{
    const TemporaryFolder folder;
    folder.write("maps", "7f00-7f01 r-xp 0 08:01 42 /usr/lib/openmpi/lib/openmpi3/mca_btl_tcp.so\n"
                         "7f01-7f02 r--p 0 08:01 42 /usr/lib/openmpi/lib/openmpi3/mca_btl_tcp.so\n"
                         "7f02-7f03 r-xp 0 08:01 43 /usr/lib/openmpi/lib/openmpi3/mca_pml_ob1.so\n"
                         "7f03-7f04 r-xp 0 08:01 44 /usr/lib/openmpi/lib/openmpi3/mca_coll_tuned.so\n"
                         "7f04-7f05 r-xp 0 08:01 45 /usr/lib/libc.so.6\n"
                         "7f05-7f06 rw-p 0 00:00 0\n");
    EXPECT_EQ(transports_in(folder / "maps"), (Names{"btl/tcp", "pml/ob1"}));
    EXPECT_EQ(transports_in(folder / "no such file"), Names{});
}

} // namespace
} // namespace shardline
