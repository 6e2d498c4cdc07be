// Reading is forgiving and bounded; a line is written in one piece, so that two windows do not tear each other's.
#include "app/gui/desk/progress.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/gui/desk/puzzle_medals.h"
#include "app/gui/session.h"
#include "lessons/player/certificate/certificate.h"

namespace lockstep::gui {

namespace {

using Json = nlohmann::ordered_json;
constexpr std::streamoff most_bytes = 16 << 20;        // of the end of the file: some hundred thousand lines
constexpr std::streamoff most_bytes_of_all = 2 << 20;  // the same where a frame waits for it: the whole course ten times

std::string text_of(const Json& line, const char* key) {
    const auto found = line.find(key);
    return found != line.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// What was put into a picture: numbers, null where nothing was. Nothing: the line has no such list.
std::optional<lessons::Sketch> sketch_in(const Json& line) {
    const auto found = line.find("sketch");
    if (found == line.end() || !found->is_array() || found->empty() || found->size() > 4096) return std::nullopt;
    lessons::Sketch sketch;
    for (const Json& one : *found) {
        if (!one.is_number() && !one.is_null()) return std::nullopt;
        sketch.values.push_back(one.is_number() ? one.get<double>() : lessons::nothing_put);
    }
    return sketch;
}

// Of a prediction that was a choice when it was answered and is a sketch now, or the other way round, nothing is kept.
void restore_sketch(const Json& line, double truth, LessonState::Prediction& given) {
    const auto sketch = sketch_in(line);
    if (!sketch) return;
    const auto right = line.find("right");
    given.sketch = *sketch;
    given.locked = true;
    given.truth = truth;
    given.right = right != line.end() && right->is_boolean() && right->get<bool>();
}

void restore_prediction(const Json& line, LessonState& state) {
    const std::string id = text_of(line, "predict"), answer = text_of(line, "answer");
    const auto truth = line.find("truth"), confidence = line.find("confidence"), right = line.find("right");
    if (id.empty() || truth == line.end() || !truth->is_number()) return;
    for (size_t s = 0; s < state.lesson->steps.size(); ++s) {
        const auto& predicts = state.lesson->steps[s].predicts;
        for (size_t p = 0; p < predicts.size(); ++p) {
            if (predicts[p].id != id) continue;
            if (predicts[p].is_sketch() && (line.contains("sketch") || !state.lesson->exam)) {
                restore_sketch(line, truth->get<double>(), state.predictions[s][p]);
                continue;
            }
            if (answer.empty() && state.lesson->exam) {  // handed in without one
                state.predictions[s][p].locked = true;
                state.predictions[s][p].truth = truth->get<double>();
            }
            for (size_t a = 0; a < predicts[p].answers.size(); ++a) {
                if (predicts[p].answers[a].text != answer) continue;
                LessonState::Prediction& given = state.predictions[s][p];
                given.chosen = static_cast<int>(a);
                given.locked = true;
                given.truth = truth->get<double>();
                given.right = right != line.end() && right->is_boolean() && right->get<bool>();
                if (confidence != line.end() && confidence->is_number_integer())
                    given.confidence =
                        static_cast<int>(std::min<int64_t>(100, std::max<int64_t>(0, confidence->get<int64_t>())));
            }
        }
    }
}

void restore_line(const Json& line, LessonState& state) {
    if (!line.is_object() || text_of(line, "lesson") != state.lesson->id) return;
    const std::string event = text_of(line, "event");
    if (event == "prediction") return restore_prediction(line, state);
    if (event == "exam") state.handed_in = true;
    if (event == "medal") state.medal = std::max(state.medal, lessons::medal_named(text_of(line, "medal")));
    const std::string step = text_of(line, "step"), exercise = text_of(line, "exercise");
    for (size_t s = 0; s < state.lesson->steps.size(); ++s) {
        if (event == "step" && state.lesson->steps[s].title == step) state.done[s] = true;
        for (const lessons::Exercise& one : state.lesson->steps[s].exercises)
            if (event == "exercise" && one.id == exercise) state.done[s] = true;
    }
}

// The file's last bytes, line by line; a file that is not there has none.
template <typename Each>
void each_line(const std::filesystem::path& file, std::streamoff most, const Each& each) {
    std::error_code error;
    if (file.empty() || !std::filesystem::is_regular_file(file, error)) return;
    std::ifstream in(file, std::ios::binary | std::ios::ate);
    if (!in) return;
    const std::streamoff size = in.tellg();
    in.seekg(std::max<std::streamoff>(0, size - most));
    for (std::string line; std::getline(in, line);) each(Json::parse(line, nullptr, false));
}

// Of an exam that was handed in: the engine has said of every answer whether it is right.
bool everything_told(const LessonState& state) {
    for (const auto& step : state.predictions)
        for (const LessonState::Prediction& given : step)
            if (!given.truth) return false;
    for (const auto& [where, checked] : state.checked)
        if (checked.checks > 0 && !checked.report && checked.problem.empty()) return false;
    return true;
}

bool append(const std::filesystem::path& file, const std::string& lines) {
    std::error_code error;
    std::filesystem::create_directories(file.parent_path(), error);
    std::string whole = lines;
    if (std::ifstream before(file, std::ios::binary | std::ios::ate); before && before.tellg() > 0) {
        before.seekg(-1, std::ios::end);
        if (before.get() != '\n') whole.insert(0, "\n");  // what was cut off there spoils only itself
    }
    std::ofstream out(file, std::ios::binary | std::ios::app);
    out.write(whole.data(), static_cast<std::streamsize>(whole.size()));
    out.flush();
    return out.good();
}

}  // namespace

void restore_progress(const std::filesystem::path& file, LessonState& state) {
    if (state.lesson) each_line(file, most_bytes, [&](const Json& line) { restore_line(line, state); });
}

LessonProgress progress_in(const LessonState& state) {
    const auto done = std::count(state.done.begin(), state.done.end(), true);
    const auto open = std::find(state.done.begin(), state.done.end(), false) - state.done.begin();
    const auto steps = static_cast<int64_t>(state.done.size());
    return {static_cast<size_t>(done), static_cast<size_t>(steps),
            static_cast<int>(std::max<int64_t>(0, std::min<int64_t>(open, steps - 1)))};
}

std::map<std::string, LessonProgress> progress_of(const std::filesystem::path& file,
                                                  std::span<const std::shared_ptr<const lessons::Lesson>> course) {
    std::map<std::string, LessonState> states;
    std::map<std::string, LessonProgress> progress;
    each_line(file, most_bytes_of_all, [&](const Json& line) {
        if (!line.is_object()) return;
        if (const std::string puzzle = text_of(line, "puzzle"); !puzzle.empty()) {
            LessonProgress& kept = progress[puzzle];
            kept.done = std::max(kept.done, static_cast<size_t>(lessons::medal_named(text_of(line, "medal"))));
            kept.steps = static_cast<size_t>(lessons::Medal::gold);
            return;
        }
        const std::string id = text_of(line, "lesson");
        auto known = states.find(id);
        if (known == states.end()) {
            const auto of = std::find_if(course.begin(), course.end(), [&](const auto& one) { return one->id == id; });
            if (of == course.end()) return;
            known = states.emplace(id, state_of(*of)).first;
        }
        restore_line(line, known->second);
    });
    for (const auto& [id, state] : states) progress[id] = progress_in(state);
    return progress;
}

std::string last_lesson_in(const std::filesystem::path& file) {
    std::string last;
    each_line(file, 64 << 10, [&](const Json& line) {
        if (!line.is_object()) return;
        if (const std::string id = text_of(line, "lesson"); !id.empty()) last = id;
    });
    return last;
}

void ProgressLog::follow(const LessonState& state) {
    lesson_ = state.lesson;
    done_ = state.done;
    medal_ = static_cast<int>(state.medal);
    handed_in_ = state.handed_in && everything_told(state);
    answered_.clear();
    for (const auto& step : state.predictions) {
        answered_.emplace_back();
        for (const LessonState::Prediction& prediction : step)
            answered_.back().push_back(prediction.locked && prediction.truth && !prediction.by_class);
    }
}

bool keep_puzzle_medal(const std::filesystem::path& file, const std::string& puzzle, lessons::Medal medal) {
    if (file.empty()) return true;
    const Json line = {{"puzzle", puzzle}, {"event", "medal"}, {"medal", lessons::name_of(medal)}, {"on", lessons::today()}};
    return append(file, line.dump() + "\n");
}

std::string ProgressLog::note(const LessonState& state) {
    if (file_.empty() || !state.lesson || lesson_ != state.lesson || state.holds_back()) return {};
    std::string lines;
    const auto add = [&](Json line) {
        line["on"] = lessons::today();
        lines += line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    };
    const lessons::Lesson& lesson = *state.lesson;
    for (size_t s = 0; s < lesson.steps.size() && s < state.predictions.size() && s < answered_.size(); ++s)
        for (size_t p = 0; p < lesson.steps[s].predicts.size() && p < answered_[s].size(); ++p) {
            const LessonState::Prediction& given = state.predictions[s][p];
            const lessons::Predict& predict = lesson.steps[s].predicts[p];
            if (predict.is_sketch() && !given.locked) answered_[s][p] = false;  // it was taken back, to be sketched again
            if (given.by_class || answered_[s][p] || !given.locked || !given.truth) continue;
            Json said = {{"lesson", lesson.id}, {"event", "prediction"}, {"predict", predict.id}};
            const bool left_out = lesson.exam && given.chosen < 0 && given.sketch.empty();
            if (left_out) {
                said["answer"] = "";
            } else if (predict.is_sketch()) {
                said["sketch"] = Json::array();
                for (const double v : given.sketch.values) said["sketch"].push_back(std::isfinite(v) ? Json(v) : Json());
            } else if (given.chosen >= 0 && given.chosen < static_cast<int>(predict.answers.size())) {
                said["answer"] = predict.answers[static_cast<size_t>(given.chosen)].text;
            } else {
                continue;
            }
            if (predict.sure) said["confidence"] = given.confidence;
            said["truth"] = *given.truth;
            said["right"] = given.right;
            add(said);
        }
    for (size_t s = 0; s < lesson.steps.size() && s < state.done.size(); ++s) {
        if (!state.done[s] || (s < done_.size() && done_[s])) continue;
        const lessons::Step& step = lesson.steps[s];
        if (step.exercises.empty()) add({{"lesson", lesson.id}, {"event", "step"}, {"step", step.title}});
        for (const lessons::Exercise& exercise : step.exercises)
            add({{"lesson", lesson.id}, {"event", "exercise"}, {"exercise", exercise.id}, {"points", exercise.points}});
    }
    if (static_cast<int>(state.medal) > medal_)
        add({{"lesson", lesson.id},
             {"event", "medal"},
             {"exercise", lesson.challenge ? lesson.challenge->exercise : ""},
             {"medal", lessons::name_of(state.medal)}});
    if (lesson.exam && state.handed_in && !handed_in_ && everything_told(state)) {
        const ExamResult result = exam_result(state);
        add({{"lesson", lesson.id},
             {"event", "exam"},
             {"points", result.points},
             {"of", result.of_points},
             {"passed", result.passed}});
    }
    if (lines.empty()) return {};
    follow(state);
    if (append(file_, lines) || complained_) return {};
    complained_ = true;
    return "your progress cannot be kept: '" + file_.string() + "' cannot be written";
}

}  // namespace lockstep::gui
