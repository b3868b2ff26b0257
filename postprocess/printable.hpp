#pragma once

#include <string>
#include <string_view>

namespace shardline {

/// `text` with everything escaped that could move a terminal's cursor, change its colours, break a line or
/// reorder what is read: control characters as \n, \t or \x1b, invalid UTF-8 bytes as \xff, and invisible or
/// direction-changing characters as \u{202e}. Whatever comes from a file or a user passes through here
/// before it is printed.
std::string printable(std::string_view text);

/// Printable text as it may stand in an element or a quoted attribute of HTML or XML.
std::string markup_escaped(std::string_view printable_text);

} // namespace shardline
