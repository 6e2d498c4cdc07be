// The binding: core/api and the stills of app/gui as the Python module lockstep._core. It keeps to what crosses the border:
// arrays come as addresses (lockstep/_arrays.py takes them from numpy, torch and DLPack), results go as JSON, columns and
// PNG bytes. Long work runs on a thread of its own without the GIL, while this one looks for Ctrl-C and hands on what
// kernels print.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <thread>

#include "app/gui/still.h"
#include "core/api/api.h"
#include "core/api/report.h"
#include "core/base/files.h"
#include "core/device/kernels/kernel_library.h"
#include "core/ptx/ptx.h"
#include "core/system/stand_in.h"

namespace nb = nanobind;
using namespace lockstep;

namespace {

// What a kernel prints, on its way to sys.stdout.
class Printed {
  public:
    void add(std::string_view text) {
        const std::lock_guard lock(mutex_);
        text_ += text;
    }
    std::string take() {
        const std::lock_guard lock(mutex_);
        return std::exchange(text_, {});
    }

  private:
    std::mutex mutex_;
    std::string text_;
};

void hand_on(Printed& printed) {
    const std::string text = printed.take();
    if (!text.empty()) nb::module_::import_("sys").attr("stdout").attr("write")(nb::str(text.data(), text.size()));
}

// work() on another thread. Ctrl-C stops it and is raised here.
template <class Work>
auto run_apart(const Work& work, std::stop_source& stop, Printed& printed) {
    using Result = decltype(work());
    std::optional<Result> result;
    std::exception_ptr problem;
    std::mutex mutex;
    std::condition_variable ended;
    bool done = false;
    std::jthread worker([&] {
        try {
            result.emplace(work());
        } catch (...) {
            problem = std::current_exception();
        }
        const std::lock_guard lock(mutex);
        done = true;
        ended.notify_all();
    });
    const auto wait = [&](int milliseconds) {  // 0: until it has ended
        const nb::gil_scoped_release others;
        std::unique_lock lock(mutex);
        if (milliseconds == 0)
            ended.wait(lock, [&] { return done; });
        else
            ended.wait_for(lock, std::chrono::milliseconds(milliseconds), [&] { return done; });
        return done;
    };
    while (!wait(50)) {
        hand_on(printed);
        if (PyErr_CheckSignals() == 0) continue;
        nb::python_error interrupt;
        stop.request_stop();
        wait(0);
        throw interrupt;
    }
    worker.join();
    hand_on(printed);
    if (problem) std::rethrow_exception(problem);
    return std::move(*result);
}

template <class Work>
auto run_apart(const Work& work) {
    std::stop_source stop;
    Printed printed;
    return run_apart(work, stop, printed);
}

// ---- Arguments, as _arrays.py has prepared them: ("array", address, bytes, type, shape, writable), numbers, bytes, None.

DType dtype_of(const std::string& name) {
    const auto type = dtype_named(name);
    if (!type) throw Failure("there are no elements of type '" + name + "'");
    return *type;
}

api::Argument argument_of(nb::handle object) {
    if (object.is_none()) return api::Null{};
    if (nb::isinstance<nb::bool_>(object)) return api::Scalar{.whole = nb::cast<bool>(object) ? 1 : 0};
    if (nb::isinstance<nb::int_>(object)) {
        api::Scalar scalar;
        if (!nb::try_cast<int64_t>(object, scalar.whole)) {
            uint64_t large = 0;
            if (!nb::try_cast<uint64_t>(object, large)) throw Failure("a number does not fit into 64 bits");
            scalar.whole = static_cast<int64_t>(large);
            scalar.beyond_signed = true;
        }
        return scalar;
    }
    if (nb::isinstance<nb::float_>(object)) return api::Scalar{.fraction = true, .real = nb::cast<double>(object)};
    if (nb::isinstance<nb::bytes>(object)) {
        const auto bytes = nb::cast<nb::bytes>(object);
        const auto* const data = reinterpret_cast<const std::byte*>(bytes.data());
        return api::Bytes{{data, data + bytes.size()}};
    }
    const auto parts = nb::cast<nb::tuple>(object);
    api::Borrowed array;
    array.data = reinterpret_cast<std::byte*>(nb::cast<uintptr_t>(parts[1]));
    array.bytes = nb::cast<uint64_t>(parts[2]);
    array.type = dtype_of(nb::cast<std::string>(parts[3]));
    array.shape = nb::cast<std::vector<int64_t>>(parts[4]);
    array.writable = nb::cast<bool>(parts[5]);
    return array;
}

// What has __dlpack__ and lies in the host's memory: the same six parts, and what keeps it alive.
nb::tuple from_dlpack(const nb::ndarray<nb::ro>& array) {
    const nb::dlpack::dtype type = array.dtype();
    using Code = nb::dlpack::dtype_code;
    const int bits = type.bits;
    std::string name;
    switch (static_cast<Code>(type.code)) {
        case Code::Int:
            name = "i" + std::to_string(bits);
            break;
        case Code::UInt:
            name = "u" + std::to_string(bits);
            break;
        case Code::Float:
            name = "f" + std::to_string(bits);
            break;
        case Code::Bfloat:
            name = "bf" + std::to_string(bits);
            break;
        case Code::Bool:
            name = "u8";
            break;
        default:
            throw Failure("elements of that type are none that kernels have");
    }
    if (array.device_type() != nb::device::cpu::value)
        throw Failure("the array lies on a device: give one in the host's memory, as by .cpu()");
    int64_t dense = 1;
    std::vector<int64_t> shape;
    for (size_t k = array.ndim(); k-- > 0;) {
        if (array.shape(k) != 1 && array.stride(k) != dense)
            throw Failure("the array is not contiguous: give a copy, as by .contiguous()");
        dense *= static_cast<int64_t>(array.shape(k));
    }
    for (size_t k = 0; k < array.ndim(); ++k) shape.push_back(static_cast<int64_t>(array.shape(k)));
    return nb::make_tuple("array", reinterpret_cast<uintptr_t>(array.data()), array.nbytes(), name, shape, true);
}

simt::Dim3 dim3_of(const std::vector<int64_t>& extents, const char* what) {
    simt::Dim3 d;
    uint32_t* const places[] = {&d.x, &d.y, &d.z};
    if (extents.empty() || extents.size() > 3) throw Failure(std::string("the ") + what + " has one to three extents");
    for (size_t i = 0; i < extents.size(); ++i) {
        if (extents[i] < 1 || extents[i] > INT32_MAX)
            throw Failure(std::string("an extent of the ") + what + " is from 1 on, not " + std::to_string(extents[i]));
        *places[i] = static_cast<uint32_t>(extents[i]);
    }
    return d;
}

struct Asked {  // a launch as Python says it
    std::vector<int64_t> grid, block, cluster;
};

api::Launched launch(const std::shared_ptr<api::Kernel>& kernel, const std::vector<int64_t>& grid,
                     const std::vector<int64_t>& block, const nb::list& arguments, uint32_t shared, const std::string& gpu,
                     const std::string& check, bool functional, bool trace, uint32_t sm, const std::string& order,
                     uint64_t seed, uint64_t max_instructions, const std::string& what_if,
                     const std::vector<int64_t>& cluster, const nb::dict& symbols) {
    std::vector<api::Argument> given;
    for (const nb::handle one : arguments) given.push_back(argument_of(one));
    api::Launch how;
    how.grid = dim3_of(grid, "grid");
    how.block = dim3_of(block, "block");
    if (!cluster.empty()) how.cluster = dim3_of(cluster, "cluster");
    how.shared = shared;
    how.gpu = gpu;
    how.check = check;
    how.functional = functional;
    how.trace = trace;
    how.traced_sm = sm;
    how.order = order;
    how.seed = seed;
    how.max_instructions = max_instructions;
    how.what_if = what_if;
    for (const auto& [name, value] : symbols) how.symbols[nb::cast<std::string>(name)] = argument_of(value);
    std::stop_source stop;
    Printed printed;
    how.stop = stop.get_token();
    how.print = [&](std::string_view text) { printed.add(text); };
    return run_apart([&] { return api::launch(kernel, given, how); }, stop, printed);
}

// ---- What was traced, as columns.

template <class T>
nb::object column(std::vector<T> values) {
    auto* const kept = new std::vector<T>(std::move(values));
    const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    const size_t shape[] = {kept->size()};
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), 1, shape, owner));
}

