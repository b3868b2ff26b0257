// From a figure to gnuplot's script, and from that to pictures.

#include "postprocess/figures.hpp"

#include "model/error.hpp"
#include "postprocess/gnuplot.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <system_error>

namespace shardline {
namespace {

constexpr std::string_view gnuplot_style = R"(set encoding utf8

# Colours of Okabe and Ito, which the colour-blind can tell apart
black = '#000000'; orange = '#E69F00'; skyblue = '#56B4E9'; green = '#009E73'
yellow = '#F0E442'; blue = '#0072B2'; vermillion = '#D55E00'; purple = '#CC79A7'
grey = '#999999'

set grid back lw 0.5 lc rgb grey
set border lw 1
set tics nomirror
set key outside bottom center horizontal Left reverse samplen 4 height 0.7
set bars small
)";

struct Format {
    std::string_view suffix, terminal;
};

// No enhanced text anywhere: names from a file hold _ and ^ as they are.
constexpr Format formats_known[] = {
    {"svg", "svg noenhanced size 760,530 dynamic font 'sans-serif,14'"},
    {"pdf", "pdfcairo noenhanced size 7.6in,5.2in font 'sans-serif,12'"},
    {"png", "pngcairo noenhanced size 1520,1040 fontscale 2 linewidth 2 pointscale 2 font 'sans-serif,10'"},
};

/// By which a script is known as one of these.
std::string heading_of(std::string_view name) { return fmt::format("# Draws {0} from {0}.dat: gnuplot {0}.gp\n", name); }

void write(const std::string& folder, const NamedText& text)
{
    const std::string path = folder + "/" + text.name;
    std::ofstream file(path, std::ios::binary);
    file << text.text;
    if (!file.flush()) throw InputError(fmt::format("{} cannot be written: free space there, or set TMPDIR to another folder", path));
}

NamedText read(const std::string& folder, const std::string& name)
{
    std::ifstream file(folder + "/" + name, std::ios::binary);
    return {name, {std::istreambuf_iterator<char>(file), {}}};
}

} // namespace

std::string script_of(const Figure& figure, Formats formats)
{
    std::string script = fmt::format("{}\n{}\n{}", heading_of(figure.name), gnuplot_style, figure.setup);
    bool first = true;
    for (const Format& format : formats_known) {
        if (formats == Formats::svg && format.suffix != "svg") continue;
        script += fmt::format("\nset terminal {}\nset output '{}.{}'\n", format.terminal, figure.name, format.suffix);
        script += first ? fmt::format("plot \\\n  {}\n", figure.plot) : "replot\n";
        first = false;
    }
    return script;
}

namespace {

/// Why the picture could not be made, or nothing; then its files are added.
std::string draw(const Figure& figure, const std::string& folder, Formats formats, std::vector<NamedText>& files)
{
    write(folder, {figure.name + ".gp", script_of(figure, formats)});
    write(folder, {figure.name + ".dat", figure.data});
    const std::string why = run_gnuplot(folder, figure.name + ".gp");
    if (!why.empty()) return fmt::format("the figure {} is not drawn (gnuplot: {}): its numbers are {}.dat of --figures", figure.name, why, figure.name);
    for (const Format& format : formats_known)
        if (formats == Formats::all || format.suffix == "svg") files.push_back(read(folder, fmt::format("{}.{}", figure.name, format.suffix)));
    return "";
}

} // namespace

DrawnFigures draw(const std::vector<Figure>& figures, Formats formats)
{
    DrawnFigures drawn;
    for (const Figure& figure : figures) {
        drawn.files.push_back({figure.name + ".gp", script_of(figure, formats)});
        drawn.files.push_back({figure.name + ".dat", figure.data});
    }
    if (figures.empty()) return drawn;
    if (!gnuplot_is_installed()) {
        drawn.problems.emplace_back("no figures are drawn (gnuplot is not on PATH): install gnuplot-nox, or load its module");
        return drawn;
    }
    try {
        const TemporaryFolder folder;
        for (const Figure& figure : figures)
            if (std::string problem = draw(figure, folder.path(), formats, drawn.files); !problem.empty()) drawn.problems.push_back(std::move(problem));
    } catch (const InputError& error) { // the page comes without them
        drawn.problems.emplace_back(error.what());
    }
    return drawn;
}

void remove_old_figures(const std::string& folder, const std::vector<NamedText>& files)
{
    const auto is_kept = [&](const std::filesystem::path& file) { return std::ranges::find(files, file.filename().string(), &NamedText::name) != files.end(); };
    std::error_code ignored; // what cannot be removed stays
    std::vector<std::filesystem::path> scripts;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
        if (entry.path().extension() == ".gp" && read(folder, entry.path().filename().string()).text.starts_with(heading_of(entry.path().stem().string())))
            scripts.push_back(entry.path());
    for (const std::filesystem::path& script : scripts)
        for (const char* suffix : {".gp", ".dat", ".svg", ".pdf", ".png"}) {
            const std::filesystem::path file = std::filesystem::path(script).replace_extension(suffix);
            if (!is_kept(file)) std::filesystem::remove(file, ignored);
        }
}

} // namespace shardline
