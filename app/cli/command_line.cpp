// All commands and what they share. An option or command that does not exist is refused in one sentence with the nearest
// name.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "app/cli/cli.h"
#include "app/cli/long_work.h"
#include "app/cli/program/program.h"
#include "core/api/report.h"
#include "core/base/files.h"
#include "core/base/nearest.h"
#include "core/base/tell.h"

namespace lockstep::cli {

void complain(const Diagnostic& diagnostic) {
    tell("{}\n", render(diagnostic));
}

nlohmann::ordered_json json_number(double value) {
    return api::json_number(value);
}

std::string not_from_0(const std::string& text) {
    uint64_t value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range) return fmt::format("{} is too large", text);
    return error == std::errc{} && rest == text.data() + text.size()
               ? ""
               : fmt::format("a whole number from 0 is needed, not '{}'", text);
}

std::string not_from_1(const std::string& text) {
    const std::string problem = not_from_0(text);
    const bool small = problem.empty() ? text.find_first_not_of('0') == std::string::npos
                                       : problem.find("is too large") == std::string::npos;
    return small ? fmt::format("a whole number from 1 is needed, not '{}'", text) : problem;
}

std::function<std::string(const std::string&)> number_within(double least, double most, bool above) {
    const auto is_right = [=](const std::string& text) {
        double value = 0;
        const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        return error == std::errc{} && rest == text.data() + text.size() && value <= most &&
               (above ? value > least : value >= least);
    };
    return [=](const std::string& text) {
        if (is_right(text)) return std::string();
        std::string pointed = text;  // "0,1", as many languages write it
        std::replace(pointed.begin(), pointed.end(), ',', '.');
        return fmt::format("a number {} {}{} is needed, not '{}'{}", above ? "above" : "from", least,
                           most < 1e300 ? fmt::format(" to {}", most) : "", text,
                           pointed != text && is_right(pointed) ? fmt::format(": with a point, {}", pointed) : "");
    };
}

void check_can_write(const std::string& path) {
    namespace fs = std::filesystem;
    std::error_code error;
    const auto status = fs::status(path, error);
    if (path.empty() || path == "-" || (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status)))
        return;
    if (fs::is_directory(status)) throw Failure(Diagnostic{"the file cannot be written: this is a folder", {path}});
    try {
        write_file(path + ".part", "");
    } catch (const Failure&) {
        throw Failure(Diagnostic{"the file cannot be written", {path}});
    }
    fs::remove(path + ".part", error);
}

void write_json(const nlohmann::ordered_json& json, const std::string& path, int indent) {
    const std::string text = json.dump(indent) + "\n";
    if (path == "-")
        std::fwrite(text.data(), 1, text.size(), stdout);
    else
        write_file(path, text);
}

