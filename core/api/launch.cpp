// Arguments meet parameters, and the launch runs. Arrays that overlap in the caller's memory, such as x and x[1:], become
// one allocation, so that their pointers differ by what they differ there. Device addresses are those that cudaMalloc would
// give one after the other, whatever the host's are: cycles depend on nothing but the launch.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <numeric>

#include "core/api/api.h"
#include "core/api/checkers.h"
#include "core/base/files.h"
#include "core/base/nearest.h"
#include "core/model/gpus/refusals.h"
#include "core/ptx/ptx.h"
#include "core/scene/arguments/kernel_source.h"
#include "core/scene/arguments/module_symbols.h"
#include "core/scene/arguments/outputs.h"
#include "core/scene/arguments/struct_members.h"
#include "core/trace/csv.h"
#include "core/trace/perfetto.h"
#include "core/trace/text.h"

namespace lockstep::api {

namespace {

constexpr uint64_t first_address = 0x7f0000000000ull, alignment = 256, guard_bytes = 64 * 1024;  // as simt::Memory's own
constexpr uint64_t most_kept = uint64_t{1} << 30;        // bytes of memory, to run the launch again
constexpr uint64_t most_looked_at = uint64_t{64} << 20;  // bytes of arrays that are looked through for NaNs

// Whose arrays they are, and where they lie.
class Arrays {
  public:
    Arrays(simt::Memory& memory, const std::vector<Parameter>& parameters) : memory_(memory), parameters_(parameters) {}

    // By argument: its device address; 0 for what is no array.
    std::vector<uint64_t> place(const std::vector<const Borrowed*>& arrays) {
        std::vector<uint64_t> addresses(arrays.size());
        std::vector<size_t> order;
        for (size_t i = 0; i < arrays.size(); ++i)
            if (arrays[i]) order.push_back(i);
        std::vector<size_t> whose(arrays.size());  // the first argument whose allocation it lies in
        for (const size_t i : order) whose[i] = i;
        for (const size_t i : order)
            for (const size_t k : order)
                if (k < i && overlap(*arrays[k], *arrays[i])) {
                    const size_t from = std::max(whose[i], whose[k]), to = std::min(whose[i], whose[k]);
                    for (const size_t other : order)
                        if (whose[other] == from) whose[other] = to;
                }
        for (const size_t i : order) {
            if (whose[i] != i) continue;
            std::byte *begin = arrays[i]->data, *end = begin + arrays[i]->bytes;
            bool writable = true;
            for (const size_t k : order)
                if (whose[k] == i) {
                    begin = std::min(begin, arrays[k]->data);
                    end = std::max(end, arrays[k]->data + arrays[k]->bytes);
                    writable = writable && arrays[k]->writable;
                }
            const uint64_t address = put(begin, static_cast<uint64_t>(end - begin), writable, parameters_[i].name);
            for (const size_t k : order)
                if (whose[k] == i) addresses[k] = address + static_cast<uint64_t>(arrays[k]->data - begin);
        }
        return addresses;
    }

