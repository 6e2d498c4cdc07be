// A body's statements are one list, its declarations others: each line knows its scope, and scopes are numbered as they
// open. So the printer walks the statements, opens and closes scopes on the way, and declares what is next as soon as it
// stands in the scope that it belongs to.
#include "core/ptx/parse/printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace lockstep::ptx {
namespace {

std::string offset_of(uint64_t value) {
    return value == 0 ? std::string() : fmt::format("+{}", static_cast<int64_t>(value));  // ptxas takes "+-4", not "-4"
}

uint32_t bits_of_single(uint64_t bits) {  // a NaN keeps its payload, as the lexer has put it into a double
    const auto value = std::bit_cast<double>(bits);
    if (value == value) return std::bit_cast<uint32_t>(static_cast<float>(value));
    return static_cast<uint32_t>(bits >> 63) << 31 | 0x7f800000u | (static_cast<uint32_t>(bits >> 29) & 0x7fffffu);
}

template <typename List, typename Text>
std::string joined(const List& list, Text text) {
    std::string out;
    for (const auto& one : list) out += (out.empty() ? "" : ", ") + std::string(text(one));
    return out;
}

std::string text_of(const Operand& operand, char negation) {
    const auto elements = [&] { return joined(operand.elements, [&](const Operand& o) { return text_of(o, negation); }); };
    const std::string second = operand.second.empty() ? std::string() : fmt::format("|{}", operand.second);
    switch (operand.kind) {
        case Operand::Kind::integer:
            return fmt::format("{}", static_cast<int64_t>(operand.value));
        case Operand::Kind::real:
            return operand.single ? fmt::format("0f{:08X}", bits_of_single(operand.value))
                                  : fmt::format("0d{:016X}", operand.value);
        case Operand::Kind::vector:
            return "{" + elements() + "}" + second;
        case Operand::Kind::group:
            return "(" + elements() + ")";
        case Operand::Kind::address: {
            const std::string base = operand.name.empty() ? fmt::format("{}", operand.value)
                                                          : std::string(operand.name) + offset_of(operand.value);
            return "[" + base + (operand.elements.empty() ? "" : ", " + elements()) + "]";
        }
        default:
            return fmt::format("{}{}{}{}", operand.negated ? std::string(1, negation) : "", operand.name, second,
                               offset_of(operand.value));
    }
}

std::string initial_values(const Variable& variable) {
    const size_t element = size_of(variable.type);
    std::vector<std::string> values;
    auto reference = variable.references.begin();
    for (size_t at = 0; at < variable.initial.size(); at += element) {
        if (reference != variable.references.end() && reference->at == at) {
            std::string address =
                reference->generic ? fmt::format("generic({})", reference->name) : std::string(reference->name);
            address += offset_of(reference->addend);
            if (reference->bytes < 8)
                address = fmt::format("{:#x}({})", UINT64_MAX >> (64 - 8 * reference->bytes) << reference->shift, address);
            values.push_back(std::move(address));
            ++reference;
            continue;
        }
        uint64_t bits = 0;
        std::memcpy(&bits, variable.initial.data() + at, std::min(element, sizeof bits));
        values.push_back(variable.type == Type::f32   ? fmt::format("0f{:08X}", bits)
                         : variable.type == Type::f64 ? fmt::format("0d{:016X}", bits)
                                                      : fmt::format("{}", bits));
    }
    const std::string list = fmt::format("{}", fmt::join(values, ", "));
    return variable.array || variable.lanes > 1 ? "{" + list + "}" : list;
}

// As a declaration or a parameter, without what ends it.
std::string text_of(const Variable& variable) {
    if (variable.space == Space::none) return fmt::format(".reg .{} {}", name_of(variable.type), variable.name);
    std::string out = fmt::format(".{} ", name_of(variable.space));
    const size_t element = size_of(variable.type) * variable.lanes;
    if (variable.align != element) out += fmt::format(".align {} ", variable.align);
    if (variable.lanes > 1) out += fmt::format(".v{} ", variable.lanes);
    constexpr std::string_view opaque[] = {"", ".texref", ".samplerref", ".surfref"};
    if (variable.opaque != Opaque::none)
        out += opaque[static_cast<size_t>(variable.opaque)];
    else
        out += fmt::format(".{}", name_of(variable.type));
    if (variable.pointer) out += " .ptr";
    out += fmt::format(" {}", variable.name);
    if (variable.array && variable.bytes == 0 && variable.external)
        out += "[]";
    else if (variable.array)
        out += fmt::format("[{}]", variable.bytes / element);
    if (!variable.initial.empty()) out += " = " + initial_values(variable);
    return out;
}

std::string formals(const std::vector<Variable>& list) {
    return "(" + joined(list, [](const Variable& variable) { return text_of(variable); }) + ")";
}

class BodyPrinter {
  public:
    BodyPrinter(const Entry& entry, std::string& out) : entry_(entry), out_(out) {}

