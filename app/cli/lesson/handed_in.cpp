#include "app/cli/lesson/handed_in.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "app/cli/lesson/notebook.h"
#include "core/base/files.h"
#include "core/base/hash.h"
#include "core/base/missing_file.h"
#include "core/base/nearest.h"
#include "core/nn/data/files/zip.h"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;
constexpr uint64_t largest_archive = uint64_t{256} << 20, largest_unpacked = uint64_t{512} << 20;
constexpr size_t most_members = 20'000, most_depth = 4;

bool is_hidden(const fs::path& path) {
    const std::string name = path.filename().string();
    return name.starts_with('.') || name == "__MACOSX";
}

std::string lower(std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

bool is_archive(const fs::path& path) {
    return lower(path.extension().string()) == ".zip";
}
bool is_source(const fs::path& path) {
    const std::string extension = path.extension().string();
    return extension == ".cu" || extension == ".cpp" || extension == ".cc" || extension == ".c";
}

std::vector<fs::path> entries_of(const fs::path& folder) {
    std::vector<fs::path> entries;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
        if (!is_hidden(entry->path())) entries.push_back(entry->path());
    std::sort(entries.begin(), entries.end());
    return entries;
}

bool is_plain_file(const fs::path& path) {
    std::error_code error;
    return fs::is_regular_file(path, error);
}
bool is_folder(const fs::path& path) {
    std::error_code error;
    return fs::is_directory(path, error) && !fs::is_symlink(path, error);
}

// A stem as it is compared: small letters, without what people put between words.
std::string plain_stem(const fs::path& file) {
    std::string stem = lower(file.stem().string());
    std::erase_if(stem, [](char c) { return c == ' ' || c == '_' || c == '-'; });
    return stem;
}

// Whether the name is nearly that of the exercise's file: another case, words before or behind it, a slip of the pen.
bool is_near(const fs::path& file, const std::string& wanted) {
    const fs::path name = fs::path(wanted).filename();
    if (lower(file.extension().string()) != name.extension().string()) return false;
    const std::string mine = plain_stem(file), right = plain_stem(name);
    return mine.find(right) != std::string::npos || (mine.size() > 3 && right.find(mine) != std::string::npos) ||
           !nearest_name(mine, {right}).empty();
}

// "hoard (2).cu", "hoard_final.cu": one of several by the same hand, not somebody's name.
bool is_version(const fs::path& file, const std::string& wanted) {
    const fs::path name = fs::path(wanted).filename();
    if (lower(file.extension().string()) != name.extension().string()) return false;
    std::string rest = plain_stem(file);
    if (!rest.starts_with(plain_stem(name))) return false;
    rest.erase(0, plain_stem(name).size());
    std::erase_if(rest, [](char c) { return !std::isalpha(static_cast<unsigned char>(c)); });
    static constexpr std::string_view words[] = {"",     "v",      "version", "final",     "old", "new",
                                                 "copy", "kopie",  "fixed",   "last",      "try", "backup",
                                                 "alt",  "latest", "draft",   "finalfinal"};
    return std::find(std::begin(words), std::end(words), rest) != std::end(words);
}

bool answers_something(const fs::path& file, const HandedInWanted& wanted) {
    if (wanted.programs) return is_source(file) || is_notebook(file);
    if (is_notebook(file)) return true;
    return std::any_of(wanted.exercises.begin(), wanted.exercises.end(), [&](const lessons::Exercise* exercise) {
        return file.filename() == fs::path(exercise->file).filename() || is_near(file, exercise->file);
    });
}

class Finder {
  public:
    Finder(const HandedInWanted& wanted, const fs::path& scratch, std::vector<HandedIn>& found)
        : wanted_(wanted), scratch_(scratch), found_(found) {}

    void path(const fs::path& place, const std::string& name, size_t depth = 0) {
        std::error_code error;
        if (!fs::exists(place, error))
            return found_.push_back({name, place, "there is no such submission" + near_file(place)});
        if (is_archive(place)) return archive(place, name, depth);
        if (!fs::is_directory(place, error)) return found_.push_back({name, place, {}});
        folder(place, name, depth);
    }

  private:
    // An answer in it makes it one submission. Otherwise what lies in it is one each; a lone folder in a folder is what
    // archives and students make, and means the inner one.
    void folder(const fs::path& place, const std::string& name, size_t depth) {
        std::vector<fs::path> inner, files;
        size_t answers = 0;
        for (const fs::path& entry : entries_of(place)) {
            if (is_folder(entry) || is_archive(entry)) inner.push_back(entry);
            if (!is_plain_file(entry) || is_archive(entry)) continue;
            answers += answers_something(entry, wanted_);
            if (of_kind(entry)) files.push_back(entry);
        }
        // In the folder that was given, not in one of its: a student may well have two versions.
        const bool versions = !files.empty() && !wanted_.exercises.empty() &&
                              std::all_of(files.begin(), files.end(), [&](const fs::path& file) {
                                  return is_notebook(file) || is_version(file, wanted_.exercises.front()->file);
                              });
        if (depth == 0 && wanted_.exercises.size() == 1 && !wanted_.programs && files.size() > 1 && !versions &&
            !named_as_asked(files)) {
            for (const fs::path& file : files) found_.push_back({below(name, file), file, {}});
            return;
        }
        if (answers > 0 || inner.empty() || depth >= most_depth) return found_.push_back({name, place, {}});
        if (inner.size() == 1 && is_folder(inner.front()) && depth > 0) return folder(inner.front(), name, depth + 1);
        for (const fs::path& entry : inner) path(entry, below(name, entry), depth + 1);
    }

    bool of_kind(const fs::path& file) const {
        return is_notebook(file) ||
               (!wanted_.exercises.empty() && file.extension() == fs::path(wanted_.exercises.front()->file).extension());
    }
    bool named_as_asked(const std::vector<fs::path>& files) const {
        const fs::path name = fs::path(wanted_.exercises.front()->file).filename();
        return std::any_of(files.begin(), files.end(), [&](const fs::path& file) { return file.filename() == name; });
    }
    static std::string below(const std::string& name, const fs::path& entry) {
        return (fs::path(name) / entry.filename()).string();
    }

    // Each file goes where its name says, below a folder of the archive's own.
    void archive(const fs::path& place, const std::string& name, size_t depth) {
        const Result<std::string> bytes = read_file(place, largest_archive);
        if (!bytes) return found_.push_back({name, place, render(bytes.error())});
        const fs::path own = scratch_ / fmt::format("archive{}", ++archives_);
        nn::ZipReading how;
        how.what = "zip archive";
        how.larger = "what it holds";
        how.limit = largest_unpacked;
        how.most_members = most_members;
        how.objection = [](std::string_view member) -> std::string {
            const fs::path path(member);
            const bool up = std::find(path.begin(), path.end(), fs::path("..")) != path.end();
            const bool odd = std::any_of(member.begin(), member.end(), [](char c) {
                return static_cast<unsigned char>(c) < 0x20 || c == '\\' || c == ':';
            });
            return member.empty() || path.is_absolute() || up ? "would be written outside of the archive's own folder"
                   : odd                                      ? "has a name that is none on every system"
                                                              : "";
        };
        how.wanted = [](std::string_view member) {
            const fs::path path(member);
            return std::none_of(path.begin(), path.end(), is_hidden);
        };
        how.take = [&](std::string_view member, std::string_view contents) -> std::optional<Diagnostic> {
            std::error_code error;
            fs::create_directories((own / member).parent_path(), error);
            if (member.ends_with('/')) return std::nullopt;  // a folder, which may well be empty
            try {
                write_file(own / member, contents);
            } catch (const Failure& failure) {
                return failure.diagnostic;
            }
            return std::nullopt;
        };
        if (auto problem = nn::read_zip(bytes.value(), name, how)) return found_.push_back({name, place, render(*problem)});
        folder(own, name, depth);
    }

    const HandedInWanted& wanted_;
    const fs::path& scratch_;
    std::vector<HandedIn>& found_;
    size_t archives_ = 0;
};

std::string names_of(const std::vector<fs::path>& files) {
    std::vector<std::string> names;
    for (const fs::path& file : files) names.push_back(file.filename().string());
    return fmt::format("{}", fmt::join(names, " or "));
}

// A cell of the notebook, as a file of its own.
void take_from_notebook(const fs::path& notebook, const fs::path& scratch, Answer& answer) {
    const Result<std::string> text = read_text(notebook, size_t{64} << 20);
    const auto cells =
        text ? cuda_cells(text.value(), notebook.filename().string()) : Result<std::vector<NotebookCell>>(text.error());
    if (!cells) {
        answer.problem = render(cells.error());
        return;
    }
    const std::string file = fs::path(answer.exercise->file).filename().string();
    const auto cell = cell_for(cells.value(), file, answer.exercise->kernel);
    if (!cell) {
        answer.problem = fmt::format("{} has no cell that is written to {} or defines the kernel {}",
                                     notebook.filename().string(), file, answer.exercise->kernel);
        return;
    }
    answer.folder = scratch / fmt::format("cell{:016x}", fnv1a64(notebook.string() + "\n" + answer.exercise->id));
    std::error_code error;
    fs::create_directories(answer.folder, error);
    answer.file = answer.folder / file;
    write_file(answer.file, cell->text);
    answer.shown = fmt::format("{}, code cell {}", notebook.filename().string(), cell->number);
}

// "; it holds homework.docx and notes.txt"; of many the first few.
std::string what_is_there(const fs::path& folder) {
    constexpr size_t most = 4;
    std::vector<std::string> names;
    for (const fs::path& entry : entries_of(folder)) names.push_back(entry.filename().string());
    if (names.empty()) return ": it is empty";
    const size_t left = names.size() > most ? names.size() - most : 0;
    names.resize(names.size() - left);
    return fmt::format("; it holds {}{}", fmt::join(names, ", "), left > 0 ? fmt::format(" and {} more", left) : "");
}

// Of files with other names those that define the exercise's kernel.
std::vector<fs::path> with_the_kernel(const std::vector<fs::path>& files, const std::string& kernel) {
    std::vector<fs::path> found;
    for (const fs::path& file : files)
        if (const auto text = kernel.empty() ? Result<std::string>(Diagnostic{""}) : read_text(file, size_t{16} << 20);
            text && defines_kernel(text.value(), kernel))
            found.push_back(file);
    return found;
}

void answer_in_folder(const HandedIn& submission, const HandedInWanted& wanted, const fs::path& scratch, Answer& answer) {
    const fs::path name = fs::path(answer.exercise->file).filename(), file = submission.place / answer.exercise->file;
    answer.folder = submission.place;
    answer.shown = name.string();
    answer.file = file;
    if (is_plain_file(file)) return;
    std::vector<fs::path> near, notebooks, others;
    for (const fs::path& entry : entries_of(submission.place)) {
        const bool taken = std::any_of(wanted.exercises.begin(), wanted.exercises.end(), [&](const auto* other) {
            return entry.filename() == fs::path(other->file).filename();
        });
        if (is_plain_file(entry) && !taken && is_near(entry, answer.exercise->file)) near.push_back(entry);
        if (is_plain_file(entry) && is_notebook(entry)) notebooks.push_back(entry);
        if (is_plain_file(entry) && !taken && lower(entry.extension().string()) == name.extension().string())
            others.push_back(entry);
    }
    const std::vector<fs::path> by_kernel =
        near.empty() && notebooks.empty() ? with_the_kernel(others, answer.exercise->kernel) : std::vector<fs::path>{};
    if (near.size() == 1 || by_kernel.size() == 1) {
        answer.file = near.empty() ? by_kernel.front() : near.front();
        answer.shown = answer.file.filename().string();
        answer.note = fmt::format("{} is taken as {}", answer.shown, name.string());
        if (near.empty()) answer.note += fmt::format(": it defines the kernel {}", answer.exercise->kernel);
    } else if (near.size() > 1) {
        answer.problem =
            fmt::format("there is no file {} in the submission: did you mean {}? One of them has to be called so",
                        name.string(), names_of(near));
    } else if (notebooks.size() == 1) {
        take_from_notebook(notebooks.front(), scratch, answer);
    } else {
        answer.problem =
            fmt::format("there is no file {} in the submission{}", name.string(), what_is_there(submission.place));
    }
}

// The exercise that a lone file answers; null, with the reason: that cannot be told.
const lessons::Exercise* exercise_of_file(const fs::path& file, const HandedInWanted& wanted, std::string& why) {
    if (wanted.exercises.size() == 1) return wanted.exercises.front();
    std::vector<const lessons::Exercise*> near;
    std::vector<std::string> names;
    for (const lessons::Exercise* exercise : wanted.exercises) {
        if (file.filename() == fs::path(exercise->file).filename()) return exercise;
        if (is_near(file, exercise->file)) near.push_back(exercise);
        names.push_back(exercise->id + " (" + exercise->file + ")");
    }
    if (near.size() == 1) return near.front();
    why = fmt::format("the lesson has the exercises {}: say which one this file answers with --exercise",
                      fmt::join(names, ", "));
    return nullptr;
}

}  // namespace

