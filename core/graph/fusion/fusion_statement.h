// What fusion asks of one statement of a kernel's PTX: its row of the opcode table, and the names in its operands.
#pragma once
#include "core/ptx/opcodes/opcode.h"
#include "core/ptx/parse/module.h"

namespace lockstep::graph {

// The row that has the spelling; of several, which compute different things in the same way, the first. Null: there is none.
const ptx::Opcode* row_of(const ptx::Statement& statement);
// Of a load or a store: the type of an element, as it is in memory, and the space that the spelling names.
ptx::Type accessed_type(const ptx::Statement& statement);
ptx::Space accessed_space(const ptx::Statement& statement);
// .volatile, .relaxed, .acquire, .release or .mmio: others see that it happens, and when.
bool is_ordered(const ptx::Statement& statement);
// It makes the registers of its first operand and does nothing else: where nobody reads those, it can go.
bool is_pure(const ptx::Statement& statement);

// Visits every name of an operand: of registers, labels, variables, an address's base, a vector's elements.
template <typename AnyOperand, typename Visit>
void for_each_name(AnyOperand& operand, const Visit& visit) {
    if (!operand.name.empty()) visit(operand.name);
    if (!operand.second.empty()) visit(operand.second);
    for (auto& element : operand.elements) for_each_name(element, visit);
}
// Of a whole statement, its guard included.
template <typename AnyStatement, typename Visit>
void for_each_name_in(AnyStatement& statement, const Visit& visit) {
    if (!statement.guard.empty()) visit(statement.guard);
    for (auto& operand : statement.operands) for_each_name(operand, visit);
}

// The registers that a statement may write: those of its first operand, unless that is an address.
template <typename Visit>
void for_each_written(const ptx::Statement& statement, const Visit& visit) {
    if (!statement.operands.empty() && statement.operands[0].kind != ptx::Operand::Kind::address)
        for_each_name(statement.operands[0], visit);
}

// Drops pure statements whose register nobody reads, until there are none.
void drop_dead_statements(ptx::Entry& entry);

}  // namespace lockstep::graph
