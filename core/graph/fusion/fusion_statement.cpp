#include "core/graph/fusion/fusion_statement.h"

#include <algorithm>
#include <unordered_set>

#include "core/ptx/parse/spelling.h"

namespace lockstep::graph {

using ptx::Kind, ptx::Statement;

const ptx::Opcode* row_of(const Statement& statement) {
    const std::string_view stem = ptx::stem_of(statement.opcode);
    const std::vector<ptx::Candidate> rows = ptx::all_rows().candidates(stem, statement.opcode.substr(stem.size()));
    return rows.empty() ? nullptr : rows.front().opcode;
}

ptx::Type accessed_type(const Statement& statement) {
    const size_t dot = statement.opcode.rfind('.');
    return dot == std::string_view::npos ? ptx::Type::none : ptx::type_named(statement.opcode.substr(dot));
}

ptx::Space accessed_space(const Statement& statement) {
    for (const std::string_view modifier : ptx::modifiers_of(statement.opcode))
        for (const ptx::Space space :
             {ptx::Space::param, ptx::Space::global, ptx::Space::shared, ptx::Space::local, ptx::Space::constant})
            if (modifier.substr(1, modifier.find_first_of(":[", 1) - 1) == ptx::name_of(space)) return space;
    return ptx::Space::generic;
}

bool is_ordered(const Statement& statement) {
    const auto modifiers = ptx::modifiers_of(statement.opcode);
    return std::any_of(modifiers.begin(), modifiers.end(), [](std::string_view one) {
        return one == ".volatile" || one == ".relaxed" || one == ".acquire" || one == ".release" || one == ".mmio";
    });
}

bool is_pure(const Statement& statement) {
    const ptx::Opcode* const row = row_of(statement);
    if (!row) return false;
    const std::string_view made = row->operands.substr(0, row->operands.find('='));  // C: the carry flag, which has no name
    return (row->kind == Kind::lane_wise || row->kind == Kind::lane_wise_many || row->kind == Kind::special_register ||
            row->kind == Kind::load) &&
           made.find('C') == std::string_view::npos && !is_ordered(statement);
}

void drop_dead_statements(ptx::Entry& entry) {
    std::vector<Statement>& statements = entry.statements;
    std::vector<std::string_view> made;  // the one register that a statement makes, and does nothing else
    for (const Statement& it : statements) {
        const bool one = it.guard.empty() && !it.operands.empty() && it.operands[0].kind == ptx::Operand::Kind::name &&
                         it.operands[0].second.empty() && is_pure(it);
        made.push_back(one ? it.operands[0].name : std::string_view());
    }
    std::vector<bool> dead(statements.size());
    for (bool again = true; again;) {
        std::unordered_set<std::string_view> read;  // otherwise than to make itself: "add %r1, %r1, 1" keeps nothing alive
        for (size_t i = 0; i < statements.size(); ++i)
            if (!dead[i])
                for_each_name_in(statements[i], [&](std::string_view name) {
                    if (name != made[i]) read.insert(name);
                });
        again = false;
        for (size_t i = 0; i < statements.size(); ++i) {
            if (dead[i] || made[i].empty() || read.contains(made[i])) continue;
            dead[i] = again = true;
        }
    }
    uint32_t kept = 0;
    auto label = entry.labels.begin();
    for (size_t i = 0; i <= statements.size(); ++i) {
        for (; label != entry.labels.end() && label->statement <= i; ++label) label->statement = kept;
        if (i < statements.size() && !dead[i]) std::swap(statements[kept++], statements[i]);
    }
    statements.resize(kept);
}

}  // namespace lockstep::graph