    void print_body() {
        open(0);
        for (size_t i = 0; i < entry_.statements.size(); ++i) {
            const Statement& statement = entry_.statements[i];
            print_labels(i);
            print_locations(statement.location);
            enter(statement.scope);
            if (statement.keeps_rolled) line(".pragma \"nounroll\";");
            line(print(statement) + ";");
        }
        print_labels(entry_.statements.size());
        while (located_ + 1 < static_cast<int>(entry_.locations.size())) print_location(++located_);
        enter(0);
        close();
    }

  private:
    void line(const std::string& text) { out_ += "\t" + text + "\n"; }

    int parent(int scope) const { return entry_.scope_parent[static_cast<size_t>(scope)]; }
    bool within(int scope, int outer) const {
        while (scope > outer) scope = parent(scope);
        return scope == outer;
    }

    void open(int scope) {
        out_ += scope == 0 ? "{\n" : "\t{\n";
        current_ = scope;
        opened_ = scope + 1;
        declare();
    }
    void close() {
        const int closing = current_;
        const auto all = static_cast<int>(entry_.scope_parent.size());
        while (opened_ < all && parent(opened_) == closing) {  // without statements of their own
            open(opened_);
            close();
        }
        out_ += closing == 0 ? "}\n" : "\t}\n";
        current_ = parent(closing);
        if (current_ >= 0) declare();
    }
    void enter(int scope) {
        while (!within(scope, current_)) close();
        while (current_ != scope) {
            const int next = opened_;
            open(next);
            if (!within(scope, next)) close();
        }
    }

    // Those that come next and belong to this scope.
    void declare() {
        for (; registers_ < entry_.registers.size() && entry_.registers[registers_].scope == current_; ++registers_) {
            const RegisterDeclaration& it = entry_.registers[registers_];
            line(fmt::format(".reg .{} {}{};", name_of(it.type), it.name,
                             it.count < 0 ? std::string() : fmt::format("<{}>", it.count)));
        }
        for (; variables_ < entry_.variables.size() && entry_.variables[variables_].scope == current_; ++variables_)
            line(text_of(entry_.variables[variables_]) + ";");
        for (; lists_ < entry_.lists.size() && entry_.lists[lists_].scope == current_; ++lists_) {
            const TargetList& it = entry_.lists[lists_];
            line(fmt::format("{}: {} {};", it.name, it.of_calls ? ".calltargets" : ".branchtargets",
                             fmt::join(it.targets, ", ")));
        }
        for (; prototypes_ < entry_.prototypes.size() && entry_.prototypes[prototypes_].scope == current_; ++prototypes_) {
            const Prototype& it = entry_.prototypes[prototypes_];
            line(fmt::format("{}: .callprototype {}_ {};", it.name,
                             it.results.empty() ? std::string() : formals(it.results) + " ", formals(it.parameters)));
        }
    }

    void print_labels(size_t statement) {
        for (; labels_ < entry_.labels.size() && entry_.labels[labels_].statement <= statement; ++labels_) {
            enter(entry_.labels[labels_].scope);
            out_ += fmt::format("{}:\n", entry_.labels[labels_].name);
        }
    }