template <class Row, class Get>
nb::object column_of(const std::vector<Row>& rows, const Get& get) {
    std::vector<decltype(get(rows[0]))> values;
    values.reserve(rows.size());
    for (const Row& row : rows) values.push_back(get(row));
    return column(std::move(values));
}

nb::dict trace_of(const api::Launched& launched) {
    const KernelTrace& trace = launched.run->result.trace;
    nb::dict all, warps, issues, stalls, blocks;
    warps["block"] = column_of(trace.warps, [](const WarpTrack& w) { return w.block; });
    warps["warp_in_block"] = column_of(trace.warps, [](const WarpTrack& w) { return w.warp_in_block; });
    warps["slot"] = column_of(trace.warps, [](const WarpTrack& w) { return w.slot; });
    warps["scheduler"] = column_of(trace.warps, [](const WarpTrack& w) { return w.scheduler; });
    warps["begin"] = column_of(trace.warps, [](const WarpTrack& w) { return w.begin; });
    warps["end"] = column_of(trace.warps, [](const WarpTrack& w) { return w.end; });
    issues["cycle"] = column_of(trace.issues, [](const IssueRecord& i) { return i.cycle; });
    issues["ready"] = column_of(trace.issues, [](const IssueRecord& i) { return i.ready; });
    issues["warp"] = column_of(trace.issues, [](const IssueRecord& i) { return i.warp; });
    issues["pc"] = column_of(trace.issues, [](const IssueRecord& i) { return i.pc; });
    const auto& code = launched.run->program->instructions;
    issues["line"] = column_of(trace.issues, [&](const IssueRecord& i) { return i.pc < code.size() ? code[i.pc].line : 0; });
    issues["active"] = column_of(trace.issues, [](const IssueRecord& i) { return i.active; });
    issues["level"] = column_of(trace.issues, [](const IssueRecord& i) { return static_cast<uint8_t>(i.level); });
    issues["sectors"] = column_of(trace.issues, [](const IssueRecord& i) { return i.sectors; });
    issues["passes"] = column_of(trace.issues, [](const IssueRecord& i) { return i.passes; });
    std::vector<int64_t> begin, end;
    std::vector<uint32_t> warp, pc;
    std::vector<uint8_t> reason;
    std::vector<int32_t> cause;
    for (uint32_t w = 0; w < trace.warps.size(); ++w)
        for (const StallRun& run : trace.warps[w].runs) {
            begin.push_back(run.begin);
            end.push_back(run.end);
            warp.push_back(w);
            reason.push_back(static_cast<uint8_t>(run.reason));
            pc.push_back(run.pc);
            cause.push_back(run.cause);
        }
    stalls["warp"] = column(std::move(warp));
    stalls["begin"] = column(std::move(begin));
    stalls["end"] = column(std::move(end));
    stalls["reason"] = column(std::move(reason));
    stalls["pc"] = column(std::move(pc));
    stalls["cause"] = column(std::move(cause));
    blocks["block"] = column_of(trace.blocks, [](const BlockRun& b) { return b.block; });
    blocks["sm"] = column_of(trace.blocks, [](const BlockRun& b) { return b.sm; });
    blocks["slot"] = column_of(trace.blocks, [](const BlockRun& b) { return b.slot; });
    blocks["begin"] = column_of(trace.blocks, [](const BlockRun& b) { return b.begin; });
    blocks["end"] = column_of(trace.blocks, [](const BlockRun& b) { return b.end; });
    all["warps"] = warps;
    all["issues"] = issues;
    all["stalls"] = stalls;
    all["blocks"] = blocks;
    all["cycles"] = trace.cycles;
    all["sm"] = trace.sm;
    all["schedulers"] = trace.schedulers;
    all["truncated"] = trace.truncated;
    all["kept"] = nb::make_tuple(trace.truncated ? trace.kept_from : 0, trace.truncated ? trace.kept_until : trace.cycles);
    return all;
}