  private:
    static bool overlap(const Borrowed& a, const Borrowed& b) {
        return a.data < b.data + b.bytes && b.data < a.data + a.bytes;
    }
    uint64_t put(std::byte* data, uint64_t bytes, bool writable, const std::string& name) {
        const uint64_t address = next_;
        next_ += (bytes + alignment - 1) / alignment * alignment + guard_bytes;
        if (writable && bytes > 0) {
            memory_.adopt(address, data, bytes, name);
        } else {
            memory_.begin_at(address);
            if (memory_.allocate(bytes, name) != address) throw Failure("an array was placed elsewhere");
            if (bytes > 0) std::memcpy(memory_.write(address, bytes), data, bytes);
        }
        memory_.begin_at(next_);
        return address;
    }
    simt::Memory& memory_;
    const std::vector<Parameter>& parameters_;
    uint64_t next_ = first_address;
};

bool takes_fraction(const ptx::Parameter& p) {
    return p.type == ptx::Type::f32 || p.type == ptx::Type::f64 || p.type == ptx::Type::f16;
}

std::string called(const Parameter& p, size_t i) {
    return p.name.starts_with("argument ") ? p.name : fmt::format("argument {} ('{}')", i + 1, p.name);
}

std::string wanted(const Parameter& p, const ptx::Parameter& of) {
    if (!p.declaration.empty()) return fmt::format("'{}'", p.declaration);
    if (p.pointer) return "a pointer";
    return of.type == ptx::Type::none ? fmt::format("a struct of {} bytes", p.bytes)
                                      : fmt::format("{} bytes ({})", p.bytes, p.type);
}

template <class T>
std::vector<std::byte> bytes_of(T value) {
    std::vector<std::byte> bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
}

std::vector<std::byte> whole_bytes(const Scalar& scalar, uint32_t bytes, const std::string& who) {
    if (bytes < 8) {
        const int64_t low = -(int64_t{1} << (8 * bytes - 1)), high = (int64_t{1} << (8 * bytes)) - 1;
        if (scalar.beyond_signed || scalar.whole < low || scalar.whole > high)
            throw Failure(fmt::format("{} is {}, which does not fit into {} bytes", who, scalar.whole, bytes));
    }
    std::vector<std::byte> all = bytes_of(scalar.whole);
    all.resize(bytes);
    return all;
}

std::vector<std::byte> scalar_bytes(const Scalar& scalar, const ptx::Parameter& p, const Parameter& of,
                                    const std::string& who) {
    const double value = scalar.fraction ? scalar.real : static_cast<double>(scalar.whole);
    if (p.type == ptx::Type::f32 && p.bytes == 4) return bytes_of(static_cast<float>(value));
    if (p.type == ptx::Type::f64 && p.bytes == 8) return bytes_of(value);
    if (p.bytes == 2 && (scalar.fraction || takes_fraction(p))) {
        const bool brain = of.declaration.find("bfloat16") != std::string::npos;
        return bytes_of(brain ? f32_to_bf16(static_cast<float>(value)) : f32_to_f16(static_cast<float>(value)));
    }
    if (of.pointer)
        throw Failure(fmt::format("{} is a number, but the kernel takes {}: an array, or None for a null pointer", who,
                                  wanted(of, p)));
    if (scalar.fraction)
        throw Failure(fmt::format("{} is the fraction {}, but the kernel takes {}", who, scalar.real, wanted(of, p)));
    if (p.bytes > 8 || (p.type != ptx::Type::none && ptx::size_of(p.type) != p.bytes))
        throw Failure(
            fmt::format("{} is a number, but the kernel takes {}: bytes of that length, or a struct of ctypes or numpy", who,
                        wanted(of, p)));
    return whole_bytes(scalar, p.bytes, who);
}

// Whether an array's elements are what the parameter points to, as far as the source says.
void check_elements(const Borrowed& array, const Parameter& of, const std::string& who) {
    std::string type;
    const std::optional<DType> elements = scene::pointed_to(of.declaration, type);
    if (!elements || *elements == array.type || size_of(array.type) == 1) return;
    const auto is_fraction = [](DType t) {
        return t == DType::f16 || t == DType::bf16 || t == DType::f32 || t == DType::f64;
    };
    const bool alike = size_of(*elements) == size_of(array.type) && is_fraction(*elements) == is_fraction(array.type);
    const bool bits = size_of(*elements) == 2 && size_of(array.type) == 2;  // numpy has no bfloat16
    if (alike || bits) return;
    throw Failure(fmt::format("{} holds {}, but the kernel takes '{}', whose elements are {}", who, name_of(array.type),
                              of.declaration, name_of(*elements)));
}

class Binding {
  public:
    Binding(const Kernel& kernel, const ptx::Program& program, simt::Memory& memory, simt::LaunchConfig& config)
        : kernel_(kernel), program_(program), memory_(memory), config_(config), parameters_(kernel.parameters()) {}

    std::vector<Bound> bind(const std::vector<Argument>& arguments) {
        if (arguments.size() != program_.parameters.size()) throw Failure(wrong_count(arguments.size()));
        std::vector<const Borrowed*> arrays(arguments.size());
        for (size_t i = 0; i < arguments.size(); ++i) arrays[i] = std::get_if<Borrowed>(&arguments[i]);
        for (size_t i = 0; i < arguments.size(); ++i) check_array(i, arrays[i]);
        const std::vector<uint64_t> addresses = Arrays(memory_, parameters_).place(arrays);
        config_.parameters.assign(program_.parameter_bytes, std::byte{});
        config_.names = scene::named_parameters(kernel_.text(), program_.kernel);
        if (!kernel_.source().names.empty())
            for (const Parameter& p : parameters_) config_.names.push_back({p.name, {}});
        std::vector<Bound> bound;
        for (size_t i = 0; i < arguments.size(); ++i) {
            const ptx::Parameter& p = program_.parameters[i];
            const std::vector<std::byte> bytes = arrays[i] ? bytes_of(addresses[i]) : bytes_for(arguments[i], i);
            std::memcpy(config_.parameters.data() + p.offset, bytes.data(), bytes.size());
            bound.push_back({.name = parameters_[i].name});
            if (!arrays[i]) continue;
            bound.back().address = addresses[i];
            bound.back().bytes = arrays[i]->bytes;
            bound.back().type = arrays[i]->type;
            bound.back().shape = arrays[i]->shape;
        }
        return bound;
    }

