// Every bundled kernel: its PTX is its source's, and the modelled GPU computes from that PTX what the native twin computes,
// whichever compiler made it.
#include <fmt/format.h>

#include <map>
#include <set>
#include <sstream>

#include "core/base/files.h"
#include "core/base/hash.h"
#include "core/device/arguments.h"
#include "core/device/devices.h"
#include "core/device/kernel_library.h"
#include "core/ptx/ptx.h"
#include "tests/catch.h"
#include "tests/device_cases.h"

using namespace lockstep;
using namespace lockstep::device;

namespace {
const std::vector<Shape> shapes = {{1, 1, 1},   {3, 5, 7},    {17, 33, 19},  {64, 10, 128},
                                   {31, 37, 1}, {16, 16, 16}, {64, 128, 784}};

std::string read(const std::string& file) {
    return read_file(resource_root() / file).value();
}

std::set<std::string> kernel_files() {
    std::set<std::string> names;
    for (const KernelRow& row : kernels()) names.emplace(row.file.substr(0, row.file.rfind('.')));
    return names;
}

// What the machine runs: without comments, file names, blank lines and the debugger's sections at the end (which hold a hash
// of the file's path).
std::string instructions_of(const std::string& ptx) {
    std::istringstream lines(ptx);
    std::string result;
    for (std::string line; std::getline(lines, line) && line.find(".section") == std::string::npos;) {
        line = line.substr(0, line.find("//"));
        if (line.find(".file") == std::string::npos && line.find_first_not_of(" \t") != std::string::npos)
            result += line + "\n";
    }
    return result;
}

// Runs the case functionally from any PTX; the buffers afterwards.
std::vector<std::vector<float>> run_program(const ptx::Program& program, const KernelCase& kernel_case) {
    simt::Memory memory;
    std::vector<Pointer> pointers;
    for (const auto& buffer : kernel_case.buffers) {
        pointers.push_back({memory.allocate(buffer.size() * 4, "buffer")});
        std::memcpy(memory.write(pointers.back().address, buffer.size() * 4), buffer.data(), buffer.size() * 4);
    }
    std::vector<Argument> arguments = kernel_case.arguments;
    for (Argument& argument : arguments)
        if (const auto* index = std::get_if<Pointer>(&argument)) argument = pointers[index->address];
    const auto result = simt::launch(program, {kernel_case.grid, kernel_case.block, 0, pack(program, arguments)}, memory);
    if (result.fault) FAIL_CHECK(simt::render(*result.fault));
    std::vector<std::vector<float>> after = kernel_case.buffers;
    for (size_t i = 0; i < after.size(); ++i)
        std::memcpy(after[i].data(), memory.read(pointers[i].address, after[i].size() * 4), after[i].size() * 4);
    return after;
}

double worst_difference(const std::vector<std::vector<float>>& a, const std::vector<std::vector<float>>& b) {
    double worst = 0;
    for (size_t i = 0; i < a.size(); ++i) worst = std::max(worst, difference(a[i], b[i]));
    return worst;
}
}  // namespace

TEST_CASE("the checked-in PTX of every kernel is that of its source") {
    for (const std::string& name : kernel_files()) {
        const std::string ptx = read("kernels/ptx/" + name + ".ptx");
        const std::string wanted =
            "// kernels/" + name + ".cu fnv1a64:" + fmt::format("{:016x}", fnv1a64(read("kernels/" + name + ".cu"))) + " ";
        INFO("when a kernel has changed, ./dev kernels compiles it");
        CHECK(ptx.substr(0, wanted.size()) == wanted);
        CHECK_THAT(ptx, Catch::Matchers::Contains(".file\t1 \"kernels/" + name + ".cu\""));
    }
}

TEST_CASE("every kernel source belongs to a row, and every PTX to a source") {
    std::set<std::string> sources, ptx;
    for (const auto& entry : std::filesystem::directory_iterator(resource_root() / "kernels"))
        if (entry.path().extension() == ".cu") sources.insert(entry.path().stem().string());
    for (const auto& entry : std::filesystem::directory_iterator(resource_root() / "kernels" / "ptx"))
        ptx.insert(entry.path().stem().string());
    CHECK(sources == kernel_files());
    CHECK(ptx == sources);
}

TEST_CASE("nvcc makes of every source the PTX that is checked in") {
    for (const DeviceListing& listing : list_compilers()) {
        if (listing.name != "nvcc") continue;
        for (const std::string& name : kernel_files()) {
            const std::string file = "kernels/" + name + ".cu", checked_in = read("kernels/ptx/" + name + ".ptx");
            const std::string first_line = checked_in.substr(0, checked_in.find('\n'));
            if (!listing.available || first_line.find(listing.description + " ") == std::string::npos) {
                WARN("not compared: the PTX is by another compiler than the one here (" << listing.description
                                                                                        << "): " << first_line);
                return;
            }
            const Compiled compiled = compile(read(file), file, {.compiler = "nvcc", .arch = "sm_75"}).value();
            CHECK(instructions_of(compiled.ptx) == instructions_of(checked_in));
        }
    }
}

TEST_CASE("the modelled GPU computes what every kernel's native twin computes, for any shape") {
    const auto host = make_host({});
    const auto sim = open_device("sim:v100", {.functional = true});
    for (const KernelRow& row : kernels())
        for (size_t i = 0; i < shapes.size(); ++i) {
            const KernelCase kernel_case = case_of(row.name, shapes[i], i + 1);
            INFO(row.name << " " << shapes[i].m << " x " << shapes[i].n << " x " << shapes[i].k);
            const double apart = worst_difference(run_case(*host, kernel_case), run_case(*sim.value(), kernel_case));
            if (kernel_case.exact)
                CHECK(apart == 0.0);
            else
                CHECK(apart < 1e-5);
        }
}

TEST_CASE("PTX of every compiler that is here gives every kernel's results on the modelled GPU") {
    const auto host = make_host({});
    for (const DeviceListing& listing : list_compilers()) {
        if (!listing.available) {
            WARN(listing.name << " is not here: " << listing.description);
            continue;
        }
        std::map<std::string_view, ptx::Module> modules;
        for (const KernelRow& row : kernels()) {
            INFO(row.name << " by " << listing.description);
            const std::string file = "kernels/" + std::string(row.file);
            if (!modules.contains(row.file)) {
                const Compiled compiled = compile(read(file), file, {.compiler = listing.name}).value();
                modules.emplace(row.file, ptx::parse(compiled.ptx, std::string(row.file)).value());
            }
            const auto program = ptx::decode(modules.at(row.file), std::string(row.name)).value();
            CHECK(program->source_file == file);
            const KernelCase kernel_case = case_of(row.name, {33, 37, 19}, 5);
            CHECK(worst_difference(run_case(*host, kernel_case), run_program(*program, kernel_case)) < 1e-5);
        }
    }
}
