// The parser of tensor programs: a line at a time, loops unrolled, every mistake with its line. Everything is bounded.
#include "core/scene/tape/tape_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <sstream>

#include "core/base/nearest.h"
#include "core/scene/figures/expression.h"
#include "core/scene/tape/tape_functions.h"

namespace lockstep::scene {
namespace {

constexpr size_t largest_tape_text = 1 << 16, most_tape_statements = 1000, most_tape_leaves = 64, most_tape_lines = 5000;
constexpr int64_t most_tape_elements = 1 << 16, most_tape_steps = 500;

bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
std::string without_ends(const std::string& text) {
    const size_t begin = text.find_first_not_of(" \t\r");
    return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}
std::vector<std::string> words_of(std::string text) {  // parted by spaces or commas
    std::replace(text.begin(), text.end(), ',', ' ');
    std::istringstream in(text);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    return words;
}

class TapeParser {
  public:
    TapeParser(const std::string& text, const std::string& file) {
        tape_.file = file;
        tape_.text = text;
        std::istringstream in(text);
        for (std::string line; std::getline(in, line);) lines_.push_back(line.substr(0, line.find('#')));
    }

    TapeText parse() {
        run(0, lines_.size());
        if (tape_.statements.empty()) fail("the program records nothing: a line such as z = x * y is missing");
        if ((tape_.mode == nn::Mode::graph || tape_.mode == nn::Mode::fused) && tape_.steps < 3)
            fail(fmt::format("mode {} records two steps and replays from the third on: steps 3 is the least",
                             nn::name_of(tape_.mode)));
        return std::move(tape_);
    }

  private:
    [[noreturn]] void fail(const std::string& message, size_t column = 0) const {
        throw Failure(Diagnostic{message,
                                 {tape_.file, static_cast<int>(at_) + 1, static_cast<int>(column) + 1},
                                 at_ < lines_.size() ? lines_[at_] : std::string()});
    }

    void run(size_t from, size_t to) {
        for (size_t i = from; i < to; ++i) {
            at_ = i;
            if (++lines_run_ > most_tape_lines) fail("this program is too long");
            Result<std::string> filled = fill_in(lines_[i], variables_);
            if (!filled) fail(filled.error().message);
            const std::string line = without_ends(filled.value());
            if (line.empty()) continue;
            const std::string verb = line.substr(0, line.find_first_of(" \t("));
            const std::string rest = without_ends(line.substr(verb.size()));
            if (verb == "for") {
                const size_t end = end_of(i, to);
                loop(rest, i + 1, end);
                i = end;
            } else if (verb == "op") {
                const size_t end = end_of(i, to);
                own_op(rest, i + 1, end);
                i = end;
            } else if (verb == "end") {
                fail("nothing is open here that 'end' could close");
            } else {
                statement(line, verb, rest);
            }
        }
    }

    size_t end_of(size_t from, size_t to) const {
        int open = 0;
        for (size_t i = from; i < to; ++i) {
            const std::string line = without_ends(lines_[i]);
            const std::string word = line.substr(0, line.find_first_of(" \t("));
            if (word == "for" || word == "op") ++open;
            if (word == "end" && --open == 0) return i;
        }
        fail("what begins here is not closed: a line 'end' is missing");
    }

