#pragma once

// Where text leaves the program. Results go to standard output in one piece, messages to standard error.

#include <span>
#include <string>
#include <string_view>

namespace shardline {

/// Writes all of `text` to standard output. Throws InputError where the reader has gone or the disk is
/// full, so that a report that was lost is never a success.
void write_standard_output(std::string_view text);

/// Writes `text`, which is `what`, to the file `path`, replacing what it held. Throws InputError where that fails, or where the
/// file holds something that this program does not write there: it could be a run's only copy.
void write_file(const std::string& path, std::string_view text, std::string_view what = "JSON");

/// A text that becomes a file of that name.
struct NamedText {
    std::string name, text;
};

/// What to do with a file that exists.
enum class Existing { keep, replace };

/// Writes each text to a file of its name in `folder`, which is made where it is missing. None of the files is ever half written. Throws
/// InputError where one cannot be written, or exists and is to be kept: then nothing is written.
void write_folder(const std::string& folder, std::span<const NamedText> files, Existing existing);

/// Prints "shardline: MESSAGE" to standard error, safe for a terminal.
void print_message(std::string_view message);

/// Whether results may be coloured: standard output is a terminal, and neither NO_COLOR nor TERM=dumb is set.
bool colour_wanted();

/// Whether standard output is a terminal, and whether that obeys escape sequences (TERM is not dumb).
bool is_terminal();
bool terminal_obeys();

/// Columns and lines of the terminal standard output is, or 80 and 24.
int terminal_width();
int terminal_height();

} // namespace shardline
