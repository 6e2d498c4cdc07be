#include "app/cli/command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>

#include "app/cli/cli.h"

namespace lockstep::cli {

void missing_option(const std::string& name) {
    throw CLI::RequiredError(name);
}

const Option& Option::check(std::function<std::string(const std::string&)> why_not) const {
    at_->check(std::move(why_not));
    return *this;
}

const Option& Option::between(double least, double most) const {
    at_->check(CLI::Validator([wrong = number_within(least, most)](std::string& text) { return wrong(text); },
                              fmt::format("{} to {}", least, most)));
    return *this;
}

const Option& Option::required() const {
    at_->required();
    return *this;
}

const Option& Option::needs(const Option& other) const {
    at_->needs(other.at_);
    return *this;
}

const Option& Option::excludes(const Option& other) const {
    at_->excludes(other.at_);
    return *this;
}

const Option& Option::excludes(const std::string& name) const {
    at_->excludes(name);
    return *this;
}

const Option& Option::delimiter(char between) const {
    at_->delimiter(between);
    return *this;
}

const Option& Option::one_value_each() const {
    at_->allow_extra_args(false);
    return *this;
}

bool Option::given() const {
    return at_->count() > 0;
}

std::string Option::name() const {
    return at_->get_name();
}

Command Command::add_subcommand(const std::string& name, const std::string& summary) const {
    return Command(at_->add_subcommand(name, summary));
}

void Command::require_subcommand() const {
    at_->require_subcommand(1);
}

void Command::footer(const std::string& text) const {
    at_->footer(text);
}

void Command::callback(std::function<void()> run) const {
    at_->callback(std::move(run));
}

template <typename T>
Option Command::add_option(const std::string& names, T& into, const std::string& summary) const {
    return Option(at_->add_option(names, into, summary));
}

template Option Command::add_option(const std::string&, std::string&, const std::string&) const;
template Option Command::add_option(const std::string&, double&, const std::string&) const;
template Option Command::add_option(const std::string&, int&, const std::string&) const;
template Option Command::add_option(const std::string&, int64_t&, const std::string&) const;
template Option Command::add_option(const std::string&, uint32_t&, const std::string&) const;
template Option Command::add_option(const std::string&, uint64_t&, const std::string&) const;
template Option Command::add_option(const std::string&, std::optional<int64_t>&, const std::string&) const;
template Option Command::add_option(const std::string&, std::vector<std::string>&, const std::string&) const;
template Option Command::add_option(const std::string&, std::vector<int>&, const std::string&) const;
template Option Command::add_option(const std::string&, std::vector<int64_t>&, const std::string&) const;

Option Command::add_flag(const std::string& names, bool& into, const std::string& summary) const {
    return Option(at_->add_flag(names, into, summary));
}

Option Command::add_option_function(const std::string& names, std::function<void(const std::string&)> take,
                                    const std::string& summary) const {
    return Option(at_->add_option_function<std::string>(names, take, summary));
}

bool Command::has(const std::string& option) const {
    return at_->get_option_no_throw(option) != nullptr;
}

bool Command::given(const std::string& option) const {
    const CLI::Option* const found = at_->get_option_no_throw(option);
    return found && found->count() > 0;
}

std::vector<Option> Command::options() const {
    std::vector<Option> all;
    for (CLI::Option* option : at_->get_options()) all.emplace_back(option);
    return all;
}

bool Command::has_subcommand() const {
    return !at_->get_subcommands().empty();
}

}  // namespace lockstep::cli
