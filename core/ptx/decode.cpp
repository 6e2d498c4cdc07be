// Module -> Program: decides what each statement of one entry means. Statement n becomes instruction n.
// Order: names get places (frame.cpp), statements are decoded one by one, then branches, reconvergence and registers.
#include "core/ptx/decode.h"

#include <algorithm>

#include "core/ptx/decoder.h"
#include "core/ptx/ptx.h"

namespace lockstep::ptx {

namespace {

std::string_view callee_of(const Statement& call) {
    for (const Operand& o : call.operands)
        if (o.kind == Operand::Kind::name) return o.name;
    return {};
}

std::string unsupported_call(std::string_view callee) {
    if (callee == "vprintf") return "printf in a kernel is not supported";
    if (callee == "malloc" || callee == "free") return "new, delete, malloc and free in a kernel are not supported";
    std::string why = "functions that the compiler has not inlined are not supported: this calls '";
    if (callee.starts_with("__internal_trig")) why = "sin, cos and tan in double precision are not supported: they call '";
    if (callee.starts_with("__internal_accurate_pow")) why = "pow in double precision is not supported: it calls '";
    return why + readable_name(callee.substr(0, 80)) + "'";
}

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
    if (!statement.guard.empty()) {
        const Slot* slot = frame_.register_named(statement.guard, statement.scope);
        if (!slot)
            complain("unknown predicate '" + std::string(statement.guard.substr(0, 80)) + "'" +
                     did_you_mean(statement.guard, frame_.known_names()));
        if (slot->type != Type::pred)
            complain("the guard '" + std::string(statement.guard) + "' is a register of " + dotted(slot->type) +
                     ", not .pred");
        out.guard = slot->offset;
        out.guard_negated = statement.guard_negated;
    }
    const std::string_view stem = stem_of(statement.opcode);
    const bool failed_assert = stem == "call";  // only __assertfail comes here
    const std::vector<Candidate>& rows = rows_of(failed_assert ? "trap" : statement.opcode, "");
    if (rows.empty()) complain(unknown_instruction(statement.opcode));
    const bool device_address = stem == "cvta" && statement.operands.size() == 2 && operand(1).kind == Operand::Kind::name &&
                                !frame_.register_named(operand(1).name, statement.scope);
    if (failed_assert) {
        take_row(out, rows[0]);
        out.mode = 1;
    } else if (stem == "mov" || device_address) {
        decode_move(out);
    } else if (stem == "createpolicy") {
        take_row(out, rows[0]);
        decode_policy(out);
    } else if (rows[0].opcode->kind == Kind::lane_wise || rows[0].opcode->kind == Kind::lane_wise_many) {
        bool done = false;
        for (const Candidate& candidate : rows) {
            done = decode_lane_wise(out, candidate);
            if (done) break;
        }
        if (!done) {
            const std::string_view shape = rows[0].opcode->operands;
            if (stem == "cvt" && shape_fits(shape))
                complain("the registers do not have the sizes of the types of " + spelled());
            complain(spelled() + " takes " +
                     std::to_string(std::count_if(shape.begin() + static_cast<std::ptrdiff_t>(shape.find('=')), shape.end(),
                                                  [](char c) { return c != 'C' && c != 'X'; })) +
                     " operands (" + std::string(rows[0].opcode->summary) + "), not " +
                     std::to_string(statement.operands.size()));
        }
    } else {
        take_row(out, rows[0]);
        switch (out.kind) {
            case Kind::load:
            case Kind::store:
                decode_memory(out);
                break;
            case Kind::atomic:
                decode_atomic(out);
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
            default:
                decode_control(out);
        }
    }
    note_registers(out);
    locate(out);
    program_.instructions.push_back(out);
    program_.texts.push_back(
        {static_cast<uint32_t>(statement.text.data() - module_.text->data()), static_cast<uint32_t>(statement.text.size())});
}

// ", on line 4 of saxpy.cu", where the compiler said so.
std::string Decoder::source_line_of(const Statement& statement) const {
    if (statement.location < 0) return {};
    const LineLocation& at = entry_.locations[static_cast<size_t>(statement.location)];
    if (at.line <= 0 || at.file <= 0 || static_cast<size_t>(at.file) >= module_.files.size()) return {};
    return ", on line " + std::to_string(at.line) + " of " + module_.files[static_cast<size_t>(at.file)];
}

// Code inlined from a header counts as the line of the kernel's own file that it is inlined at.
void Decoder::locate(DecodedInstruction& out) {
    if (statement_->location < 0) return;
    LineLocation at = entry_.locations[static_cast<size_t>(statement_->location)];
    out.file = at.file;
    out.line = at.line;
    for (int depth = 0; depth < 16 && at.file != source_file_; ++depth) {
        const auto known = inlined_.find({at.file, at.line, at.column});
        if (!at.inlined_file && known != inlined_.end()) at = entry_.locations[static_cast<size_t>(known->second)];
        if (!at.inlined_file) return;
        at = LineLocation{.file = at.inlined_file, .line = at.inlined_line, .column = at.inlined_column};
    }
    if (at.file == source_file_) {
        out.file = at.file;
        out.line = at.line;
    }
}

void Decoder::decode() {
    if (!entry_.locations.empty()) source_file_ = entry_.locations[0].file;
    for (size_t i = 0; i < entry_.locations.size(); ++i) {
        const LineLocation& at = entry_.locations[i];
        if (at.inlined_file) inlined_.try_emplace({at.file, at.line, at.column}, static_cast<int>(i));
    }
    for (const Statement& s : entry_.statements) {
        if (stem_of(s.opcode) != "call" || callee_of(s) == "__assertfail") continue;
        throw Complaint{unsupported_call(callee_of(s)) + source_line_of(s), s.place};
    }
    program_.instructions.reserve(entry_.statements.size() + 1);
    for (const Statement& statement : entry_.statements) decode_statement(statement);
    finish();
}

void Decoder::finish() {
    auto& instructions = program_.instructions;
    const bool labelled_end = std::any_of(entry_.labels.begin(), entry_.labels.end(),
                                          [&](const Label& label) { return label.statement >= instructions.size(); });
    const bool ends = !instructions.empty() && instructions.back().guard == no_operand &&
                      (instructions.back().kind == Kind::exit || instructions.back().kind == Kind::branch ||
                       instructions.back().kind == Kind::trap);
    if (!ends || labelled_end) {
        DecodedInstruction exit;
        take_row(exit, candidates("exit", "").front());
        exit.ptx_line = instructions.empty() ? entry_.place.line : instructions.back().ptx_line;
        instructions.push_back(exit);
        program_.texts.push_back({});
    }
    find_reconvergence(instructions);
    program_.registers_per_thread = count_registers(instructions, program_.lists, frame_.slot_registers());
    if (entry_.max_registers) program_.registers_per_thread = std::min(program_.registers_per_thread, entry_.max_registers);
    if (program_.constants.empty()) program_.constants.resize(64);
    if (static_cast<size_t>(source_file_) < module_.files.size())
        program_.source_file = module_.files[static_cast<size_t>(source_file_)];
}

namespace {

// matmul of _Z6matmulPKf, of _ZN4math6matmulEPKf and of _Z6matmulILi4EEvPf; empty for names that are not mangled.
//   mangled = "_Z" [ "L" ] component ... | "_ZN" { [ "L" ] component } ...        component = length name
std::string_view plain_name(std::string_view mangled) {
    if (!mangled.starts_with("_Z")) return {};
    mangled.remove_prefix(2);
    const bool nested = mangled.starts_with("N");
    if (nested) mangled.remove_prefix(1);
    std::string_view last;
    do {
        if (mangled.starts_with("L")) mangled.remove_prefix(1);
        size_t length = 0, digits = 0;
        while (digits < mangled.size() && digits < 6 && mangled[digits] >= '0' && mangled[digits] <= '9')
            length = length * 10 + static_cast<size_t>(mangled[digits++] - '0');
        if (digits == 0) break;
        last = mangled.substr(digits, length);
        mangled.remove_prefix(std::min(mangled.size(), digits + length));
    } while (nested);
    return last;
}

const Entry* find_entry(const Module& module, const std::string& kernel, std::string& problem) {
    std::string list;
    std::vector<std::string_view> names;
    std::vector<const Entry*> plain;
    for (const Entry& entry : module.entries) {
        if (entry.name == kernel) return &entry;
        const std::string_view readable = plain_name(entry.name);
        if (readable == kernel && !kernel.empty()) plain.push_back(&entry);
        names.push_back(readable.empty() ? entry.name : readable);
        if (names.size() <= 12) list += (list.empty() ? "" : ", ") + std::string(names.back());
    }
    if (names.size() > 12) list += " and " + std::to_string(names.size() - 12) + " more";
    if (plain.size() == 1) return plain[0];
    if (kernel.empty() && module.entries.size() == 1) return &module.entries[0];
    if (module.entries.empty())
        problem = "there is no kernel (.entry) in this PTX";
    else if (kernel.empty())
        problem = "there are " + std::to_string(module.entries.size()) + " kernels here, one has to be named: " + list;
    else if (plain.size() > 1)
        problem = "there are " + std::to_string(plain.size()) + " kernels called '" + kernel +
                  "' here: use the mangled name, such as " + std::string(plain[0]->name);
    else
        problem = "there is no kernel '" + kernel + "' here" +
                  (did_you_mean(kernel, names).empty() ? ", there is " + list : did_you_mean(kernel, names));
    return nullptr;
}

}  // namespace

Result<std::shared_ptr<const Program>> decode(const Module& module, const std::string& kernel) {
    std::string problem;
    const Entry* entry = find_entry(module, kernel, problem);
    if (!entry) return Diagnostic{problem, {module.file}};
    auto program = std::make_shared<Program>();
    program->kernel = entry->name;
    program->name = readable_name(entry->name);
    for (const Entry& other : module.entries)  // instances of one template
        if (&other != entry && readable_name(other.name) == program->name) program->name = entry->name;
    program->target = module.target;
    program->max_threads = entry->max_threads;
    std::copy(std::begin(entry->required_threads), std::end(entry->required_threads), std::begin(program->required_threads));
    std::copy(std::begin(entry->required_cluster), std::end(entry->required_cluster), std::begin(program->required_cluster));
    program->max_cluster_blocks = entry->max_cluster_blocks;
    program->explicit_cluster = entry->explicit_cluster;
    program->files = module.files;
    program->ptx = *module.text;
    program->ptx_file = module.file;
    try {
        Decoder(module, *entry, *program).decode();
    } catch (const Complaint& complaint) {
        return diagnostic_of(complaint, *module.text, module.file);
    }
    return std::shared_ptr<const Program>(std::move(program));
}

std::string readable_name(std::string_view entry) {
    const std::string_view plain = plain_name(entry);
    return std::string(plain.empty() ? entry : plain);
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
