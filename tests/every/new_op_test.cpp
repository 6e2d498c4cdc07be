// What a new op needs: its row in core/tensor/ops, its CUDA source, the row of its kernels beside their twin, and its name
// in the list. The tree is read for names in quotes: if another file had to know every op, some op would be named there.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "core/device/kernels/kernel_library.h"
#include "core/tensor/ops.h"
#include "tests/catch.h"

namespace every_new_op_test {

using namespace lockstep;
namespace fs = std::filesystem;

namespace {
const fs::path root = LOCKSTEP_SOURCE_DIR;

std::string text_of(const fs::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
}

// The words that stand in quotes in a source, but for its comments: "relu".
std::set<std::string> names_in(std::string text) {
    for (size_t at = text.find("// "); at != std::string::npos; at = text.find("// ", at))
        text.erase(at, text.find('\n', at) - at);
    std::set<std::string> names;
    for (size_t open = text.find('"'); open != std::string::npos; open = text.find('"', open + 1)) {
        size_t end = open + 1;
        while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_')) ++end;
        if (end > open + 1 && end < text.size() && text[end] == '"') names.insert(text.substr(open + 1, end - open - 1));
    }
    return names;
}

std::map<std::string, std::set<std::string>> sources() {  // file, names in quotes
    std::map<std::string, std::set<std::string>> all;
    for (const char* top : {"core", "lessons/player", "app"})
        for (const auto& entry : fs::recursive_directory_iterator(root / top))
            if (entry.path().extension() == ".cpp" || entry.path().extension() == ".h")
                all[fs::relative(entry.path(), root).generic_string()] = names_in(text_of(entry.path()));
    return all;
}

bool starts_with_any(const std::string& file, std::initializer_list<std::string_view> starts) {
    return std::any_of(starts.begin(), starts.end(), [&](std::string_view start) { return file.starts_with(start); });
}
}  // namespace

TEST_CASE("a new op touches its row, its CUDA source, the row of its kernels, and one line of the list") {
    const auto files = sources();
    size_t unused = 0;
    std::map<std::string, size_t> ops_of_file;
    for (const tensor::OpRow& op : tensor::ops()) {
        std::set<std::string> names = {std::string(op.name)}, rows, twins, elsewhere;
        for (const std::string_view kernel : op.kernels) names.emplace(kernel);
        for (const auto& [file, quoted] : files) {
            if (std::none_of(names.begin(), names.end(), [&](const std::string& name) { return quoted.contains(name); }))
                continue;
            if (file.starts_with("core/tensor/ops/"))
                rows.insert(file);
            else if (file.starts_with("core/device/twins/"))
                twins.insert(file);
            else if (starts_with_any(file, {"core/tensor/", "core/device/kernels/", "core/graph/", "core/nn/",
                                            "core/parallel/", "lessons/", "app/"}))
                elsewhere.insert(file);
        }
        INFO(op.name);
        CHECK(!rows.empty());
        unused += elsewhere.empty();
        for (const std::string& file : elsewhere) ++ops_of_file[file];
    }
    // Models and fusion name the ops that they use. A list that a new op had to be put into would name most.
    for (const auto& [file, count] : ops_of_file) {
        INFO(file << " names " << count << " ops");
        CHECK(count * 2 < tensor::ops().size());
    }
    CHECK(unused * 3 > tensor::ops().size());  // ops that only their own files name: a list elsewhere would name each
    const std::string list = text_of(root / "core/tensor/ops/rows.h");
    size_t lines = 0;
    for (size_t at = list.find(" op(", list.find("#define")); at != std::string::npos; at = list.find(" op(", at + 1))
        ++lines;
    CHECK(lines == tensor::ops().size());
}

TEST_CASE("every kernel is launched by an op, by a layer or optimiser, or by the benchmarks") {
    std::set<std::string> launched;
    for (const tensor::OpRow& op : tensor::ops())
        for (const std::string_view kernel : op.kernels) launched.emplace(kernel);
    for (const device::KernelRow& row : device::kernels()) launched.emplace(row.kernel->fusing.one_an_element);
    for (const auto& [file, names] : sources())
        if (!starts_with_any(file, {"core/device/"})) launched.insert(names.begin(), names.end());
    for (const device::KernelRow& row : device::kernels())
        if (launched.contains(std::string(row.name))) launched.emplace(row.base);  // one of its types
    for (const device::KernelRow& row : device::kernels()) {
        INFO(row.name << " is compiled, and nothing launches it");
        const bool cast = row.base.starts_with("cast_");  // whose name the op puts together
        CHECK((cast || launched.contains(std::string(row.base))));
    }
}

TEST_CASE("every entry of a kernel's PTX has a row") {
    std::set<std::string> rows, entries;
    for (const device::KernelRow& row : device::kernels()) rows.emplace(row.name);
    for (const auto& file : fs::directory_iterator(root / "kernels/ptx")) {
        const std::string ptx = text_of(file.path()), entry = ".entry ";
        for (size_t at = ptx.find(entry); at != std::string::npos; at = ptx.find(entry, at + 1)) {
            const size_t begin = at + entry.size();
            entries.insert(ptx.substr(begin, ptx.find('(', begin) - begin));
        }
    }
    CHECK(entries == rows);
}

}  // namespace every_new_op_test
