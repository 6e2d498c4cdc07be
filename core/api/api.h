// The stable entry for whoever uses Lockstep as a library, first of all the Python package: a source becomes a Kernel, a
// Kernel with a grid, a block and arrays of the caller's memory becomes a Launched. Arrays are borrowed: the kernel reads
// and writes them where they lie, as CUDA does with managed memory. What is wrong with what the caller gave is thrown as
// Failure with file, line and caret; what the kernel does wrong is in the result.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/dtype.h"
#include "core/model/advice/verdict.h"
#include "core/model/launch/launch.h"

namespace lockstep::api {

struct Source {
    std::string text;                // CUDA C++ or PTX, by the name's end
    std::string file = "kernel.cu";  // what messages call it; headers beside it are found
    std::string kernel = {};         // "" where there is only one
    std::string gpu = "v100";        // whose generation it is compiled for at first
    std::string compiler = {};       // "" the first found, "nvrtc", "nvcc", "clang"
    std::string arch = {};           // "sm_80"; "" as the GPU of each launch wants
    std::vector<std::string> include = {}, define = {};
    std::string source_text = {};         // of PTX: the text that it was made of, in whatever language, for reports
    std::vector<std::string> names = {};  // of its parameters, where no CUDA text says them
};

struct Parameter {
    std::string name, declaration;  // as the source has them: "x", "const float *x"; "" where it does not say
    std::string type;               // as PTX has it: "u64"
    uint32_t bytes = 0;
    bool pointer = false;
};

class Kernel {
  public:
    explicit Kernel(Source source);  // compiles and decodes
    const Source& source() const { return source_; }
    const std::string& text() const;  // that lines are counted in
    const std::string& compiler() const { return compiler_; }
    const std::vector<Diagnostic>& warnings() const { return warnings_; }
    // The program for that GPU's generation, compiled once for each.
    std::shared_ptr<const ptx::Program> program_for(const model::GpuSpec& gpu) const;
    const ptx::Program& program() const { return *first_; }  // for Source::gpu
    std::vector<Parameter> parameters() const;

  private:
    std::shared_ptr<const ptx::Program> compiled_for(int generation) const;
    Source source_;
    bool is_ptx_ = false;
    std::shared_ptr<const ptx::Program> first_;
    mutable std::string compiler_;
    mutable std::vector<Diagnostic> warnings_;
    mutable std::mutex mutex_;
    mutable std::map<int, std::shared_ptr<const ptx::Program>> compiled_;  // by generation
};

// Names of the kernels in a source: as C++ has them.
std::vector<std::string> kernels_in(const Source& source);

struct Borrowed {  // an array of the caller's
    std::byte* data = nullptr;
    uint64_t bytes = 0;
    DType type = DType::f32;
    std::vector<int64_t> shape;
    bool writable = true;  // else the kernel gets a copy, and what it writes there is lost
};
struct Scalar {  // fits the parameter that it meets, or is refused
    bool fraction = false;
    double real = 0;
    int64_t whole = 0;           // where it is no fraction
    bool beyond_signed = false;  // `whole` holds the bits of an unsigned 64-bit number
};
struct Bytes {  // a struct by value, laid out as C++ does
    std::vector<std::byte> bytes;
};
struct Null {};
using Argument = std::variant<Borrowed, Scalar, Bytes, Null>;

struct Launch {
    simt::Dim3 grid, block, cluster;
    uint32_t shared = 0;  // dynamic, bytes
    std::string gpu = "v100";
    std::string check = "memcheck,synccheck";  // as --check has it
    bool functional = false;                   // no time: values and checks alone
    bool trace = true;                         // keep what the pictures are drawn of
    uint32_t traced_sm = 0;
    std::string order = "round_robin";  // of functional launches
    uint64_t seed = 1, max_instructions = 1'000'000'000;
    std::string
        what_if;  // names of core/model/advice/what_if.h between commas, "all" or "none"; "": those that take a moment
    std::map<std::string, Argument> symbols;  // values of the module's variables
    std::stop_token stop;
    std::function<void(double)> progress;
    std::function<void(std::string_view)> print;  // what the kernel prints
};

struct Bound {  // an argument as the launch had it
    std::string name;
    uint64_t address = 0, bytes = 0;  // of an array; else 0
    DType type = DType::f32;
    std::vector<int64_t> shape;
};

struct Launched {
    std::shared_ptr<const Kernel> kernel;
    std::shared_ptr<const model::KernelRun> run;    // its `before` is null where the arrays are larger than 1 GiB
    std::shared_ptr<const model::Verdict> verdict;  // null: functional, faulted or stopped
    std::vector<Bound> arguments;
    std::vector<std::string> refusals;  // why a real GPU would not take it
    bool functional = false;

    bool faulted() const { return run->result.fault.has_value(); }
    // What an array held when the launch began; empty where nobody knows.
    std::vector<std::byte> before(size_t argument) const;
};

// Throws Failure where the launch is not possible, or arguments do not fit, naming the parameter.
Launched launch(const std::shared_ptr<const Kernel>& kernel, const std::vector<Argument>& arguments, const Launch& how);

// F.json (Perfetto), F.csv or F.txt.
void save_trace(const Launched& launched, const std::string& file);

}  // namespace lockstep::api
