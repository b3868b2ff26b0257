#pragma once

// Numbers as a user gives them on a command line. Each function throws InputError naming the option.

#include <cstdint>
#include <string>

namespace shardline {

/// A finite number greater than zero, "1.97e14".
double parse_positive(const std::string& option, const std::string& text);

/// The same with an optional unit of bytes: kB, MB, GB, TB are powers of 1000, KiB, MiB, GiB, TiB of 1024,
/// kbit, Mbit and Gbit powers of 1000 over 8; `suffix` may follow the unit ("/s" for a rate). Returns bytes.
double parse_bytes(const std::string& option, const std::string& text, const std::string& suffix = "");

/// An integer from 1 to `most`.
int64_t parse_count(const std::string& option, const std::string& text, int64_t most);

} // namespace shardline
