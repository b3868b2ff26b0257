#include "model/verdict.hpp"

#include <gtest/gtest.h>

namespace shardline {
namespace {

Estimate known_to(double value, double relative_half_width)
{
    return {value, value * (1 - relative_half_width), value * (1 + relative_half_width), 30};
}

/// Points on both sides, D_obs where the law puts it.
Evidence good_evidence()
{
    Evidence evidence;
    evidence.points = {
        {4000, Side::communication_bound}, {8000, Side::undecided}, {16000, Side::compute_bound}};
    evidence.D_law = known_to(7400, 0.02);
    evidence.D_model = known_to(8000, 0.03);
    evidence.D_obs = known_to(7800, 0.03);
    evidence.fewest_samples = 30;
    return evidence;
}

bool mentions(const Judgement& judgement, const std::string& text)
{
    return judgement.reason.find(text) != std::string::npos;
}

TEST(Verdict, HoldsWithinTheTolerance)
{
    Evidence evidence = good_evidence();
    EXPECT_EQ(judge(evidence).verdict, Verdict::holds);
    evidence.D_obs = known_to(7400 * 1.24, 0.03);
    EXPECT_EQ(judge(evidence).verdict, Verdict::holds);
    evidence.D_obs = known_to(7400 / 1.24, 0.03);
    EXPECT_EQ(judge(evidence).verdict, Verdict::holds);
    evidence.tolerance = 1.1;
    EXPECT_NE(judge(evidence).verdict, Verdict::holds);
}

TEST(Verdict, ExplainedWithinTenPercentOfTheModel)
{
    Evidence evidence = good_evidence();
    evidence.D_obs = known_to(10600, 0.03);
    evidence.D_model = known_to(10600 / 1.09, 0.01);
    EXPECT_EQ(judge(evidence).verdict, Verdict::explained);
}

TEST(Verdict, ExplainedInsideTheModelsInterval)
{
    Evidence evidence = good_evidence();
    evidence.D_obs = known_to(10600, 0.03);
    evidence.D_model = known_to(9000, 0.2);
    EXPECT_EQ(judge(evidence).verdict, Verdict::explained);
}

TEST(Verdict, ExplainedNamesTheFactorThatMattersMost)
{
    Evidence evidence = good_evidence();
    evidence.D_obs = known_to(10600, 0.03);
    evidence.D_model = known_to(10500, 0.03);
    const std::vector<Factor> factors{
        {"matmul_efficiency", 0.99, "the matmul at D* runs at 99 % of the calibrated rate"},
        {"allreduce_bandwidth", 1.44, "mpi_allreduce reaches 69 % of the link"}};
    evidence.factors = factors;
    EXPECT_EQ(judge(evidence).reason,
              "D* is 10600, the law says 7400; of the factor 1.432, 1.44: mpi_allreduce reaches 69 % of "
              "the link; the fitted costs predict 10500 ±3 %");
}

TEST(Verdict, RefutedWhenAwayFromBoth)
{
    Evidence evidence = good_evidence();
    evidence.D_obs = known_to(15000, 0.03);
    const Judgement judgement = judge(evidence);
    EXPECT_EQ(judgement.verdict, Verdict::refuted);
    EXPECT_TRUE(mentions(judgement, "do not account for it")) << judgement.reason;
}

TEST(Verdict, RefutedOnlyBeyondNoise)
{
    Evidence evidence = good_evidence();
    evidence.D_obs = known_to(10500, 0.2); // reaches down to the model's 8000 ± 10 %
    const Judgement judgement = judge(evidence);
    EXPECT_EQ(judgement.verdict, Verdict::inconclusive);
    EXPECT_TRUE(mentions(judgement, "add passes")) << judgement.reason;
}

TEST(Verdict, AModelThatAllowsAnythingExplainsNothing)
{
    Evidence evidence = good_evidence();
    evidence.D_obs = known_to(12000, 0.03);
    evidence.D_model = {8000, 2000, 20000, 30};
    EXPECT_EQ(judge(evidence).verdict, Verdict::inconclusive);
}

TEST(Verdict, RefutedWhenTheOrderIsWrong)
{
    Evidence evidence = good_evidence();
    evidence.points = {
        {4000, Side::compute_bound}, {8000, Side::undecided}, {16000, Side::communication_bound}};
    const Judgement judgement = judge(evidence);
    EXPECT_EQ(judgement.verdict, Verdict::refuted);
    EXPECT_TRUE(mentions(judgement, "D = 4000 is compute-bound, yet D = 16000 is communication-bound"))
        << judgement.reason;
}

TEST(Verdict, UndecidedPointsDoNotBreakTheOrder)
{
    Evidence evidence = good_evidence();
    evidence.points = {{4000, Side::communication_bound},
                       {7000, Side::undecided},
                       {7100, Side::undecided},
                       {16000, Side::compute_bound}};
    EXPECT_EQ(judge(evidence).verdict, Verdict::holds);
}

TEST(Verdict, WithoutABracketItSaysWhichDToAdd)
{
    Evidence evidence = good_evidence();
    evidence.D_obs = std::nullopt;
    evidence.points = {{4000, Side::compute_bound}, {8000, Side::compute_bound}};
    Judgement judgement = judge(evidence);
    EXPECT_EQ(judgement.verdict, Verdict::inconclusive);
    EXPECT_EQ(judgement.reason,
              "all points are compute-bound: add D below 4000 (the fitted costs predict 8000)");

    evidence.points = {{4000, Side::communication_bound}, {8000, Side::communication_bound}};
    evidence.D_model = std::nullopt;
    judgement = judge(evidence);
    EXPECT_EQ(judgement.verdict, Verdict::inconclusive);
    EXPECT_EQ(judgement.reason, "all points are communication-bound: add D above 8000 (the law says 7400)");
}

TEST(Verdict, ACrossingBetweenUndecidedPointsIsNoBracket)
{
    Evidence evidence = good_evidence();
    evidence.points = {{4000, Side::undecided}, {8000, Side::undecided}, {16000, Side::compute_bound}};
    const Judgement judgement = judge(evidence);
    EXPECT_EQ(judgement.verdict, Verdict::inconclusive);
    EXPECT_TRUE(mentions(judgement, "no point is communication-bound beyond its interval: add D below 4000"))
        << judgement.reason;
}

TEST(Verdict, FewSamplesAreInconclusive)
{
    Evidence evidence = good_evidence();
    evidence.fewest_samples = 5;
    const Judgement judgement = judge(evidence);
    EXPECT_EQ(judgement.verdict, Verdict::inconclusive);
    EXPECT_TRUE(mentions(judgement, "only 5 usable samples")) << judgement.reason;
    evidence.fewest_samples = 6;
    EXPECT_EQ(judge(evidence).verdict, Verdict::holds);
}

TEST(Verdict, NoPointsAreInconclusive)
{
    Evidence evidence = good_evidence();
    evidence.points.clear();
    EXPECT_EQ(judge(evidence).verdict, Verdict::inconclusive);
}

TEST(Verdict, WideIntervalsAreInconclusive)
{
    Evidence evidence = good_evidence();
    evidence.D_obs = known_to(7400, 0.26);
    EXPECT_EQ(judge(evidence).verdict, Verdict::inconclusive);
    evidence = good_evidence();
    evidence.D_law = known_to(7400, 0.3);
    EXPECT_EQ(judge(evidence).verdict, Verdict::inconclusive);
    EXPECT_TRUE(mentions(judge(evidence), "calibration")) << judge(evidence).reason;
}

TEST(Verdict, AnIntervalThatReachesFarToOneSideIsTooWide)
{
    Evidence evidence = good_evidence();
    evidence.D_obs->low = 0.7 * evidence.D_obs->value;
    EXPECT_EQ(judge(evidence).verdict, Verdict::inconclusive);
    evidence = good_evidence();
    evidence.D_law->high = 1.3 * evidence.D_law->value;
    EXPECT_EQ(judge(evidence).verdict, Verdict::inconclusive);
}

TEST(Verdict, PointsFarApartDoNotBracket)
{
    Evidence evidence = good_evidence();
    evidence.points = {{2000, Side::communication_bound}, {7900, Side::compute_bound}};
    EXPECT_EQ(judge(evidence).verdict, Verdict::holds);
    evidence.points = {{1900, Side::communication_bound}, {7900, Side::compute_bound}};
    const Judgement judgement = judge(evidence);
    EXPECT_EQ(judgement.verdict, Verdict::inconclusive);
    EXPECT_TRUE(mentions(judgement, "add D between 1900 and 7900")) << judgement.reason;
}

TEST(Verdict, WithoutCalibrationThereIsNothingToCompareWith)
{
    Evidence evidence = good_evidence();
    evidence.D_law = std::nullopt;
    EXPECT_EQ(judge(evidence).verdict, Verdict::inconclusive);
    evidence = good_evidence();
    evidence.D_model = std::nullopt;
    EXPECT_EQ(judge(evidence).verdict, Verdict::holds); // the model is not needed for that
    evidence.D_obs = known_to(15000, 0.03);
    EXPECT_EQ(judge(evidence).verdict, Verdict::inconclusive);
}

TEST(Verdict, InvalidNumbersAreInconclusiveBeforeAnythingElse)
{
    Evidence evidence = good_evidence();
    evidence.points = {{4000, Side::compute_bound}, {16000, Side::communication_bound}};
    evidence.invalid = "the result is wrong at D = 4000";
    const Judgement judgement = judge(evidence);
    EXPECT_EQ(judgement.verdict, Verdict::inconclusive);
    EXPECT_EQ(judgement.reason, evidence.invalid);
}

TEST(Verdict, SidesNeedIntervalsThatDoNotOverlap)
{
    EXPECT_EQ(side_of(known_to(2, 0.1), known_to(1, 0.1)), Side::compute_bound);
    EXPECT_EQ(side_of(known_to(1, 0.1), known_to(2, 0.1)), Side::communication_bound);
    EXPECT_EQ(side_of(known_to(1.1, 0.1), known_to(1, 0.1)), Side::undecided);
    Estimate range = known_to(2, 0.1);
    range.confidence = 0.5; // two samples may lie apart by chance
    EXPECT_EQ(side_of(range, known_to(1, 0.1)), Side::undecided);
}

TEST(Verdict, WorstInOrder)
{
    EXPECT_EQ(worse_of(Verdict::holds, Verdict::explained), Verdict::explained);
    EXPECT_EQ(worse_of(Verdict::inconclusive, Verdict::explained), Verdict::inconclusive);
    EXPECT_EQ(worse_of(Verdict::inconclusive, Verdict::refuted), Verdict::refuted);
    EXPECT_EQ(name_of(Verdict::explained), "explained");
}

} // namespace
} // namespace shardline