// By instruction, of the whole launch: counters, its line and its text.
nb::dict instructions_of(const api::Launched& launched) {
    const ptx::Program& program = *launched.run->program;
    const auto& counters = launched.run->result.instructions;
    nb::dict all;
    nb::list texts;
    for (uint32_t pc = 0; pc < program.instructions.size(); ++pc) texts.append(nb::str(ptx::text_of(program, pc).c_str()));
    all["text"] = texts;
    all["line"] = column_of(program.instructions, [](const ptx::DecodedInstruction& i) { return i.line; });
    all["issues"] = column_of(counters, [](const model::InstructionCounters& c) { return c.issues; });
    all["lanes"] = column_of(counters, [](const model::InstructionCounters& c) { return c.lanes; });
    all["requests"] = column_of(counters, [](const model::InstructionCounters& c) { return c.requests; });
    all["sectors"] = column_of(counters, [](const model::InstructionCounters& c) { return c.sectors; });
    all["shared_passes"] = column_of(counters, [](const model::InstructionCounters& c) { return c.shared_passes; });
    all["stalled"] = column_of(counters, [](const model::InstructionCounters& c) {
        uint64_t sum = 0;
        for (size_t k = 0; k < static_cast<size_t>(StallReason::count); ++k)
            if (static_cast<StallReason>(k) != StallReason::selected) sum += c.stalls[k];
        return sum;
    });
    return all;
}

