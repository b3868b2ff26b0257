#include "postprocess/printable.hpp"

#include "postprocess/utf8.hpp"

#include <fmt/format.h>

namespace shardline {
namespace {

bool is_control(char32_t c) { return c < 0x20 || (c >= 0x7f && c < 0xa0); }

/// Characters that show nothing themselves, or change what their neighbours show.
bool is_invisible(char32_t c)
{
    return c == 0x00ad || c == 0x061c || (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) || (c >= 0xe0000 && c <= 0xe0fff);
}

std::string escaped(char32_t c)
{
    switch (c) {
    case '\n': return "\\n";
    case '\r': return "\\r";
    case '\t': return "\\t";
    default: break;
    }
    return c < 0x80 ? fmt::format("\\x{:02x}", static_cast<unsigned>(c)) : fmt::format("\\u{{{:x}}}", static_cast<unsigned>(c));
}

} // namespace

std::string printable(std::string_view text)
{
    std::string safe;
    safe.reserve(text.size());
    while (!text.empty()) {
        const Utf8Character next = first_character(text);
        const std::string_view bytes = text.substr(0, next.bytes);
        if (!next.valid)
            safe += fmt::format("\\x{:02x}", static_cast<unsigned char>(bytes[0]));
        else if (is_control(next.code_point) || is_invisible(next.code_point))
            safe += escaped(next.code_point);
        else
            safe += bytes;
        text.remove_prefix(next.bytes);
    }
    return safe;
}

std::string markup_escaped(std::string_view printable_text)
{
    std::string markup;
    for (const char c : printable_text) {
        switch (c) {
        case '&': markup += "&amp;"; break;
        case '<': markup += "&lt;"; break;
        case '>': markup += "&gt;"; break;
        case '"': markup += "&quot;"; break;
        case '\'': markup += "&#39;"; break;
        default: markup += c;
        }
    }
    return markup;
}

} // namespace shardline
