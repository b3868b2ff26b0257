#include "experiment/experiment.hpp"

#include "model/error.hpp"

#include <gtest/gtest.h>

namespace shardline {
namespace {

using Integers = std::vector<int64_t>;

Experiment parse(const std::string& text, const std::vector<std::string>& overrides = {})
{
    return parse_experiment(text, "e.toml", overrides);
}

/// The message with which `text` is refused; empty where it is accepted.
std::string refusal(const std::string& text, const std::vector<std::string>& overrides = {})
{
    try {
        parse(text, overrides);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

TEST(Experiment, AnEmptyFileGivesTheDefaults)
{
    const Experiment e = parse("");
    EXPECT_EQ(e.title, "");
    EXPECT_EQ(e.B, Integers{1024});
    EXPECT_EQ(e.F, Integers{1024});
    EXPECT_EQ(e.D, std::nullopt);
    EXPECT_EQ(e.compute_type, std::vector{ElementType::f32});
    EXPECT_EQ(e.wire_type, std::vector{ElementType::f32});
    EXPECT_EQ(e.rank_choice, RankChoice::all);
    EXPECT_EQ(e.placement, Placement::as_started);
    EXPECT_EQ(e.strategy, std::vector<std::string>{"mpi_allreduce"});
    EXPECT_EQ(e.blas_threads, 0);
}

TEST(Experiment, ReadsEveryKey)
{
    const std::string text = R"(
title = "all keys"
B = [64, 128]
F = 256
D = [1, 2, 3]
compute_type = "f64"
wire_type = ["bf16", "f64"]
ranks = [2, 5]
placement = "spread"
strategy = "mpi_allreduce"
passes = 2
max_passes = 9
target_point = 0.01
target_D_obs = 0.03
time_budget_s = 60
repetitions = 3
warmups = 0
thin_above_ranks = 0
seed = 7
blas_threads = 4
sync = "window"
watchdog_s = 0

[inject]
what = "slow_rank"
rank = 1
amount = 3
visit = 4
)";
    const Experiment e = parse(text);
    EXPECT_EQ(e.title, "all keys");
    EXPECT_EQ(e.thin_above_ranks, 0);
    EXPECT_EQ(e.B, (Integers{64, 128}));
    EXPECT_EQ(e.F, Integers{256});
    EXPECT_EQ(e.D, (Integers{1, 2, 3}));
    EXPECT_EQ(e.compute_type, std::vector{ElementType::f64});
    EXPECT_EQ(e.wire_type, (std::vector{ElementType::bf16, ElementType::f64}));
    EXPECT_EQ(e.rank_choice, RankChoice::listed);
    EXPECT_EQ(e.ranks, (Integers{2, 5}));
    EXPECT_EQ(e.placement, Placement::spread);
    EXPECT_EQ(e.strategy, std::vector<std::string>{"mpi_allreduce"});
    EXPECT_EQ(e.passes, 2);
    EXPECT_EQ(e.repetitions, 3);
    EXPECT_EQ(e.warmups, 0);
    EXPECT_EQ(e.seed, 7u);
    EXPECT_EQ(e.blas_threads, 4);
    EXPECT_EQ(e.max_passes, 9);
    EXPECT_EQ(e.target_point, 0.01);
    EXPECT_EQ(e.target_D_obs, 0.03);
    EXPECT_EQ(e.time_budget_s, 60);
    EXPECT_EQ(e.sync, Sync::window);
    EXPECT_EQ(e.watchdog_s, 0);
    EXPECT_EQ(e.inject.what, "slow_rank");
    EXPECT_EQ(e.inject.rank, 1);
    EXPECT_EQ(e.inject.amount, 3);
    EXPECT_EQ(e.inject.visit, 4);
    EXPECT_EQ(e.text, text);
}

TEST(Experiment, DIsAutoAnIntegerOrAList)
{
    EXPECT_EQ(parse("D = \"auto\"").D, std::nullopt);
    EXPECT_EQ(parse("D = 5").D, Integers{5});
    EXPECT_EQ(parse("D = [5, 1]").D, (Integers{5, 1}));
    EXPECT_EQ(refusal("D = \"all\""),
              "e.toml:1: key 'D' is the string 'all': give \"auto\", an integer from 1 to 2147483647, or a list of them");
}

TEST(Experiment, ComputeTypeBf16IsReadWhateverTheBlasHas)
{
    EXPECT_EQ(parse("compute_type = \"bf16\"").compute_type, std::vector{ElementType::bf16});
}

TEST(Experiment, RanksAreAllASweepOrAList)
{
    EXPECT_EQ(parse("ranks = \"all\"").rank_choice, RankChoice::all);
    EXPECT_EQ(parse("ranks = \"sweep\"").rank_choice, RankChoice::sweep);
    EXPECT_EQ(parse("ranks = 4").ranks, Integers{4});
    EXPECT_EQ(parse("", {"ranks=[2,3]"}).ranks, (Integers{2, 3}));
    EXPECT_EQ(parse("ranks = [2, 3]", {"ranks=sweep"}).rank_choice, RankChoice::sweep);
    const std::string suggestion = "give \"all\", \"sweep\", an integer from 2 to 2147483647, or a list of them";
    EXPECT_EQ(refusal("ranks = \"some\""), "e.toml:1: key 'ranks' is the string 'some': " + suggestion);
    EXPECT_EQ(refusal("ranks = [2, 1]"), "e.toml:1: key 'ranks' is 1 (the least is 2): " + suggestion);
    EXPECT_EQ(refusal("ranks = 2.0"), "e.toml:1: key 'ranks' is the floating-point 2.0: " + suggestion);
    EXPECT_NE(refusal("ranks = []"), "");
    EXPECT_NE(refusal("ranks = [2, 2]"), "");
    EXPECT_NE(refusal("ranks = [[2]]"), "");
    EXPECT_NE(refusal("ranks = true"), "");
    EXPECT_NE(refusal("measure = \"links\"\nranks = 2"), "");
}

TEST(Experiment, PlacementIsOneOfThree)
{
    EXPECT_EQ(parse("placement = \"pack\"").placement, Placement::pack);
    EXPECT_EQ(parse("placement = \"as_started\"").placement, Placement::as_started);
    EXPECT_EQ(refusal("placement = \"random\""),
              "e.toml:1: key 'placement' is the string 'random', which is not known: give \"as_started\" or \"spread\" or \"pack\"");
    EXPECT_NE(refusal("placement = [\"pack\", \"spread\"]"), "");
    EXPECT_NE(refusal("measure = \"roofline\"\nplacement = \"pack\""), "");
    EXPECT_EQ(refusal("measure = \"allreduce\"\nplacement = \"pack\""), "");
}

TEST(Experiment, TypesAreNamesOrLists)
{
    EXPECT_EQ(parse("compute_type = [\"f64\", \"f32\"]").compute_type, (std::vector{ElementType::f64, ElementType::f32}));
    EXPECT_NE(refusal("compute_type = []"), "");
    EXPECT_NE(refusal("wire_type = [\"f32\", \"f32\"]"), "");
    EXPECT_NE(refusal("wire_type = [\"f32\", 4]"), "");
    EXPECT_EQ(refusal("measure = \"allreduce\"\nwire_type = [\"f32\", \"f64\"]"),
              "e.toml:2: key 'wire_type' lists several types (one allreduce is of one type): name one, and start a run for each");
}

TEST(Experiment, AnUnknownKeyIsNamedWithItsLineAndItsNeighbour)
{
    EXPECT_EQ(refusal("B = 1\n\nwire_typ = \"f32\"\n"), "e.toml:3: key 'wire_typ' is unknown: did you mean 'wire_type'?");
    EXPECT_EQ(refusal("[B]\nx = 1"), "e.toml:1: key 'B' is a table: give an integer from 1 to 2147483647, or a list of them");
    EXPECT_EQ(refusal("[network]\nx = 1").substr(0, 54), "e.toml:1: key 'network' is unknown: the keys are title");
    EXPECT_EQ(refusal("[inject]\n\nwhta = \"hang\""), "e.toml:3: key 'inject.whta' is unknown: did you mean 'inject.what'?");
}

TEST(Experiment, WrongTypesAreRefused)
{
    EXPECT_EQ(refusal("title = 3"), "e.toml:1: key 'title' is the integer 3: give a string in quotes");
    EXPECT_EQ(refusal("passes = \"2\""), "e.toml:1: key 'passes' is the string '2': give an integer from 1 to 2147483647");
    EXPECT_EQ(refusal("B = 1e3"),
              "e.toml:1: key 'B' is the floating-point 1000.0: give an integer from 1 to 2147483647, or a list of them");
    EXPECT_EQ(refusal("B = [1, \"x\"]"),
              "e.toml:1: key 'B' is the string 'x': give an integer from 1 to 2147483647, or a list of them");
    EXPECT_EQ(refusal("B = [[1]]"), "e.toml:1: key 'B' is a list: give an integer from 1 to 2147483647, or a list of them");
    EXPECT_EQ(refusal("wire_type = \"f16\""),
              "e.toml:1: key 'wire_type' is the string 'f16', which is not known: give \"f32\" or \"f64\" or \"bf16\"");
    EXPECT_EQ(refusal("wire_type = true"), "e.toml:1: key 'wire_type' is the boolean true: give \"f32\" or \"f64\" or \"bf16\"");
    EXPECT_EQ(refusal("strategy = \"ring\""),
              "e.toml:1: key 'strategy' is the string 'ring', which is not known: give \"mpi_allreduce\" or "
              "\"mpi_persistent\" or \"mpi_iallreduce\" or \"segmented_ring\" or \"pipelined_test\" or \"pipelined_thread\"");
    EXPECT_EQ(refusal("strategy = []"),
              "e.toml:1: key 'strategy' is an empty list (nothing would be measured): name one at least");
    EXPECT_EQ(refusal("strategy = [\"segmented_ring\", \"segmented_ring\"]"),
              "e.toml:1: key 'strategy' lists the string 'segmented_ring' twice (it would be measured as two): list each name once");
    EXPECT_TRUE(refusal("strategy = [\"segmented_ring\", 3]").starts_with("e.toml:1: key 'strategy' is the integer 3"));
    EXPECT_EQ(refusal("seed = 2020-01-01"),
              "e.toml:1: key 'seed' is the date 2020-01-01: give an integer from 0 to 9223372036854775807");
}

TEST(Experiment, ImpossibleValuesAreRefusedWithTheReason)
{
    EXPECT_EQ(refusal("B = 0"), "e.toml:1: key 'B' is 0 (the least is 1): give an integer from 1 to 2147483647, or a list of them");
    EXPECT_EQ(refusal("F = [4, -1]"),
              "e.toml:1: key 'F' is -1 (the least is 1): give an integer from 1 to 2147483647, or a list of them");
    EXPECT_EQ(refusal("D = 0").substr(0, 39), "e.toml:1: key 'D' is 0 (the least is 1)");
    EXPECT_EQ(refusal("D = []").substr(0, 69), "e.toml:1: key 'D' is an empty list (nothing would be measured): give ");
    EXPECT_EQ(refusal("B = [2, 3, 2]"), "e.toml:1: key 'B' lists 2 twice (one point would be measured as two): list each value once; "
                                        "more samples of a point come from 'repetitions' and 'passes'");
    EXPECT_NE(refusal("passes = 0"), "");
    EXPECT_NE(refusal("repetitions = 0"), "");
    // Of as many, the gathered readings have a count below 2^31 and bytes above it.
    EXPECT_NE(refusal("repetitions = 60000000").find("travel in one MPI message"), std::string::npos);
    EXPECT_NE(refusal("warmups = 60000000").find("travel in one MPI message"), std::string::npos);
    EXPECT_NE(refusal("warmups = -1"), "");
    EXPECT_NE(refusal("seed = -1"), "");
    EXPECT_NE(refusal("blas_threads = -1"), "");
}

TEST(Experiment, TargetsAreFractions)
{
    EXPECT_EQ(refusal("target_point = 2"), "e.toml:1: key 'target_point' is 2 (not between 0 and 1): give a relative half-width, "
                                           "for example 0.02 for 2 %");
    EXPECT_NE(refusal("target_D_obs = 0"), "");
    EXPECT_NE(refusal("target_D_obs = -0.1"), "");
    EXPECT_NE(refusal("target_D_obs = nan"), "");
    EXPECT_NE(refusal("target_D_obs = inf"), "");
    EXPECT_NE(refusal("target_D_obs = \"x\""), "");
}

TEST(Experiment, MaxPassesIsNoLessThanPasses)
{
    EXPECT_EQ(refusal("passes = 4\nmax_passes = 3"),
              "e.toml:2: key 'max_passes' is 3 (less than the 4 passes that every point gets): raise it, or lower 'passes'");
    EXPECT_EQ(parse("passes = 40").max_passes, 40); // its default gives way
}

TEST(Experiment, AnInjectionSaysWhat)
{
    EXPECT_EQ(refusal("[inject]\nrank = 1").substr(0, 80),
              "e.toml:2: key 'inject.rank' has no effect (nothing says what to inject): give in");
    EXPECT_NE(refusal("[inject]\nwhat = \"fire\""), "");
    EXPECT_NE(refusal("[inject]\nwhat = \"hang\"\nrank = -1"), "");
    EXPECT_NE(refusal("[inject]\nwhat = \"hang\"\namount = nan"), "");
    EXPECT_NE(refusal("inject = 3"), "");
    EXPECT_EQ(parse("", {"inject.what=hang"}).inject.what, "hang");
}

TEST(Experiment, DimensionsBeyondBlasAreRefusedWithTheReason)
{
    EXPECT_EQ(parse("B = 2147483647\nF = 1").B, Integers{2147483647});
    EXPECT_EQ(refusal("B = 2147483648\nF = 1"),
              "e.toml:1: key 'B' is 2147483648 (the most is 2147483647: BLAS takes dimensions as 32-bit integers): give an integer "
              "from 1 to 2147483647, or a list of them");
    EXPECT_NE(refusal("D = 2147483648"), "");
    EXPECT_NE(refusal("passes = 2147483648").find("counts in 32 bits"), std::string::npos);
}

// 65 536 by 65 536 has more elements than 32 bits count, and is for the runner to split or to refuse; what
// 64 bits cannot count is refused here.
TEST(Experiment, MatricesBeyond64BitsAreRefused)
{
    EXPECT_EQ(parse("B = 65536\nF = 65536").B, Integers{65536});
    EXPECT_EQ(refusal("B = 2147483647\nF = [1, 2000000000]"),
              "e.toml:1: key 'B' is too large (B = 2147483647 and F = 2000000000 make a matrix of more than 2^63 bytes): give a "
              "smaller one");
    EXPECT_EQ(refusal("B = 2147483647\nF = 1", {"D=2147483646"}).substr(0, 33), "e.toml:1: key 'B' is too large (B");
}

TEST(Experiment, BrokenTomlIsRefusedWithItsLine)
{
    EXPECT_EQ(refusal("B = 1\nF = abc\n"), "e.toml:2: is not TOML (Error while parsing value: could not determine value type): "
                                            "correct line 2");
    EXPECT_EQ(refusal("B = 1\nB = 2\n").substr(0, 21), "e.toml:2: is not TOML");
    EXPECT_EQ(refusal("seed = 99999999999999999999").substr(0, 21), "e.toml:1: is not TOML");
    EXPECT_EQ(refusal("title = \"\xff\"").substr(0, 21), "e.toml:1: is not TOML");
}

TEST(Experiment, EveryMessageIsOneLine)
{
    for (const char* text : {"x", "B = [1,\n2,\n\"c\"]", "title = 1", "a.b.c = 1", "[[x]]", "B = {a = 1}"})
        EXPECT_EQ(refusal(text).find('\n'), std::string::npos) << refusal(text);
}

TEST(Experiment, DeepNestingIsRefusedNotFollowed)
{
    std::string key = "a";
    for (int i = 0; i < 200'000; ++i) key += ".a";
    EXPECT_NE(refusal(key + " = 1"), "");
    EXPECT_NE(refusal("[" + key + "]"), "");
    EXPECT_NE(refusal("B = " + std::string(500'000, '[')), "");
    EXPECT_NE(refusal("", {"B={" + key + "=1}"}), "");
}

// ---------------------------------------------------------------------------------------------------
// --set

TEST(Override, ReplacesWhatTheFileSays)
{
    const Experiment e = parse("B = 1\nF = 2", {"B=[3, 4]", "D = 7", "wire_type=bf16", "title=\"a = b\"", "B=5"});
    EXPECT_EQ(e.B, Integers{5}); // the last one counts
    EXPECT_EQ(e.F, Integers{2});
    EXPECT_EQ(e.D, Integers{7});
    EXPECT_EQ(e.wire_type, std::vector{ElementType::bf16});
    EXPECT_EQ(e.title, "a = b");
    EXPECT_EQ(e.overrides.size(), 5u);
    EXPECT_EQ(e.text, "B = 1\nF = 2");
}

TEST(Override, BareWordsAreStrings)
{
    EXPECT_EQ(parse("", {"title=quiet night run 3"}).title, "quiet night run 3");
    EXPECT_EQ(parse("D = 3", {"D=auto"}).D, std::nullopt);
    EXPECT_EQ(parse("", {"title=\xc3\xa4"}).title, "\xc3\xa4");
}

TEST(Override, MistakesNameTheOverride)
{
    EXPECT_EQ(refusal("", {"B=abc"}),
              "--set B=abc: key 'B' is the string 'abc': give an integer from 1 to 2147483647, or a list of them");
    EXPECT_EQ(refusal("", {"C=1"}).substr(0, 30), "--set C=1: key 'C' is unknown:");
    EXPECT_EQ(refusal("", {"wire=f32"}).substr(0, 36), "--set wire=f32: key 'wire' is unknow");
    EXPECT_EQ(refusal("", {"B"}), "--set B: is not of the form key=value: give for example --set B=2048");
    EXPECT_EQ(refusal("", {"=3"}), "--set =3: is not of the form key=value: give for example --set B=2048");
    EXPECT_EQ(refusal("", {""}), "--set : is not of the form key=value: give for example --set B=2048");
    EXPECT_EQ(refusal("", {"B="}).substr(0, 33), "--set B=: the value is not TOML (");
    EXPECT_EQ(refusal("", {"B=[1,"}).substr(0, 36), "--set B=[1,: the value is not TOML (");
    EXPECT_EQ(refusal("", {"B=1\nF=2"}).substr(0, 36), "--set B=1\nF=2: holds a line break (o");
    EXPECT_EQ(refusal("", {"title=\xff"}).substr(0, 36), "--set title=\xff: the value is not TOML");
    EXPECT_EQ(refusal("F = 2147483647", {"B=2147483647"}).substr(0, 43), "--set B=2147483647: key 'B' is too large (B");
}

TEST(Override, DoesNotExcuseTheFile)
{
    EXPECT_EQ(refusal("B = 0", {"B=1"}).substr(0, 25), "e.toml:1: key 'B' is 0 (t");
}

// ---------------------------------------------------------------------------------------------------
// to_toml

void expect_same(const Experiment& a, const Experiment& b)
{
    EXPECT_EQ(a.title, b.title);
    EXPECT_EQ(a.B, b.B);
    EXPECT_EQ(a.F, b.F);
    EXPECT_EQ(a.D, b.D);
    EXPECT_EQ(a.compute_type, b.compute_type);
    EXPECT_EQ(a.wire_type, b.wire_type);
    EXPECT_EQ(a.strategy, b.strategy);
    EXPECT_EQ(a.segment_bytes, b.segment_bytes);
    EXPECT_EQ(a.tiles, b.tiles);
    EXPECT_EQ(a.poll_sleep_us, b.poll_sleep_us);
    EXPECT_EQ(a.passes, b.passes);
    EXPECT_EQ(a.repetitions, b.repetitions);
    EXPECT_EQ(a.warmups, b.warmups);
    EXPECT_EQ(a.seed, b.seed);
    EXPECT_EQ(a.blas_threads, b.blas_threads);
    EXPECT_EQ(a.max_passes, b.max_passes);
    EXPECT_EQ(a.target_point, b.target_point);
    EXPECT_EQ(a.rank_choice, b.rank_choice);
    EXPECT_EQ(a.ranks, b.ranks);
    EXPECT_EQ(a.placement, b.placement);
    EXPECT_EQ(a.target_D_obs, b.target_D_obs);
    EXPECT_EQ(a.time_budget_s, b.time_budget_s);
    EXPECT_EQ(a.sync, b.sync);
    EXPECT_EQ(a.watchdog_s, b.watchdog_s);
    EXPECT_EQ(a.inject.what, b.inject.what);
    EXPECT_EQ(a.inject.rank, b.inject.rank);
    EXPECT_EQ(a.inject.amount, b.inject.amount);
    EXPECT_EQ(a.inject.visit, b.inject.visit);
}

TEST(ToToml, ReadsBackToTheSameExperiment)
{
    expect_same(parse(to_toml(Experiment{})), Experiment{});

    Experiment e;
    e.title = "quotes \" and ' and \\, a tab \t, a line\nbreak, \x1b[31m, \xc3\xa4 # no comment";
    e.B = {1, 2, 2147483647};
    e.F = {3};
    e.D = Integers{1};
    e.compute_type = {ElementType::bf16};
    e.wire_type = {ElementType::f64, ElementType::f32};
    e.rank_choice = RankChoice::listed;
    e.ranks = {7, 2};
    e.placement = Placement::pack;
    e.passes = 11;
    e.repetitions = 12;
    e.warmups = 0;
    e.seed = 9223372036854775807u;
    e.blas_threads = 3;
    e.max_passes = 31;
    e.strategy = {"segmented_ring", "pipelined_thread"};
    e.segment_bytes = 7;
    e.tiles = 3;
    e.poll_sleep_us = 9;
    e.target_point = 0.1 + 0.2;
    e.target_D_obs = 1e-7;
    e.time_budget_s = 5;
    e.sync = Sync::window;
    e.watchdog_s = 6;
    e.inject = {"drift", 2, 1e30, 3};
    expect_same(parse(to_toml(e)), e);
    e.rank_choice = RankChoice::sweep;
    e.ranks.clear();
    e.placement = Placement::spread;
    expect_same(parse(to_toml(e)), e);
}

TEST(ToToml, HoldsEveryKeyWithItsValue)
{
    EXPECT_EQ(to_toml(parse("B = [1, 2]\ntitle = \"x\"")), "title = \"x\"\n"
                                                           "B = [1, 2]\n"
                                                           "F = 1024\n"
                                                           "D = \"auto\"\n"
                                                           "compute_type = \"f32\"\n"
                                                           "wire_type = \"f32\"\n"
                                                           "strategy = \"mpi_allreduce\"\n"
                                                           "segment_bytes = 0\n"
                                                           "tiles = 0\n"
                                                           "poll_sleep_us = 500\n"
                                                           "passes = 6\n"
                                                           "max_passes = 30\n"
                                                           "target_point = 0.02\n"
                                                           "target_D_obs = 0.05\n"
                                                           "time_budget_s = 0\n"
                                                           "repetitions = 5\n"
                                                           "warmups = 1\n"
                                                           "seed = 1\n"
                                                           "blas_threads = 0\n"
                                                           "sync = \"barrier\"\n"
                                                           "watchdog_s = 300\n");
}

// ---------------------------------------------------------------------------------------------------
// measure

TEST(Measure, IsTheCrossoverUnlessGiven)
{
    EXPECT_EQ(parse("").measure, Measure::crossover);
    EXPECT_EQ(parse("measure = \"roofline\"").measure, Measure::roofline);
    EXPECT_EQ(parse("measure = \"links\"").measure, Measure::links);
    EXPECT_EQ(parse("", {"measure=allreduce"}).measure, Measure::allreduce);
    EXPECT_NE(refusal("measure = \"weather\"").find("e.toml:1: key 'measure' is the string 'weather'"), std::string::npos);
}

TEST(Measure, RefusesKeysThatWouldHaveNoEffect)
{
    EXPECT_EQ(refusal("vector_bytes = 5"), "e.toml:1: key 'vector_bytes' has no effect with measure = \"crossover\": leave it out, or give measure = \"roofline\"");
    EXPECT_NE(refusal("measure = \"roofline\"", {"strategy=segmented_ring"}).find("--set strategy=segmented_ring: key 'strategy' has no effect"), std::string::npos);
    EXPECT_NE(refusal("measure = \"links\"\nB = 4"), "");
    EXPECT_EQ(refusal("measure = \"allreduce\"\nwire_type = \"f64\"\nmessage_bytes = 8"), "");
}

TEST(Measure, ItsKeysReadBack)
{
    for (const char* text : {"measure = \"roofline\"\ntypes = \"f64\"\nvector_bytes = 7\nB = [1, 3]\nF = 5\nD = 9",
                             "measure = \"links\"\nmessage_bytes = [1, 2147483647]",
                             "measure = \"allreduce\"\nalgorithms = [\"default\", \"ring\"]\nmessage_bytes = 4"}) {
        const Experiment e = parse(text), again = parse(to_toml(e));
        expect_same(again, e);
        EXPECT_EQ(again.measure, e.measure) << text;
        EXPECT_EQ(again.types, e.types) << text;
        EXPECT_EQ(again.vector_bytes, e.vector_bytes) << text;
        EXPECT_EQ(again.message_bytes, e.message_bytes) << text;
        EXPECT_EQ(again.algorithms, e.algorithms) << text;
        EXPECT_EQ(to_toml(again), to_toml(e));
    }
}

TEST(Measure, AlgorithmsAreWords)
{
    EXPECT_EQ(parse("measure = \"allreduce\"\nalgorithms = [\"ring\"]").algorithms, std::vector<std::string>{"ring"});
    for (const char* value : {"3", "[]", "\"\"", "\"a b\"", "[\"ring\", \"ring\"]", "[1]"})
        EXPECT_NE(refusal(std::string("measure = \"allreduce\"\nalgorithms = ") + value), "") << value;
}

} // namespace
} // namespace shardline