    double number(const std::string& text, const std::string& what) const {
        double value = 0;
        const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc{} || rest != text.data() + text.size() || !std::isfinite(value))
            fail(fmt::format("{} is a number, not '{}'", what, text));
        return value;
    }
    int64_t whole(const std::string& text, const std::string& what, int64_t least, int64_t most) const {
        const double value = number(text, what);
        if (value != std::floor(value) || value < static_cast<double>(least) || value > static_cast<double>(most))
            fail(fmt::format("{} is a whole number from {} to {}", what, least, most));
        return static_cast<int64_t>(value);
    }
    std::string name(const std::string& text, const std::string& what) const {
        if (text.empty() || !std::all_of(text.begin(), text.end(), is_name_char) || (text[0] >= '0' && text[0] <= '9'))
            fail(fmt::format("{} is missing here, in letters and digits", what));
        return text;
    }
    // "a = b" in two.
    std::pair<std::string, std::string> sides(const std::string& text) const {
        const size_t equals = text.find('=');
        if (equals == std::string::npos) fail("'=' is missing");
        return {without_ends(text.substr(0, equals)), without_ends(text.substr(equals + 1))};
    }
    Term term(const std::string& text) const {
        Result<Term> parsed = parse_term(text);
        if (!parsed)
            throw Failure(Diagnostic{
                parsed.error().message, {tape_.file, static_cast<int>(at_) + 1, parsed.error().where.column}, text});
        return std::move(parsed).value();
    }

