// One function a production of the grammar in expression.h. A node remembers which characters it came from, so that a
// report can quote the clause that failed.
#include "core/scene/figures/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/base/close_enough.h"
#include "core/base/nearest.h"

namespace lockstep::scene {

struct Expression::Node {
    std::string operation;  // "number", "name", "ceil", "floor", "abs", "negate", "not", or the operator itself
    double value = 0;
    FigureName name;
    std::shared_ptr<const Node> left, right;
    size_t begin = 0, end = 0;  // in the whole text
};

namespace {

using Node = Expression::Node;
using NodePtr = std::shared_ptr<const Node>;
constexpr int deepest = 64;

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

struct Parser {
    std::string_view text;
    size_t at = 0;
    int depth = 0;

    [[noreturn]] void fail(std::string message, size_t where) const {
        throw Failure(Diagnostic{std::move(message), {"expression", 1, static_cast<int>(where) + 1}, std::string(text)});
    }
    void space() {
        while (at < text.size() && text[at] == ' ') ++at;
    }
    bool take(std::string_view token) {
        space();
        if (text.substr(at, token.size()) != token) return false;
        at += token.size();
        return true;
    }
    NodePtr node(std::string operation, NodePtr left, NodePtr right, size_t begin) const {
        auto made = std::make_shared<Node>();
        made->operation = std::move(operation);
        made->left = std::move(left);
        made->right = std::move(right);
        made->begin = begin;
        made->end = at;
        return made;
    }

