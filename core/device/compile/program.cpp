#include "core/device/compile/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <span>
#include <sstream>
#include <thread>

#include "core/base/cores.h"
#include "core/base/files.h"
#include "core/base/hash.h"
#include "core/base/missing_file.h"
#include "core/device/compile/compilers.h"
#include "core/device/compile/joined_launches.h"
#include "core/device/compile/linked_program.h"
#include "core/device/compile/nvcc_steps.h"
#include "core/device/compile/source_tokens.h"

namespace lockstep::device {
namespace {

namespace fs = std::filesystem;

fs::path program_headers() {
    return standard_headers().parent_path() / "program";
}

bool is_source(const fs::path& file) {
    const std::string extension = file.extension().string();
    return extension == ".cu" || extension == ".cpp" || extension == ".cc" || extension == ".cxx" || extension == ".c";
}

// What is the same for all files of a program: which compiler, for which GPU, with which options.
struct Toolchain {
    const Compiler* compiler = nullptr;
    fs::path program;
    std::string version;
    std::vector<std::string> options;
    std::vector<std::string> first = {};  // words in front of all others, when sources are compiled
};

// The include folder of a CUDA toolkit, which Makefiles name though nvcc knows it.
bool is_toolkit(const std::string& folder) {
    std::error_code error;
    return fs::exists(fs::path(folder) / "cuda_runtime_api.h", error) && fs::exists(fs::path(folder) / "crt", error);
}

std::vector<std::string> user_options(const ProgramRequest& request, bool is_c = false, bool toolkit = true) {
    std::vector<std::string> options;
    if (!is_c) options.push_back("-std=" + request.standard);
    for (const std::string& folder : request.include)
        if (toolkit || !is_toolkit(folder)) options.push_back("-I" + folder);
    for (const std::string& macro : request.define) options.push_back("-D" + macro);
    options.insert(options.end(), request.more.begin(), request.more.end());
    return options;
}

// What nvcc hands to the host's compiler only when it is told to: -fopenmp, -march=native, -Wall.
std::vector<std::string> for_nvcc(std::vector<std::string> options) {
    for (std::string& option : options)
        if (option.starts_with("-f") || option.starts_with("-m") || option.starts_with("-W"))
            option = "-Xcompiler=" + option;
    return options;
}

int number_of(const std::string& arch) {
    return std::atoi(arch.c_str() + arch.find('_') + 1);
}

Toolchain nvcc_toolchain(const ProgramRequest& request) {
    const int wanted = std::max({75, request.least_arch, request.arch.empty() ? 0 : number_of(request.arch)});
    const std::string target = own_target(wanted);
    Toolchain tools{&nvcc, nvcc_program(), *nvcc.version(), {}};
    tools.options = {"-gencode",
                     fmt::format("arch=compute_{0},code=compute_{0}", target),
                     "-lineinfo",
                     "-Xcompiler=-g1",  // the lines of the host's calls, for the report
                     "-O2",
                     "-cudart",
                     "none",
                     "--extended-lambda",
                     "--expt-relaxed-constexpr",
                     "--no-compress",
                     "-Wno-deprecated-gpu-targets",
                     "-DLOCKSTEP",
                     "-I",
                     (program_headers() / "nvcc").string()};  // what stands in front of the toolkit's own headers
    if (request.separate) tools.options.emplace_back("-rdc=true");
    return tools;
}

Toolchain clang_toolchain() {
    return {&clang, clang_program(), *clang.version(), {}};
}

// It has no headers of the host's among its own.
Toolchain zig_toolchain() {
    return {&ziglang, zig_program(), *ziglang.version(), zig_host_options(), {"clang"}};
}

// nvcc takes gcc (on Windows cl) from the path, unless -X=-ccbin names another; its environment variables are not handed on.
bool nvcc_has_host_compiler(const ProgramRequest& request) {
    return std::any_of(request.more.begin(), request.more.end(),
                       [](const std::string& option) { return option.find("-ccbin") != std::string::npos; }) ||
           !system::find_program({"gcc", "cl"}, {}).empty();
}

Toolchain toolchain_for(const ProgramRequest& request) {
    if (!request.arch.empty() && !is_arch(request.arch))
        throw Failure(fmt::format("'{}' is no architecture: they are written like sm_75", request.arch));
    const Compiler* const known[] = {&nvcc, &clang, &ziglang};
    if (!request.compiler.empty() &&
        std::none_of(std::begin(known), std::end(known), [&](const Compiler* c) { return c->name == request.compiler; }))
        throw Failure(fmt::format("a whole program is compiled by nvcc, clang or ziglang, not by '{}'", request.compiler));
    const bool has_nvcc = nvcc.version() && nvcc_has_host_compiler(request);
    if (request.compiler == "nvcc" && nvcc.version() && !has_nvcc)
        throw Failure("nvcc needs a compiler of the host's part, and g++ is not here: apt install g++", ExitStatus::missing);
    const auto may_be = [&](const Compiler& compiler) {
        return request.compiler.empty() || request.compiler == compiler.name;
    };
    if (may_be(nvcc) && has_nvcc) return nvcc_toolchain(request);
    if (may_be(clang) && clang.version()) return clang_toolchain();
    if (may_be(ziglang) && ziglang.version()) return zig_toolchain();
    const Compiler& missing = may_be(clang) ? clang : may_be(nvcc) ? nvcc : ziglang;
    throw Failure(fmt::format("no compiler for whole programs is here: install {}", missing.needs), ExitStatus::missing);
}

// The files that a compiled file was made of, from the rule that compilers write for make.
std::vector<std::string> files_of_rule(const std::string& rule) {
    std::vector<std::string> files;
    std::string word;
    size_t at = rule.find(": ");
    for (at = at == std::string::npos ? rule.size() : at + 2; at < rule.size(); ++at) {
        const char c = rule[at];
        if (c == '\\' && at + 1 < rule.size() && rule[at + 1] == '\n') {
            ++at;
        } else if (c == '\\' && at + 1 < rule.size() && rule[at + 1] == ' ') {
            word += rule[++at];
        } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
            if (!word.empty()) files.push_back(std::move(word));
            word.clear();
        } else {
            word += c;
        }
    }
    if (!word.empty()) files.push_back(std::move(word));
    return files;
}

struct Compilation {  // of one source
    fs::path source, object, folder;
    system::ChildOutcome outcome;
    std::vector<std::string> files;  // that it was made of
};

system::ChildLimits limits_of(const ProgramRequest& request) {
    system::ChildLimits limits;
    limits.seconds = request.seconds;
    limits.memory_bytes = uint64_t{12} << 30;
    limits.file_bytes = uint64_t{1} << 30;
    return limits;
}

// One step of a compilation; false where the compiler refused.
bool step(const Toolchain& tools, const ProgramRequest& request, Compilation& work, std::vector<std::string> arguments) {
    const system::ChildLimits limits = limits_of(request);
    arguments.insert(arguments.begin(), tools.first.begin(), tools.first.end());
    std::string before = std::move(work.outcome.output);
    work.outcome = system::run_program(tools.program, arguments, work.folder, limits);
    work.outcome.output = before + work.outcome.output;
    return work.outcome.succeeded();
}

// One program after the other, up to the first that refuses.
system::ChildOutcome run_steps(std::span<const Words> steps, const ProgramRequest& request, const Compilation& work) {
    system::ChildOutcome all;
    for (const Words& words : steps) {
        const fs::path program = system::find_program({words.front()}, {nvcc_program().parent_path()});
        std::string before = std::move(all.output);
        all = system::run_program(program, {words.begin() + 1, words.end()}, work.folder, limits_of(request));
        all.output = before + all.output;
        if (!all.succeeded()) break;
    }
    return all;
}

// Both halves at once. False: nvcc's steps are not those that are known; nothing has been done.
bool compile_by_steps(const Toolchain& tools, const ProgramRequest& request, Compilation& work, Words arguments) {
    arguments.insert(arguments.begin(), "--dryrun");
    const system::ChildOutcome said = system::run_program(tools.program, arguments, work.folder, limits_of(request));
    const std::optional<NvccSteps> steps = nvcc_steps(said.succeeded() ? said.output : "", work.folder);
    if (!steps) return false;
    const auto hash = static_cast<uint32_t>(fnv1a64(work.source.string()));
    std::string name = work.source.filename().string();
    for (char& c : name)
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
    write_file(steps->module_id, fmt::format("_{:08x}_{}_{}", hash, name.size(), name));
    system::ChildOutcome device;
    {
        const std::jthread other([&] { device = run_steps(steps->device, request, work); });
        work.outcome = run_steps(steps->host, request, work);
    }
    if (!work.outcome.succeeded()) return true;  // nvcc would not have begun with the device's half
    device.output = work.outcome.output + device.output;
    work.outcome = std::move(device);
    if (!work.outcome.succeeded()) return true;
    system::ChildOutcome joined = run_steps({&steps->join, 1}, request, work);
    joined.output = work.outcome.output + joined.output;
    work.outcome = std::move(joined);
    return true;
}

void compile_by_nvcc(const Toolchain& tools, const ProgramRequest& request, Compilation& work) {
    std::vector<std::string> arguments = tools.options;
    if (work.source.extension() == ".cu")  // only these have CUDA's own headers in front
        for (const char* header : {"lockstep_removed.h", "lockstep_call_sites.h"})
            if (fs::exists(program_headers() / header))
                arguments.insert(arguments.end(), {"-include", (program_headers() / header).string()});
    for (std::string& option : for_nvcc(user_options(request, work.source.extension() == ".c")))
        arguments.push_back(std::move(option));
    arguments.insert(arguments.end(), {"-c", "-o", work.object.string(), work.source.string()});
    if (work.source.extension() == ".cu" && compile_by_steps(tools, request, work, arguments)) return;
    arguments.insert(arguments.end(), {"-MD", "-MF", "files.d"});
    step(tools, request, work, std::move(arguments));
}

// LLVM's mathematics on the device, which are of one age with Debian's clang.
std::vector<std::string> libclc_of(const Toolchain& tools) {
    return tools.compiler == &clang ? libclc_options() : std::vector<std::string>{};
}

// Of clang 14 and of ziglang's alike.
int clang_arch(const ProgramRequest& request) {
    return (request.arch.empty() ? request.least_arch : number_of(request.arch)) >= 80 ? 80 : 70;
}

std::vector<std::string> clang_options(const Toolchain& tools, const ProgramRequest& request, const Compilation& work) {
    std::vector<std::string> options = clang_program_options(clang_arch(request), work.folder);
    options.insert(options.end(), tools.options.begin(), tools.options.end());
    options.emplace_back("-Wno-reserved-user-defined-literal");  // "a"TEXT"b", as C++ was before 2011
    if (request.separate) {  // statics are told apart by the file, not by this run's folder
        options.emplace_back("-fgpu-rdc");
        options.push_back(fmt::format("-cuid={:016x}", fnv1a64(work.source.string())));
    }
    const std::vector<std::string> libclc = libclc_of(tools);
    if (!libclc.empty()) options.push_back(libclc.front());  // what is there, on both sides
    for (std::string& option : user_options(request, false, false)) options.push_back(std::move(option));
    return options;
}

// A file of the host alone, which may call the runtime.
void compile_plainly(const Toolchain& tools, const ProgramRequest& request, Compilation& work) {
    const bool is_c = work.source.extension() == ".c";
    std::vector<std::string> arguments = {"-x",         is_c ? "c" : "c++",       "-O2",      "-gline-tables-only",
                                          "-DLOCKSTEP", "-fno-color-diagnostics", "-isystem", program_headers().string()};
    arguments.insert(arguments.end(), tools.options.begin(), tools.options.end());
    for (std::string& option : user_options(request, is_c, false)) arguments.push_back(std::move(option));
    arguments.insert(arguments.end(), {"-MD", "-MF", "files.d", "-c", "-o", work.object.string(), work.source.string()});
    step(tools, request, work, std::move(arguments));
}

void compile_by_clang(const Toolchain& tools, const ProgramRequest& request, Compilation& work) {
    if (work.source.extension() != ".cu") return compile_plainly(tools, request, work);
    const std::vector<std::string> joined = joined_launch_options(work.source, request.include, work.folder);
    std::vector<std::string> device = clang_options(tools, request, work);
    device.insert(device.end(), joined.begin(), joined.end());
    // clang 14 knows PTX 6.4 for its targets.
    const int ptx = tools.compiler == &clang ? 64 : ptx_for(fmt::format("sm_{}", clang_arch(request)));
    device.insert(device.end(),
                  {"--cuda-device-only", "-S", "-Xclang", "-target-feature", "-Xclang", fmt::format("+ptx{}", ptx)});
    const std::vector<std::string> libclc = libclc_of(tools);
    if (!libclc.empty()) device.insert(device.end(), libclc.begin() + 1, libclc.end());
    device.insert(device.end(), {"-MD", "-MF", "device.d", "-o", "device.ptx", work.source.string()});
    if (!step(tools, request, work, std::move(device))) return;
    // The text ends where C's texts end: newer clangs put nothing behind what they take in.
    if (const auto text = read_file(work.folder / "device.ptx", size_t{64} << 20))
        write_file(work.folder / "device.text", text.value() + '\0');
    std::vector<std::string> host = clang_options(tools, request, work);
    host.insert(host.end(), joined.begin(), joined.end());
    host.insert(host.end(),
                {"--cuda-host-only", "-Xclang", "-fcuda-include-gpubinary", "-Xclang", "device.text", "-w", "-c"});
    host.insert(host.end(), {"-MD", "-MF", "files.d", "-o", work.object.string(), work.source.string()});
    step(tools, request, work, std::move(host));
}

// texture<float, 2> and surface<void, 2> at file scope: CUDA 12 took them away, clang with the built-in headers has them.
bool lacks_texture_references(const std::string& output) {
    return output.find("error: texture is not a template") != std::string::npos ||
           output.find("error: surface is not a template") != std::string::npos;
}

Diagnostic refusal(const Compilation& work, const std::string& compiler, double seconds) {
    using End = system::ChildOutcome::End;
    const std::string file = work.source.string();
    if (work.outcome.end == End::timed_out)
        return {fmt::format("{} took longer than {:g} s and was ended", compiler, seconds), {file}};
    if (work.outcome.end == End::not_started) return {fmt::format("{} could not be started", compiler), {file}};
    if (work.outcome.end != End::exited) return {fmt::format("{} crashed on this source", compiler), {file}};
    if (auto error = first_error(work.outcome.output, "", file, {work.source.parent_path().string()})) {
        if (error->message.find("reference to __global__ function") != std::string::npos)
            error->message += ": clang cannot compile launches from kernels, nvcc can (--compiler nvcc)";
        if (error->message.find("cudaDeviceSynchronize") != std::string::npos &&
            error->message.find("from a __global__ function") != std::string::npos)
            error->message += ": GPUs from compute capability 9.0 on have no wait in kernels; --gpu a100 has";
        if (lacks_texture_references(work.outcome.output))
            error->message += ": CUDA 12 took texture references away, clang compiles them (--compiler clang)";
        return *error;
    }
    std::string output = work.outcome.output;
    // Objects are the linker's business: "/tmp/.../0/object.o:main.cu:1: first defined here".
    for (size_t at = 0; (at = output.find("object.o:", at)) != std::string::npos;) {
        const size_t begin = output.find_last_of(" \n", at) + 1;
        output.erase(begin, at + std::string_view("object.o:").size() - begin);
        at = begin;
    }
    std::istringstream lines(output);
    std::string line, first;
    while (std::getline(lines, line))
        if (line.find("error:") != std::string::npos || line.find("undefined reference") != std::string::npos ||
            line.find("multiple definition") != std::string::npos) {
            first = line;
            break;
        }
    return {fmt::format("{} refused the program: {}", compiler, first.empty() ? work.outcome.output.substr(0, 500) : first)};
}

// ---- The cache: <user's cache>/programs/<hash of the request>/ holds the executable and the list of files, each with the
// hash of its content, that it was made of.

std::string content_hash(const fs::path& file) {
    const Result<std::string> text = read_file(file, size_t{1} << 30);
    return text ? fmt::format("{:016x}", fnv1a64(text.value())) : "";
}

std::string stamp_of(const fs::path& file) {  // of a file of the system: cheaper than its content
    std::error_code error;
    const auto size = fs::file_size(file, error);
    if (error) return "";
    const auto time = fs::last_write_time(file, error).time_since_epoch().count();
    return fmt::format("{} {}", size, time);
}

std::string state_of(const fs::path& file) {
    return file.string().starts_with("/usr/") ? stamp_of(file) : content_hash(file);
}

bool still_holds(const fs::path& manifest) {
    const Result<std::string> text = read_file(manifest);
    if (!text) return false;
    std::istringstream lines(text.value());
    for (std::string state, file; std::getline(lines, state) && std::getline(lines, file);)
        if (state_of(file) != state) return false;
    return true;
}

fs::path cache_place(const ProgramRequest& request, const Toolchain& tools) {
    std::string key = tools.version + "\n" + runtime_folder().string() + "\n" + request.arch + "\n" +
                      std::to_string(request.least_arch) + (request.separate ? "\nrdc" : "") +
                      (request.compiler.empty() ? "\nany compiler" : "");  // which may have had to be another one
    for (const std::string& option : tools.options) key += "\n" + option;
    for (const std::string& option : user_options(request)) key += "\n" + option;
    std::error_code error;
    for (const std::string& source : request.sources) key += "\n" + fs::absolute(source, error).string();
    const fs::path cache = system::cache_folder();
    return cache.empty() ? fs::path() : cache / "programs" / fmt::format("{:016x}", fnv1a64(key));
}

void keep(const fs::path& place, const fs::path& executable, const std::vector<Compilation>& all) {
    std::string manifest;
    for (const Compilation& work : all)
        for (const std::string& file : work.files) manifest += state_of(file) + "\n" + file + "\n";
    std::error_code error;
    fs::create_directories(place, error);
    fs::copy_file(executable, place / "program", fs::copy_options::overwrite_existing, error);
    if (!error) write_file(place / "files", manifest);
}

// Programs whose kernels launch kernels need options that nvcc asks for in an error: device code that is linked, and for
// cudaDeviceSynchronize in a kernel, which CUDA 12 took away, the device's runtime of the versions before. Those with
// texture references need clang.
std::optional<ProgramRequest> asked_otherwise(const ProgramRequest& request, const system::ChildOutcome& outcome) {
    if (outcome.succeeded() || outcome.end != system::ChildOutcome::End::exited) return std::nullopt;
    ProgramRequest other = request;
    const std::string earlier = "CUDA_FORCE_CDP1_IF_SUPPORTED";
    if (!request.separate && outcome.output.find("requires separate compilation mode") != std::string::npos) {
        other.separate = true;
        return other;
    }
    if (outcome.output.find("calling a __host__ function(\"cudaDeviceSynchronize") != std::string::npos &&
        std::find(request.define.begin(), request.define.end(), earlier) == request.define.end()) {
        other.separate = true;
        other.define.push_back(earlier);
        other.define.emplace_back("__CDPRT_SUPPRESS_SYNC_DEPRECATION_WARNING");
        return other;
    }
    if (request.compiler.empty() && lacks_texture_references(outcome.output) && nvcc.version() && clang.version()) {
        other.compiler = "clang";
        return other;
    }
    return std::nullopt;
}

Result<fs::path> link(const Toolchain& tools, const ProgramRequest& request, const std::vector<Compilation>& all,
                      const std::vector<std::string>& others, const fs::path& folder) {
    std::vector<std::string> arguments;
    if (tools.compiler == &nvcc) arguments = tools.options;
    for (const Compilation& work : all) arguments.push_back(work.object.string());
    arguments.insert(arguments.end(), others.begin(), others.end());
    const std::string runtime = runtime_folder().string();
    if (tools.compiler == &ziglang) {
        for (const std::string& option : request.more)
            if (option.starts_with("-l") || option.starts_with("-L")) arguments.push_back(option);
        Toolchain linker = tools;
        linker.first = {"build-exe"};
        // Most need C's library alone: C++'s is compiled when a program first needs it, and kept.
        for (const bool cpp : {false, true}) {
            std::vector<std::string> all_words = zig_link_words(runtime, folder, cpp);
            all_words.insert(all_words.end(), arguments.begin(), arguments.end());
            Compilation work;
            work.folder = folder;
            work.source = all.empty() ? fs::path() : all.front().source;
            if (step(linker, request, work, std::move(all_words))) return folder / "program";
            if (cpp) return refusal(work, tools.version, request.seconds);
        }
    }
    const std::string search = tools.compiler == &nvcc ? "-Xlinker" : "-Wl,-rpath," + runtime;
    arguments.insert(arguments.end(), {"-o", "program", "-L" + runtime, "-lcudart", search});
    if (tools.compiler == &nvcc) arguments.push_back("-rpath=" + runtime);
    if (tools.compiler != &nvcc) arguments.insert(arguments.end(), {"-lpthread", "-ldl", "-lm"});
    for (const std::string& option : tools.compiler == &nvcc ? for_nvcc(request.more) : request.more)
        if (option.starts_with("-l") || option.starts_with("-L") || option.ends_with("-fopenmp"))
            arguments.push_back(option);
    Compilation work;
    work.folder = folder;
    work.source = all.empty() ? fs::path() : all.front().source;
    if (!step(tools, request, work, std::move(arguments))) return refusal(work, tools.version, request.seconds);
    return folder / "program";
}

// Adds to the link what registers the device code of all objects together.
std::optional<Diagnostic> add_linked_device_code(const Toolchain& tools, const ProgramRequest& request,
                                                 const std::vector<Compilation>& all, std::vector<std::string>& others,
                                                 const fs::path& folder) {
    std::vector<DeviceObject> texts, objects;
    for (const Compilation& work : all) {
        if (work.source.extension() != ".cu") continue;
        objects.push_back({work.source.filename().string(), work.object});
        const bool by_nvcc = tools.compiler == &nvcc;
        texts.push_back({objects.back().source, by_nvcc ? work.object : work.folder / "device.ptx"});
    }
    for (const std::string& other : others)
        if (fs::path(other).extension() == ".o") {
            objects.push_back({fs::path(other).filename().string(), other});
            texts.push_back(objects.back());
        }
    const int compute = request.arch.empty() ? request.least_arch : number_of(request.arch);
    if (std::optional<Diagnostic> problem = check_linked(texts, static_cast<uint32_t>(std::max(compute, 75))))
        return problem;
    const std::string stub = link_stub(objects);
    if (stub.empty()) return std::nullopt;
    write_file(folder / "link_stub.cpp", stub);
    others.push_back((folder / "link_stub.cpp").string());
    return std::nullopt;
}

}  // namespace

