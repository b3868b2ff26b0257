#include "postprocess/quantity.hpp"

#include "model/error.hpp"

#include <gtest/gtest.h>

namespace shardline {
namespace {

template <class Call>
std::string refusal(Call call)
{
    try {
        call();
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

TEST(ParsePositive, TakesFiniteNumbersAboveZero)
{
    EXPECT_EQ(parse_positive("--flops", "1.97e14"), 1.97e14);
    EXPECT_EQ(parse_positive("--flops", "+3"), 3);
    EXPECT_EQ(refusal([] { parse_positive("--flops", "-5"); }),
              "--flops is '-5' (not greater than zero): give a positive number, such as 1.25, 2e-6 or 1.97e14");
    for (const char* nonsense : {"0", "-0.0", "nan", "-nan", "inf", "-inf", "", " ", "abc", "1x", "1e400", "1e-400", "1,5", "0x10", "--5", "+-5"})
        EXPECT_NE(refusal([&] { parse_positive("--flops", nonsense); }), "") << nonsense;
}

TEST(ParseBytes, TakesUnits)
{
    EXPECT_EQ(parse_bytes("--memory", "80e9"), 80e9);
    EXPECT_EQ(parse_bytes("--memory", "80GB"), 80e9);
    EXPECT_EQ(parse_bytes("--memory", "80 GB"), 80e9);
    EXPECT_EQ(parse_bytes("--memory", "80GiB"), 80.0 * 1024 * 1024 * 1024);
    EXPECT_EQ(parse_bytes("--memory", "1.5KiB"), 1536);
    EXPECT_EQ(parse_bytes("--memory", "1kB"), 1000);
    EXPECT_EQ(parse_bytes("--memory", "7B"), 7);
    EXPECT_EQ(parse_bytes("--bandwidth", "119MB/s", "/s"), 119e6);
    EXPECT_EQ(parse_bytes("--bandwidth", "1Gbit/s", "/s"), 125e6);
    EXPECT_EQ(parse_bytes("--bandwidth", "4.5e10", "/s"), 4.5e10);
}

TEST(ParseBytes, RefusesOtherUnitsByName)
{
    EXPECT_EQ(refusal([] { parse_bytes("--memory", "80 G"); }),
              "--memory is '80 G' ('G' is no unit of bytes): give a positive number of bytes, for example 80e9, 80GB or 80GiB");
    for (const char* nonsense : {"", "GB", "-1GB", "nanGB", "inf", "1GB/s", "1gb", "1GBx", "1  GB"})
        EXPECT_NE(refusal([&] { parse_bytes("--memory", nonsense); }), "") << nonsense;
}

TEST(ParseCount, TakesIntegersInItsRange)
{
    EXPECT_EQ(parse_count("--ranks", "4", 8), 4);
    EXPECT_EQ(refusal([] { parse_count("--ranks", "0", 8); }), "--ranks is '0' (the least is 1): give an integer from 1 to 8");
    for (const char* nonsense : {"9", "-1", "2.0", "1e3", "", "x", "4 ", "99999999999999999999"})
        EXPECT_NE(refusal([&] { parse_count("--ranks", nonsense, 8); }), "") << nonsense;
}

} // namespace
} // namespace shardline
