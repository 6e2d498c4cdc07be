// Module -> Program: decides what each statement of one entry, and of the functions that it may call, means. Statement n of
// a function becomes its instruction n.
// Order: names get places (frame.cpp), statements are decoded one by one, then branches, reconvergence and registers.
#include <algorithm>
#include <cassert>
#include <charconv>
#include <map>

#include "core/ptx/analyse/control_flow.h"
#include "core/ptx/decode/decoder.h"
#include "core/ptx/parse/names.h"
#include "core/ptx/ptx.h"

namespace lockstep::ptx {

namespace {

constexpr size_t most_instructions = 400'000;  // of a kernel and the functions that it may call

}  // namespace

void Decoder::decode_statement(const Statement& statement) {
    statement_ = &statement;
    modifiers_ = modifiers_of(statement.opcode);
    first_type_ = last_type_ = Type::none;
    for (std::string_view modifier : modifiers_)
        if (const Type type = type_named(modifier); type != Type::none) {
            if (first_type_ == Type::none) first_type_ = type;
            last_type_ = type;
        }
    DecodedInstruction out;
    out.ptx_line = statement.place.line;
    out.approximate = std::find(modifiers_.begin(), modifiers_.end(), ".approx") != modifiers_.end();
    out.keeps_rolled = statement.keeps_rolled || entry_.keeps_rolled;
    if (!statement.guard.empty()) {
        const Slot* slot = frame_.register_named(statement.guard, statement.scope);
        if (!slot)
            complain("unknown predicate '" + std::string(statement.guard.substr(0, 80)) + "'" +
                     frame_.hint_for(statement.guard, statement.scope));
        if (slot->type != Type::pred)
            complain("the guard '" + std::string(statement.guard) + "' is a register of " + dotted(slot->type) +
                     ", not .pred");
        out.guard = slot->offset;
        out.guard_negated = statement.guard_negated;
    }
    const std::string_view stem = stem_of(statement.opcode);
    const std::vector<Candidate>& rows = rows_of(statement.opcode, "");
    if (rows.empty()) complain(common_.table.unknown_instruction(statement.opcode));
    const bool device_address = stem == "cvta" && statement.operands.size() == 2 && operand(1).kind == Operand::Kind::name &&
                                !frame_.register_named(operand(1).name, statement.scope);
    if (stem == "mov" || device_address) {
        decode_move(out);
    } else if (stem == "createpolicy") {
        take_row(out, rows[0]);
        decode_policy(out);
    } else if (!rows[0].opcode->operands.empty()) {
        bool done = false;
        for (const Candidate& candidate : rows) {
            done = decode_lane_wise(out, candidate);
            if (done) break;
        }
        if (!done) {
            const std::string_view shape = rows[0].opcode->operands;
            if ((shape == "D=T" || shape == "D=TX") && shape_fits(shape))
                complain("the registers do not have the sizes of the types of " + spelled());
            if ((stem == "min" || stem == "max") && last_type_ == Type::f32 && statement.operands.size() == 4)
                complain("the form of " + spelled() +
                         " with three values is not modelled: it is of compute capability 10.0 and later");
            complain(spelled() + " takes " +
                     std::to_string(std::count_if(shape.begin() + static_cast<std::ptrdiff_t>(shape.find('=')), shape.end(),
                                                  [](char c) { return c != 'C' && c != 'X'; })) +
                     " operands (" + std::string(rows[0].opcode->summary) + "), not " +
                     std::to_string(statement.operands.size()));
        }
    } else {
        take_row(out, stem == "ret" && entry_.function ? rows.back() : rows[0]);
        switch (out.kind) {
            case Kind::load:
            case Kind::store:
                decode_memory(out);
                break;
            case Kind::atomic:
                decode_atomic(out);
                break;
            case Kind::texture:
                decode_texture(out);
                break;
            case Kind::surface:
                decode_surface(out);
                break;
            case Kind::shuffle:
            case Kind::vote:
                decode_warp_wide(out);
                break;
            case Kind::matrix:
            case Kind::matrix_load:
            case Kind::matrix_store:
            case Kind::matrix_group:
                decode_matrix(out);
                break;
            case Kind::async_copy:
            case Kind::async_wait:
            case Kind::mbarrier:
            case Kind::bulk_wait:
            case Kind::cluster:
                decode_async(out);
                break;
            case Kind::bulk_copy:
                decode_bulk(out);
                break;
            case Kind::tensor_map:
                decode_tensor_map(out);
                break;
            case Kind::multimem:
                decode_multimem(out);
                break;
            default:
                decode_control(out);
        }
    }
    locate(out);
    program_.instructions.push_back(out);
    program_.texts.push_back(
        {static_cast<uint32_t>(statement.text.data() - module_.text->data()), static_cast<uint32_t>(statement.text.size())});
}

// Compilers write line 0 for what they made of two places, such as a store that both sides of an if have: the line nearest
// to it in the text is meant, the one before it of two as near.
void Decoder::find_nearest_lines() {
    const size_t count = entry_.statements.size();
    const auto has_line = [&](size_t k) {
        const int at = entry_.statements[k].location;
        return at >= 0 && entry_.locations[static_cast<size_t>(at)].line > 0;
    };
    nearest_line_.assign(count, -1);
    size_t before = count;
    for (size_t k = 0; k < count; ++k) {
        if (has_line(k)) before = k;
        nearest_line_[k] = before == count ? -1 : static_cast<int64_t>(before);
    }
    size_t behind = count;
    for (size_t k = count; k-- > 0;) {
        if (has_line(k)) behind = k;
        const int64_t known = nearest_line_[k];
        if (behind != count && (known < 0 || behind - k < k - static_cast<size_t>(known)))
            nearest_line_[k] = static_cast<int64_t>(behind);
    }
}

const LineLocation& Decoder::location_of(const Statement& statement) const {
    const LineLocation& at = entry_.locations[static_cast<size_t>(statement.location)];
    const auto number = static_cast<size_t>(&statement - entry_.statements.data());
    if (at.line > 0 || number >= nearest_line_.size() || nearest_line_[number] < 0) return at;
    return entry_.locations[static_cast<size_t>(entry_.statements[static_cast<size_t>(nearest_line_[number])].location)];
}

// ", on line 4 of saxpy.cu", where the compiler said so.
std::string Decoder::source_line_of(const Statement& statement) const {
    if (statement.location < 0) return {};
    const LineLocation& at = location_of(statement);
    if (at.line <= 0 || at.file <= 0 || static_cast<size_t>(at.file) >= module_.files.size()) return {};
    return ", on line " + std::to_string(at.line) + " of " + module_.files[static_cast<size_t>(at.file)];
}

// Code inlined from a header counts as the line of the kernel's own file that it is inlined at. A function may be inlined at
// several places: the last that the text names in front of the statement is meant.
void Decoder::locate(DecodedInstruction& out) {
    if (statement_->location < 0) return;
    LineLocation at = location_of(*statement_);
    out.file = at.file;
    out.line = at.line;
    for (int depth = 0; depth < 16 && at.file != source_file_; ++depth) {
        const auto known = inlined_.find({at.file, at.line, at.column});
        if (!at.inlined_file && known != inlined_.end()) {
            const std::vector<int>& places = known->second;
            const auto behind = std::upper_bound(places.begin(), places.end(), statement_->location);
            at = entry_.locations[static_cast<size_t>(behind == places.begin() ? *behind : behind[-1])];
        }
        if (at.inlined_file) {
            at = LineLocation{.file = at.inlined_file, .line = at.inlined_line, .column = at.inlined_column};
            continue;
        }
        // clang does not say where: behind the line of the kernel's own file that the text has last.
        if (const int own = own_before_[static_cast<size_t>(statement_->location)]; own >= 0) {
            out.file = source_file_;
            out.line = entry_.locations[static_cast<size_t>(own)].line;
        }
        return;
    }
    if (at.file == source_file_) {
        out.file = at.file;
        out.line = at.line;
    }
}

void Decoder::decode(std::vector<LiveAtCall>& live) {
    if (!entry_.locations.empty()) source_file_ = entry_.locations[0].file;
    for (size_t i = 0; i < entry_.locations.size(); ++i) {
        const LineLocation& at = entry_.locations[i];
        const bool own = at.file == source_file_ && at.line > 0;
        own_before_.push_back(own ? static_cast<int>(i) : own_before_.empty() ? -1 : own_before_.back());
        if (at.inlined_file) inlined_[{at.file, at.line, at.column}].push_back(static_cast<int>(i));
    }
    if (first_ + entry_.statements.size() > most_instructions)
        throw Complaint{"a kernel and the functions that it calls have at most 400000 instructions", entry_.place};
    find_nearest_lines();
    for (const Statement& statement : entry_.statements) decode_statement(statement);
    finish(live);
}

void Decoder::finish(std::vector<LiveAtCall>& live) {
    auto& instructions = program_.instructions;
    const bool labelled_end = std::any_of(entry_.labels.begin(), entry_.labels.end(), [&](const Label& label) {
        return label.statement >= instructions.size() - first_;
    });
    const bool ends = instructions.size() > first_ && instructions.back().guard == no_operand &&
                      (instructions.back().kind == Kind::exit || instructions.back().kind == Kind::branch ||
                       instructions.back().kind == Kind::trap || instructions.back().kind == Kind::return_);
    if (!ends || labelled_end) {
        DecodedInstruction exit;
        take_row(exit, entry_.function ? common_.table.candidates("ret", "").back()
                                       : common_.table.candidates("exit", "").front());
        exit.ptx_line = instructions.size() == first_ ? entry_.place.line : instructions.back().ptx_line;
        instructions.push_back(exit);
        program_.texts.push_back({});
    }
    assert(program_.texts.size() == instructions.size());
    frame_.finish();
    const auto end = static_cast<uint32_t>(instructions.size());
    Function& function = program_.functions[function_];
    function.begin = first_;
    function.end = end;
    find_reconvergence(instructions, program_.lists, first_, end);
    function.registers = count_registers(program_, function, live);
    if (function_ != 0) return;
    if (static_cast<size_t>(source_file_) < module_.files.size())
        program_.source_file = module_.files[static_cast<size_t>(source_file_)];
}

namespace {

uint32_t most_threads(const Entry& entry) {
    const uint32_t* const most = entry.max_threads;
    return static_cast<uint32_t>(std::min<uint64_t>(uint64_t{most[0]} * most[1] * most[2], 1u << 31));
}

// The kernel and the functions that it may call, one after the other.
// As many registers as ptxas gives a thread at most: what .maxnreg says, and so few that the block of .maxntid or .reqntid
// finds room, as often as .minnctapersm asks where that many warps and blocks can be. Values beyond it are spilled there.
uint32_t most_registers(const Entry& entry, std::string_view target) {
    const uint32_t* const required = entry.required_threads;
    const uint64_t threads =
        required[0] ? uint64_t{required[0]} * std::max(1u, required[1]) * std::max(1u, required[2]) : most_threads(entry);
    const uint64_t warps = std::min<uint64_t>((threads + 31) / 32, 32);
    const bool small = target.starts_with("sm_86") || target.starts_with("sm_87") || target.starts_with("sm_89");
    const uint64_t asked = std::max(1u, entry.min_blocks);
    const uint64_t blocks = asked <= 32 && asked * warps <= (small ? 48 : 64) ? asked : 1;
    const uint64_t room =
        warps == 0 ? 255 : 65536 / (blocks * warps * 32) / 8 * 8;  // a warp's registers come in units of 256
    return static_cast<uint32_t>(std::min<uint64_t>({255, room, entry.max_registers ? entry.max_registers : 255}));
}

void decode_all(const Module& module, const Entry& entry, const Rows& rows, Program& program) {
    Common common(module, rows);
    const Reached reached = reached_from(module, entry, common);
    program.functions.resize(1 + reached.functions.size());
    program.functions[0].name = entry.name;
    program.function_at.assign(reached.functions.empty() ? 0 : module.functions.size(), -1);
    for (size_t k = 0; k < reached.functions.size(); ++k) {
        const size_t number = reached.functions[k].number;
        program.functions[k + 1].name = module.functions[number].name;
        program.function_at[number] = static_cast<int32_t>(k + 1);
    }
    common.place_variables(program, reached.names);
    const auto entry_at = [&](size_t k) -> const Entry& {
        return k ? module.functions[reached.functions[k - 1].number] : entry;
    };
    // What is wrong with a function that only a call through a register may come to is a fault of that call.
    const auto attempt = [&](size_t k, const auto& work) {
        if (k == 0 || !reached.functions[k - 1].by_address) return work();
        const size_t instructions = program.instructions.size(), calls = program.calls.size(), lists = program.lists.size(),
                     registers = program.registers.size();
        try {
            work();
        } catch (const Complaint& complaint) {
            program.instructions.resize(instructions);
            program.texts.resize(instructions);
            program.calls.resize(calls);
            program.lists.resize(lists);
            program.registers.resize(registers);
            Function& function = program.functions[k];
            function =
                Function{.name = function.name,
                         .begin = static_cast<uint32_t>(instructions),
                         .end = static_cast<uint32_t>(instructions),
                         .problem = complaint.message + " (line " + std::to_string(complaint.place.line) + " of the PTX)"};
        }
    };
    std::vector<std::unique_ptr<Frame>> frames(program.functions.size());
    for (size_t k = 0; k < frames.size(); ++k)
        attempt(k, [&] { frames[k] = std::make_unique<Frame>(entry_at(k), program, common, k); });
    common.finish(program);
    size_t most = 0;
    for (size_t k = 0; k < frames.size(); ++k) most += entry_at(k).statements.size() + 1;
    program.instructions.reserve(std::min(most, most_instructions));
    std::vector<LiveAtCall> live;
    for (size_t k = 0; k < frames.size(); ++k) {
        const size_t before = live.size();
        if (frames[k]) attempt(k, [&] { Decoder(entry_at(k), program, common, *frames[k], k).decode(live); });
        if (!program.functions[k].problem.empty()) live.resize(before);
    }
    for (DecodedInstruction& i : program.instructions) {
        if (i.kind != Kind::call) continue;
        const int32_t callee = call_site(program, i).function;
        if (callee >= 0) i.target = program.functions[static_cast<size_t>(callee)].begin;
    }
    add_up_calls(program, live, reached);
    program.registers_per_thread = std::min(program.registers_per_thread, most_registers(entry, module.target));
    if (program.constants.empty()) program.constants.resize(64);
}

// Takes a count from the front of a text that states one: from 1 to 255, a blank or the end behind it; 0: there is none.
uint32_t take_registers(std::string_view& text) {
    uint32_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    const auto taken = static_cast<size_t>(end - text.data());
    if (error != std::errc() || count < 1 || count > 255 || (taken < text.size() && text[taken] != ' ')) return 0;
    text.remove_prefix(std::min(text.size(), taken + 1));
    return count;
}

uint32_t compute_of(std::string_view target) {  // "sm_90a": 90; 0: no target
    uint32_t compute = 0;
    constexpr std::string_view mark = "sm_";
    if (target.starts_with(mark)) std::from_chars(target.data() + mark.size(), target.data() + target.size(), compute);
    return compute;
}

// What a comment in front of the first directive states, "// registers KERNEL N sm_80:M sm_86:L": N for the module's own
// target, the others for GPUs from theirs on (kernels/build_ptx writes ptxas's counts there). Whether there was one.
bool take_stated_registers(const Module& module, Program& program) {
    constexpr std::string_view mark = "// registers ";
    std::string_view text = *module.text;
    const std::string_view kernel = program.kernel;
    for (; text.starts_with("//"); text.remove_prefix(std::min(text.size(), text.find('\n') + 1))) {
        std::string_view line = text.substr(0, text.find('\n'));
        if (text.find('\n') == std::string_view::npos) return false;
        if (!line.starts_with(mark)) continue;
        line.remove_prefix(mark.size());
        if (!line.starts_with(kernel) || line.size() <= kernel.size() || line[kernel.size()] != ' ') continue;
        line.remove_prefix(kernel.size() + 1);
        const uint32_t own = take_registers(line);
        if (own == 0) continue;
        program.registers_per_thread = own;
        std::vector<RegistersFor> all;
        for (size_t colon; (colon = line.find(':')) != std::string_view::npos;) {
            const uint32_t compute = compute_of(line.substr(0, colon));
            line.remove_prefix(colon + 1);
            const uint32_t count = take_registers(line);
            if (compute == 0 || count == 0) break;
            all.push_back({compute, count});
        }
        if (all.empty()) return true;
        all.push_back({compute_of(module.target), own});
        std::stable_sort(all.begin(), all.end(),
                         [](const RegistersFor& a, const RegistersFor& b) { return a.compute < b.compute; });
        program.registers_for = std::move(all);
        return true;
    }
    return false;
}

std::string without_blanks(std::string_view name) {
    std::string text(name);
    std::erase(text, ' ');
    return text;
}

// How an entry may be called: k, a::k, k<float>, a::k<float>, k(int*).
struct EntryNames {
    const Entry* entry = nullptr;
    std::string_view plain;  // "k"; empty: the name is not mangled
    std::string spaces;      // "a::"
    std::string instance;    // "k<float>"; where several are called k, "k(int*)"
    std::string shown;       // so that no other entry is called the same, if there is such a name
};

std::vector<EntryNames> names_of(const Module& module) {
    std::map<std::string_view, int> called;             // how many entries have the plain name
    std::map<std::string, int, std::less<>> qualified;  // and in the same namespace
    for (const Entry& entry : module.entries) {
        ++called[plain_name(entry.name)];
        ++qualified[spaces_of(entry.name) + std::string(plain_name(entry.name))];
    }
    std::vector<EntryNames> all;
    for (const Entry& entry : module.entries) {
        EntryNames names{&entry, plain_name(entry.name), spaces_of(entry.name), instance_name(entry.name), ""};
        if (names.instance.empty() && called[names.plain] > 1) names.instance = signature_name(entry.name);
        const std::string whole = names.spaces + std::string(names.plain);
        if (names.plain.empty())
            names.shown = entry.name;
        else if (called[names.plain] == 1)
            names.shown = names.plain;
        else if (qualified[whole] == 1)
            names.shown = whole;
        else
            names.shown = names.instance.empty() ? std::string(names.plain) : names.spaces + names.instance;
        all.push_back(std::move(names));
    }
    return all;
}

// "a::k" calls a::k, and x::a::k where there is no a::k.
std::vector<const EntryNames*> called_in_full(const std::vector<EntryNames>& all, const std::string& kernel) {
    std::vector<const EntryNames*> exact, behind;
    for (const EntryNames& names : all)
        for (const std::string& last : {std::string(names.plain), names.instance}) {
            if (last.empty()) continue;
            const std::string whole = "::" + without_blanks(names.spaces + last), wanted = "::" + without_blanks(kernel);
            if (whole == wanted) exact.push_back(&names);
            if (whole.size() > wanted.size() && whole.ends_with(wanted)) behind.push_back(&names);
        }
    return exact.empty() ? behind : exact;
}

const Entry* find_entry(const Module& module, const std::string& kernel, std::string& problem) {
    std::string list;
    std::vector<std::string_view> names;
    std::vector<const EntryNames*> plain;
    std::vector<const Entry*> written;  // those that do not come with CUDA's own headers
    for (const Entry& entry : module.entries)
        if (!of_cuda_header(entry.name)) written.push_back(&entry);
    const std::vector<EntryNames> all = names_of(module);
    for (const EntryNames& each : all) {
        if (each.entry->name == kernel) return each.entry;
        if (!kernel.empty() && !each.instance.empty() && without_blanks(each.instance) == without_blanks(kernel))
            return each.entry;
        if (each.plain == kernel && !kernel.empty()) plain.push_back(&each);
        names.push_back(each.shown);
        if (names.size() <= 12) list += (list.empty() ? "" : ", ") + each.shown;
    }
    if (names.size() > 12) list += " and " + std::to_string(names.size() - 12) + " more";
    if (kernel.find("::") != std::string::npos) plain = called_in_full(all, kernel);
    if (plain.size() == 1) return plain[0]->entry;
    if (kernel.empty() && module.entries.size() == 1) return &module.entries[0];
    if (kernel.empty() && written.size() == 1) return written[0];
    if (module.entries.empty())
        problem = "there is no kernel (.entry) in this PTX";
    else if (kernel.empty())
        problem = "there are " + std::to_string(module.entries.size()) + " kernels here, one has to be named: " + list;
    else if (plain.size() > 1)
        problem = "there are " + std::to_string(plain.size()) + " kernels called '" + kernel +
                  "' here: name one as the PTX does, such as " + std::string(plain[0]->entry->name) +
                  (plain[0]->shown == kernel ? "" : ", or as " + plain[0]->shown);
    else
        problem = "there is no kernel '" + kernel + "' here" +
                  (did_you_mean(kernel, names).empty() ? ", there is " + list : did_you_mean(kernel, names));
    return nullptr;
}

}  // namespace

Result<std::shared_ptr<const Program>> decode(const Module& module, const std::string& kernel,
                                              std::span<const Opcode> table) {
    std::string problem;
    const Entry* entry = find_entry(module, kernel, problem);
    if (!entry) return Diagnostic{problem, {module.file}};
    auto program = std::make_shared<Program>();
    program->kernel = entry->name;
    program->name = readable_name(entry->name);
    for (const Entry& other : module.entries) {  // instances of one template, or kernels of several namespaces
        if (&other == entry || readable_name(other.name) != readable_name(entry->name)) continue;
        const std::string instance = instance_name(entry->name), spaces = spaces_of(entry->name);
        program->name = !instance.empty()                 ? instance
                        : spaces != spaces_of(other.name) ? spaces + program->name
                                                          : std::string(entry->name);
        if (program->name == entry->name || !instance.empty()) break;
    }
    program->target = module.target;
    program->max_threads = most_threads(*entry);
    std::copy(std::begin(entry->required_threads), std::end(entry->required_threads), std::begin(program->required_threads));
    std::copy(std::begin(entry->required_cluster), std::end(entry->required_cluster), std::begin(program->required_cluster));
    program->max_cluster_blocks = entry->max_cluster_blocks;
    program->explicit_cluster = entry->explicit_cluster;
    program->files = module.files;
    program->ptx = *module.text;
    program->ptx_file = module.file;
    try {
        if (table.data() == opcodes().data())
            decode_all(module, *entry, all_rows(), *program);
        else
            decode_all(module, *entry, Rows(table), *program);
        program->registers_stated = take_stated_registers(module, *program);
    } catch (const Complaint& complaint) {
        return diagnostic_of(complaint, *module.text, module.file);
    }
    return std::shared_ptr<const Program>(std::move(program));
}

std::string text_of(const Program& program, uint32_t pc) {
    if (pc >= program.texts.size()) return {};
    const TextRange range = program.texts[pc];
    if (!range.length) return "exit";
    std::string text = program.ptx.substr(range.begin, range.length);
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
    text.erase(std::unique(text.begin(), text.end(), [](char a, char b) { return a == ' ' && b == ' '; }), text.end());
    return text;
}

}  // namespace lockstep::ptx
