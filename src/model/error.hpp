#pragma once

// Errors a user can mend. The text has the form "problem (why): suggestion" and is printed once.

#include <stdexcept>

namespace shardline {

/// Wrong usage or input: a file, an option, a value. Programs end with exit code 2.
struct InputError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Recorded samples that cannot be times. Programs end with exit code 2.
struct DataError : InputError {
    using InputError::InputError;
};

} // namespace shardline
