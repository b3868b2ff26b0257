#include "postprocess/report_html.hpp"

#include "fake_analysis.hpp"
#include "postprocess/headline.hpp"

#include <gtest/gtest.h>

namespace shardline {
namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string page_of(const Analysis& analysis, const std::vector<RunData>& runs = {test::finished_run()}, const Figures& figures = {},
                    const DrawnFigures& drawn = {})
{
    return report_html(analysis, runs, figures, drawn);
}

TEST(ReportHtml, BeginsWithTheVerdictInASentence)
{
    const std::string page = page_of(test::explained_analysis());
    const size_t verdict = page.find("<strong>explained</strong>Split over 2 ranks, a matrix multiply of this kind waits for the network below D = 10597 [");
    EXPECT_NE(verdict, std::string::npos) << page;
    EXPECT_LT(verdict, page.find("<h2>Figures"));
    EXPECT_LT(page.find("<h2>Figures"), page.find("<h2>Numbers"));
    EXPECT_LT(page.find("<h2>Numbers"), page.find("id=\"findings\""));
    EXPECT_LT(page.find("id=\"findings\""), page.find("<h2>Where it was measured"));
    EXPECT_LT(page.find("<h2>Where it was measured"), page.find("<h2>The experiment"));
    EXPECT_LT(page.find("<h2>The experiment"), page.find("<h2>To measure it again"));
}

TEST(ReportHtml, GivesNumbersWithUnitAndInterval)
{
    const std::string page = page_of(test::explained_analysis());
    EXPECT_TRUE(holds(page, "<td class=\"number\">220.0 [218.9, 221.1]</td><td>GFLOP/s</td>")) << page;
    EXPECT_TRUE(holds(page, "<td class=\"number\">119.0 [118.6, 119.4]</td><td>MB/s</td>"));
    EXPECT_TRUE(holds(page, "<th class=\"number\">t_comp (ms)</th>"));
    EXPECT_TRUE(holds(page, "<td class=\"number\">512</td><td class=\"number\">2.440 [2.416, 2.465]</td><td class=\"number\">50.50 [49.49, 51.51]</td>"));
    EXPECT_TRUE(holds(page, "<td class=\"number\">7395 [7321, 7469]</td>"));
    EXPECT_TRUE(holds(page, "oversubscribed"));
    EXPECT_TRUE(holds(page, "2024-05-01T12:00:00Z"));
}

TEST(ReportHtml, SaysHowToMeasureAgain)
{
    const std::string page = page_of(test::explained_analysis(), {test::finished_run("it's $(here).h5")});
    EXPECT_TRUE(holds(page, "mpirun -n 2 shardline-run experiment.toml -o new.h5")) << page;
    EXPECT_TRUE(holds(page, "shardline compare &#39;it&#39;\\&#39;&#39;s $(here).h5&#39; --against new.h5"));
}

TEST(ReportHtml, TakesTextOfAFileAsText)
{
    const std::string page_breaker = "<script>alert(\"1\")</script><img src='http://x/' onerror=y>&amp;\x1b[31m\xff";
    Analysis analysis = test::explained_analysis();
    for (PointSummary& point : analysis.points) point.point.strategy = page_breaker;
    analysis.crossovers[0].strategy = analysis.crossovers[0].reason = analysis.reason = page_breaker;
    analysis.crossovers[0].factors[0].meaning = page_breaker;
    analysis.findings[0].text = analysis.findings[0].code = page_breaker;
    RunData run = test::finished_run(page_breaker);
    run.experiment_effective = "title = \"" + page_breaker + "\"\n" + page_breaker;
    run.experiment_text = page_breaker;
    run.overrides = {page_breaker};
    run.provenance.push_back({page_breaker, page_breaker});
    run.environment.push_back({page_breaker, page_breaker});
    run.ranks[0].host = run.ranks[0].cpu_model = run.ranks[0].blas_kernel = run.ranks[0].allowed_cores = page_breaker;
    for (const Verdict verdict : {Verdict::holds, Verdict::explained, Verdict::refuted, Verdict::inconclusive}) {
        analysis.verdict = analysis.crossovers[0].verdict = verdict;
        const std::string page = page_of(analysis, {run});
        for (const char* tag : {"<script", "<img", "\x1b", "\xff"}) EXPECT_FALSE(holds(page, tag)) << tag;
        EXPECT_TRUE(holds(page, "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;"));
        EXPECT_TRUE(holds(page, "\\x1b[31m"));
    }
}

TEST(ReportHtml, ShowsTheFiguresThatWereDrawnAndNamesTheOthers)
{
    Figures figures;
    Figure figure;
    figure.name = "crossover-2";
    figure.title = "<title>";
    figure.caption = "what <one> sees";
    figures.drawn = {figure};
    figures.omitted = {"No figure of the ranks: none is slow."};
    DrawnFigures drawn;
    drawn.files = {{"crossover-2.svg", "<?xml version=\"1.0\"?>\n<svg \n viewBox=\"0 0 1 1\"\n xmlns=\"http://www.w3.org/2000/svg\"\n"
                                       " xmlns:xlink=\"http://www.w3.org/1999/xlink\"\n>\n<title>Gnuplot</title>\n<desc>made</desc>\n"
                                       "<g id=\"canvas\"><circle id='dot'/><use xlink:href='#dot'/></g></svg>\n"}};
    const std::string page = page_of(test::explained_analysis(), {test::finished_run()}, figures, drawn);
    EXPECT_TRUE(holds(page, "<figure id=\"figure-crossover-2\">\n<svg role=\"img\" aria-label=\"&lt;title&gt;\"")) << page;
    EXPECT_TRUE(holds(page, "<circle id='crossover-2-dot'/><use href='#crossover-2-dot'/>"));
    EXPECT_TRUE(holds(page, "<figcaption>what &lt;one&gt; sees</figcaption>"));
    EXPECT_TRUE(holds(page, "No figure of the ranks"));
    EXPECT_FALSE(holds(page, "http:"));
    EXPECT_FALSE(holds(page, "https:"));
    EXPECT_FALSE(holds(page, "Gnuplot"));

    drawn = {{}, {"no figures are drawn (gnuplot is not on PATH): install gnuplot-nox, or load its module"}};
    const std::string without = page_of(test::explained_analysis(), {test::finished_run()}, figures, drawn);
    EXPECT_FALSE(holds(without, "<figure"));
    EXPECT_TRUE(holds(without, "gnuplot is not on PATH"));
}

TEST(ReportHtml, OfAnotherMeasureSaysOnceThatNoSweepWasMeasured)
{
    Analysis analysis;
    analysis.links.emplace();
    analysis.claims = {{"links", Verdict::holds, "all are as fast"}};
    analysis.verdict = Verdict::holds;
    analysis.reason = "all are as fast";
    const std::string page = page_of(analysis);
    EXPECT_TRUE(holds(page, "This run measured no sweep over D")) << page;
    EXPECT_FALSE(holds(page, "No crossover"));
    EXPECT_FALSE(holds(page, "Calibration"));
    Analysis stopped; // of a sweep that came to nothing
    stopped.reason = "calibration only";
    EXPECT_TRUE(holds(page_of(stopped), "No crossover: calibration only."));
}

TEST(Headline, FitsEveryVerdict)
{
    Analysis analysis = test::explained_analysis();
    analysis.verdict = analysis.crossovers[0].verdict = Verdict::holds;
    EXPECT_TRUE(holds(headline(analysis), "that is where the law puts it, at 7395 ["));
    analysis.verdict = analysis.crossovers[0].verdict = Verdict::refuted;
    EXPECT_TRUE(holds(headline(analysis), "nothing that was measured accounts for the difference"));
    analysis.crossovers[0].D_obs.reset();
    EXPECT_TRUE(holds(headline(analysis), "does not behave as the law says: D* is 10600"));
    analysis.verdict = analysis.crossovers[0].verdict = Verdict::inconclusive;
    EXPECT_TRUE(holds(headline(analysis), "do not tell where"));
    EXPECT_TRUE(holds(headline({}), "do not tell where"));
    Analysis study;
    study.verdict = Verdict::holds;
    study.reason = "the dot product runs at M";
    study.claims = {{"dot", Verdict::holds, "the dot product runs at M"}};
    EXPECT_EQ(headline(study), "What this run was to test holds: the dot product runs at M.");
    study.verdict = study.claims[0].verdict = Verdict::explained;
    EXPECT_EQ(headline(study), "What this run was to test holds once what was measured is taken into account: the dot product runs at M.");
}

} // namespace
} // namespace shardline
