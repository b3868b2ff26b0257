#include "model/text.hpp"

#include <gtest/gtest.h>

namespace shardline {
namespace {

TEST(Text, FourSignificantDigits)
{
    EXPECT_EQ(number_text(8755.56), "8756");
    EXPECT_EQ(number_text(10597), "10600");
    EXPECT_EQ(number_text(9999.7), "10000");
    EXPECT_EQ(number_text(0.69231), "0.6923");
    EXPECT_EQ(number_text(0), "0");
    EXPECT_EQ(number_text(1.97e14), "1.97e+14");
}

TEST(Text, SiPrefixes)
{
    EXPECT_EQ(si_text(1.97e14, "FLOP/s"), "197 TFLOP/s");
    EXPECT_EQ(si_text(1.19e8, "B/s"), "119 MB/s");
    EXPECT_EQ(si_text(50.5e-3, "s"), "50.5 ms");
    EXPECT_EQ(si_text(35e-6, "s"), "35 us");
    EXPECT_EQ(si_text(999.96, "B"), "1 kB");
    EXPECT_EQ(si_text(0, "s"), "0 s");
    EXPECT_EQ(si_text(1e5, "s"), "100 ks");
    EXPECT_EQ(si_text(4e-10, "s"), "0.4 ns");
}

TEST(Text, Percent)
{
    EXPECT_EQ(percent_text(0.692), "69 %");
    EXPECT_EQ(percent_text(1.5), "150 %");
}

} // namespace
} // namespace shardline