namespace {

// The one sentence for what CLI11 refused.
std::string sentence(const CLI::App& app, const CLI::ParseError& error, const std::vector<std::string>& words) {
    const CLI::App* command = app.get_subcommands().empty() ? &app : app.get_subcommands().front();
    while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
    const int kind = error.get_exit_code();
    if (kind == static_cast<int>(CLI::ExitCodes::ExtrasError) || kind == static_cast<int>(CLI::ExitCodes::RequiredError))
        for (const std::string& word : words) {
            const std::string name = word.substr(0, word.find('='));
            if (name.rfind("--", 0) == 0) {
                if (command->get_option_no_throw(name) || name == "--help") continue;
                std::vector<std::string> known;
                for (const CLI::Option* option : command->get_options())
                    if (!option->get_lnames().empty()) known.push_back("--" + option->get_lnames().front());
                std::string whole;  // "puzzle list "
                for (const CLI::App* at = command; at != nullptr && at != &app; at = at->get_parent())
                    whole = at->get_name() + " " + whole;
                return fmt::format("unknown option {}{}; 'lockstep {}--help' lists them", name,
                                   did_you_mean(name, known, ""), whole);
            }
            const bool takes_commands = command->get_require_subcommand_max() > 0 && !command->get_subcommands({}).empty();
            if (command == &app && word != words.front())
                for (const std::string_view ending : {".cu", ".ptx", ".host", ".tape", ".lockstep", ".toml"})
                    if (const auto file = std::ranges::find_if(words, [&](const auto& w) { return w.ends_with(ending); });
                        file != words.end() && file != words.begin() && words.front().starts_with("--"))
                        return fmt::format("the file comes first, its options behind it: lockstep {} {}", *file,
                                           fmt::join(words.begin(), file, " "));
            if (takes_commands && name.rfind('-', 0) != 0 && (command == &app || &word != &words.front())) {
                std::vector<std::string> known;
                for (const CLI::App* sub : command->get_subcommands({})) known.push_back(sub->get_name());
                if (std::error_code none; command == &app && std::filesystem::is_directory(name, none))
                    return fmt::format("'{}' is a folder: name one of its .cu, .ptx, .host, .tape or .lockstep files", name);
                return fmt::format("unknown command '{}{}'{}; 'lockstep {}--help' lists them",
                                   command == &app ? "" : command->get_name() + " ", name, did_you_mean(name, known, ""),
                                   command == &app ? "" : command->get_name() + " ");
            }
        }
    // The command with those it belongs to, as typed: "lesson run ".
    std::string path;
    for (const CLI::App* one = command; one != &app; one = one->get_parent()) path = one->get_name() + " " + path;
    // "Could not convert: --shared = x" and "--arg: 1 required TEXT missing" in plain words.
    std::string what = error.what();
    if (kind == static_cast<int>(CLI::ExitCodes::ConversionError) && what.find(": ") < what.rfind(" = ") &&
        what.rfind(" = ") != std::string::npos) {
        const size_t name = what.find(": ") + 2, equals = what.find(" = ", name);
        what = fmt::format("{} takes a number, not '{}'", what.substr(name, equals - name), what.substr(equals + 3));
    } else if (kind == static_cast<int>(CLI::ExitCodes::ArgumentMismatch) && what.find(':') != std::string::npos) {
        const std::string name = what.substr(0, what.find(':'));
        const auto given = std::count_if(words.begin(), words.end(), [&](const std::string& word) {
            return word == name || word.rfind(name + "=", 0) == 0;
        });
        what = name + (given > 1 ? " is given twice" : " needs a value after it");
    }
    return fmt::format("{}; 'lockstep {}--help' says what is right", what, path);
}

// `--json --functional` would write a file called --functional.
void refuse_options_as_values(CLI::App& command) {
    for (CLI::Option* option : command.get_options())
        if (option->get_items_expected_max() > 0)
            option->check([](const std::string& value) {
                return value.rfind("--", 0) == 0 ? fmt::format("a value is needed here, not the option {}", value)
                                                 : std::string();
            });
    for (CLI::App* sub : command.get_subcommands({})) refuse_options_as_values(*sub);
}

bool opens_in_the_app(const std::string& word) {
    const std::string extension = std::filesystem::path(word).extension().string();
    return extension == ".lockstep" || extension == ".cu" || extension == ".ptx" || extension == ".host" ||
           extension == ".tape" || extension == ".toml";
}

void read_size(const std::string& text, gui::AppOptions& options) {
    int width = 0, height = 0, used = 0;
    if (std::sscanf(text.c_str(), "%dx%d%n", &width, &height, &used) != 2 || used != static_cast<int>(text.size()) ||
        width < 320 || height < 240 || width > 8192 || height > 8192)
        throw Failure(fmt::format("--size is WIDTHxHEIGHT, 320x240 to 8192x8192, such as 1600x1000, not '{}'", text));
    options.width = width;
    options.height = height;
}

// A recording says on stderr how far it is, and Ctrl-C ends it; what comes before it ends by Ctrl-C as any program.
int run_the_app(gui::AppOptions options, const std::string& size, const Hooks& hooks) {
    if (!options.film.file.empty()) options.width = 1280, options.height = 800;
    if (!size.empty()) read_size(size, options);
    std::optional<LongWork> work;
    options.film.goes_on = [&](double share) {
        if (share >= 1) return work.reset(), true;
        if (!work) work.emplace("recording " + options.film.file);
        (*work)(share);
        return !work->interrupted();
    };
    const int status = hooks.app(options);
    work.reset();
    if (status == gui::interrupted) tell("recording {}: ended before it was done, no file is left\n", options.film.file);
    return status;
}

}  // namespace

