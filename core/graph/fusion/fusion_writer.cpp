#include "core/graph/fusion/fusion_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "core/base/hash.h"
#include "core/graph/fusion/fusion_statement.h"
#include "core/ptx/analyse/generation.h"
#include "core/ptx/parse/printer.h"
#include "core/ptx/ptx.h"

namespace lockstep::graph {

using ptx::Kind, ptx::Statement;
using Name = KernelReading::Name;

KernelWriter::KernelWriter(const std::vector<FusedSlot>& slots) {
    entry_.linkage = ".visible";
    entry_.scope_parent = {-1};
    for (const FusedSlot& slot : slots) {
        parameters_.emplace_back(slot.kept ? keep(fmt::format("param_{}", entry_.parameters.size())) : "");
        if (!slot.kept) continue;
        ptx::Variable& parameter = entry_.parameters.emplace_back(slot.parameter);
        parameter.name = parameters_.back();
        if (slot.buffer) parameter.remark = keep(one_line(slot.name));
    }
}

void KernelWriter::declare(const Body& body) {
    for (ptx::RegisterDeclaration declared : body.reading.entry->registers) {
        if (declared.scope != 0) continue;
        declared.name = register_of(body, declared.name);
        entry_.registers.push_back(declared);
    }
    for (const ptx::Variable* variable : body.reading.shared)
        if (variable->scope <= 0) entry_.variables.emplace_back(*variable).scope = 0;
}

void KernelWriter::label(std::string_view name) {
    entry_.labels.push_back({name, scope_, static_cast<uint32_t>(entry_.statements.size())});
}

void KernelWriter::locate(size_t line, std::string remark) {
    const ptx::LineLocation at{.file = 1, .line = static_cast<int>(line), .remark = keep(std::move(remark))};
    location_ = static_cast<int>(std::find(entry_.locations.begin(), entry_.locations.end(), at) - entry_.locations.begin());
    if (size_t(location_) == entry_.locations.size()) entry_.locations.push_back(at);
}

void KernelWriter::write(const std::string& text) {
    const ptx::Module module = ptx::parse(".entry k() {" + text + "}", "fusion").value();
    const ptx::Entry& own = module.entries[0];
    texts_.push_back(module.text);
    entry_.registers.insert(entry_.registers.end(), own.registers.begin(), own.registers.end());
    size_t next_label = 0;
    for (size_t i = 0; i <= own.statements.size(); ++i) {
        for (; next_label < own.labels.size() && own.labels[next_label].statement == i; ++next_label)
            label(own.labels[next_label].name);
        if (i == own.statements.size()) return;
        write(own.statements[i]);
        entry_.statements.back().scope = scope_;
    }
}
void KernelWriter::write(Statement statement) {
    statement.location = location_;
    entry_.statements.push_back(std::move(statement));
}

std::string_view KernelWriter::register_of(const Body& body, std::string_view name) {
    return keep(fmt::format("%{}_{}", body.prefix, name.substr(name.starts_with('%') ? 1 : 0)));
}
std::string_view KernelWriter::renamed(const Body& body, std::string_view name) {
    if (!body.thread.empty() && name == body.reading.thread) return body.thread;
    switch (body.reading.names.at(name)) {
        case Name::register_:
            return register_of(body, name);
        case Name::label:
            return keep(fmt::format("${}{}_{}", body.prefix, body.site, name.substr(name.find_first_not_of('$'))));
        case Name::parameter:
            return parameter(body.slots[size_t(body.reading.parameter.at(name))]);
        default:
            return name;
    }
}

Statement KernelWriter::renamed(const Body& body, Statement statement) {
    for_each_name_in(statement, [&](std::string_view& name) { name = renamed(body, name); });
    return statement;
}

// The scope of the generated kernel that stands for one of the body's, with what that declares.
int KernelWriter::scope_in(const Body& body, int scope, std::vector<int>& scopes) {
    int& mine = scopes[size_t(scope)];
    if (mine >= 0) return mine;
    const ptx::Entry& entry = *body.reading.entry;
    const int parent = scope_in(body, entry.scope_parent[size_t(scope)], scopes);
    mine = static_cast<int>(entry_.scope_parent.size());
    entry_.scope_parent.push_back(parent);
    for (ptx::RegisterDeclaration declared : entry.registers) {
        if (declared.scope != scope) continue;
        declared.name = register_of(body, declared.name);
        declared.scope = mine;
        entry_.registers.push_back(declared);
    }
    for (const ptx::Variable& variable : entry.variables)
        if (variable.scope == scope) entry_.variables.emplace_back(variable).scope = mine;
    return mine;
}

void KernelWriter::copy(const Body& body) {
    const ptx::Entry& entry = *body.reading.entry;
    const std::string_view end = keep(fmt::format("${}{}_end", body.prefix, body.site));
    const int outer = scope_;
    std::vector<int> scopes(entry.scope_parent.size(), -1);
    scopes[0] = outer;
    bool left = false;  // something goes to the end
    size_t next_label = 0;
    for (size_t i = 0; i < entry.statements.size(); ++i) {
        for (; next_label < entry.labels.size() && entry.labels[next_label].statement <= i; ++next_label) {
            scope_ = scope_in(body, entry.labels[next_label].scope, scopes);
            label(renamed(body, entry.labels[next_label].name));
        }
        Statement statement = renamed(body, entry.statements[i]);
        scope_ = statement.scope = scope_in(body, statement.scope, scopes);
        const Kind kind = body.reading.kinds[i];
        if (body.instead && body.instead(i, statement)) {
        } else if (kind == Kind::load && accessed_space(statement) == ptx::Space::param) {
            if (statement.operands[1].name.empty())  // no parameter: the addresses made of it go nowhere
                write(fmt::format("mov.u64 {}, 0;", statement.operands[0].name));
            else
                write(std::move(statement));
        } else if (!body.thread.empty() && body.reading.omitted[i]) {
        } else if (kind == Kind::exit) {
            if (i + 1 == entry.statements.size() && statement.guard.empty()) continue;
            statement.opcode = "bra";
            statement.operands = {{.name = end}};
            write(std::move(statement));
            left = true;
        } else {
            write(std::move(statement));
        }
    }
    scope_ = outer;
    if (left) label(end);
}

namespace {
std::string comment_of(const std::string& listing) {
    std::string out;
    for (size_t begin = 0; begin < listing.size();) {
        const size_t end = std::min(listing.find('\n', begin), listing.size());
        const std::string line = listing.substr(begin, end - begin);
        out += line.starts_with("//") ? line + "\n" : "//   " + line + "\n";
        begin = end + 1;
    }
    return out;
}
}  // namespace

std::shared_ptr<device::GeneratedKernel> KernelWriter::finish(const std::string& name, const std::string& listing) {
    drop_dead_statements(entry_);
    ptx::Module module{.version = "7.0", .target = "sm_70", .entries = {entry_}};
    auto kernel = std::make_shared<device::GeneratedKernel>();
    kernel->source = listing;
    const auto text = [&] { return comment_of(listing) + ptx::print(module); };
    module.entries[0].name = name;
    kernel->name = fmt::format("{}_{:08x}", name, fnv1a64(text()) & 0xffffffffu);
    module.entries[0].name = kernel->name;
    module.files = {"", kernel->name + ".txt"};
    const auto decode = [&] {
        try {
            kernel->program = ptx::decode(ptx::parse(text(), kernel->name + ".ptx").value(), kernel->name).value();
        } catch (const Failure& failure) {
            throw std::logic_error("generated PTX: " + failure.diagnostic.message + "\n" + text());
        }
        return ptx::needed_generation(*kernel->program).compute;
    };
    if (const uint32_t compute = decode(); compute > 70) {
        module.target = fmt::format("sm_{}", compute);
        decode();
    }
    return kernel;
}

std::string one_line(std::string_view text, size_t longest) {
    std::string out;
    for (const char c : text.substr(0, longest))
        out += static_cast<unsigned char>(c) < 32 || c == 127 || c == '\\' || c == '"' ? ' ' : c;
    return out;
}

}  // namespace lockstep::graph
