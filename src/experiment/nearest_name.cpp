#include "experiment/nearest_name.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace shardline {
namespace {

std::string lower_case(std::string_view text)
{
    std::string lower(text);
    for (char& c : lower)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return lower;
}

/// Levenshtein distance: least number of insertions, deletions and substitutions from a to b.
size_t edit_distance(std::string_view a, std::string_view b)
{
    std::vector<size_t> row(b.size() + 1);
    for (size_t j = 0; j < row.size(); ++j) row[j] = j;
    for (size_t i = 1; i <= a.size(); ++i) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.size(); ++j) {
            const size_t substituted = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
        }
    }
    return row[b.size()];
}

} // namespace

std::optional<std::string_view> nearest_name(std::string_view word, std::span<const std::string_view> names)
{
    constexpr size_t longest_word = 64; // longer ones are no slip of the finger, and would cost quadratic time
    if (word.empty() || word.size() > longest_word) return std::nullopt;

    const std::string lower_word = lower_case(word);
    std::optional<std::string_view> nearest;
    size_t least = word.size() / 3 + 1; // one edit in a short word, more in a long one
    for (std::string_view name : names) {
        const size_t distance = edit_distance(lower_word, lower_case(name));
        // A name shares no letter with a word it is rebuilt from: "D" is no slip for "x".
        if (distance >= std::max(word.size(), name.size())) continue;
        if (distance < least || (distance == least && !nearest)) {
            least = distance;
            nearest = name;
        }
    }
    if (nearest) return nearest;
    constexpr size_t shortest_stem = 3; // "wire" for "wire_type"; one letter begins anything
    for (std::string_view name : names)
        if (word.size() >= shortest_stem && lower_case(name).starts_with(lower_word)) return name;
    return std::nullopt;
}

} // namespace shardline
