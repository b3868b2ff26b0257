#include "postprocess/junit.hpp"

#include "postprocess/comparison_text.hpp"
#include "postprocess/printable.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace shardline {
namespace {

/// Text for an element or an attribute. What XML 1.0 cannot hold at all (control characters, what is not UTF-8) is escaped as
/// on a terminal; U+FFFE and U+FFFF, which it cannot hold either, become U+FFFD.
std::string xml_text(std::string_view text)
{
    std::string safe = printable(text);
    for (const char* noncharacter : {"\xef\xbf\xbe", "\xef\xbf\xbf"})
        for (size_t at = 0; (at = safe.find(noncharacter, at)) != std::string::npos;) safe.replace(at, 3, "\xef\xbf\xbd");
    return markup_escaped(safe);
}

/// All quantities of one point, or a D_obs.
struct Case {
    const Point* point = nullptr;
    std::vector<const Change*> changes;

    bool failed() const { return std::ranges::any_of(changes, &Change::changed); }
    bool skipped() const
    {
        return std::ranges::none_of(changes, [](const Change* change) { return change->ratio.has_value(); });
    }
};

std::vector<Case> cases_of(const Comparison& comparison)
{
    std::vector<Case> cases;
    for (const Change& change : comparison.changes) { // places stand together
        if (cases.empty() || *cases.back().point != change.point) cases.push_back({&change.point, {}});
        cases.back().changes.push_back(&change);
    }
    return cases;
}

std::string sentences_of(const Case& its, bool only_changed)
{
    std::string text;
    for (const Change* change : its.changes)
        if (change->changed || !only_changed) text += (text.empty() ? "" : "; ") + change_sentence(*change);
    return text;
}

/// Types and ranks tell apart what has the same sizes.
std::string class_of(const Point& point)
{
    return fmt::format("shardline.P{}.{}.{}{}", point.P, name_of(point.compute_type), name_of(point.wire_type),
                       point.strategy.empty() ? "" : "." + point.strategy);
}

std::string name_of(const Case& its)
{
    const std::string place = place_text(*its.changes.front());
    const int64_t segment = its.point->segment_bytes;
    const std::string pieces = its.point->kind == PointKind::exchange ? fmt::format(" in segments of {}", segment) : "";
    return its.changes.front()->quantity == "D_obs" ? "D_obs at " + place : place + pieces;
}

std::string xml_of(const Case& its)
{
    std::string xml = fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"0\">\n", xml_text(class_of(*its.point)), xml_text(name_of(its)));
    if (its.skipped())
        xml += "      <skipped message=\"visited too seldom to be compared\"/>\n";
    else if (its.failed())
        xml += fmt::format("      <failure type=\"changed\" message=\"{}\"/>\n", xml_text(sentences_of(its, true)));
    return xml + fmt::format("      <system-out>{}</system-out>\n    </testcase>\n", xml_text(sentences_of(its, false)));
}

} // namespace

std::string comparison_junit(const Comparison& comparison, const ComparisonOptions& options)
{
    const std::vector<Case> cases = cases_of(comparison);
    const auto failures = std::ranges::count_if(cases, &Case::failed), skipped = std::ranges::count_if(cases, &Case::skipped);
    const std::string counts = fmt::format("tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\"", cases.size(), failures, skipped);
    std::string xml = fmt::format("{}{}>\n  <testsuite name=\"shardline compare, threshold {:.3g} %\" {} time=\"0\">\n", junit_beginning,
                                  counts, 100 * options.threshold, counts);
    for (const Case& its : cases) xml += xml_of(its);
    return xml + "  </testsuite>\n</testsuites>\n";
}

} // namespace shardline