// A wheel holds no links: the library's other names are made in the user's cache, once for each library.
static fs::path linked_runtime(const fs::path& library) {
    std::error_code error;
    const auto made = fs::last_write_time(library, error).time_since_epoch().count();
    const fs::path folder =
        system::cache_folder() / fmt::format("runtime-{:016x}", fnv1a64(fmt::format("{} {}", library.string(), made)));
    fs::create_directories(folder, error);
    for (const char* name :
         {"liblockstep_cudart.so", "libcudart.so", "libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13"})
        if (!fs::exists(folder / name, error)) fs::create_symlink(library, folder / name, error);
    return fs::exists(folder / "libcudart.so", error) ? folder : fs::path();
}

fs::path runtime_folder() {
    const fs::path binary = system::own_executable();
    std::error_code error;
    for (const fs::path& folder :
         {binary.parent_path() / "runtime", binary.parent_path().parent_path() / "lib" / "lockstep"})
        if (fs::exists(folder / system::library_name("libcudart.so", "cudart.dll"), error)) return folder;
    if (const fs::path alone = binary.parent_path() / "runtime" / "liblockstep_cudart.so"; fs::exists(alone, error))
        if (const fs::path folder = linked_runtime(alone); !folder.empty()) return folder;
    if (!system::runs_whole_programs())
        throw Failure(
            "a whole program with main() runs on Linux alone; here its kernels run one by one, with a grid, a block and "
            "arguments",
            ExitStatus::missing);
    throw Failure("the runtime's library (liblockstep_cudart) is not beside this binary: build or install all of Lockstep",
                  ExitStatus::missing);
}