int run_command_line(int argc, char** argv, const Hooks& hooks) {
    CLI::App app{"Lockstep: a GPU that you can see inside, with a real machine-learning engine on top"};
    app.set_help_flag("-h,--help", "print this help");
    app.set_version_flag("--version", "lockstep " LOCKSTEP_VERSION);
    app.require_subcommand(0, 1);
    std::setvbuf(stdout, nullptr, _IOLBF, 1 << 16);  // a pipe sees a long run's lines as they come
    int status = 0;
    gui::AppOptions picture;
    std::string size;
    auto app_options = [&](const Command& command) {
        command.add_option("--lesson", picture.lesson, "open this lesson, such as A06");
        command.add_option("--step", picture.step, "at this step, from 1").check(not_from_1);
        command.add_option("--view", picture.view, "one picture alone, such as warps");
        command.add_option("--open,--kernel", picture.open,
                           "open this .cu, .ptx, .host or .tape file in the Kernel workspace; or a .lockstep, a run that "
                           "somebody saved; or a .toml, a GPU of your own, the design of a puzzle in its puzzle");
        command.add_option("--model", picture.model, "train this model in the Training workspace, such as lenet5");
        command.add_option("--gpu", picture.gpu, "run on this GPU: a name, or a file of your own, mine.toml");
        command.add_option("--ranks", picture.ranks, "run the Training workspace's step on so many ranks too: 1, 2, 4 or 8")
            .check(not_from_1);
        command.add_option("--plan", picture.plan,
                           "train on ranks in the Cluster workspace, such as \"dp=2 pp=2 zero=1 schedule=1f1b\"");
        command.add_option("--moment", picture.moment, "with --screenshot or --describe: at this moment of the tape")
            .check(not_from_1);
        command.add_option("--cycle", picture.cycle, "with --screenshot or --describe: at this cycle of the kernel")
            .check(not_from_0);
        command.add_option("--sm", picture.sm, "with --screenshot, --record or --describe: this SM traced")
            .check(not_from_0);
        command.add_option("--zoom", picture.zoom,
                           "of the machine: where its zoom stands, from cluster to lane, such as sm");
        command.add_flag("--follow", picture.follow,
                         "of the machine: follow the next request that goes far, or a micro-batch");
        command.add_option("--screenshot", picture.screenshot,
                           "render to this PNG or SVG and leave; a folder: every step of the lesson, open and answered");
        command.add_option("--contact-sheet", picture.sheet,
                           "all steps of this lesson, open and answered, small on one picture: A08.png, or --screenshot");
        command.add_option(
            "--save-run", picture.save_run,
            "save the run on show, with --cycle and where it stands, as one file F.lockstep, or as a page for a "
            "browser F.html, and leave");
        gui::AppOptions::Film& film = picture.film;
        command.add_option("--record", film.file, "record its clock to this GIF, or by ffmpeg MP4, and leave");
        command
            .add_option("--from", film.from, "with --record: from this cycle, or with --zoom cluster this time in the step")
            .check(number_within(0));
        command.add_option("--to", film.to, "with --record: to this cycle or time, by default the last")
            .check(number_within(0));
        command.add_option("--speed", film.speed, "with --record: cycles a second, by default so that it lasts 10 s")
            .check(number_within(0, 1e12, true));
        command.add_option("--fps", film.frames_a_second, "with --record: frames a second, by default 20")
            .check(number_within(1, 120));
        command.add_option("--size", size, "window or picture size, such as 1600x1000; of a recording 1280x800");
        command.add_option("--scale", picture.scale, "text size, 0.75 to 2.5");
        command.add_option("--theme", picture.theme, "dark, light, high-contrast or print");
        command.add_option("--renderer", picture.renderer,
                           "what draws pictures and recordings: gl (OpenGL) or cpu; by default OpenGL where it is");
        command.add_flag("--less-motion", picture.less_motion, "nothing flashes, and zooms jump");
        command.add_flag("--present", picture.present, "presenter mode: a step and its picture, large (F11)");
        command.add_flag("--describe", picture.describe, "print what the pictures show, as text");
    };
    const Command root(&app);
    app_options(root);
    const Command app_command = root.add_subcommand("app", "open the app (the default)");
    app_options(app_command);
    const Command tour_command =
        root.add_subcommand("tour", "twenty seconds through the machine, from a cluster to one lane");
    tour_command.add_option("--record", picture.film.file, "record it to this GIF, or by ffmpeg MP4, and leave");
    tour_command.add_option("--fps", picture.film.frames_a_second, "with --record: frames a second, by default 20")
        .check(number_within(1, 120));
    tour_command.add_option("--size", size, "window size, such as 1600x1000; of a recording 1280x800");
    tour_command.add_option("--scale", picture.scale, "text size, 0.75 to 2.5");
    tour_command.add_option("--theme", picture.theme, "dark, light, high-contrast or print");
    app_command.add_option("file", picture.open, "the same as --open").excludes("--open");
    add_run(root, status);
    add_compare(root, status);
    add_exec(root, status);
    add_compile(root, status);
    add_train(root, status);
    add_experiment(root, status);
    add_tape(root, status);
    add_tensors(root);
    add_lesson(root, status, hooks);
    add_puzzle(root, status);
    add_glossary(root);
    add_grade(root, status);
    add_gpus(root, status);
    add_occupancy(root, status);
    add_sweep(root, status);
    add_devices(root, status);
    add_plan(root, status);
    add_collective(root, status);
    add_schedule(root, status);
    add_mesh(root, status);
    add_validate(root, status);
    add_silicon(root, status);
    add_bench(root, status, hooks);
    for (CLI::App* command : app.get_subcommands({})) command->set_help_flag("-h,--help", "print this help");
    refuse_options_as_values(app);

    std::vector<char*> words(argv, argv + argc);
    const std::string_view first = argc > 1 ? argv[1] : "";
    if (first == "run" || first == "exec" || first == "grade") {
        const auto behind = std::find(words.begin(), words.end(), std::string_view("--"));
        if (behind != words.end()) words_behind().assign(behind + 1, words.end());
        words.erase(behind, words.end());
    }
    char app_word[] = "app";
    if (argc > 1 && opens_in_the_app(argv[1])) words.insert(words.begin() + 1, app_word);  // `lockstep sum.cu` opens it
    char help_word[] = "--help";
    if (argc > 1 && std::string_view(argv[1]) == "help") {  // `help run` is `run --help`
        words.erase(words.begin() + 1);
        words.push_back(help_word);
    }
    try {
        app.parse(static_cast<int>(words.size()), words.data());
        picture.tour = app.got_subcommand("tour");
        if (app.get_subcommands().empty() || app.got_subcommand("app") || picture.tour) {
            status = run_the_app(std::move(picture), size, hooks);
        }
    } catch (const CLI::CallForHelp& help) {
        status = app.exit(help);
    } catch (const CLI::CallForVersion& version) {
        status = app.exit(version);
    } catch (const CLI::ParseError& error) {
        tell("error: {}\n", sentence(app, error, std::vector<std::string>(words.begin() + 1, words.end())));
        return static_cast<int>(ExitStatus::bad_input);
    } catch (const Failure& failure) {
        complain(failure.diagnostic);
        return static_cast<int>(failure.status);
    } catch (const std::bad_alloc&) {
        tell("error: there is not enough memory for this\n");
        return static_cast<int>(ExitStatus::missing);
    } catch (const std::system_error& error) {  // of a full disk behind stdout, or no more threads
        if (std::ferror(stdout)) {
            tell("error: the output cannot be written: {}\n", error.code().message());
            return static_cast<int>(ExitStatus::bad_input);
        }
        tell("error: {}\n", error.what());
        return static_cast<int>(ExitStatus::missing);
    }
    if (!std::cout.flush() || std::fflush(stdout) != 0 || std::ferror(stdout)) {
        tell("error: the output cannot be written: {}\n", std::strerror(errno));
        return static_cast<int>(ExitStatus::bad_input);
    }
    return status;
}

}  // namespace lockstep::cli