  private:
    std::string wrong_count(size_t given) const {
        std::string list;
        for (size_t i = 0; i < parameters_.size(); ++i)
            list += (i ? ", " : "") + (parameters_[i].declaration.empty() ? wanted(parameters_[i], program_.parameters[i])
                                                                          : parameters_[i].declaration);
        return fmt::format("{} takes {} argument{} ({}), and there {} {}", program_.shown_name(), parameters_.size(),
                           parameters_.size() == 1 ? "" : "s", list, given == 1 ? "is" : "are", given);
    }
    void check_array(size_t i, const Borrowed* array) const {
        if (!array) return;
        const std::string who = called(parameters_[i], i);
        const ptx::Parameter& p = program_.parameters[i];
        if (p.bytes != 8 || p.type == ptx::Type::f64)
            throw Failure(fmt::format("{} is an array, but the kernel takes {}", who, wanted(parameters_[i], p)));
        check_elements(*array, parameters_[i], who);
    }
    std::vector<std::byte> bytes_for(const Argument& argument, size_t i) const {
        const ptx::Parameter& p = program_.parameters[i];
        const std::string who = called(parameters_[i], i);
        if (const auto* scalar = std::get_if<Scalar>(&argument)) return scalar_bytes(*scalar, p, parameters_[i], who);
        if (const auto* bytes = std::get_if<Bytes>(&argument)) {
            if (bytes->bytes.size() != p.bytes)
                throw Failure(fmt::format("{} has {} bytes, but the kernel takes {}", who, bytes->bytes.size(),
                                          wanted(parameters_[i], p)));
            return bytes->bytes;
        }
        if (p.bytes != 8) throw Failure(fmt::format("{} is None, but the kernel takes {}", who, wanted(parameters_[i], p)));
        return bytes_of(uint64_t{0});
    }