nb::bytes bytes_of(const std::string& text) {
    return nb::bytes(text.data(), text.size());
}

gui::StillOptions still_options(const std::string& view, int width, int height, double scale, const std::string& theme,
                                int64_t cycle, int32_t warp, const std::string& label) {
    return {.view = view,
            .width = width,
            .height = height,
            .scale = scale,
            .theme = theme,
            .cycle = cycle,
            .warp = warp,
            .label = label};
}

// Failure -> lockstep.Error or what is derived from it, with the parts of its Diagnostic.
void translate(const std::exception_ptr& thrown, void*) {
    try {
        std::rethrow_exception(thrown);
    } catch (const Failure& failure) {
        const Diagnostic& d = failure.diagnostic;
        nb::object make = nb::module_::import_("lockstep._errors").attr("make");
        nb::object error = make(render(d), d.message, d.where.file, d.where.line, d.where.column, d.source_line,
                                failure.status == ExitStatus::missing);
        PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
    }
}

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "The binding of Lockstep's engine; use the package lockstep.";
    nb::register_exception_translator(translate);

    nb::class_<api::Kernel>(m, "Kernel")
        .def_prop_ro("name", [](const api::Kernel& k) { return k.program().shown_name(); })
        .def_prop_ro("entry", [](const api::Kernel& k) { return k.program().kernel; })
        .def_prop_ro("file", [](const api::Kernel& k) { return k.source().file; })
        .def_prop_ro("text", [](const api::Kernel& k) { return k.text(); })
        .def_prop_ro("ptx", [](const api::Kernel& k) { return k.program().ptx; })
        .def_prop_ro("compiler", [](const api::Kernel& k) { return k.compiler(); })
        .def_prop_ro("registers", [](const api::Kernel& k) { return k.program().registers_per_thread; })
        .def_prop_ro("static_shared", [](const api::Kernel& k) { return k.program().static_shared; })
        .def_prop_ro("warnings",
                     [](const api::Kernel& k) {
                         std::vector<std::string> texts;
                         for (const Diagnostic& d : k.warnings()) texts.push_back(render(d));
                         return texts;
                     })
        .def_prop_ro("parameters", [](const api::Kernel& k) {
            nb::list all;
            for (const api::Parameter& p : k.parameters())
                all.append(nb::make_tuple(p.name, p.declaration, p.type, p.bytes, p.pointer));
            return all;
        });

    nb::class_<api::Launched>(m, "Launched")
        .def("report", [](const api::Launched& l) { return api::report_of(l).dump(); })
        .def_prop_ro("faulted", &api::Launched::faulted)
        .def_prop_ro("fault_text",
                     [](const api::Launched& l) { return l.faulted() ? simt::render(*l.run->result.fault) : std::string(); })
        .def_prop_ro("source", [](const api::Launched& l) { return l.run->source; })
        .def_prop_ro("arguments",
                     [](const api::Launched& l) {
                         nb::list all;
                         for (const api::Bound& b : l.arguments)
                             all.append(nb::make_tuple(b.name, b.address, b.bytes, std::string(name_of(b.type)), b.shape));
                         return all;
                     })
        .def("before",
             [](const api::Launched& l, size_t argument) -> nb::object {
                 const std::vector<std::byte> bytes = l.before(argument);
                 if (bytes.empty()) return nb::none();
                 return nb::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
             })
        .def("trace", trace_of)
        .def("instructions", instructions_of)
        .def("save_trace", [](const api::Launched& l, const std::string& file) { api::save_trace(l, file); })
        .def("png",
             [](const api::Launched& l, const std::string& view, int width, int height, double scale,
                const std::string& theme, int64_t cycle, int32_t warp) {
                 const auto options =
                     still_options(view, width, height, scale, theme, cycle, warp, l.run->program->shown_name());
                 return bytes_of(run_apart([&] { return gui::png_of(l.run, l.verdict, options); }));
             })
        .def("words", [](const api::Launched& l, const std::string& view, int64_t cycle, int32_t warp) {
            const auto options = still_options(view, 1160, 760, 1, "dark", cycle, warp, l.run->program->shown_name());
            return run_apart([&] { return gui::words_of(l.run, l.verdict, options); });
        });

    m.def("stand_in", [](const std::string& program) { system::stand_in(program); });
    m.def("resource_root", [] { return resource_root().string(); });
    m.def("compile",
          [](const std::string& text, const std::string& file, const std::string& kernel, const std::string& gpu,
             const std::string& compiler, const std::string& arch, const std::vector<std::string>& include,
             const std::vector<std::string>& define, const std::string& source_text, const std::vector<std::string>& names) {
              api::Source source{text, file, kernel, gpu, compiler, arch, include, define, source_text, names};
              return run_apart([&] { return std::make_shared<api::Kernel>(std::move(source)); });
          });
    m.def("kernels_in", [](const std::string& text, const std::string& file) {
        return run_apart([&] { return api::kernels_in({.text = text, .file = file}); });
    });
    m.def("launch", launch);
    m.def("from_dlpack", from_dlpack);
    m.def("views", gui::stills);
    m.def("stall_reasons", [] {
        nb::list all;
        for (const StallRow& row : stall_reasons())
            all.append(nb::make_tuple(std::string(row.name), std::string(row.label), std::string(row.explanation)));
        return all;
    });
    m.def("gpus", [] {
        nb::list all;
        for (const model::GpuSpec& gpu : model::gpus())
            all.append(nb::make_tuple(std::string(gpu.name), std::string(gpu.title), gpu.sms.value, gpu.compute.text()));
        return all;
    });
    m.def("metrics", [] {
        nb::list all;
        for (const model::MetricRow& row : model::metric_rows())
            all.append(nb::make_tuple(std::string(row.name), std::string(row.nsight), std::string(row.unit),
                                      std::string(row.summary)));
        return all;
    });
    m.def("compilers", [] {
        nb::list all;
        for (const device::DeviceListing& one : device::list_compilers())
            all.append(nb::make_tuple(one.name, one.description, one.available));
        return all;
    });
}
