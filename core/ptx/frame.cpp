// Scopes: a name is looked up in its scope, then in those around it, then among the parameters (scope -1), then in the
// module (scope -2). Declarations "%r<6>" stand for %r0 to %r5; only registers that an instruction names get a slot.
#include "core/ptx/frame.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <unordered_set>

namespace lockstep::ptx {
namespace {

constexpr uint64_t most_parameter_bytes = 32 * 1024;
constexpr uint64_t most_shared_bytes = 256 * 1024;
constexpr uint64_t most_local_bytes = 512 * 1024;
constexpr uint64_t most_variable_bytes = uint64_t{1} << 30;
constexpr uint32_t most_register_bytes = 4 << 20;
constexpr int parameters = -1, module_scope = -2;

uint64_t align_up(uint64_t value, uint64_t align) {
    return (value + align - 1) / align * align;
}

void collect(const std::vector<Operand>& operands, std::unordered_set<std::string_view>& names) {
    for (const Operand& operand : operands) {  // operands nest at most three deep: the parser sees to it
        if (!operand.name.empty()) names.insert(operand.name);
        if (!operand.elements.empty()) collect(operand.elements, names);
    }
}

}  // namespace

Frame::Frame(const Module& module, const Entry& entry, Program& program)
    : entry_(entry), module_(module), program_(program) {
    for (size_t i = 0; i < entry.registers.size(); ++i)
        declarations_.try_emplace({entry.registers[i].name, entry.registers[i].scope}, i);
    for (const Label& label : entry.labels) labels_.try_emplace({label.name, label.scope}, label.statement);
    lay_out_parameters();
    lay_out_variables();
}

void Frame::lay_out_parameters() {
    uint64_t at = 0;
    for (const Variable& v : entry_.parameters) {
        at = align_up(at, v.align);
        variables_.try_emplace({v.name, parameters}, Located{&v, at, static_cast<int32_t>(program_.parameters.size())});
        program_.parameters.push_back({.name = std::string(v.name),
                                       .type = v.type,
                                       .offset = static_cast<uint32_t>(at),
                                       .bytes = static_cast<uint32_t>(v.bytes),
                                       .align = v.align,
                                       .pointer = v.pointer});
        at += v.bytes;
        if (at > most_parameter_bytes) throw Complaint{"the parameters of a kernel have at most 32 KiB", v.place};
    }
    program_.parameter_bytes = static_cast<uint32_t>(at);
}

void Frame::lay_out_variables() {
    std::unordered_set<std::string_view> named;
    for (const Statement& statement : entry_.statements) collect(statement.operands, named);
    uint64_t shared = 0, local = 0, device = 0;
    uint32_t dynamic_align = 1;
    std::vector<std::pair<int, const Variable*>> dynamic;
    const auto place = [&](const Variable& v, int scope) {
        if (v.space == Space::shared && v.external) {
            dynamic.push_back({scope, &v});
            dynamic_align = std::max({dynamic_align, v.align, 16u});
        } else if (v.space == Space::shared || v.space == Space::local) {
            uint64_t& end = v.space == Space::shared ? shared : local;
            end = align_up(end, v.align);
            variables_.try_emplace({v.name, scope}, Located{&v, end, no_variable});
            if (v.space == Space::shared)
                program_.shared_variables.push_back(
                    {std::string(v.name), static_cast<uint32_t>(end), static_cast<uint32_t>(v.bytes)});
            end += v.bytes;
            if (shared > most_shared_bytes) throw Complaint{"a kernel has at most 256 KiB of shared memory", v.place};
            if (local > most_local_bytes) throw Complaint{"a thread has at most 512 KiB of local memory", v.place};
        } else if (v.space == Space::global || v.space == Space::constant) {
            device += v.bytes;
            if (device > most_variable_bytes) throw Complaint{"the variables of a module have at most 1 GiB", v.place};
            variables_.try_emplace({v.name, scope}, Located{&v, 0, static_cast<int32_t>(program_.variables.size())});
            std::vector<std::byte> initial = v.initial;
            if (!initial.empty()) initial.resize(v.bytes);
            program_.variables.push_back({std::string(v.name), v.space, v.bytes, v.align, std::move(initial)});
        } else {
            variables_.try_emplace({v.name, scope}, Located{&v, 0, no_variable});
        }
    };
    for (const Variable& v : entry_.variables) place(v, v.scope);
    for (const Variable& v : module_.variables)
        if (v.space != Space::shared || named.contains(v.name)) place(v, module_scope);
    program_.static_shared = static_cast<uint32_t>(shared);
    program_.dynamic_shared_offset = static_cast<uint32_t>(align_up(shared, dynamic_align));
    program_.local_bytes = static_cast<uint32_t>(align_up(local, 16));
    for (const auto& [scope, v] : dynamic) {
        variables_.try_emplace({v->name, scope}, Located{v, program_.dynamic_shared_offset, no_variable});
        program_.shared_variables.push_back({std::string(v->name), program_.dynamic_shared_offset, 0});
    }
}

Slot Frame::new_slot(Type type, const std::string& name) {
    const size_t lane = type == Type::pred ? 0 : std::max<size_t>(size_of(type), 2);
    const size_t bytes = align_up(std::max<size_t>(lane * 32, 4), 64);
    if (program_.register_bytes + bytes > most_register_bytes)
        throw Complaint{"this kernel uses too many registers", entry_.place};
    const Slot slot{static_cast<int32_t>(program_.register_bytes), type};
    program_.register_bytes += static_cast<uint32_t>(bytes);
    slot_registers_.resize(program_.register_bytes / 64, 0);
    slot_registers_[static_cast<size_t>(slot.offset) / 64] = static_cast<uint8_t>(lane == 0 ? 0 : (lane + 3) / 4);
    if (!name.empty()) program_.registers.push_back({name, type, slot.offset});
    return slot;
}

const Slot* Frame::register_named(std::string_view name, int scope) {
    for (int s = scope; s >= 0; s = entry_.scope_parent[static_cast<size_t>(s)]) {
        if (const auto found = used_.find({name, s}); found != used_.end()) return &found->second;
        const RegisterDeclaration* declared = nullptr;
        if (const auto exact = declarations_.find({name, s}); exact != declarations_.end())
            if (entry_.registers[exact->second].count < 0) declared = &entry_.registers[exact->second];
        size_t split = name.size();
        while (!declared && split > 1 && name.size() - split < 9 && name[split - 1] >= '0' && name[split - 1] <= '9') {
            --split;
            if (name[split] == '0' && split + 1 < name.size()) continue;
            const auto numbered = declarations_.find({name.substr(0, split), s});
            if (numbered == declarations_.end()) continue;
            int64_t number = 0;
            std::from_chars(name.data() + split, name.data() + name.size(), number);
            if (number < entry_.registers[numbered->second].count) declared = &entry_.registers[numbered->second];
        }
        if (declared) return &used_.emplace(Key{name, s}, new_slot(declared->type, std::string(name))).first->second;
    }
    return nullptr;
}

const Located* Frame::variable_named(std::string_view name, int scope) const {
    for (int s = scope; s >= 0; s = entry_.scope_parent[static_cast<size_t>(s)])
        if (const auto found = variables_.find({name, s}); found != variables_.end()) return &found->second;
    for (int s : {parameters, module_scope})
        if (const auto found = variables_.find({name, s}); found != variables_.end()) return &found->second;
    return nullptr;
}

const uint32_t* Frame::label_named(std::string_view name, int scope) const {
    for (int s = scope; s >= 0; s = entry_.scope_parent[static_cast<size_t>(s)])
        if (const auto found = labels_.find({name, s}); found != labels_.end()) return &found->second;
    return nullptr;
}

int32_t Frame::constant(uint64_t bits, size_t bytes) {
    const auto [found, fresh] = constants_.try_emplace({bits, bytes}, 0);
    if (fresh) {
        const size_t at = program_.constants.size();
        program_.constants.resize(at + align_up(std::max<size_t>(bytes * 32, 4), 64));
        if (bytes == 0)
            std::memcpy(program_.constants.data() + at, &bits, 4);
        else
            for (size_t lane = 0; lane < 32; ++lane)
                std::memcpy(program_.constants.data() + at + lane * bytes, &bits, std::min<size_t>(bytes, 8));
        found->second = ~static_cast<int32_t>(at);
    }
    return found->second;
}

int32_t Frame::constant_lanes(const std::vector<uint32_t>& lanes) {
    const auto [found, fresh] = lanes_.try_emplace(lanes, 0);
    if (fresh) {
        const size_t at = program_.constants.size();
        program_.constants.resize(at + 128);
        std::memcpy(program_.constants.data() + at, lanes.data(), lanes.size() * 4);
        found->second = ~static_cast<int32_t>(at);
    }
    return found->second;
}

Slot Frame::carry(Type type) {
    const Type width = size_of(type) == 8 ? Type::b64 : Type::b32;
    const auto [found, fresh] = hidden_.try_emplace(width);
    if (fresh) found->second = new_slot(width, {});
    return found->second;
}

int32_t Frame::scratch(Type type) {
    const auto [found, fresh] = scratch_.try_emplace(type);
    if (fresh) found->second = new_slot(type, {});
    return found->second.offset;
}

std::vector<std::string_view> Frame::known_names() const {
    std::vector<std::string_view> names;
    for (const auto& [key, slot] : used_) names.push_back(key.name);
    for (const auto& [key, located] : variables_) names.push_back(key.name);
    for (const auto& [key, at] : declarations_) names.push_back(key.name);
    std::sort(names.begin(), names.end());
    names.resize(std::min<size_t>(names.size(), 2000));
    return names;
}

}  // namespace lockstep::ptx
