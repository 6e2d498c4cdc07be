// What Python can ask for: a row a function, in the order of lockstep/_core.py, which has the names of what each is given.
// Arrays come as addresses (lockstep/_arrays.py takes them from numpy, torch and DLPack); results go as JSON, columns and
// the bytes of a PNG.
#include "app/python/binding/functions.h"

#include <bit>
#include <type_traits>
#include <utility>

#include "app/gui/still.h"
#include "core/api/report.h"
#include "core/base/files.h"
#include "core/device/kernels/kernel_library.h"
#include "core/ptx/ptx.h"
#include "core/system/stand_in.h"

namespace lockstep::python {

template <class T>
Json Answer::blob(std::vector<T> values) {
    static_assert(std::is_arithmetic_v<T>);
    const auto owner = std::make_shared<const std::vector<T>>(std::move(values));
    kept.push_back(owner);
    const char* const kind = std::is_floating_point_v<T> ? "<f" : std::is_signed_v<T> ? "<i" : "<u";
    return {{"blob", reinterpret_cast<uintptr_t>(owner->data())},
            {"type", kind + std::to_string(sizeof(T))},
            {"count", owner->size()}};
}

Json Answer::blob(std::string bytes) {
    const auto owner = std::make_shared<const std::string>(std::move(bytes));
    kept.push_back(owner);
    return {{"blob", reinterpret_cast<uintptr_t>(owner->data())}, {"type", "bytes"}, {"count", owner->size()}};
}

namespace {

// One of the things that are given by name, where it is of that kind and fits.
template <class T>
T value(const Json& given, const char* name) {
    const Json& found = given.at(name);
    bool fits = false;
    if constexpr (std::is_same_v<T, bool>)
        fits = found.is_boolean();
    else if constexpr (std::is_integral_v<T>)
        fits = found.is_number_unsigned() ? std::in_range<T>(found.get<uint64_t>())
                                          : found.is_number_integer() && std::in_range<T>(found.get<int64_t>());
    else if constexpr (std::is_floating_point_v<T>)
        fits = found.is_number();
    else
        fits = found.is_string();
    if (!fits) throw Failure(std::string("'") + name + "' cannot be " + found.dump());
    return found.get<T>();
}

// ---- A source becomes a kernel.

Json words(const std::vector<std::string>& texts) {
    Json all = Json::array();
    for (const std::string& text : texts) all.push_back(text);
    return all;
}

void compile(const Call& call, Answer& answer) {
    const Json& g = call.given;
    api::Source source{value<std::string>(g, "text"),
                       value<std::string>(g, "file"),
                       value<std::string>(g, "kernel"),
                       value<std::string>(g, "gpu"),
                       value<std::string>(g, "compiler"),
                       value<std::string>(g, "arch"),
                       g.at("include"),
                       g.at("define"),
                       value<std::string>(g, "source_text"),
                       g.at("names")};
    answer.made.kernel = std::make_shared<api::Kernel>(std::move(source));
}

void kernels_in(const Call& call, Answer& answer) {
    answer.json = words(
        api::kernels_in({.text = value<std::string>(call.given, "text"), .file = value<std::string>(call.given, "file")}));
}

// What a kernel is: its names, its texts and what it needs.
void kernel(const Call& call, Answer& answer) {
    const api::Kernel& k = *call.object.kernel;
    Json warnings = Json::array(), parameters = Json::array();
    for (const Diagnostic& d : k.warnings()) warnings.push_back(render(d));
    for (const api::Parameter& p : k.parameters()) parameters.push_back({p.name, p.declaration, p.type, p.bytes, p.pointer});
    answer.json = {{"name", k.program().shown_name()},
                   {"entry", k.program().kernel},
                   {"file", k.source().file},
                   {"text", k.text()},
                   {"ptx", k.program().ptx},
                   {"compiler", k.compiler()},
                   {"registers", k.program().registers_per_thread},
                   {"static_shared", k.program().static_shared},
                   {"warnings", warnings},
                   {"parameters", parameters}};
}

// ---- A launch. An argument is ["null"], ["whole", 5], ["real", bits of the double], ["bytes", [1, 2, 3]] or
// ["array", address, bytes, type, shape, whether it may be written].

api::Argument argument_of(const Json& given) {
    const std::string kind = given.at(0);
    if (kind == "null") return api::Null{};
    if (kind == "whole") {
        const Json& number = given.at(1);
        const bool is_large = number.is_number_unsigned() && number.get<uint64_t>() > uint64_t{INT64_MAX};
        return api::Scalar{.whole = is_large ? static_cast<int64_t>(number.get<uint64_t>()) : number.get<int64_t>(),
                           .beyond_signed = is_large};
    }
    if (kind == "real") return api::Scalar{.fraction = true, .real = std::bit_cast<double>(given.at(1).get<uint64_t>())};
    if (kind == "bytes") {
        api::Bytes all;
        for (const Json& byte : given.at(1)) all.bytes.push_back(static_cast<std::byte>(byte.get<uint8_t>()));
        return all;
    }
    api::Borrowed array;
    array.data = reinterpret_cast<std::byte*>(given.at(1).get<uintptr_t>());
    array.bytes = given.at(2);
    const std::string type = given.at(3);
    const auto found = dtype_named(type);
    if (!found) throw Failure("there are no elements of type '" + type + "'");
    array.type = *found;
    array.shape = given.at(4).get<std::vector<int64_t>>();
    array.writable = given.at(5);
    return array;
}

simt::Dim3 dim3_of(const Json& given, const std::string& what) {
    const auto extents = given.get<std::vector<int64_t>>();
    simt::Dim3 d;
    uint32_t* const places[] = {&d.x, &d.y, &d.z};
    if (extents.empty() || extents.size() > 3) throw Failure("the " + what + " has one to three extents");
    for (size_t i = 0; i < extents.size(); ++i) {
        if (extents[i] < 1 || extents[i] > INT32_MAX)
            throw Failure("an extent of the " + what + " is from 1 on, not " + std::to_string(extents[i]));
        *places[i] = static_cast<uint32_t>(extents[i]);
    }
    return d;
}

void launch(const Call& call, Answer& answer) {
    const Json& g = call.given;
    std::vector<api::Argument> given;
    for (const Json& one : g.at("arguments")) given.push_back(argument_of(one));
    api::Launch how;
    how.grid = dim3_of(g.at("grid"), "grid");
    how.block = dim3_of(g.at("block"), "block");
    if (!g.at("cluster").empty()) how.cluster = dim3_of(g.at("cluster"), "cluster");
    how.shared = value<uint32_t>(g, "shared");
    how.gpu = value<std::string>(g, "gpu");
    how.check = value<std::string>(g, "check");
    how.functional = value<bool>(g, "functional");
    how.trace = value<bool>(g, "trace");
    how.traced_sm = value<uint32_t>(g, "sm");
    how.order = value<std::string>(g, "order");
    how.seed = value<uint64_t>(g, "seed");
    how.max_instructions = value<uint64_t>(g, "max_instructions");
    how.what_if = value<std::string>(g, "what_if");
    for (const auto& [name, value] : g.at("symbols").items()) how.symbols[name] = argument_of(value);
    how.stop = call.stop;
    how.print = call.print;
    answer.made.launched = std::make_shared<const api::Launched>(api::launch(call.object.kernel, given, how));
}

void launched(const Call& call, Answer& answer) {
    const api::Launched& l = *call.object.launched;
    Json arguments = Json::array();
    for (const api::Bound& b : l.arguments) arguments.push_back({b.name, b.address, b.bytes, name_of(b.type), b.shape});
    answer.json = {{"faulted", l.faulted()},
                   {"fault_text", l.faulted() ? simt::render(*l.run->result.fault) : std::string()},
                   {"source", l.run->source},
                   {"arguments", arguments}};
}

void report(const Call& call, Answer& answer) {
    answer.json = api::report_of(*call.object.launched);
}

void before(const Call& call, Answer& answer) {
    const std::vector<std::byte> bytes = call.object.launched->before(value<size_t>(call.given, "argument"));
    if (!bytes.empty()) answer.json = answer.blob(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

// ---- What was traced, as columns.

template <class Row, class Get>
Json column(Answer& answer, const std::vector<Row>& rows, const Get& get) {
    std::vector<decltype(get(rows[0]))> values;
    values.reserve(rows.size());
    for (const Row& row : rows) values.push_back(get(row));
    return answer.blob(std::move(values));
}

void trace(const Call& call, Answer& answer) {
    const api::Launched& l = *call.object.launched;
    const KernelTrace& trace = l.run->result.trace;
    Json warps, issues, stalls, blocks;
    warps["block"] = column(answer, trace.warps, [](const WarpTrack& w) { return w.block; });
    warps["warp_in_block"] = column(answer, trace.warps, [](const WarpTrack& w) { return w.warp_in_block; });
    warps["slot"] = column(answer, trace.warps, [](const WarpTrack& w) { return w.slot; });
    warps["scheduler"] = column(answer, trace.warps, [](const WarpTrack& w) { return w.scheduler; });
    warps["begin"] = column(answer, trace.warps, [](const WarpTrack& w) { return w.begin; });
    warps["end"] = column(answer, trace.warps, [](const WarpTrack& w) { return w.end; });
    issues["cycle"] = column(answer, trace.issues, [](const IssueRecord& i) { return i.cycle; });
    issues["ready"] = column(answer, trace.issues, [](const IssueRecord& i) { return i.ready; });
    issues["warp"] = column(answer, trace.issues, [](const IssueRecord& i) { return i.warp; });
    issues["pc"] = column(answer, trace.issues, [](const IssueRecord& i) { return i.pc; });
    const auto& code = l.run->program->instructions;
    issues["line"] =
        column(answer, trace.issues, [&](const IssueRecord& i) { return i.pc < code.size() ? code[i.pc].line : 0; });
    issues["active"] = column(answer, trace.issues, [](const IssueRecord& i) { return i.active; });
    issues["level"] = column(answer, trace.issues, [](const IssueRecord& i) { return static_cast<uint8_t>(i.level); });
    issues["sectors"] = column(answer, trace.issues, [](const IssueRecord& i) { return i.sectors; });
    issues["passes"] = column(answer, trace.issues, [](const IssueRecord& i) { return i.passes; });
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
    stalls["warp"] = answer.blob(std::move(warp));
    stalls["begin"] = answer.blob(std::move(begin));
    stalls["end"] = answer.blob(std::move(end));
    stalls["reason"] = answer.blob(std::move(reason));
    stalls["pc"] = answer.blob(std::move(pc));
    stalls["cause"] = answer.blob(std::move(cause));
    blocks["block"] = column(answer, trace.blocks, [](const BlockRun& b) { return b.block; });
    blocks["sm"] = column(answer, trace.blocks, [](const BlockRun& b) { return b.sm; });
    blocks["slot"] = column(answer, trace.blocks, [](const BlockRun& b) { return b.slot; });
    blocks["begin"] = column(answer, trace.blocks, [](const BlockRun& b) { return b.begin; });
    blocks["end"] = column(answer, trace.blocks, [](const BlockRun& b) { return b.end; });
    Json kept = {trace.truncated ? trace.kept_from : 0, trace.truncated ? trace.kept_until : trace.cycles};
    answer.json = {{"warps", warps},
                   {"issues", issues},
                   {"stalls", stalls},
                   {"blocks", blocks},
                   {"cycles", trace.cycles},
                   {"sm", trace.sm},
                   {"kept", kept},
                   {"truncated", trace.truncated},
                   {"schedulers", trace.schedulers}};
}

// By instruction, of the whole launch: counters, its line and its text.
void instructions(const Call& call, Answer& answer) {
    const api::Launched& l = *call.object.launched;
    const ptx::Program& program = *l.run->program;
    const auto& counters = l.run->result.instructions;
    Json texts = Json::array(), all;
    for (uint32_t pc = 0; pc < program.instructions.size(); ++pc) texts.push_back(ptx::text_of(program, pc));
    all["text"] = texts;
    all["line"] = column(answer, program.instructions, [](const ptx::DecodedInstruction& i) { return i.line; });
    all["issues"] = column(answer, counters, [](const model::InstructionCounters& c) { return c.issues; });
    all["lanes"] = column(answer, counters, [](const model::InstructionCounters& c) { return c.lanes; });
    all["requests"] = column(answer, counters, [](const model::InstructionCounters& c) { return c.requests; });
    all["sectors"] = column(answer, counters, [](const model::InstructionCounters& c) { return c.sectors; });
    all["shared_passes"] = column(answer, counters, [](const model::InstructionCounters& c) { return c.shared_passes; });
    all["stalled"] = column(answer, counters, [](const model::InstructionCounters& c) {
        uint64_t sum = 0;
        for (size_t k = 0; k < static_cast<size_t>(StallReason::count); ++k)
            if (static_cast<StallReason>(k) != StallReason::selected) sum += c.stalls[k];
        return sum;
    });
    answer.json = std::move(all);
}

void save_trace(const Call& call, Answer&) {
    api::save_trace(*call.object.launched, value<std::string>(call.given, "file"));
}

// ---- Pictures.

gui::StillOptions still_options(const Call& call) {
    const Json& g = call.given;
    return {.view = value<std::string>(g, "view"),
            .width = value<int>(g, "width"),
            .height = value<int>(g, "height"),
            .scale = value<double>(g, "scale"),
            .theme = value<std::string>(g, "theme"),
            .cycle = value<int64_t>(g, "cycle"),
            .warp = value<int32_t>(g, "warp"),
            .label = call.object.launched->run->program->shown_name()};
}

void png(const Call& call, Answer& answer) {
    const api::Launched& l = *call.object.launched;
    answer.json = answer.blob(gui::png_of(l.run, l.verdict, still_options(call)));
}

void picture_words(const Call& call, Answer& answer) {
    const api::Launched& l = *call.object.launched;
    answer.json = gui::words_of(l.run, l.verdict, still_options(call));
}

// ---- What there is.

void stand_in(const Call& call, Answer&) {
    const auto program = value<std::string>(call.given, "program");
    system::stand_in(std::filesystem::path(std::u8string(program.begin(), program.end())));
}

void resources(const Call&, Answer& answer) {
    const std::u8string folder = resource_root().u8string();
    answer.json = std::string(folder.begin(), folder.end());
}

void views(const Call&, Answer& answer) {
    answer.json = Json::array();
    for (const auto& [name, title] : gui::stills()) answer.json.push_back(Json::array({name, title}));
}

void reasons(const Call&, Answer& answer) {
    answer.json = Json::array();
    for (const StallRow& row : stall_reasons()) answer.json.push_back(Json::array({row.name, row.label, row.explanation}));
}

void gpus(const Call&, Answer& answer) {
    answer.json = Json::array();
    for (const model::GpuSpec& gpu : model::gpus())
        answer.json.push_back(Json::array({gpu.name, gpu.title, gpu.sms.value, gpu.compute.text()}));
}

void metrics(const Call&, Answer& answer) {
    answer.json = Json::array();
    for (const model::MetricRow& row : model::metric_rows())
        answer.json.push_back(Json::array({row.name, row.nsight, row.unit, row.summary}));
}

void compilers(const Call&, Answer& answer) {
    answer.json = Json::array();
    for (const device::DeviceListing& one : device::list_compilers())
        answer.json.push_back(Json::array({one.name, one.description, one.available}));
}

constexpr FunctionRow rows[] = {
    {"compile", compile},
    {"kernels_in", kernels_in},
    {"kernel", kernel},
    {"launch", launch},
    {"launched", launched},
    {"report", report},
    {"before", before},
    {"trace", trace},
    {"instructions", instructions},
    {"save_trace", save_trace},
    {"png", png},
    {"words", picture_words},
    {"stand_in", stand_in},
    {"resource_root", resources},
    {"views", views},
    {"stall_reasons", reasons},
    {"gpus", gpus},
    {"metrics", metrics},
    {"compilers", compilers},
};

}  // namespace

std::span<const FunctionRow> functions() {
    return rows;
}

}  // namespace lockstep::python
