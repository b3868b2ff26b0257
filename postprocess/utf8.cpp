#include "postprocess/utf8.hpp"

namespace shardline {

Utf8Character first_character(std::string_view text)
{
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(0);
    if (lead < 0x80) return {lead, 1, true};

    const size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
    char32_t code_point = lead & (0xffu >> (bytes + 1));
    for (size_t i = 1; i < bytes; ++i) {
        if ((byte(i) & 0xc0) != 0x80) return {};
        code_point = (code_point << 6) | (byte(i) & 0x3fu);
    }
    // Longer forms of shorter characters, halves of UTF-16 pairs, and what lies beyond Unicode.
    const bool overlong = (bytes == 3 && code_point < 0x800) || (bytes == 4 && code_point < 0x10000);
    const bool surrogate = code_point >= 0xd800 && code_point <= 0xdfff;
    if (overlong || surrogate || code_point > 0x10ffff) return {};
    return {code_point, bytes, true};
}

size_t character_count(std::string_view text)
{
    size_t count = 0;
    for (; !text.empty(); ++count) text.remove_prefix(first_character(text).bytes);
    return count;
}

} // namespace shardline