    const Kernel& kernel_;
    const ptx::Program& program_;
    simt::Memory& memory_;
    simt::LaunchConfig& config_;
    std::vector<Parameter> parameters_;
};

void bind_symbols(const ptx::Program& program, const std::map<std::string, Argument>& symbols, simt::Memory& memory) {
    std::vector<scene::ModuleSymbol> values;
    for (const auto& [name, value] : symbols) {
        scene::ModuleSymbol symbol{name, {}};
        symbol.value.role = scene::KernelArgument::Role::in;
        if (const auto* array = std::get_if<Borrowed>(&value)) {
            symbol.value.type = symbol.value.values.dtype = array->type;
            symbol.value.values.shape = {static_cast<int64_t>(array->bytes / size_of(array->type))};
            symbol.value.values.bytes.assign(array->data, array->data + array->bytes);
        } else {
            throw Failure(fmt::format("the variable '{}' needs an array of its type, such as numpy.float32([2.0])", name));
        }
        symbol.value.shape = symbol.value.values.shape;
        symbol.value.text = name;
        values.push_back(std::move(symbol));
    }
    if (const auto problem = scene::bind_symbols(program, values, memory)) throw Failure(*problem);
}

// NaNs that the kernel made itself, variables that nobody set: as `lockstep run` says them.
void look_at_outputs(const Launched& launched, const simt::Memory& memory, const std::map<std::string, Argument>& symbols,
                     simt::LaunchResult& result) {
    scene::BoundArguments bound;
    uint64_t bytes = 0;
    for (const Bound& one : launched.arguments) {
        bytes += one.bytes;
        bound.arguments.push_back(
            {.role = one.address ? scene::KernelArgument::Role::inout : scene::KernelArgument::Role::scalar,
             .type = one.type,
             .shape = one.shape,
             .address = one.address,
             .bytes = one.bytes,
             .name = one.name});
    }
    if (bytes > most_looked_at) return;
    const model::KernelRun& run = *launched.run;
    const std::vector<Array> outputs = scene::read_outputs(bound, memory);
    scene::LaunchToLookAt look{*run.program, run.config, bound, outputs, run.before, {}, 0};
    look.options = model::functional_options(run.gpu, *run.program, run.config);
    look.warp_instructions = result.warp_instructions;
    std::vector<std::string> set;
    for (const auto& [name, value] : symbols) set.push_back(name + "=i32:0");  // that it was set is what counts
    for (simt::Fault& warning : scene::warnings_of_launch(look, set, run.source))
        result.warnings.push_back(std::move(warning));
}

void take_options(const Launch& how, simt::LaunchOptions& options) {
    options.max_instructions = how.max_instructions;
    options.stop = how.stop;
    options.progress = how.progress;
    options.print = how.print;
}

}  // namespace

std::vector<std::byte> Launched::before(size_t argument) const {
    if (!run->before || argument >= arguments.size() || arguments[argument].bytes == 0) return {};
    const Bound& of = arguments[argument];
    const std::byte* const bytes = run->before->read(of.address, of.bytes);
    return bytes ? std::vector<std::byte>(bytes, bytes + of.bytes) : std::vector<std::byte>();
}

Launched launch(const std::shared_ptr<const Kernel>& kernel, const std::vector<Argument>& arguments, const Launch& how) {
    throw_if_stopped(how.stop);
    auto run = std::make_shared<model::KernelRun>();
    Launched launched{.kernel = kernel, .run = run, .functional = how.functional};
    run->gpu = model::gpu_named(how.gpu).value();
    simt::LaunchOptions wanted;  // a wrong name is refused before anything is done
    choose_checkers(how.check, wanted);
    const simt::WarpOrder order = order_named(how.order);
    model::VerdictOptions asked = what_ifs_asked(how.what_if);
    run->program = kernel->program_for(run->gpu);
    run->source = kernel->text();
    run->config.grid = how.grid;
    run->config.block = how.block;
    run->config.dynamic_shared = how.shared;
    run->config.cluster = how.cluster;
    if (how.traced_sm >= run->gpu.sms)
        throw Failure(fmt::format("{} has the SMs 0 to {}, not {}", run->gpu.title, run->gpu.sms - 1, how.traced_sm));
    simt::Memory memory(UINT64_MAX / 2);
    launched.arguments = Binding(*kernel, *run->program, memory, run->config).bind(arguments);
    bind_symbols(*run->program, how.symbols, memory);
    if (const auto problem = simt::check_launch(*run->program, run->config, model::limits_of(run->gpu)))
        throw Failure(*problem);
    launched.refusals = model::refusals(run->gpu, *run->program, run->config);
    if (memory.live_bytes() <= most_kept) run->before = std::make_shared<const simt::Memory>(memory);

    bool leakcheck = false;
    if (how.functional) {
        simt::LaunchOptions options = model::functional_options(run->gpu, *run->program, run->config);
        take_options(how, options);
        options.order = order;
        options.seed = how.seed;
        leakcheck = choose_checkers(how.check, options);
        static_cast<simt::LaunchResult&>(run->result) = simt::launch(*run->program, run->config, memory, options);
    } else {
        model::TimedOptions options;
        take_options(how, options);
        leakcheck = choose_checkers(how.check, options);
        options.trace = options.machine = how.trace;
        options.traced_sm = how.traced_sm;
        run->result = model::launch(run->gpu, *run->program, run->config, memory, options);
    }
    model::TimedResult& result = run->result;
    if (result.stopped) throw Cancelled();
    if (result.fault) return launched;
    if (leakcheck)
        for (simt::Fault& leak : simt::find_leaks(memory)) result.reports.push_back(std::move(leak));
    look_at_outputs(launched, memory, how.symbols, result);
    if (how.functional) return launched;
    asked.stop = how.stop;
    launched.verdict = std::make_shared<const model::Verdict>(model::verdict_of(*run, asked));
    return launched;
}

void save_trace(const Launched& launched, const std::string& file) {
    const KernelTrace& trace = launched.run->result.trace;
    if (trace.warps.empty()) throw Failure("there is no trace: the launch was functional, or made with trace=False");
    const std::string ending = std::filesystem::path(file).extension().string();
    if (ending != ".json" && ending != ".csv" && ending != ".txt")
        throw Failure("a trace is saved as F.json (Perfetto), F.csv or F.txt, not '" + file + "'");
    const ptx::Program& program = *launched.run->program;
    const auto name_of = [&](uint32_t pc) { return ptx::text_of(program, pc); };
    write_file(file, [&](std::ostream& out) {
        if (ending == ".csv")
            write_csv(trace, out, name_of);
        else if (ending == ".txt")
            out << format_text(trace);
        else
            write_perfetto(trace, program.shown_name(), out, name_of);
    });
}

}  // namespace lockstep::api
