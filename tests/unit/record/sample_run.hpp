#pragma once

// A run with something in every table, for the tests of the file.

#include "model/run_data.hpp"

#include <string>

namespace shardline::test {

/// Everything but points and repetitions.
RunData sample_header(int32_t ranks);

/// `count` repetitions of a point, the next after `first` of them; every reading differs from every other.
Repetitions sample_repetitions(int32_t ranks, size_t first, size_t count, int32_t point = 0);

/// The same, thinned: those of the first point.
Repetitions thinned_repetitions(int32_t ranks, size_t first, size_t count);

/// A point of the sweep.
Point sample_point(int64_t D, int32_t ranks);

/// Adds the rows of `more`.
void append_rows(Repetitions& rows, const Repetitions& more);

/// A folder of the test's own, gone afterwards.
class ScratchFolder {
public:
    ScratchFolder();
    ~ScratchFolder();
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    std::string path(const std::string& name) const { return path_ + "/" + name; }
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

} // namespace shardline::test
