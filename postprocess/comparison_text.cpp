#include "postprocess/comparison_text.hpp"

#include "model/samples.hpp"
#include "postprocess/printable.hpp"
#include "postprocess/text_layout.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace shardline {

namespace {

std::string value_text(const Change& change, double value)
{
    return change.quantity == "D_obs" ? significant(value, 4) : time_text(value);
}

std::string percent_text(double ratio) { return fmt::format("{:+.1f} %", 100 * (ratio - 1)); }

std::string interval_text(const Change& change)
{
    return fmt::format("{} [{}, {}]", percent_text(change.ratio->value), percent_text(change.ratio->low), percent_text(change.ratio->high));
}

std::string table_of(const std::vector<const Change*>& changes)
{
    TextTable table;
    table.add_column("", TextTable::Align::left);
    table.add_column("before", TextTable::Align::right);
    table.add_column("now", TextTable::Align::right);
    table.add_column("change [95 %]", TextTable::Align::left);
    for (const Change* change : changes)
        table.add_row({change->quantity, value_text(*change, change->base), value_text(*change, change->current),
                       interval_text(*change)});
    return table.text(2 * indent);
}

} // namespace

std::string place_text(const Change& change)
{
    const std::string strategy = change.point.strategy.empty() ? "" : ", " + change.point.strategy;
    if (change.point.D == 0 && change.point.kind == PointKind::crossover)
        return fmt::format("B = {}, F = {}{}", change.point.B, change.point.F, strategy);
    return name_of(change.point) + strategy;
}

std::string change_sentence(const Change& change)
{
    const std::string values = fmt::format("{} {} -> {}", change.quantity, value_text(change, change.base), value_text(change, change.current));
    return change.ratio ? fmt::format("{}: {}", values, interval_text(change)) : values + ": too few visits for an interval";
}

std::string comparison_text(const Comparison& comparison, const ComparisonOptions& options, int width)
{
    std::vector<const Change*> changed;
    size_t judged = 0;
    for (const Change& change : comparison.changes) {
        judged += change.ratio.has_value();
        if (change.changed) changed.push_back(&change);
    }
    std::string text;
    for (size_t begin = 0, end = 0; begin < changed.size(); begin = end) { // places stand together
        const std::string place = place_text(*changed[begin]);
        while (end < changed.size() && place_text(*changed[end]) == place) ++end;
        text += wrapped(printable(place), static_cast<size_t>(width), indent);
        text += table_of({changed.begin() + static_cast<std::ptrdiff_t>(begin), changed.begin() + static_cast<std::ptrdiff_t>(end)});
    }
    if (!text.empty()) text += "\n";

    std::string summary;
    if (judged == 0)
        summary = "Nothing could be compared: the runs have no point in common that each visited three times.";
    else if (changed.empty())
        summary = fmt::format("No change: none of {} differs by more than {:.3g} % beyond noise.", counted(judged, "value"), 100 * options.threshold);
    else {
        const Change& largest = **std::ranges::max_element(
            changed, {}, [](const Change* change) { return std::abs(std::log(change->ratio->value)); });
        summary = fmt::format("Changed: {} of {}, most of all {} by {} at {}.", changed.size(), counted(judged, "value"),
                              largest.quantity, percent_text(largest.ratio->value), place_text(largest));
    }
    if (comparison.quantities_of_one_side > 0)
        summary += fmt::format(" {} of points that only one side visited.", counted(static_cast<size_t>(comparison.quantities_of_one_side), "value"));
    return text + wrapped(printable(summary), static_cast<size_t>(width), 0);
}

} // namespace shardline