    void loop(const std::string& rest, size_t from, size_t to) {
        const auto [left, right] = sides(rest);
        const std::string counter = name(left, "the loop's name");
        const size_t dots = right.find("..");
        if (dots == std::string::npos) fail("a loop is written for i = 0 .. 3");
        const int64_t first = whole(without_ends(right.substr(0, dots)), "a loop's bound", 0, 10'000),
                      last = whole(without_ends(right.substr(dots + 2)), "a loop's bound", 0, 10'000);
        if (++depth_ > 4) fail("loops within loops go four deep at most");
        for (int64_t i = first; i <= last; ++i) {
            if (++lines_run_ > most_tape_lines) fail("this program is too long");
            variables_[counter] = static_cast<double>(i);
            place_ = fmt::format("[{}]", i);
            run(from, to);
        }
        place_.clear();
        --depth_;
    }

    // "multiply(a, b) = a * b" and the lines down to its end.
    void own_op(const std::string& rest, size_t from, size_t to) {
        TapeOp op;
        op.line = static_cast<int>(at_) + 1;
        const size_t open = rest.find('('), close = rest.find(')');
        if (open == std::string::npos || close == std::string::npos || close < open)
            fail("an op of one's own is written op multiply(a, b) = a * b");
        op.name = name(without_ends(rest.substr(0, open)), "the op's name");
        for (const std::string& input : words_of(rest.substr(open + 1, close - open - 1)))
            op.inputs.push_back(name(input, "an input's name"));
        if (op.inputs.empty() || op.inputs.size() > 4) fail("an op of one's own has one to four inputs");
        for (const std::string& known : tape_functions())
            if (known == op.name) fail(fmt::format("'{}' is a function already", op.name));
        op.forward = term(sides(rest.substr(close + 1)).second);
        check_own(op.forward, op.inputs);
        for (size_t i = from; i < to; ++i) {
            at_ = i;
            const std::string line = without_ends(lines_[i]);
            if (line.empty()) continue;
            if (line.starts_with("save ")) {
                for (const std::string& saved : words_of(line.substr(5))) {
                    if (std::find(op.inputs.begin(), op.inputs.end(), saved) == op.inputs.end())
                        fail(fmt::format("'{}' is no input of {}: inputs are what can be saved", saved, op.name));
                    op.saved.push_back(saved);
                }
            } else if (line.starts_with("backward ")) {
                const auto [input, text] = sides(line.substr(9));
                if (std::find(op.inputs.begin(), op.inputs.end(), input) == op.inputs.end())
                    fail(fmt::format("'{}' is no input of {}", input, op.name));
                const Term gradient = term(text);
                std::vector<std::string> known = op.saved;
                known.emplace_back("up");
                check_own(gradient, known);
                op.backward[input] = gradient;
            } else {
                fail("in an op stand save a, b and backward a = ...");
            }
        }
        tape_.ops.push_back(std::move(op));
        if (tape_.ops.size() > 16) fail("a program has at most 16 ops of its own");
    }
    void check_own(const Term& t, const std::vector<std::string>& known) const {
        if (t.kind == Term::Kind::name && std::find(known.begin(), known.end(), t.name) == known.end())
            fail(fmt::format("'{}' is not at hand here; there are {}", t.name, fmt::join(known, ", ")));
        static const std::vector<std::string> functions = elementwise_functions();
        const bool known_function = std::find(functions.begin(), functions.end(), t.name) != functions.end();
        if (t.kind == Term::Kind::call && (!known_function || t.parts.size() != 1))
            fail(fmt::format("an op of one's own is made of signs and of {}", fmt::join(functions, ", ")));
        for (const Term& part : t.parts) check_own(part, known);
    }

    void statement(const std::string& line, const std::string& verb, const std::string& rest) {
        if (verb == "dtype") {
            if (rest != "f32" && rest != "f64") fail("dtype is f32 or f64");
            tape_.dtype = rest == "f64" ? DType::f64 : DType::f32;
        } else if (verb == "mode") {
            try {
                tape_.mode = nn::mode_named(rest);
            } catch (const Failure& failure) {
                fail(failure.diagnostic.message);
            }
        } else if (verb == "steps") {
            tape_.steps = whole(rest, "the number of steps", 1, most_tape_steps);
        } else if (verb == "param" || verb == "input" || verb == "label") {
            leaf(verb, rest);
        } else if (verb == "let") {
            const auto [left, right] = sides(rest);
            const Result<Expression> expression = Expression::parse(right);
            if (!expression) fail(expression.error().message);
            const Result<double> value = expression.value().evaluate([&](const FigureName& word) -> Result<double> {
                const auto found = variables_.find(word.text);
                if (found != variables_.end()) return found->second;
                return Diagnostic{fmt::format("no 'let' names '{}'", word.text)};
            });
            if (!value) fail(value.error().message);
            variables_[name(left, "a name")] = value.value();
        } else if (verb == "hook" && rest.find('=') != std::string::npos && rest.front() != '=') {
            const auto [left, right] = sides(rest);
            TapeStatement one;
            one.kind = TapeStatement::Kind::hook;
            one.name = name(left, "the name whose gradient is hooked");
            if (!known_.count(one.name)) fail(fmt::format("no line above makes '{}'", one.name));
            if (tape_.mode != nn::Mode::direct) fail("a hook runs in mode direct");
            one.term = term(right);
            check_own(one.term, {"up"});
            add(std::move(one));
        } else if (line.find('=') != std::string::npos) {
            const auto [left, right] = sides(line);
            TapeStatement one;
            one.name = name(left, "the name of what the line makes");
            one.term = term(right);
            try {
                check_call(one.term, tape_.ops);
            } catch (const Failure& failure) {
                fail(failure.diagnostic.message);
            }
            known_.insert(one.name);
            add(std::move(one));
        } else if (verb == "backward" || verb == "gradcheck" || verb == "hessian") {
            TapeStatement one;
            one.kind = verb == "backward"    ? TapeStatement::Kind::backward
                       : verb == "gradcheck" ? TapeStatement::Kind::gradcheck
                                             : TapeStatement::Kind::hessian;
            one.name = name(rest, "the name to start from");
            if (!known_.count(one.name)) fail(fmt::format("no line above makes '{}'", one.name));
            add(std::move(one));
        } else if (verb == "update") {
            TapeStatement one;
            one.kind = TapeStatement::Kind::update;
            one.rate = number(rest, "the learning rate");
            if (tape_.statements.empty() || tape_.statements.back().kind != TapeStatement::Kind::backward)
                fail("an update follows a backward");
            add(std::move(one));
        } else {
            const std::vector<std::string> known = {"dtype", "steps",    "mode",   "param", "input",     "label",   "op",
                                                    "let",   "backward", "update", "for",   "gradcheck", "hessian", "hook"};
            fail(fmt::format("unknown line '{}'{}", verb,
                             did_you_mean(verb, known, fmt::format("; there are NAME = ..., {}", fmt::join(known, ", ")))));
        }
    }

    void add(TapeStatement one) {
        one.line = static_cast<int>(at_) + 1;
        one.place = place_;
        if (tape_.statements.size() >= most_tape_statements) fail("this program is too long");
        tape_.statements.push_back(std::move(one));
    }

    // "x[2,3] = {1, 2, 3, 4, 5, 6}"
    void leaf(const std::string& verb, const std::string& rest) {
        auto [left, right] = sides(rest);
        TapeLeaf one;
        one.line = static_cast<int>(at_) + 1;
        one.kind = verb == "param"   ? TapeLeaf::Kind::parameter
                   : verb == "input" ? TapeLeaf::Kind::input
                                     : TapeLeaf::Kind::label;
        bool shaped = false;
        if (const size_t open = left.find('['); open != std::string::npos) {
            if (left.back() != ']') fail("']' is missing behind the extents");
            for (const std::string& extent : words_of(left.substr(open + 1, left.size() - open - 2)))
                one.shape.push_back(whole(extent, "an extent", 1, most_tape_elements));
            if (one.shape.size() > 5) fail("a tensor has at most five extents here");
            left = without_ends(left.substr(0, open));
            shaped = true;
        }
        one.name = name(left, "the tensor's name");
        if (!known_.insert(one.name).second) fail(fmt::format("'{}' is there already", one.name));
        if (!right.empty() && right.front() == '{') {
            if (right.back() != '}') fail("'}' is missing behind the numbers");
            for (const std::string& word : words_of(right.substr(1, right.size() - 2)))
                one.values.push_back(number(word, "an element"));
            if (!shaped) one.shape = {static_cast<int64_t>(one.values.size())};
        } else if (right == "ramp" || right == "random") {
            one.fill = right == "ramp" ? TapeLeaf::Fill::ramp : TapeLeaf::Fill::random;
        } else if (right.starts_with("normal ")) {
            one.fill = TapeLeaf::Fill::normal;
            one.number = number(without_ends(right.substr(7)), "the deviation");
        } else {
            one.fill = TapeLeaf::Fill::all;
            one.number = number(right, "the value");
        }
        int64_t count = 1;
        for (const int64_t extent : one.shape) {
            count *= extent;
            if (count > most_tape_elements) fail("a tensor is too large for a lesson: 65,536 elements at most");
        }
        if (one.fill == TapeLeaf::Fill::values && count != static_cast<int64_t>(one.values.size()))
            fail(fmt::format("{} numbers stand here for {} elements", one.values.size(), count));
        if (one.kind == TapeLeaf::Kind::label) {
            if (one.fill != TapeLeaf::Fill::values) fail("labels are written out: label t = {0, 2, 1}");
            for (const double value : one.values)
                if (value != std::floor(value) || value < 0 || value > 65535) fail("a label is a whole number from 0");
        }
        if (tape_.leaves.size() >= most_tape_leaves) fail("too many tensors");
        tape_.leaves.push_back(std::move(one));
    }

    TapeText tape_;
    std::vector<std::string> lines_;
    std::map<std::string, double> variables_;
    std::set<std::string> known_;
    std::string place_;  // of the innermost loop under way
    size_t at_ = 0, lines_run_ = 0;
    int depth_ = 0;
};

}  // namespace

std::string TapeText::last_made() const {
    std::string name;
    for (const TapeStatement& statement : statements)
        if (statement.kind == TapeStatement::Kind::assign) name = statement.name;
    return name;
}

Result<TapeText> parse_tape(const std::string& text, const std::string& file) {
    if (text.size() > largest_tape_text) return Diagnostic{"a tensor program of more than 64 KiB is not read", {file}};
    try {
        return TapeParser(text, file).parse();
    } catch (const Failure& failure) {
        return failure.diagnostic;
    }
}

}  // namespace lockstep::scene
