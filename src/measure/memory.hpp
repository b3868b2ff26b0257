#pragma once

// Whether the nodes have the memory that a run needs, asked before anything is allocated.

#include "measure/session.hpp"

#include <cstdint>
#include <string>

namespace shardline {

/// Bytes of memory this process may still take: the least of the machine's available memory and its control groups'.
int64_t memory_available_bytes();

/// Bytes that this process's own limits (ulimit -v, ulimit -d) leave it.
int64_t memory_left_to_process_bytes();

/// Why a node cannot give each of its ranks `bytes_per_rank`, with need and have; empty where all can.
/// The same text on every rank. Collective over control.
std::string memory_shortage(int64_t bytes_per_rank, const Session& session);

/// Throws InputError with that text. Collective over control.
void require_memory(int64_t bytes_per_rank, const Session& session);

} // namespace shardline
