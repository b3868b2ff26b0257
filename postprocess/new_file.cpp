#include "postprocess/new_file.hpp"

#include "model/error.hpp"
#include "record/output_file.hpp"

#include <cerrno>
#include <fmt/format.h>
#include <fstream>

namespace shardline {
namespace {

bool is_hdf5(const std::string& path)
{
    constexpr std::string_view signature = "\x89HDF\r\n\x1a\n";
    std::string start(signature.size(), ' ');
    std::ifstream file(path, std::ios::binary);
    return file.read(start.data(), static_cast<std::streamsize>(start.size())) && start == signature;
}

} // namespace

void write_new_file(const std::string& path, std::string_view text, Existing existing)
{
    if (is_hdf5(path)) throw InputError(fmt::format("cannot write {} (it is an HDF5 file, perhaps the only copy of a run): choose another name", path));
    OutputFile output(path, existing == Existing::replace ? Overwrite::allow : Overwrite::refuse);
    std::ofstream file(output.temporary_path(), std::ios::binary | std::ios::trunc);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    file.close();
    if (!file) throw InputError(fmt::format("cannot write {} ({}): {}", path, errno_text(errno), remedy(errno)));
    output.publish();
}

} // namespace shardline
