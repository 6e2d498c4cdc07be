// The parser of a module, one function a production of the grammar; the production stands above its function. parser.cpp
// has modules, entries and bodies, parser_functions.cpp what calls need, parser_variables.cpp variables,
// parser_statements.cpp statements and operands. All throw Complaint.
#pragma once
#include <unordered_map>

#include "core/ptx/parse/lexer.h"

namespace lockstep::ptx {

constexpr size_t most_statements = 200'000;
constexpr size_t most_declarations = 100'000;
constexpr size_t most_functions = 20'000;
constexpr size_t most_scopes = 20'000;
constexpr int deepest_scope = 64;
constexpr uint64_t largest_variable = uint64_t{1} << 30;

class Parser {
  public:
    Parser(std::string_view text, Module& module) : text_(text), lexer_(text), module_(module) { advance(); }
    void parse_module();

  private:
    void advance() {
        end_of_last_ = token_.offset + token_.spelling.size();
        token_ = lexer_.next();
    }
    [[noreturn]] void complain(std::string message) const { throw Complaint{std::move(message), token_.place}; }
    std::string written() const {
        if (token_.kind == Token::Kind::end) return "the end of the text";
        return "'" + std::string(token_.spelling.substr(0, 60)) + "'";
    }
    bool take(char mark) {
        if (!token_.is(mark)) return false;
        advance();
        return true;
    }
    bool take(std::string_view word) {
        if (!token_.is(word)) return false;
        advance();
        return true;
    }
    void expect(char mark, const char* after) {
        if (!take(mark)) complain("expected '" + std::string(1, mark) + "' " + after + ", found " + written());
    }
    bool starts_with_dot() const { return token_.kind == Token::Kind::word && token_.spelling[0] == '.'; }
    std::string_view name(const char* what) {
        if (token_.kind != Token::Kind::word || token_.spelling[0] == '.')
            complain(std::string("expected ") + what + ", found " + written());
        const std::string_view found = token_.spelling;
        advance();
        return found;
    }
    int small_integer(const char* what) {
        if (token_.kind != Token::Kind::integer || token_.value > 1'000'000'000)
            complain(std::string("expected ") + what + ", found " + written());
        const int value = static_cast<int>(token_.value);
        advance();
        return value;
    }
    void split_directive();
    void skip_to_semicolon();
    bool pragma_keeps_rolled();
    void skip_group(char open, char close);
    void parse_file();
    void parse_location(Entry& entry);
    std::vector<Variable> parse_formals();
    void parse_function(std::string_view linkage);
    void parse_alias();
    std::string_view label_of_directive(Entry& entry);
    void parse_targets(Entry& entry, int scope);
    void parse_prototype(Entry& entry, int scope);
    void parse_entry(std::string_view linkage);
    void parse_entry_attribute(Entry& entry);
    void parse_body(Entry& entry);
    void parse_registers(Entry& entry, int scope);
    Variable parse_variable(Space space, bool external, bool parameter);
    uint64_t parse_dimensions(Variable& variable, bool& open);
    void parse_initialiser(Variable& variable);
    void parse_reference(Variable& variable, uint64_t mask);
    void parse_statement(Entry& entry, int scope);
    Operand parse_operand(int depth);
    Operand parse_address();
    void parse_index(Operand& operand);
    std::string_view coined(std::string name);
    std::string_view part_of_vector(std::string_view name) const;
    const RegisterDeclaration* register_named(std::string_view name) const;
    const Variable* variable_named(std::string_view name) const;
    void take_sums(Entry& entry, Statement& statement);
    uint64_t parse_offset();

    std::string_view text_;
    Lexer lexer_;
    Module& module_;
    const Entry* entry_ = nullptr;  // whose body is being read
    std::unordered_map<std::string_view, std::vector<std::string_view>>
        vectors_;                 // its vector registers: names of their parts
    bool negated_names_ = false;  // whether "-" may stand before a name in this statement
    bool to_memory_ = false;      // whether a variable with an index is a place in memory there: ld.global.f32 %f1, x[3];
    Token token_;
    size_t end_of_last_ = 0;
    std::unordered_map<std::string_view, size_t> functions_;  // name -> number in the module
};

}  // namespace lockstep::ptx
