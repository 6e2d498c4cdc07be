// Calls and returns, and jumps by a table.
//   call := "call" [ ".uni" ] [ "(" actuals ")" "," ] ( function | register ) [ "," "(" actuals ")" ] [ "," list ]
// An actual is a .param variable of the frame, a register, or, of an argument, a number. `list` names a prototype or a list
// of targets, and says what a call through a register passes.
#include "core/ptx/analyse/call_graph.h"
#include "core/ptx/decode/decoder.h"
#include "core/ptx/ptx.h"

namespace lockstep::ptx {

namespace {

struct System {
    std::string_view name;
    SystemFunction function;
    size_t parameters;
};
constexpr System systems[] = {
    {"vprintf", SystemFunction::vprintf, 2},
    {"malloc", SystemFunction::malloc, 1},
    {"free", SystemFunction::free, 1},
    {"__assertfail", SystemFunction::assert_fail, 5},
    {"cudaGetParameterBufferV2", SystemFunction::launch_buffer, 4},
    {"cudaGetParameterBuffer", SystemFunction::plain_buffer, 2},
    {"cudaLaunchDeviceV2", SystemFunction::launch_prepared, 2},
    {"cudaLaunchDevice", SystemFunction::launch_kernel, 6},
    {"cudaDeviceSynchronize", SystemFunction::device_wait, 0},
    {"__cudaDeviceSynchronizeDeprecationAvoidance", SystemFunction::device_wait, 0},
    {"cudaStreamCreateWithFlags", SystemFunction::new_stream, 2},
    {"cudaEventCreateWithFlags", SystemFunction::new_event, 2},
    {"cudaStreamDestroy", SystemFunction::order_streams, 1},
    {"cudaStreamWaitEvent", SystemFunction::order_streams, 3},
    {"cudaEventRecord", SystemFunction::order_streams, 2},
    {"cudaEventRecordWithFlags", SystemFunction::order_streams, 3},
    {"cudaEventDestroy", SystemFunction::order_streams, 1},
    {"cudaGetLastError", SystemFunction::last_error, 0},
    {"cudaPeekAtLastError", SystemFunction::peek_error, 0},
    {"cudaGetDevice", SystemFunction::get_device, 1},
    {"cudaGetDeviceCount", SystemFunction::device_count, 1},
    {"cudaMalloc", SystemFunction::device_malloc, 2},
    {"cudaFree", SystemFunction::device_free, 1},
    {"cudaMemcpyAsync", SystemFunction::copy_async, 5},
    {"cudaMemsetAsync", SystemFunction::fill_async, 4},
};

// CUDA 12 and later call its runtime on the device __cudaCDP2LaunchDeviceV2 and the like; _ptsz: with a stream a thread.
std::string usual_name(std::string_view callee) {
    constexpr std::string_view later = "__cudaCDP2", by_thread = "_ptsz";
    std::string name = callee.starts_with(later) ? "cuda" + std::string(callee.substr(later.size())) : std::string(callee);
    if (name.starts_with("cuda") && name.ends_with(by_thread)) name.resize(name.size() - by_thread.size());
    return name;
}

constexpr size_t most_edges = 1'000'000;  // from jumps by tables to their targets

std::string count_of(size_t count, const char* what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

}  // namespace

// The name of a function as a number in the module; none where it is a register, a variable or nothing.
std::optional<size_t> Decoder::function_named(std::string_view name) {
    if (frame_.register_named(name, statement_->scope) || frame_.variable_named(name, statement_->scope)) return {};
    const auto found = common_.functions.find(name);
    if (found == common_.functions.end()) return {};
    return found->second;
}

// The address of a kernel, which launches from kernels name; they are numbered behind the functions.
std::optional<uint64_t> Decoder::kernel_named(std::string_view name) const {
    for (size_t k = 0; k < module_.entries.size(); ++k)
        if (module_.entries[k].name == name) return address_of_function(module_.functions.size() + k);
    return {};
}

Passed Decoder::actual(const Operand& o, const Variable& formal, bool written) {
    const auto wrong_size = [&](uint64_t bytes) {
        complain("this has " + count_of(bytes, "byte") + " where the function has " + count_of(formal.bytes, "byte"), o);
    };
    Passed passed{.bytes = static_cast<uint32_t>(formal.bytes)};
    if (o.kind == Operand::Kind::name && o.name != "_" && !frame_.register_named(o.name, statement_->scope)) {
        const Located* located = frame_.variable_named(o.name, statement_->scope);
        if (!located) unknown_name(o, o.name);
        if (located->variable->space != Space::param || !frame_.in_frame(*located))
            complain("'" + std::string(o.name) + "' is not a .param variable of this function", o);
        if (formal.space == Space::none && formal.type == Type::pred) wrong_size(located->variable->bytes);
        if (located->variable->bytes != formal.bytes) wrong_size(located->variable->bytes);
        passed.offset = static_cast<uint32_t>(located->offset);
        return passed;
    }
    if (formal.array) complain("a structure is passed in a .param variable", o);
    const Type type = formal.type;
    if (written) {
        passed.operand = destination(o, type);
    } else {
        passed.operand = source(o, type);
        if (o.negated) complain("'!' is not for what a call passes", o);
    }
    passed.bytes = static_cast<uint32_t>(register_size(type));
    return passed;
}

void Decoder::decode_actuals(CallSite& site, const Operand* results, const Operand* arguments,
                             const std::vector<Variable>& formal_results, const std::vector<Variable>& formals) {
    const size_t given = arguments ? arguments->elements.size() : 0, taken = results ? results->elements.size() : 0;
    if (given != formals.size())
        complain("this passes " + count_of(given, "argument") + ", but the function takes " + std::to_string(formals.size()),
                 arguments ? *arguments : operand(0));
    if (taken != formal_results.size())
        complain(
            "this takes " + count_of(taken, "result") + ", but the function gives " + std::to_string(formal_results.size()),
            results ? *results : operand(0));
    for (size_t k = 0; k < given; ++k) site.arguments.push_back(actual(arguments->elements[k], formals[k], false));
    for (size_t k = 0; k < taken; ++k) site.results.push_back(actual(results->elements[k], formal_results[k], true));
}

bool Decoder::decode_system(DecodedInstruction& out, std::string_view callee, const Operand* results,
                            const Operand* arguments) {
    const std::string name = usual_name(callee);
    const auto system =
        std::find_if(std::begin(systems), std::end(systems), [&](const System& s) { return s.name == name; });
    if (system == std::end(systems)) return false;
    const auto place = [&](const Operand& o) {
        const Located* located = o.kind == Operand::Kind::name && !frame_.register_named(o.name, statement_->scope)
                                     ? frame_.variable_named(o.name, statement_->scope)
                                     : nullptr;
        if (!located || located->variable->space != Space::param || !frame_.in_frame(*located))
            complain(std::string(callee) + " takes .param variables", o);
        return frame_.constant(located->offset, 4);
    };
    const size_t given = arguments ? arguments->elements.size() : 0;
    if (given != system->parameters)
        complain(std::string(callee) + " takes " + count_of(system->parameters, "argument") + ", not " +
                 std::to_string(given));
    if (results && results->elements.size() > 1) complain(std::string(callee) + " gives one result", *results);
    const bool fails = system->function == SystemFunction::assert_fail;
    for (const Candidate& candidate : rows_of(statement_->opcode, ""))
        if (candidate.opcode->kind == (fails ? Kind::trap : Kind::system)) take_row(out, candidate);
    put(out, SystemView{system->function});
    if (results && !results->elements.empty()) out.destination[0] = place(results->elements[0]);
    out.list = static_cast<uint32_t>(program_.lists.size());
    for (size_t k = 0; k < given; ++k) {
        const int32_t at = place(arguments->elements[k]);
        if (k < std::size(out.source)) out.source[k] = at;
        program_.lists.push_back(at);
        ++out.list_sources;
    }
    return true;
}

void Decoder::decode_call(DecodedInstruction& out) {
    out.uniform = holds(modifiers_, ".uni");
    const std::vector<Operand>& operands = statement_->operands;
    size_t at = 0;
    const auto group = [&]() -> const Operand* {
        return at < operands.size() && operands[at].kind == Operand::Kind::group ? &operands[at++] : nullptr;
    };
    const Operand* results = group();
    if (at >= operands.size() || operands[at].kind != Operand::Kind::name) complain("expected the function to call");
    const Operand& callee = operands[at++];
    const Operand* arguments = group();
    const Operand* list = at < operands.size() && operands[at].kind == Operand::Kind::name ? &operands[at++] : nullptr;
    if (at < operands.size()) complain("expected nothing more", operands[at]);

    CallSite site;
    if (const std::optional<size_t> number = function_named(callee.name)) {
        const Entry& function = module_.functions[*number];
        if (!function.defined) {
            if (decode_system(out, function.name, results, arguments)) return;
            complain("'" + readable_name(function.name.substr(0, 80)) + "' is declared here, but its code is elsewhere" +
                     source_line_of(*statement_));
        }
        decode_actuals(site, results, arguments, function.results, function.parameters);
        site.function = program_.function_at[*number];
    } else {
        const Slot* slot = frame_.register_named(callee.name, statement_->scope);
        if (!slot) {
            if (decode_system(out, callee.name, results, arguments)) return;
            unknown_name(callee, callee.name);
        }
        if (register_size(slot->type) != 8 || is_float(slot->type))
            complain("'" + std::string(callee.name) + "' is a register of " + dotted(slot->type) + ", an address needs .b64",
                     callee);
        out.source[0] = slot->offset;
        if (!list)
            complain("a call through a register needs a prototype (.callprototype) or a list of targets (.calltargets)");
        decode_signature(site, *list, results, arguments);
    }
    put_call_site(out, program_.calls.size());
    out.list = static_cast<uint32_t>(program_.lists.size());
    for (const Passed& p : site.results)
        if (p.operand != no_operand) program_.lists.push_back(p.operand), ++out.list_destinations;
    for (const Passed& p : site.arguments)
        if (p.operand != no_operand) program_.lists.push_back(p.operand), ++out.list_sources;
    program_.calls.push_back(std::move(site));
}

void Decoder::decode_signature(CallSite& site, const Operand& list, const Operand* results, const Operand* arguments) {
    if (const Prototype* prototype = frame_.prototype_named(list.name, statement_->scope))
        return decode_actuals(site, results, arguments, prototype->results, prototype->parameters);
    if (const TargetList* targets = frame_.list_named(list.name, statement_->scope)) {
        const auto first = common_.functions.find(targets->targets[0]);
        if (first == common_.functions.end())
            throw Complaint{"'" + std::string(targets->targets[0].substr(0, 80)) + "' is not a function", targets->place};
        const Entry& function = module_.functions[first->second];
        return decode_actuals(site, results, arguments, function.results, function.parameters);
    }
    complain("no prototype or list of targets '" + std::string(list.name.substr(0, 80)) + "' in sight", list);
}

uint32_t Decoder::place_of_label(std::string_view name, int scope, Place at) {
    if (const uint32_t* target = frame_.label_named(name, scope)) return first_ + *target;
    std::vector<std::string_view> labels;
    for (size_t i = 0; i < entry_.labels.size() && i < 2000; ++i) labels.push_back(entry_.labels[i].name);
    throw Complaint{"no label '" + std::string(name.substr(0, 80)) + "' in sight" + did_you_mean(name, labels), at};
}

void Decoder::decode_branch_table(DecodedInstruction& out) {
    expect_operands(2, 2);
    out.uniform = holds(modifiers_, ".uni");
    out.source[0] = source(operand(0), Type::u32);
    if (operand(1).kind != Operand::Kind::name) complain("expected the label of a list of targets", operand(1));
    const TargetList* targets = frame_.list_named(operand(1).name, statement_->scope);
    if (!targets)
        complain("no list of targets (.branchtargets) '" + std::string(operand(1).name.substr(0, 80)) + "' in sight",
                 operand(1));
    if (lists_.emplace(targets, static_cast<uint32_t>(program_.lists.size())).second) {
        program_.lists.push_back(static_cast<int32_t>(targets->targets.size()));
        for (std::string_view target : targets->targets)
            program_.lists.push_back(static_cast<int32_t>(place_of_label(target, targets->scope, targets->place)));
    }
    out.list = lists_.at(targets);
    table_edges_ += targets->targets.size();
    if (table_edges_ > most_edges) complain("the tables of this kernel's jumps are too large");
}

}  // namespace lockstep::ptx