std::vector<std::string> library_settings() {
    const std::string folder = runtime_folder().string();
    const char* const before = std::getenv("LD_LIBRARY_PATH");
    std::vector<std::string> settings{
        fmt::format("LD_LIBRARY_PATH={}{}{}", folder, before ? ":" : "", before ? before : "")};
    if (const char* const tool = std::getenv("NVTX_INJECTION64_PATH"); !tool || !*tool)
        settings.push_back(fmt::format("NVTX_INJECTION64_PATH={}/{}", folder, "libcudart.so"));
    return settings;
}

bool has_main(const std::string& source) {
    const std::vector<SourceToken> tokens = tokens_of(source);
    for (size_t k = 0; k + 1 < tokens.size(); ++k)
        if (tokens[k].is("main") && tokens[k].kind == SourceToken::Kind::name && tokens[k + 1].is("(") && k > 0 &&
            tokens[k - 1].kind == SourceToken::Kind::name)
            return true;
    return false;
}

Result<BuiltProgram> build_program(const ProgramRequest& request) {
    const Toolchain tools = toolchain_for(request);
    const fs::path place = cache_place(request, tools);
    if (!place.empty() && still_holds(place / "files")) return BuiltProgram{place / "program", tools.version, "", true};

    const auto folder = std::make_shared<const TemporaryFolder>();
    std::vector<Compilation> all;
    std::vector<std::string> others;
    std::error_code error;
    for (const std::string& source : request.sources) {
        const fs::path whole = fs::absolute(source, error);
        if (!fs::is_regular_file(whole, error)) return Diagnostic{"there is no such file" + near_file(source), {source}};
        if (!is_source(whole)) {
            others.push_back(whole.string());
            continue;
        }
        Compilation work;
        work.source = whole;
        work.folder = folder->path() / std::to_string(all.size());
        work.object = work.folder / "object.o";
        fs::create_directories(work.folder, error);
        all.push_back(std::move(work));
    }
    const auto compile_one = [&](Compilation& work) {
        if (tools.compiler == &nvcc)
            compile_by_nvcc(tools, request, work);
        else
            compile_by_clang(tools, request, work);
        for (const char* const half : {"files.d", "device.d"})
            if (const auto rule = read_file(work.folder / half))
                for (std::string& file : files_of_rule(rule.value()))
                    if (std::find(work.files.begin(), work.files.end(), file) == work.files.end())
                        work.files.push_back(std::move(file));
    };
    {
        std::vector<std::jthread> threads;
        for (size_t k = 1; k < all.size(); ++k) {
            if (threads.size() >= cores() - 1) threads.clear();
            threads.emplace_back(compile_one, std::ref(all[k]));
        }
        if (!all.empty()) compile_one(all.front());
    }
    BuiltProgram built{.compiler = tools.version};
    for (const Compilation& work : all) {
        if (const std::optional<ProgramRequest> other = asked_otherwise(request, work.outcome)) {
            Result<BuiltProgram> again = build_program(*other);
            if (!again && other->compiler != request.compiler) return refusal(work, tools.version, request.seconds);
            if (again && !place.empty()) {  // the next run finds it under what it asks for
                fs::create_directories(place, error);
                fs::copy(cache_place(*other, toolchain_for(*other)), place,
                         fs::copy_options::overwrite_existing | fs::copy_options::recursive, error);
            }
            return again;
        }
        if (request.found)
            for (Diagnostic& message :
                 all_messages(work.outcome.output, "", work.source.string(), {work.source.parent_path().string()}))
                request.found->push_back(std::move(message));
        if (!work.outcome.succeeded()) return refusal(work, tools.version, request.seconds);
        built.messages += work.outcome.output;
    }
    if (request.separate)
        if (const std::optional<Diagnostic> problem = add_linked_device_code(tools, request, all, others, folder->path()))
            return *problem;
    const Result<fs::path> executable = link(tools, request, all, others, folder->path());
    if (!executable) return executable.error();
    if (!place.empty()) keep(place, executable.value(), all);
    built.executable = place / "program";
    if (place.empty() || !still_holds(place / "files")) {  // the cache cannot be written: it lives as long as its folder
        built.executable = executable.value();
        built.folder = folder;
    }
    return built;
}

}  // namespace lockstep::device