std::vector<HandedIn> find_handed_in(const std::vector<std::string>& paths, const HandedInWanted& wanted,
                                     const fs::path& scratch) {
    std::vector<HandedIn> found;
    Finder finder(wanted, scratch, found);
    for (const std::string& path : paths) finder.path(path, path);
    return found;
}

std::vector<Answer> answers_in(const HandedIn& submission, const HandedInWanted& wanted, const fs::path& scratch) {
    std::vector<Answer> answers;
    std::error_code error;
    const bool folder = fs::is_directory(submission.place, error), notebook = is_notebook(submission.place);
    if (!submission.problem.empty() || folder || notebook) {
        for (const lessons::Exercise* exercise : wanted.exercises) {
            Answer answer{exercise, submission.place,  submission.place.parent_path(), exercise->file,
                          {},       submission.problem};
            if (submission.problem.empty() && folder) answer_in_folder(submission, wanted, scratch, answer);
            if (submission.problem.empty() && notebook) take_from_notebook(submission.place, scratch, answer);
            answers.push_back(std::move(answer));
        }
        return answers;
    }
    Answer answer{nullptr, submission.place, submission.place.parent_path(), submission.place.filename().string(), {}, {}};
    answer.exercise = exercise_of_file(submission.place, wanted, answer.problem);
    if (answer.exercise && wanted.exercises.size() > 1 && answer.shown != fs::path(answer.exercise->file).filename())
        answer.note = fmt::format("{} is taken as {}", answer.shown, answer.exercise->file);
    answers.push_back(std::move(answer));
    return answers;
}

}  // namespace lockstep::cli
