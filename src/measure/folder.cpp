#include "measure/folder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>

#include <unistd.h>

namespace shardline {

namespace {

namespace fs = std::filesystem;

/// mountinfo writes blanks and backslashes of a path as \040 and the like.
std::string unescaped(const std::string& text)
{
    std::string plain;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 3 < text.size()) {
            plain += static_cast<char>(std::stoi(text.substr(i + 1, 3), nullptr, 8));
            i += 3;
        } else {
            plain += text[i];
        }
    }
    return plain;
}

bool lies_in(const fs::path& path, const fs::path& folder)
{
    return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

/// Texts of all ranks on rank 0, each once. Collective over control.
std::vector<std::string> gather_distinct(const std::string& mine, MPI_Comm control)
{
    int rank = 0, P = 1;
    MPI_Comm_rank(control, &rank);
    MPI_Comm_size(control, &P);
    constexpr size_t width = MPI_MAX_PROCESSOR_NAME;
    std::string padded = mine;
    padded.resize(width);
    std::string all(rank == 0 ? width * static_cast<size_t>(P) : 0, '\0');
    MPI_Gather(padded.data(), static_cast<int>(width), MPI_CHAR, all.data(), static_cast<int>(width), MPI_CHAR, 0, control);
    std::set<std::string> texts;
    for (size_t at = 0; at < all.size(); at += width)
        if (const std::string text = all.substr(at, width).c_str(); !text.empty()) texts.insert(text);
    return {texts.begin(), texts.end()};
}

} // namespace

std::string file_system_of(const fs::path& path, const fs::path& mountinfo)
{
    std::ifstream in(mountinfo);
    std::string found;
    fs::path nearest;
    for (std::string line; std::getline(in, line);) {
        // id, parent, device, root, mount point, options..., "-", kind, ...
        std::istringstream words(line);
        std::string word, point, kind;
        for (int i = 0; i < 5 && words >> word; ++i) point = word;
        while (words >> word && word != "-") {}
        if (!(words >> kind)) continue;
        const fs::path mount = unescaped(point);
        // The later of two mounts on one point hides the earlier.
        if (!lies_in(path, mount) || lies_in(nearest, mount) > lies_in(mount, nearest)) continue;
        nearest = mount;
        found = kind;
    }
    return found;
}

FolderFacts survey_folder(const std::string& file, const Session& session)
{
    FolderFacts facts;
    const fs::path folder = fs::path(file).parent_path();
    facts.path = broadcast_text(folder.empty() ? "." : folder.string(), session.control());
    std::error_code error;
    facts.exists = fs::is_directory(facts.path, error);
    facts.without = gather_distinct(facts.exists ? "" : host_name(), session.control());
    if (!session.is_root() || !facts.exists) return facts;
    facts.writable = ::access(facts.path.c_str(), W_OK | X_OK) == 0;
    facts.file_system = file_system_of(fs::weakly_canonical(facts.path, error), "/proc/self/mountinfo");
    const fs::space_info space = fs::space(facts.path, error);
    facts.free_bytes = error ? 0 : static_cast<int64_t>(space.available);
    return facts;
}

std::vector<Finding> folder_findings(const FolderFacts& folder)
{
    constexpr int64_t little_bytes = 100'000'000;
    const auto finding = [](Severity severity, std::string text) { return Finding{"folder", severity, -1, std::move(text)}; };
    if (!folder.exists) return {finding(Severity::invalid, fmt::format("there is no folder {} where rank 0 runs: make it, or name another with -o", folder.path))};
    if (!folder.writable) return {finding(Severity::invalid, fmt::format("the folder {} takes no files of this user: name another with -o", folder.path))};
    std::vector<Finding> findings;
    if (folder.file_system == "tmpfs" || folder.file_system == "ramfs")
        findings.push_back(finding(Severity::warning,
                                   fmt::format("the folder {} lies in memory ({}): files are lost with the node, and on many clusters with the "
                                               "job; name a folder on disk with -o",
                                               folder.path, folder.file_system)));
    if (!folder.without.empty())
        findings.push_back(finding(Severity::warning,
                                   fmt::format("the folder {} is not there on {}: a run that was stopped can only go on where rank 0 sees its "
                                               "file; name a folder that all nodes share with -o",
                                               folder.path, fmt::join(folder.without, ", "))));
    if (folder.free_bytes < little_bytes)
        findings.push_back(finding(Severity::warning, fmt::format("the folder {} has {:.1f} MB left: free some space, or name another with -o",
                                                                  folder.path, static_cast<double>(folder.free_bytes) / 1e6)));
    return findings;
}

} // namespace shardline