    NodePtr either() {  // or
        if (++depth > deepest) fail("this expression is nested too deeply", at);
        space();
        const size_t begin = at;
        NodePtr left = both();
        while (take("||")) {
            NodePtr right = both();
            left = node("||", left, right, begin);
        }
        --depth;
        return left;
    }
    NodePtr both() {  // and
        space();
        const size_t begin = at;
        NodePtr left = comparison();
        while (take("&&")) {
            NodePtr right = comparison();
            left = node("&&", left, right, begin);
        }
        return left;
    }
    NodePtr comparison() {
        space();
        const size_t begin = at;
        NodePtr left = sum();
        for (const char* sign : {"==", "!=", "<=", ">=", "<", ">"})
            if (take(sign)) {
                NodePtr right = sum();
                return node(sign, left, right, begin);
            }
        return left;
    }
    NodePtr sum() {
        space();
        const size_t begin = at;
        NodePtr left = product();
        for (int terms = 0; terms < 1000; ++terms) {
            const char* sign = take("+") ? "+" : take("-") ? "-" : nullptr;
            if (!sign) break;
            NodePtr right = product();
            left = node(sign, left, right, begin);
        }
        return left;
    }
    NodePtr product() {
        space();
        const size_t begin = at;
        NodePtr left = unary();
        for (int terms = 0; terms < 1000; ++terms) {
            const char* sign = take("*") ? "*" : take("/") ? "/" : nullptr;
            if (!sign) break;
            NodePtr right = unary();
            left = node(sign, left, right, begin);
        }
        return left;
    }
    NodePtr unary() {
        space();
        const size_t begin = at;
        if (at == text.size()) fail("a number or a name is missing at the end", at);
        if (++depth > deepest) fail("this expression is nested too deeply", at);
        NodePtr made;
        if (take("-")) {
            NodePtr operand = unary();
            made = node("negate", operand, nullptr, begin);
        } else if (text.substr(at, 2) != "!=" && take("!")) {
            NodePtr operand = unary();
            made = node("not", operand, nullptr, begin);
        } else if (take("(")) {
            made = either();
            if (!take(")")) fail("')' is missing", at);
        } else if (is_digit(text[at]) || text[at] == '.') {
            made = number();
        } else if (is_letter(text[at])) {
            made = name();
        } else {
            fail(fmt::format("unexpected '{}': a number or a name is needed here", text[at]), at);
        }
        --depth;
        return made;
    }
    NodePtr number() {
        auto made = std::make_shared<Node>();
        made->operation = "number";
        made->begin = at;
        const auto [rest, error] = std::from_chars(text.data() + at, text.data() + text.size(), made->value);
        if (error != std::errc{}) fail("this is not a number", at);
        at = static_cast<size_t>(rest - text.data());
        made->end = at;
        return made;
    }
    std::string_view word() {
        const size_t begin = at;
        while (at < text.size() && (is_letter(text[at]) || is_digit(text[at]) || text[at] == '.')) ++at;
        if (at == begin) fail("a word is missing here, as in cycles@line:7", at);
        return text.substr(begin, at - begin);
    }
    NodePtr name() {
        const size_t begin = at;
        const std::string first(word());
        if (at < text.size() && text[at] == '(') {
            if (first != "ceil" && first != "floor" && first != "abs")
                fail(fmt::format("unknown function '{}': there are ceil, floor and abs", first), begin);
            ++at;
            NodePtr operand = either();
            if (!take(")")) fail("')' is missing", at);
            return node(first, operand, nullptr, begin);
        }
        while (at < text.size() && text[at] == '[') {
            const size_t open = at++;
            while (at < text.size() && is_digit(text[at])) ++at;
            if (at == open + 1 || at == text.size() || text[at] != ']') fail("an index such as [3] is needed here", open);
            ++at;
            if (at < text.size() && text[at] == '.') word();
        }
        while (at < text.size() && text[at] == '@') {
            ++at;
            const bool gpu = word() == "gpu";
            if (at == text.size() || text[at] != ':') fail("after '@' stands a kind and a value, as in @line:7", at);
            do {  // jetson-nano, teaching:4
                ++at;
                word();
            } while (gpu && at + 1 < text.size() && (text[at] == '-' || text[at] == ':') &&
                     (is_letter(text[at + 1]) || is_digit(text[at + 1])));
        }
        auto made = std::make_shared<Node>();
        made->operation = "name";
        made->name = FigureName(text.substr(begin, at - begin), begin);
        made->begin = begin;
        made->end = at;
        return made;
    }
};

bool is_comparison_sign(const std::string& operation) {
    return std::string_view("== != <= >= < >").find(operation) != std::string_view::npos;
}

// NaN is the value of a comparison with NaN on a side: neither true nor false, and whatever hangs on it is neither.
Result<double> value_of(const Node& node, const Expression::Lookup& lookup) {
    if (node.operation == "number") return node.value;
    if (node.operation == "name") return lookup(node.name);
    Result<double> left = value_of(*node.left, lookup);
    if (!left) return left;
    const double a = left.value();
    if (node.operation == "negate") return -a;
    if (node.operation == "not") return std::isnan(a) ? a : a == 0 ? 1.0 : 0.0;
    if (node.operation == "ceil") return std::ceil(a);
    if (node.operation == "floor") return std::floor(a);
    if (node.operation == "abs") return std::fabs(a);
    const bool is_true = a != 0 && !std::isnan(a);
    if (node.operation == "&&" && a == 0) return 0.0;
    if (node.operation == "||" && is_true) return 1.0;
    Result<double> right = value_of(*node.right, lookup);
    if (!right) return right;
    const double b = right.value();
    if (node.operation == "+") return a + b;
    if (node.operation == "-") return a - b;
    if (node.operation == "*") return a * b;
    if (node.operation == "/") return a / b;
    const bool both = !std::isnan(a) && !std::isnan(b);
    if (is_comparison_sign(node.operation)) {
        if (!both) return std::nan("");
        const bool equal = close_enough(a, b, 1e-9);
        if (node.operation == "==") return equal ? 1.0 : 0.0;
        if (node.operation == "!=") return equal ? 0.0 : 1.0;
        if (node.operation == "<=") return a <= b || equal ? 1.0 : 0.0;
        if (node.operation == ">=") return a >= b || equal ? 1.0 : 0.0;
        if (node.operation == "<") return a < b && !equal ? 1.0 : 0.0;
        return a > b && !equal ? 1.0 : 0.0;
    }
    // && and || whose left side did not decide: it is NaN, or true for && and false for ||.
    if (both) return b != 0 ? 1.0 : 0.0;
    if (node.operation == "&&") return b == 0 ? 0.0 : std::nan("");
    return b != 0 && !std::isnan(b) ? 1.0 : std::nan("");
}

void collect(const Node& node, std::vector<FigureName>& names) {
    if (node.operation == "name" &&
        std::none_of(names.begin(), names.end(), [&](const FigureName& one) { return one.text == node.name.text; }))
        names.push_back(node.name);
    if (node.left) collect(*node.left, names);
    if (node.right) collect(*node.right, names);
}

}  // namespace

Result<Expression> Expression::parse(std::string_view text) {
    try {
        if (text.size() > 2000) return Diagnostic{"this expression is too long", {"expression", 1, 1}};
        Parser parser{text};
        NodePtr root = parser.either();
        parser.space();
        if (parser.at != text.size()) parser.fail(fmt::format("unexpected '{}'", text.substr(parser.at)), parser.at);
        Expression made;
        made.root_ = std::move(root);
        made.text_ = text;
        return made;
    } catch (const Failure& failure) {
        return failure.diagnostic;
    }
}

Expression Expression::from(NodePtr node, std::string_view whole) {
    Expression made;
    made.text_ = whole.substr(node->begin, node->end - node->begin);
    while (!made.text_.empty() && made.text_.back() == ' ') made.text_.pop_back();
    made.root_ = std::move(node);
    return made;
}

Result<double> Expression::evaluate(const Lookup& lookup) const {
    if (!root_) return Diagnostic{"an expression is missing"};
    Result<double> value = value_of(*root_, lookup);
    if (value && is_truth() && std::isnan(value.value())) return 0.0;
    return value;
}

std::vector<FigureName> Expression::names() const {
    std::vector<FigureName> found;
    if (root_) collect(*root_, found);
    return found;
}

bool Expression::names(std::string_view name) const {
    const std::vector<FigureName> all = names();
    return std::any_of(all.begin(), all.end(), [&](const FigureName& one) { return one.text == name; });
}

std::vector<Expression> Expression::clauses() const {
    // Children keep offsets into the text they were parsed from, so only a whole expression can be taken apart again.
    std::vector<Expression> found;
    if (!root_) return found;
    NodePtr rest = root_;
    for (; rest->operation == "&&"; rest = rest->left) found.push_back(from(rest->right, text_));
    found.push_back(from(rest, text_));
    std::reverse(found.begin(), found.end());
    return found;
}

bool Expression::is_truth() const {
    const std::string& sign = root_->operation;
    return sign == "not" || sign == "&&" || sign == "||" || is_comparison_sign(sign);
}

bool Expression::is_comparison() const {
    return is_comparison_sign(root_->operation);
}

std::pair<Expression, Expression> Expression::sides() const {
    Expression left, right;
    left.root_ = root_->left;
    right.root_ = root_->right;
    return {left, right};
}

Result<std::string> fill_in(std::string_view text, const std::map<std::string, double>& variables) {
    std::string out;
    for (size_t at = 0; at < text.size();) {
        if (text[at] != '$') {
            out += text[at++];
            continue;
        }
        size_t begin = at + 1, end = begin, next = begin;
        if (begin < text.size() && text[begin] == '(') {
            int open = 0;
            for (end = begin; end < text.size(); ++end) {
                open += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
                if (open == 0) break;
            }
            next = std::min(end + 1, text.size());
            ++begin;
        } else {
            while (end < text.size() && (is_letter(text[end]) || (end > begin && is_digit(text[end])))) ++end;
            next = end;
        }
        Result<Expression> parsed = Expression::parse(text.substr(begin, end - begin));
        Result<double> value = parsed ? parsed.value().evaluate([&](const FigureName& name) -> Result<double> {
            if (const auto found = variables.find(name.text); found != variables.end()) return found->second;
            std::vector<std::string> known;
            for (const auto& [key, unused] : variables) known.push_back(key);
            return Diagnostic{fmt::format("'{}' is not given in shapes{}", name.text, did_you_mean(name.text, known, ""))};
        })
                                      : Result<double>(parsed.error());
        if (!value) {
            Diagnostic d = value.error();
            d.where = {"expression", 1, static_cast<int>(at) + 1};
            d.source_line = text;
            return d;
        }
        out += fmt::format("{}", value.value());
        at = next;
    }
    return out;
}

}  // namespace lockstep::scene
