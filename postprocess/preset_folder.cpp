#include "postprocess/preset_folder.hpp"

#include <filesystem>

namespace shardline {

Presets known_presets(const std::optional<std::string>& folder)
{
    std::error_code error;
    std::vector<std::string> folders;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
    const std::filesystem::path installed = program.parent_path().parent_path() / "share/shardline/presets";
    if (!error && std::filesystem::is_directory(installed, error)) folders.push_back(installed.string());
    if (folder) folders.push_back(*folder);
    return read_presets(folders);
}

} // namespace shardline