    // All up to the statement's own; that one again where statements of another came in between.
    void print_locations(int own) {
        while (located_ < own) print_location(++located_);
        if (own >= 0 && own != last_located_) print_location(own);
    }
    void print_location(int number) {
        const LineLocation& it = entry_.locations[static_cast<size_t>(number)];
        last_located_ = number;
        if (!it.remark.empty()) out_ += fmt::format("\n\t// {}\n", it.remark);
        line(fmt::format(".loc {} {} {}", it.file, it.line, it.column) +
             (it.inlined_file == 0 && it.inlined_line == 0 && it.inlined_column == 0
                  ? std::string()
                  : fmt::format(", inlined_at {} {} {}", it.inlined_file, it.inlined_line, it.inlined_column)));
    }

    const Entry& entry_;
    std::string& out_;
    int current_ = -1, opened_ = 0, located_ = -1, last_located_ = -1;
    size_t registers_ = 0, variables_ = 0, lists_ = 0, prototypes_ = 0, labels_ = 0;
};

std::string with_linkage(std::string_view linkage, const std::string& text) {
    return linkage.empty() ? text : fmt::format("{} {}", linkage, text);
}

std::string attributes_of(const Entry& entry) {
    std::string out;
    const auto three = [&](std::string_view name, const uint32_t(&values)[3]) {
        if (values[0] | values[1] | values[2]) out += fmt::format("{} {}, {}, {}\n", name, values[0], values[1], values[2]);
    };
    const auto one = [&](std::string_view name, uint32_t value, uint32_t otherwise) {
        if (value != otherwise) out += fmt::format("{} {}\n", name, value);
    };
    three(".maxntid", entry.max_threads);
    three(".reqntid", entry.required_threads);
    three(".reqnctapercluster", entry.required_cluster);
    one(".maxnreg", entry.max_registers, 0);
    one(".minnctapersm", entry.min_blocks, 1);
    one(".maxclusterrank", entry.max_cluster_blocks, 0);
    if (entry.explicit_cluster) out += ".explicitcluster\n";
    if (entry.keeps_rolled) out += ".pragma \"nounroll\";\n";
    return out;
}

std::string head_of(const Entry& function) {
    return with_linkage(function.linkage,
                        fmt::format(".func {}{} {}", function.results.empty() ? "" : formals(function.results) + " ",
                                    function.name, formals(function.parameters)));
}

void print_entry(const Entry& entry, std::string& out) {
    if (entry.function) {
        out += "\n" + head_of(entry) + "\n";
    } else {
        out += "\n" + with_linkage(entry.linkage, fmt::format(".entry {}(\n", entry.name));
        for (const Variable& parameter : entry.parameters)
            out += fmt::format("\t{}{}{}\n", text_of(parameter), &parameter == &entry.parameters.back() ? "" : ",",
                               parameter.remark.empty() ? std::string() : fmt::format("  // {}", parameter.remark));
        out += ")\n";
    }
    out += attributes_of(entry);
    BodyPrinter(entry, out).print_body();
}

}  // namespace

std::string print(const Statement& statement) {
    const char negation = statement.opcode.starts_with("vmad.") ? '-' : '!';
    const std::string operands =
        joined(statement.operands, [&](const Operand& operand) { return text_of(operand, negation); });
    return (statement.guard.empty() ? std::string()
                                    : fmt::format("@{}{} ", statement.guard_negated ? "!" : "", statement.guard)) +
           std::string(statement.opcode) + (operands.empty() ? "" : " \t" + operands);
}

std::string print(const Module& module) {
    std::string out;
    if (!module.version.empty()) out += fmt::format(".version {}\n", module.version);
    if (!module.target.empty()) out += fmt::format(".target {}\n", module.target);
    out += fmt::format(".address_size {}\n", module.address_size);
    for (const Entry& function : module.functions) out += head_of(function) + ";\n";  // before anybody calls or names it
    for (const Variable& variable : module.variables) out += with_linkage(variable.linkage, text_of(variable)) + ";\n";
    for (const Entry& function : module.functions)
        if (function.defined) print_entry(function, out);
    for (const auto& [alias, function] : module.aliases) out += fmt::format(".alias {}, {};\n", alias, function);
    for (const Entry& entry : module.entries) print_entry(entry, out);
    for (size_t i = 0; i < module.files.size(); ++i)
        if (i > 0 || module.files.size() == 1 || !module.files[0].empty())
            out += fmt::format("\n.file {} \"{}\"", i, module.files[i]);
    return out + "\n";
}

}  // namespace lockstep::ptx
