#include "lessons/player/story/story.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/files.h"
#include "core/base/units.h"
#include "core/scene/host/host_program.h"
#include "lessons/player/challenge/challenge.h"
#include "lessons/player/companion/toml_reader.h"

namespace lockstep::lessons {

Result<Story> parse_story(const std::string& text, const std::filesystem::path& file) {
    try {
        const TomlReader toml(text, file.string());
        toml.refuse_other_keys(toml.table(), {"title", "gpu", "version"});
        const auto word = [&](const toml::table& table, const char* key) {
            return toml.words(toml.needed(table, key), key);
        };
        Story story;
        story.folder = file.parent_path();
        story.title = word(toml.table(), "title");
        story.gpu = word(toml.table(), "gpu");
        for (const toml::node& node : toml.as_list(toml.needed(toml.table(), "version"), "version")) {
            const toml::table& one = toml.as_table(node, "a version");
            toml.refuse_other_keys(one, {"lesson", "file", "what"});
            story.versions.push_back({word(one, "lesson"), word(one, "file"), word(one, "what")});
            const size_t count = story.versions.size();
            if (count > 1 && story.versions[count - 2].lesson >= story.versions.back().lesson)
                toml.refuse(node, "versions stand in the order of their lessons, one a lesson");
        }
        return story;
    } catch (const Failure& failure) {
        return failure.diagnostic;
    }
}

Result<Story> story() {
    const std::filesystem::path file = resource_root() / "lessons" / "story" / "story.toml";
    const Result<std::string> text = read_text(file, size_t{1} << 20);
    if (!text) return text.error();
    return parse_story(text.value(), file);
}

std::vector<Story::Version> versions_until(const Story& story, const std::string& lesson) {
    std::vector<Story::Version> known;
    if (story.versions.empty() || lesson.empty() || lesson.front() != story.versions.front().lesson.front()) return known;
    for (const Story::Version& version : story.versions)
        if (version.lesson <= lesson) known.push_back(version);
    return known;
}

Result<scene::SceneResult> run_version(const Story& story, const Story::Version& version, const scene::RunOptions& options) {
    scene::Scene scene;
    scene.host = version.file;
    return scene::run_scene(story, scene, options);
}

std::string Ending::words() const {
    if (bars.empty()) return {};
    const std::string now = time_text(bars.back().us);
    if (bars.size() == 1) return fmt::format("{}: {} on {} in its first version (simulated).", job, now, gpu);
    return fmt::format("{}: {} in {}, {} now: {:.3g} times as fast (simulated on {}).", job, time_text(bars.front().us),
                       bars.front().lesson, now, times(), gpu);
}

Ending ending_of(const Lesson& lesson, const scene::RunOptions& options) {
    Ending ending;
    if (lesson.challenge) {
        Result<MedalLimits> limits = medal_limits(lesson, options);
        if (limits)
            ending.limits = std::move(limits.value());
        else
            ending.problem = render(limits.error());
    }
    if (lesson.exam) return ending;
    const Result<Story> told = story();
    if (!told) {
        ending.problem = render(told.error());
        return ending;
    }
    for (const Story::Version& version : versions_until(told.value(), lesson.id)) {
        const Result<scene::SceneResult> run = run_version(told.value(), version, options);
        const auto host = run ? run.value().as<scene::HostRun>() : nullptr;
        if (!host || host->fault) {
            ending.problem = run ? version.file + " does not run to its end" : render(run.error());
            ending.bars.clear();
            return ending;
        }
        ending.job = told.value().title, ending.gpu = host->gpu.title;
        ending.bars.push_back({version.lesson, version.what, host->schedule.total_us});
    }
    return ending;
}

}  // namespace lockstep::lessons
