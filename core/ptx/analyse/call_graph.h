// Which functions a kernel may come to, and what their calls add up to.
#pragma once
#include <string_view>
#include <unordered_set>
#include <vector>

#include "core/ptx/analyse/registers.h"
#include "core/ptx/decode/frame.h"

namespace lockstep::ptx {

struct Reached {
    struct Function {
        size_t number = 0;        // in Module::functions
        bool by_address = false;  // only a call through a register may come to it
    };
    std::vector<Function> functions;             // those that are called by name first
    std::unordered_set<std::string_view> names;  // that the kernel and these functions mention
};

// By calls from `kernel` on. Where one of them goes through a register, all functions of the module whose address is taken
// somewhere count: in an instruction, a list of targets, or a variable's initial values.
Reached reached_from(const Module& module, const Entry& kernel, const Common& common);

// The name that a call statement calls: of a function, or of a register.
std::string_view callee_of(const Statement& call);

// Sets registers_per_thread and local_bytes to the largest sums over all chains of calls from the kernel on in which no
// function stands twice: of what each caller keeps during the call and what the last function needs. For recursion that is
// what one round takes. A real compiler saves the registers of the rounds before on the stack.
void add_up_calls(Program& program, const std::vector<LiveAtCall>& live, const Reached& reached);

}  // namespace lockstep::ptx
