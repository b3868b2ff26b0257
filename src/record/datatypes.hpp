#pragma once

// How values of a column stand in the file and in memory, as HDF5 datatypes.

#include "record/handle.hpp"
#include "record/schema.hpp"

namespace shardline::hdf5 {

/// Bytes of one value in memory; a text's are given.
size_t cell_bytes(schema::Type type, size_t text_bytes);

/// The type in the file. Texts are UTF-8 of fixed length, padded with NUL as numpy does.
Handle file_type(schema::Type type, size_t text_bytes);

/// The type in memory: native numbers; enumerations and texts as in the file.
Handle memory_type(schema::Type type, size_t text_bytes);

/// Number of values an enumeration has; 0 for other types.
size_t enumeration_size(schema::Type type);

} // namespace shardline::hdf5
