#pragma once

// HDF5 looks no further where a checksum of its metadata is wrong. Files are forged with the checksums right.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

extern "C" uint32_t H5_checksum_metadata(const void* data, size_t size, uint32_t start); // HDF5's own, in none of its public headers

namespace shardline::test {

/// A piece of metadata whose last four bytes are the checksum of those before.
struct MetadataBlock {
    size_t begin, size;
};

inline constexpr size_t checksum_bytes = 4;

inline bool begins_metadata_block(const uint8_t* bytes)
{
    static constexpr std::string_view signatures[] = {"\x89HDF", "OHDR", "OCHK", "BTHD", "BTIN", "BTLF", "FRHP", "FHIB", "FHDB",
                                                      "FSHD", "FSSE", "SMTB", "SMLI", "EAHD", "EAIB", "EASB", "EADB", "FAHD", "FADB"};
    const bool may_be = (bytes[0] >= 'A' && bytes[0] <= 'Z') || bytes[0] == 0x89; // soon said of most bytes
    return may_be && std::any_of(std::begin(signatures), std::end(signatures),
                                 [&](std::string_view signature) { return std::memcmp(bytes, signature.data(), 4) == 0; });
}

inline uint32_t checksum_at(const uint8_t* bytes)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < checksum_bytes; ++i) sum |= static_cast<uint32_t>(bytes[i]) << (8 * i);
    return sum;
}

/// The blocks of a file. Where one ends is written in others; trying every end finds it too, and knows nothing of the format.
inline std::vector<MetadataBlock> metadata_blocks(const uint8_t* file, size_t size)
{
    constexpr size_t most_bytes = 4096; // a page of our files
    std::vector<MetadataBlock> blocks;
    for (size_t begin = 0; begin + 2 * checksum_bytes <= size; ++begin) {
        if (!begins_metadata_block(file + begin)) continue;
        for (size_t length = checksum_bytes; length < most_bytes && begin + length + checksum_bytes <= size; ++length) {
            if (H5_checksum_metadata(file + begin, length, 0) != checksum_at(file + begin + length)) continue;
            blocks.push_back({begin, length + checksum_bytes});
            break;
        }
    }
    return blocks;
}

inline void repair_checksum(uint8_t* file, const MetadataBlock& block)
{
    const size_t covered = block.size - checksum_bytes;
    const uint32_t sum = H5_checksum_metadata(file + block.begin, covered, 0);
    for (size_t i = 0; i < checksum_bytes; ++i) file[block.begin + covered + i] = static_cast<uint8_t>(sum >> (8 * i));
}

} // namespace shardline::test
