#pragma once

#include <cstddef>
#include <string_view>

namespace shardline {

/// One character at the start of a text; where the bytes are not UTF-8, one byte that is not valid.
struct Utf8Character {
    char32_t code_point = 0;
    size_t bytes = 1;
    bool valid = false;
};

/// The first character of a non-empty text.
Utf8Character first_character(std::string_view text);

/// Characters of a text: the columns it takes on a terminal, as long as each character takes one.
size_t character_count(std::string_view text);

} // namespace shardline
