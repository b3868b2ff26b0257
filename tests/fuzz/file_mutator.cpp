// How file_fuzzer changes a file: in place, as offsets lead through all of it, and with the checksums of HDF5's metadata made
// right again, as HDF5 would look no further otherwise. Built without sanitizers, since it looks at every byte of every file.

#include "tests/unit/record/metadata_blocks.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

namespace {

using namespace shardline;
using test::MetadataBlock;
using Random = std::minstd_rand;

size_t below(size_t end, Random& random) { return end == 0 ? 0 : std::uniform_int_distribution<size_t>(0, end - 1)(random); }

/// A few bytes, of metadata as often as of all the rest.
MetadataBlock somewhere(const std::vector<MetadataBlock>& blocks, size_t size, Random& random)
{
    constexpr size_t most_bytes = 48;
    const MetadataBlock within = blocks.empty() || random() % 2 ? MetadataBlock{0, size} : blocks[below(blocks.size(), random)];
    const size_t begin = below(within.size, random);
    return {within.begin + begin, std::min(within.size - begin, 1 + below(most_bytes, random))};
}

/// In place: what lies behind must stay where others point to.
void change(uint8_t* data, size_t size, const std::vector<MetadataBlock>& blocks, Random& random)
{
    const MetadataBlock target = somewhere(blocks, size, random);
    if (random() % 4 == 0) { // what stands elsewhere, as an address that leads back
        const MetadataBlock source = somewhere(blocks, size, random);
        std::memmove(data + target.begin, data + source.begin, std::min(source.size, target.size));
        return;
    }
    std::vector<uint8_t> bytes(data + target.begin, data + target.begin + target.size);
    const size_t changed = LLVMFuzzerMutate(bytes.data(), bytes.size(), bytes.size());
    std::copy_n(bytes.begin(), std::min(changed, bytes.size()), data + target.begin);
}

} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed)
{
    Random random(seed);
    if (size == 0 || random() % 32 == 0) return LLVMFuzzerMutate(data, size, most);
    if (random() % 32 == 0) return below(size, random); // cut
    const auto blocks = test::metadata_blocks(data, size);
    for (size_t changes = 1 + below(4, random); changes != 0; --changes) change(data, size, blocks, random);
    if (random() % 16 != 0)
        for (const MetadataBlock& block : blocks) test::repair_checksum(data, block);
    return size;
}
