#pragma once

#include "model/error.hpp"
#include "model/run_data.hpp"

#include <memory>
#include <span>
#include <string>

namespace shardline {

enum class Overwrite { refuse, allow };

/// The file was removed while it was written. All that was appended, up to the call that throws, is in a copy that the text names.
class FileRemoved : public InputError {
public:
    using InputError::InputError;
};

/// One run's HDF5 file while it is written, laid out as docs/file-format.md says: columns that grow,
/// appended under SWMR, so that a kill at any moment loses nothing that was committed.
class RunWriter {
public:
    /// Creates the file with everything that is fixed from the start (experiment, overrides, provenance,
    /// environment, at least one rank), and the findings and clocks so far; points, repetitions (but for how many
    /// readings a row has) and checks of `header` are ignored. The file takes its name when it is laid out, so that an older one of that name
    /// is replaced (where allowed) by a sound one or not at all. Throws InputError where the file exists,
    /// is in use, or cannot be written.
    RunWriter(const std::string& path, const RunData& header, Overwrite overwrite);

    /// Goes on with the file of a run that was stopped or killed: keeps what was committed (read_run tells
    /// what that is), drops the rest, sets the status back to running. Throws InputError where read_run
    /// would, or another program uses the file.
    static RunWriter reopen(const std::string& path);

    /// Without close() before, the status becomes `failed`.
    ~RunWriter();
    RunWriter(RunWriter&&) noexcept;
    RunWriter& operator=(RunWriter&&) noexcept;

    /// Append rows, safe from the end of this process when the call returns. Throw InputError when the disk
    /// refuses, then and from then on; the file keeps what was appended before. Throw FileRemoved where the file has gone.
    void append(std::span<const Point> points);
    void append(const Repetitions& repetitions);
    void append(const Check& check);
    void append(const Finding& finding);
    void append(std::span<const ClockModel> clocks);
    void append(std::span<const RankSummary> summaries);

    /// Sets the final status and closes; the file then opens with any HDF5 tool.
    void close(RunStatus status);

private:
    struct File;
    explicit RunWriter(std::unique_ptr<File> file);
    std::unique_ptr<File> file_;
};

} // namespace shardline
